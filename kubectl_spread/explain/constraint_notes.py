"""What explains the counts of a constraint: reasons of nodes, surprising facts, and where the constraint is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns, Int32s, Int64s, unique
from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.containers import grouped
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import NO_EXECUTE, NodeReason, NodeReasonKind, OUTAGES
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import status_of
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint, match_affinity
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import selecting_owner, selecting_services
from kubectl_spread.text.wording import nearest

_MOST_NAMES = 3
_MOST_ALIKE = 4
_MOST_LABELS = 4
_MOST_SHARED = 2
_MOST_REASONS = 3  # of one domain


class NodeReasons(NamedTuple):
    """The reason of each node that has one.

    codes: int64 (N,), index into `reasons`, -1 for a node without a reason.
    """

    codes: Int64s
    reasons: tuple[NodeReason, ...]

    @property
    def identity(self) -> tuple[bytes, tuple[NodeReason, ...]]:
        """Return a value that is equal for equal reasons."""
        return self.codes.tobytes() if self.reasons else b"", self.reasons

    def by_domain(self, domains: Int32s) -> dict[int, tuple[NodeReason, ...]]:
        """Return the most frequent reasons of each domain's nodes; domains: int32 (N,), -1 for no domain."""
        chosen = (self.codes >= 0) & (domains >= 0)
        if not chosen.any():
            return {}
        size = max(1, len(self.reasons))
        pairs, counts = np.unique(domains[chosen].astype(np.int64) * size + self.codes[chosen], return_counts=True)
        frequencies: dict[int, list[tuple[int, int]]] = {}
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            domain, code = divmod(pair, size)
            frequencies.setdefault(domain, []).append((-count, code))
        return {
            domain: tuple(self.reasons[code] for _, code in sorted(of_domain)[:_MOST_REASONS])
            for domain, of_domain in frequencies.items()
        }


_Reasons = Iterable[tuple[NodeReason, Bools]]


def first_reasons(found: _Reasons, columns: Columns) -> NodeReasons:
    """Return the first reason of each node; the nodes of each reason are a mask, bool (N,)."""
    codes: Int64s = np.full(columns.n, -1, np.int64)
    reasons: dict[NodeReason, int] = {}
    for reason, mask in found:
        fresh = mask & (codes < 0)
        if fresh.any():
            codes[fresh] = reasons.setdefault(reason, len(reasons))
    return NodeReasons(codes, tuple(reasons))


def missing_labels(keys: Iterable[str], columns: Columns) -> dict[str, Bools]:
    """Return nodes (bool (N,)) by the first of some label keys that they lack; only keys that such a node has.

    All constraints of an action share it: no constraint counts a node that lacks a key of another one.
    """
    complete = np.ones(columns.n, np.bool_)
    found = {}
    for key in dict.fromkeys(keys):
        mask = complete & (columns.topology(key).codes < 0)
        if mask.any():
            found[key] = mask
            complete &= ~mask
    return found


def reasons_for_not_counting(
    constraint: Constraint, cls: PodClass, missing: Mapping[str, Bools], columns: Columns
) -> _Reasons:
    """Yield why a constraint does not count nodes; `missing` are the nodes without labels, see `missing_labels`."""
    if constraint.honors_affinity:
        yield NodeReason(NodeReasonKind.OUTSIDE_AFFINITY), ~match_affinity(cls.node_requirement, columns)
    if constraint.honors_taints:
        yield from _tainted(NodeReasonKind.HONORED_TAINT, cls, columns)
    for key, mask in missing.items():
        yield NodeReason(NodeReasonKind.MISSING_LABEL, key), mask


def _tainted(kind: NodeReasonKind, cls: PodClass, columns: Columns) -> _Reasons:
    """Return the nodes by their first untolerated taint."""
    codes, taints = columns.tainted.first(cls.tolerations)
    return ((NodeReason(kind, taint=taint), codes == at) for at, taint in enumerate(taints))


# Plugins whose requirements are more precise than their reasons.
_WITH_REQUIREMENTS = (
    names.NODE_AFFINITY,
    names.NODE_PORTS,
    names.VOLUME_RESTRICTIONS,
    names.VOLUME_BINDING,
    names.VOLUME_ZONE,
    names.INTER_POD_AFFINITY,
)


