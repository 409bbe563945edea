"""Required pod affinity and anti-affinity, of the pod and of running pods.

A pod satisfies a pod's affinity if it matches all terms. All terms also decide whether the pod may be the first of its
group (`interpodaffinity`). Each term is a separate requirement about the domains of these pods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.cluster.tables.columns import Bools, Columns, unique
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.explain.requirements.resources import Indices, pods_on_nodes
from kubectl_spread.explain.wording import first_sentences, MOST_GROUPS, selector_text, summarize_nodes
from kubectl_spread.objects.affinity import PodAffinityTerm
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors.labels import HOSTNAME
from kubectl_spread.objects.selectors.selector import Selector
from kubectl_spread.scheduler.filter_result import PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.interpodaffinity import incoming_term

MOST_OTHERS = 16


def requirements(verdict: PluginResult, cls: PodClass, columns: Columns) -> list[Requirement]:  # noqa: ARG001
    """Return the pod's own terms, then the anti-affinity of running pods, in the plugin's order."""
    own = _anti_affinity(cls, columns)
    others = [_with_cause(item, own) for item in _others(cls, columns)]
    return [*_affinity(cls, columns), *(item.requirement for item in own), *others]


def of_classes(classes: Bools, columns: Columns) -> Indices:
    """Return the bound pods of some classes; `classes`: bool (C,)."""
    if not len(classes):
        return np.zeros(0, np.intp)
    return np.flatnonzero(classes[columns.bound_classes])


class _Domains(NamedTuple):
    """The domains of a key that have certain pods.

    codes: int32 (N,) of the key. has: bool (D + 1,), the last False.
    """

    codes: NDArray[np.int32]
    has: Bools
    pods: Indices

    @property
    def nodes(self) -> Bools:
        """Return bool (N,): the nodes of the domains that have these pods."""
        return self.has[self.codes]


def _domains(key: str, pods: Indices, columns: Columns) -> _Domains:
    topology = columns.topology(key)
    has = np.zeros(len(topology.values) + 1, np.bool_)
    has[topology.codes[columns.bound_nodes[pods]]] = True
    has[-1] = False
    return _Domains(topology.codes, has, pods)


class _Rule(NamedTuple):
    """An anti-affinity rule and the pods that define it: indices into `bound_pods`."""

    requirement: Requirement
    topology_key: str
    pods: Indices


class _Against(NamedTuple):
    """The anti-affinity of another workload's pods; `namespace` is empty if it is the same as the pod's."""

    owner: Optional[ObjectKey]
    namespace: str
    key: str
    selector: Selector


def _others(cls: PodClass, columns: Columns) -> list[_Rule]:
    """Return one rule for each workload and key; merge the rules beyond `MOST_OTHERS`."""
    labels, namespace_labels = dict(cls.labels), columns.labels_of(cls.namespace)
    found: dict[_Against, set[int]] = {}
    if columns.has_pod_affinity:
        for at, known in enumerate(columns.classes):
            for term in known.pod_anti_affinity:
                if term.matches(cls.namespace, labels, namespace_labels):
                    owner = owner_of(known, columns.cluster)
                    namespace = "" if known.namespace == cls.namespace else known.namespace
                    against = _Against(owner, namespace, term.topology_key, term.selector)
                    found.setdefault(against, set()).add(at)
    located = [(who, _domains(who.key, _pods(at_classes, columns), columns)) for who, at_classes in found.items()]
    kept = [(who, domains) for who, domains in located if domains.has.any()]
    kept.sort(key=lambda item: -int(item[1].nodes.sum()))
    return [_other(*item, columns) for item in kept[:MOST_OTHERS]] + _rest(kept[MOST_OTHERS:], columns)


def _pods(at_classes: set[int], columns: Columns) -> Indices:
    mask = np.zeros(len(columns.classes), np.bool_)
    mask[list(at_classes)] = True
    return of_classes(mask, columns)


def _other(who: _Against, domains: _Domains, columns: Columns) -> _Rule:
    owner = "" if who.owner is None else f"{who.owner.kind} {who.owner.name}"
    place = f" of namespace {who.namespace}" if who.namespace else ""
    requirement = Requirement(
        names.INTER_POD_AFFINITY,
        f"the anti-affinity of {owner or 'pods without a controller'}{place} on {who.key} "
        f"against {_selected(who.selector)}",
        ~domains.nodes,
        kind=RequirementKind.OTHERS_ANTI_AFFINITY,
        key=f"{owner}{place}/{who.key}",
        why=_pods_in_domains(domains, who.key, columns),
    )
    return _Rule(requirement, who.key, domains.pods)


def _rest(others: list[tuple[_Against, _Domains]], columns: Columns) -> list[_Rule]:
    if not others:
        return []
    refused = np.logical_or.reduce([domains.nodes for _, domains in others])
    requirement = Requirement(
        names.INTER_POD_AFFINITY,
        f"the anti-affinity of {len(others)} more workloads",
        ~refused,
        kind=RequirementKind.OTHERS_ANTI_AFFINITY,
        why=lambda among: f"their pods keep the pod away from {summarize_nodes(refused & among, columns)}",
    )
    return [_Rule(requirement, "", np.zeros(0, np.intp))]


def _anti_affinity(cls: PodClass, columns: Columns) -> list[_Rule]:
    found = []
    for index, term in enumerate(cls.pod_anti_affinity):
        key = term.topology_key
        domains = _domains(key, of_classes(_matching((term,), columns), columns), columns)
        requirement = Requirement(
            names.INTER_POD_AFFINITY,
            f"pod anti-affinity on {key} against {_selected(term.selector)}",
            ~domains.nodes,
            kind=RequirementKind.ANTI_AFFINITY,
            key=key,
            at=index,
            why=_pods_in_domains(domains, key, columns),
        )
        found.append(_Rule(requirement._replace(cause=requirement.id), key, domains.pods))
    return found


def _with_cause(other: _Rule, own: list[_Rule]) -> Requirement:
    """Give the anti-affinity of other pods the cause of the own rule that it mirrors."""
    for rule in own:
        is_other_side = rule.topology_key == other.topology_key and bool(np.isin(other.pods, rule.pods).all())
        if is_other_side and np.array_equal(rule.requirement.allowed, other.requirement.allowed):
            return other.requirement._replace(cause=rule.requirement.cause)
    return other.requirement


def _affinity(cls: PodClass, columns: Columns) -> list[Requirement]:
    terms = cls.pod_affinity
    if not terms:
        return []
    pods = of_classes(_matching(terms, columns), columns)
    located = [_domains(term.topology_key, pods, columns) for term in terms]
    labels = dict(cls.labels)
    own = all(incoming_term(term, columns).matches(cls, labels) for term in terms)
    is_first = own and not any(domains.has.any() for domains in located)
    found = []
    for index, (term, domains) in enumerate(zip(terms, located, strict=True)):
        mask = domains.codes >= 0 if is_first else domains.nodes
        found.append(
            Requirement(
                names.INTER_POD_AFFINITY,
                f"pod affinity on {term.topology_key} to {_selected(term.selector)}",
                mask,
                kind=RequirementKind.AFFINITY,
                key=term.topology_key,
                at=index,
                why=_why_alone(term, domains, ~mask, columns),
            )
        )
    return found


def _matching(terms: tuple[PodAffinityTerm, ...], columns: Columns) -> Bools:
    """Return the classes of pods that match all terms: bool (C,)."""
    incoming = [incoming_term(term, columns) for term in terms]
    matches = []
    for known in columns.classes:
        labels = dict(known.labels)
        matches.append(all(term.matches(known, labels) for term in incoming))
    return np.array(matches, np.bool_)


def _selected(selector: Selector) -> str:
    return "any pod" if selector.is_empty else selector_text(selector)


def _pods_in_domains(domains: _Domains, key: str, columns: Columns) -> Callable[[Bools], str]:
    """Return `zone a has web-0 on a1; zone b has db-0 on b1`."""

    def why(among: Bools) -> str:
        topology = columns.topology(key)
        refused = domains.nodes & among
        codes = unique(topology.codes[refused])
        of_pods = topology.codes[columns.bound_nodes[domains.pods]]
        if len(codes) > MOST_GROUPS or key == HOSTNAME:
            pods = domains.pods[np.isin(of_pods, codes)]
            return f"matching pods already run: {pods_on_nodes(pods.tolist(), columns)}"
        return first_sentences(
            f"{key}={topology.values[code]} has {pods_on_nodes(domains.pods[of_pods == code].tolist(), columns)}"
            for code in codes.tolist()
        )

    return why


def _why_alone(term: PodAffinityTerm, domains: _Domains, refused: Bools, columns: Columns) -> Callable[[Bools], str]:
    key = term.topology_key

    def why(among: Bools) -> str:
        found = refused & among
        lacking = found & (domains.codes < 0)
        parts = []
        if (found & ~lacking).any():
            text = "no matching pod runs on any node"
            if len(domains.pods):
                text = f"matching pods run elsewhere: {pods_on_nodes(domains.pods.tolist(), columns)}"
            parts.append(text)
        if lacking.any():
            parts.append(f"{key} is missing on {summarize_nodes(lacking, columns)}")
        return first_sentences(parts)

    return why