def reasons_for_not_running(filtered: FilterResult, cls: PodClass, *, refusing: Sequence[Requirement]) -> _Reasons:
    """Yield why nodes cannot run the pod, spread constraints aside, in the order of the plugins.

    `refusing`: the pod's requirements, which replace the plugin's reason if they are more precise.
    """
    for at, status in filtered.nominated.items():
        mask = np.arange(filtered.columns.n) == at
        for verdict in filtered.plugin_results:
            mask &= verdict.bits == 0
        yield NodeReason(NodeReasonKind.PLUGIN, words=status.reasons), mask
    for verdict in filtered.plugin_results:
        bits, plugin = verdict.bits, verdict.plugin
        if plugin == names.POD_TOPOLOGY_SPREAD or not bits.any():
            continue
        for requirement in refusing if plugin in _WITH_REQUIREMENTS else ():
            if requirement.plugin == plugin:
                words = (requirement.text,)
                yield NodeReason(NodeReasonKind.REQUIREMENT, requirement.id, words=words), ~requirement.allowed
        if plugin == names.TAINT_TOLERATION:
            yield from _tainted(NodeReasonKind.UNTOLERATED_TAINT, cls, filtered.columns)
        elif plugin == names.NODE_UNSCHEDULABLE:
            yield NodeReason(NodeReasonKind.CORDON), bits != 0
        else:
            for value in unique(bits[bits != 0]).tolist():
                reasons = status_of(plugin, verdict.state.reasons, value).reasons
                yield NodeReason(NodeReasonKind.PLUGIN, words=reasons), bits == np.uint64(value)


class NoteKind(Enum):
    """The subject of a note. The comment names the fields of `Note` that are set."""

    EMPTY_SELECTOR = "emptySelector"
    NO_SELECTOR = "noSelector"
    NOT_SELF_MATCHING = "notSelfMatching"  # values: labels of the pod
    NO_DOMAINS = "noDomains"  # key: on no node; near: a label that may be meant
    BELOW_MIN_DOMAINS = "belowMinDomains"  # number: minDomains; minimum, limit
    HIDDEN_DOMAINS = "hiddenDomains"  # key: missing, of another constraint; names, number: nodes; values: domains
    ONLY_DOMAIN = "onlyDomain"  # values: that domain
    FITS_ONE_DOMAIN = "fitsOneDomain"  # values: that domain
    SHARED_HOSTNAME = "sharedHostname"  # values: the hostname; names, number: nodes
    MORE_SHARED_HOSTNAMES = "moreSharedHostnames"  # number: of hostnames
    EMPTY_VALUE = "emptyValue"  # key; names, number: nodes
    CASE_VARIANTS = "caseVariants"  # groups: domains that differ in upper and lower case only
    CORDON_WITHOUT_TAINT = "cordonWithoutTaint"  # names, number: nodes
    OUTAGE = "outage"  # key: of the taint; names, number: nodes
    FINISHED_PODS = "finishedPods"  # names, number: pods


class Note(NamedTuple):
    """A fact about a constraint.

    names: the first few of `number` objects.
    limit: `minimum` + maxSkew pods per domain.
    """

    kind: NoteKind
    key: str = ""
    near: str = ""
    values: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    number: int = 0
    minimum: int = 0
    max_skew: int = 0

    @property
    def limit(self) -> int:
        return self.minimum + self.max_skew


def notes(
    counts: DomainCounts, cls: PodClass, filtered: FilterResult, *, usable: Bools, why_not: NodeReasons, is_hard: bool
) -> Iterator[Note]:
    """Yield notes; usable: bool (N,), nodes that pass everything but the spread constraints."""
    constraint, topology, columns = counts.constraint, counts.topology, filtered.columns
    selects = not constraint.selector.is_empty
    if not selects:
        yield Note(NoteKind.EMPTY_SELECTOR)
    elif constraint.selector.requirements is None:
        yield Note(NoteKind.NO_SELECTOR)
    elif not constraint.self_match_num:
        own = tuple(f"{key}={value}" for key, value in cls.labels[:_MOST_LABELS])
        yield Note(NoteKind.NOT_SELF_MATCHING, values=own)
    # A key that no node has: a hard constraint refuses every node, a soft one does nothing.
    if columns.n and not (topology.codes >= 0).any():
        # The node label that resembles the key most: with another prefix, or spelt similarly
        key, labels = constraint.topology_key, sorted({label for node in columns.nodes for label in node.labels})
        alike = (label for label in labels if label.rpartition("/")[2] == key.rpartition("/")[2])
        yield Note(NoteKind.NO_DOMAINS, key, next(alike, "") or nearest(key, labels, cutoff=0.8))
    if constraint.self_match_num and selects and counts.domains_num and counts.is_below_min_domains:
        minimum, least = counts.min_match_num, constraint.min_domains
        yield Note(NoteKind.BELOW_MIN_DOMAINS, number=least, minimum=minimum, max_skew=constraint.max_skew)
    yield from _hidden(counts, columns, why_not)
    if constraint.self_match_num and selects and not counts.is_below_min_domains and counts.domains_num == 1:
        value = topology.values[int(np.flatnonzero(counts.eligible)[0])]
        # A soft constraint counts only domains that the pod fits into.
        is_alone = is_hard or len(topology.values) == 1
        yield Note(NoteKind.ONLY_DOMAIN if is_alone else NoteKind.FITS_ONE_DOMAIN, values=(value,))
    yield from _odd_values(counts, columns)
    yield from _bad_nodes(counts, filtered, usable)
    if selects and constraint.selector.requirements is not None:  # pods that are still listed, but not counted
        ended = (pod for pod in columns.cluster.pods if pod.node_name and not pod.is_visible)
        same = (pod for pod in ended if pod.namespace == cls.namespace)
        pods = [pod.name for pod in same if constraint.selector.matches(pod.labels)]
        if pods:
            yield Note(NoteKind.FINISHED_PODS, names=tuple(pods[:_MOST_NAMES]), number=len(pods))


def _hidden(counts: DomainCounts, columns: Columns, why_not: NodeReasons) -> Iterator[Note]:
    """Yield a note on domains that do not count because their nodes lack the key of another constraint."""
    topology = counts.topology
    for code, reason in enumerate(why_not.reasons):
        if reason.kind is not NodeReasonKind.MISSING_LABEL or reason.key == counts.constraint.topology_key:
            continue
        lacking = (why_not.codes == code) & (topology.codes >= 0)
        hidden = unique(topology.codes[lacking])
        values = sorted(topology.values[at] for at in hidden.tolist() if not counts.eligible[at])
        if values:
            yield _of_nodes(Note(NoteKind.HIDDEN_DOMAINS, reason.key, values=tuple(values)), lacking, columns)


def _odd_values(counts: DomainCounts, columns: Columns) -> Iterator[Note]:
    """Yield notes on values of the key that are shared by nodes, empty, or differ in case only."""
    topology, key = counts.topology, counts.constraint.topology_key
    if key == HOSTNAME and topology.values:
        sizes = np.bincount(topology.codes[topology.codes >= 0], minlength=len(topology.values))
        shared = np.flatnonzero(sizes > 1)
        for at in shared[:_MOST_SHARED].tolist():
            note = Note(NoteKind.SHARED_HOSTNAME, HOSTNAME, values=(topology.values[at],))
            yield _of_nodes(note, topology.codes == at, columns)
        if len(shared) > _MOST_SHARED:
            yield Note(NoteKind.MORE_SHARED_HOSTNAMES, HOSTNAME, number=len(shared) - _MOST_SHARED)
    variants: dict[str, list[str]] = {}
    for at, value in enumerate(topology.values):
        if counts.eligible[at]:
            variants.setdefault(value.casefold(), []).append(value)
            if not value:
                yield _of_nodes(Note(NoteKind.EMPTY_VALUE, key), counts.included & (topology.codes == at), columns)
    alike = sorted(sorted(values) for values in variants.values() if len(values) > 1)
    if alike:
        groups = tuple(tuple(values[:_MOST_ALIKE]) for values in alike[:_MOST_ALIKE])
        yield Note(NoteKind.CASE_VARIANTS, groups=groups)


def _bad_nodes(counts: DomainCounts, filtered: FilterResult, usable: Bools) -> Iterator[Note]:
    """Yield notes on nodes that count although they are cordoned, or are usable although they are down."""
    columns = filtered.columns
    for verdict in filtered.plugin_results:
        # nodeTaintsPolicy looks at taints alone, and these cordons have none.
        if verdict.plugin == names.NODE_UNSCHEDULABLE and counts.constraint.honors_taints:
            nodes = counts.included & (verdict.bits != 0)
            if nodes.any():
                yield _of_nodes(Note(NoteKind.CORDON_WITHOUT_TAINT), nodes, columns)
    # Every pod tolerates an outage for a while.
    counted = np.flatnonzero(counts.included & usable).tolist() if columns.has_taints else []
    taints = ((taint, at) for at in counted for taint in columns.nodes[at].taints if taint.effect == NO_EXECUTE)
    down = grouped((taint.key, at) for taint, at in taints if taint.key in OUTAGES)
    for key, at_nodes in down.items():
        first = tuple(columns.nodes[at].name for at in at_nodes[:_MOST_NAMES])
        yield Note(NoteKind.OUTAGE, key, names=first, number=len(at_nodes))


def _of_nodes(note: Note, mask: Bools, columns: Columns) -> Note:
    """Add some of the nodes of a mask (bool (N,)) to a note."""
    found = np.flatnonzero(mask)
    return note._replace(names=tuple(columns.nodes[at].name for at in found[:_MOST_NAMES].tolist()), number=len(found))


class OriginKind(Enum):
    """The place where a constraint is written."""

    UNKNOWN = "unknown"
    BUILT_IN_DEFAULT = "builtInDefault"
    CONFIGURED_DEFAULT = "configuredDefault"
    POD = "pod"
    POD_OF_OWNER = "podOfOwner"  # the template of its owner is not known
    FORMER_TEMPLATE = "formerTemplate"  # the owner's template has no constraint of this key any more
    CHANGED_TEMPLATE = "changedTemplate"  # the owner's template has other values now
    TEMPLATE = "template"


class Origin(NamedTuple):
    """The origin of a constraint.

    owner: of the pod.
    changed: fields with other values in the owner's present template; None for a field it does not set.
    selector_from: the objects whose selectors a default constraint uses.
    merged: labels that matchLabelKeys adds to the selector.
    absent: keys of matchLabelKeys that the pod lacks as labels.
    """

    kind: OriginKind = OriginKind.UNKNOWN
    owner: Optional[ObjectKey] = None
    changed: tuple[tuple[str, Any], ...] = ()
    selector_from: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def origin_of(constraint: TopologySpreadConstraint, cls: PodClass, columns: Columns, *, is_built_in: bool) -> Origin:
    """Return the origin of a pod's constraint, or of a default constraint if the pod has none.

    `is_built_in`: the default constraints are the scheduler's own, not configured.
    """
    if not cls.constraints:
        services = [f"Service {service.name}" for service in selecting_services(cls, columns)]
        owner = selecting_owner(cls)
        is_known = owner is not None and owner in columns.cluster.owner_selectors
        sources = (*services, *([f"{owner.kind} {owner.name}"] if owner is not None and is_known else []))
        kind = OriginKind.BUILT_IN_DEFAULT if is_built_in else OriginKind.CONFIGURED_DEFAULT
        return Origin(kind, selector_from=sources)
    labels = dict(cls.labels)
    merged = tuple(f"{key}={labels[key]}" for key in constraint.match_label_keys if key in labels)
    absent = tuple(key for key in constraint.match_label_keys if key not in labels)
    return _of_pod(constraint, cls, columns)._replace(merged=merged, absent=absent)


def _of_pod(constraint: TopologySpreadConstraint, cls: PodClass, columns: Columns) -> Origin:
    owner = owner_of(cls, columns.cluster)
    if owner is None:
        return Origin(OriginKind.POD)
    controller = columns.cluster.controllers.get(owner)
    template = None if controller is None else controller.workload.template
    if template is None:
        return Origin(OriginKind.POD_OF_OWNER, owner)
    key = (constraint.topology_key, constraint.when_unsatisfiable)
    items = mappings(fields(template, "spec").get("topologySpreadConstraints"))
    written = next((item for item in items if (item.get("topologyKey"), item.get("whenUnsatisfiable")) == key), None)
    if written is None:
        return Origin(OriginKind.FORMER_TEMPLATE, owner)
    changed = []
    for field, own, default in (
        ("maxSkew", constraint.max_skew, None),
        ("minDomains", constraint.min_domains, None),
        ("nodeAffinityPolicy", constraint.node_affinity_policy, "Honor"),
        ("nodeTaintsPolicy", constraint.node_taints_policy, "Ignore"),
    ):
        now = written.get(field) or default
        if now != (own or default):
            changed.append((field, now))
    return Origin(OriginKind.CHANGED_TEMPLATE if changed else OriginKind.TEMPLATE, owner, tuple(changed))
