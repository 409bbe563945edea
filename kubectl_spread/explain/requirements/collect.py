"""The requirements of a pod, one by one.

A plugin stops at its first reason, and the framework at the first plugin. Here every requirement is evaluated for every
node, so that the next failures are visible, too. The requirements of a plugin together leave exactly the nodes that
the plugin leaves. A cordon covers NodeUnschedulable and its taint; a claim covers VolumeBinding and VolumeZone.

Each requirement is evaluated with the whole pod, because the scheduler has no answer for a part of a pod. This concerns
three things. The node affinity, the tolerations and the keys of all hard constraints decide which nodes and pods a
spread constraint counts. All affinity terms together decide which pods satisfy the affinity, and whether the pod may be
the first of its group (`interpodaffinity`). Pods that are nominated to a node reduce its capacity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.columns import Bools, Columns, unique
from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.containers import grouped
from kubectl_spread.explain.requirements import node
from kubectl_spread.explain.requirements.node import Indices, pods_of, pods_on_nodes
from kubectl_spread.explain.requirements.requirement import (
    first_sentences,
    MOST_GROUPS,
    nodes,
    Requirement,
    RequirementKind,
    selector_text,
    short_list,
    summarize_nodes,
)
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.selectors import HOSTNAME, PodAffinityTerm, Selector
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.interpodaffinity import incoming_term
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, PreFilterState
from kubectl_spread.text.wording import count_noun

MOST_OTHERS = 16


def pod_affinity(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield the pod's own terms, then the anti-affinity of running pods, in the plugin's order."""
    terms = cls.pod_affinity
    classes = _matching(terms, columns) if terms else []
    located = [_domains(term.topology_key, classes, columns) for term in terms]
    labels = dict(cls.labels)
    is_own = all(incoming_term(term, columns).matches(cls, labels) for term in terms)
    is_first = is_own and not any(domains.nodes.any() for domains in located)
    for at, (term, domains) in enumerate(zip(terms, located, strict=True)):
        text = f"pod affinity on {domains.key} to {_selected(term.selector)}"
        allowed = domains.codes >= 0 if is_first else domains.nodes
        why = partial(_why_alone, domains, columns)
        yield Requirement(verdict.plugin, text, allowed, RequirementKind.AFFINITY, domains.key, at, why)
    own: list[tuple[Requirement, _Domains]] = []
    for at, term in enumerate(cls.pod_anti_affinity):
        domains = _domains(term.topology_key, _matching((term,), columns), columns)
        text = f"pod anti-affinity on {domains.key} against {_selected(term.selector)}"
        rule = _rule(text, RequirementKind.ANTI_AFFINITY, domains.key, domains, columns)._replace(at=at)
        own.append((rule._replace(cause=rule.id), domains))
        yield own[-1][0]
    others = _others(cls, columns)
    for (key, namespace, topology_key, selector), domains in others[:MOST_OTHERS]:
        owner = "" if key is None else f"{key.kind} {key.name}"
        place = f" of namespace {namespace}" if namespace else ""
        text = f"the anti-affinity of {owner or 'pods without a controller'}{place} on {topology_key} "
        text += f"against {_selected(selector)}"
        rule = _rule(text, RequirementKind.OTHERS_ANTI_AFFINITY, f"{owner}{place}/{topology_key}", domains, columns)
        # It has the cause of the own rule that it mirrors.
        mirrored = (
            item.cause
            for item, others in own
            if others.key == domains.key
            and np.isin(domains.pods, others.pods).all()
            and np.array_equal(item.allowed, rule.allowed)
        )
        yield rule._replace(cause=next(mirrored, ""))
    if len(others) > MOST_OTHERS:
        allowed = ~np.logical_or.reduce([domains.nodes for _, domains in others[MOST_OTHERS:]])
        yield Requirement(
            names.INTER_POD_AFFINITY,
            f"the anti-affinity of {len(others) - MOST_OTHERS} more workloads",
            allowed,
            RequirementKind.OTHERS_ANTI_AFFINITY,
            why=lambda refused: f"their pods keep the pod away from {summarize_nodes(refused, columns)}",
        )


class _Domains(NamedTuple):
    """The domains of a key that have certain pods.

    pods: indices into `bound_pods`. codes: int32 (N,) of the key. nodes: bool (N,), the nodes of these domains.
    """

    key: str
    pods: Indices
    codes: NDArray[np.int32]
    nodes: Bools


def _domains(key: str, classes: Iterable[bool], columns: Columns) -> _Domains:
    """Return the domains with pods of some classes; `classes`: whether each class is one of them."""
    topology, pods = columns.topology(key), pods_of(classes, columns)
    has = np.zeros(len(topology.values) + 1, np.bool_)
    has[topology.codes[columns.bound_nodes[pods]]] = True
    has[-1] = False  # nodes without the key
    return _Domains(key, pods, topology.codes, has[topology.codes])


def _rule(text: str, kind: RequirementKind, key: str, domains: _Domains, columns: Columns) -> Requirement:
    """Return an anti-affinity rule: it refuses the domains of the pods."""
    why = partial(_pods_in_domains, domains, columns)
    return Requirement(names.INTER_POD_AFFINITY, text, ~domains.nodes, kind, key, why=why)


# The anti-affinity of another workload's pods: owner, namespace (empty for the pod's own), topology key and selector.
_Against = tuple[Optional[ObjectKey], str, str, Selector]


def _others(cls: PodClass, columns: Columns) -> list[tuple[_Against, _Domains]]:
    """Return the domains that each other workload keeps the pod out of, the one with the most nodes first."""
    if not columns.has_pod_affinity:
        return []
    labels, namespace_labels = dict(cls.labels), columns.labels_of(cls.namespace)
    classes: dict[_Against, set[int]] = {}
    for at, known in enumerate(columns.classes):
        for term in known.pod_anti_affinity:
            if term.matches(cls.namespace, labels, namespace_labels):
                owner = owner_of(known, columns.cluster)
                namespace = "" if known.namespace == cls.namespace else known.namespace
                classes.setdefault((owner, namespace, term.topology_key, term.selector), set()).add(at)
    located = [
        (who, _domains(who[2], (at in of_who for at in range(len(columns.classes))), columns))
        for who, of_who in classes.items()
    ]
    kept = [(who, domains) for who, domains in located if domains.nodes.any()]
    return sorted(kept, key=lambda item: -int(item[1].nodes.sum()))


def _matching(terms: tuple[PodAffinityTerm, ...], columns: Columns) -> list[bool]:
    """Return whether the pods of each class match all terms."""
    incoming = [incoming_term(term, columns) for term in terms]
    return [
        all(term.matches(known, labels) for term in incoming)
        for known in columns.classes
        for labels in [dict(known.labels)]
    ]


def _selected(selector: Selector) -> str:
    return "any pod" if selector.is_empty else selector_text(selector)


def _pods_in_domains(domains: _Domains, columns: Columns, refused: Bools) -> str:
    """Return `zone a has web-0 on a1; zone b has db-0 on b1`."""
    codes = unique(domains.codes[refused])
    of_pods = domains.codes[columns.bound_nodes[domains.pods]]
    if len(codes) > MOST_GROUPS or domains.key == HOSTNAME:
        pods = domains.pods[np.isin(of_pods, codes)]
        return f"matching pods already run: {pods_on_nodes(pods.tolist(), columns)}"
    values = columns.topology(domains.key).values
    return first_sentences(
        f"{domains.key}={values[code]} has {pods_on_nodes(domains.pods[of_pods == code].tolist(), columns)}"
        for code in codes.tolist()
    )


def _why_alone(domains: _Domains, columns: Columns, refused: Bools) -> str:
    lacking = refused & (domains.codes < 0)
    parts = []
    if (refused & ~lacking).any():
        text = "no matching pod runs on any node: start one, or correct the selector"
        if len(domains.pods):
            text = f"matching pods run elsewhere: {pods_on_nodes(domains.pods.tolist(), columns)}"
        parts.append(text)
    if lacking.any():
        parts.append(f"{domains.key} is missing on {summarize_nodes(lacking, columns)}")
    return first_sentences(parts)


_MAKERS: dict[str, Callable[[PluginResult, PodClass, Columns], Iterable[Requirement]]] = {
    names.NODE_NAME: node.node_name,
    names.NODE_AFFINITY: node.node_affinity,
    names.NODE_PORTS: node.ports,
    names.NODE_RESOURCES_FIT: node.resources,
    names.VOLUME_RESTRICTIONS: node.restrictions,
    names.NODE_VOLUME_LIMITS: node.limits,
    names.INTER_POD_AFFINITY: pod_affinity,
    names.NODE_DECLARED_FEATURES: node.features,
}
# Requirements that two plugins check: they are at the place of the first of them.
_OF_TWO_PLUGINS: dict[str, Callable[[PodClass, FilterResult], Iterable[Requirement]]] = {
    names.NODE_UNSCHEDULABLE: node.health,
    names.TAINT_TOLERATION: node.health,
    names.VOLUME_BINDING: node.claims,
    names.VOLUME_ZONE: node.claims,
}


def requirements(cls: PodClass, filtered: FilterResult) -> list[Requirement]:
    """Return every requirement that at least one node does not meet, in the order the plugins run."""
    found = [*_of_plugins(cls, filtered), *node.named_nodes(filtered), *_nominated(filtered)]
    return [requirement for requirement in found if not requirement.allowed.all()]


def _of_plugins(cls: PodClass, filtered: FilterResult) -> Iterator[Requirement]:
    left = set(_OF_TWO_PLUGINS.values())
    for verdict in filtered.plugin_results:
        plugin = verdict.plugin
        if plugin in _OF_TWO_PLUGINS:
            if (maker := _OF_TWO_PLUGINS[plugin]) in left:
                left.remove(maker)
                yield from maker(cls, filtered)
        elif isinstance(verdict.state, PreFilterState):
            for counts in verdict.state.counts:
                constraint = counts.constraint
                name = constraint_name(constraint.position, is_default=not cls.constraints)
                yield Requirement(
                    plugin,
                    f"{name} ({constraint.topology_key}, maxSkew {constraint.max_skew})",
                    counts.fits().copy(),
                    RequirementKind.CONSTRAINT,
                    constraint.topology_key,
                    constraint.position,
                    partial(_why_skewed, counts),
                )
        elif plugin in _MAKERS and verdict.bits.any():
            yield from _MAKERS[plugin](verdict, cls, filtered.columns)
        elif verdict.bits.any():
            yield Requirement(plugin, plugin, verdict.bits == 0)


def constraint_name(position: int, *, is_default: bool) -> str:
    """Return the field that holds a constraint: in the pod, or in the arguments of the scheduler's plugin."""
    return f"{'defaultConstraints' if is_default else 'topologySpreadConstraints'}[{position}]"


def _why_skewed(counts: DomainCounts, refused: Bools) -> str:
    """Return `2 + 1 - 0 = 3 > 1 in a, b; 1 node without topology.kubernetes.io/zone: x1`."""
    topology, constraint = counts.topology, counts.constraint
    codes = topology.codes[refused]
    by_number = grouped(
        (int(counts.match_num[code]), topology.values[code]) for code in unique(codes[codes >= 0]).tolist()
    )
    parts = []
    for number in sorted(by_number):
        skew = number + constraint.self_match_num - counts.min_match_num
        sum_text = f"{number} + {constraint.self_match_num} - {counts.min_match_num} = {skew}"
        parts.append(f"{sum_text} > {constraint.max_skew} in {short_list(sorted(by_number[number]))}")
    lacking = int((codes < 0).sum())
    if lacking:
        parts.append(f"{constraint.topology_key} is missing on {count_noun(lacking, 'node')}")
    return first_sentences(parts)


def _nominated(filtered: FilterResult) -> Iterator[Requirement]:
    """Yield one requirement for the nodes that fit without the pods nominated to them."""
    if not filtered.nominated:
        return
    columns = filtered.columns
    fits = filtered.considered | (np.arange(columns.n) == filtered.own)
    for verdict in filtered.plugin_results:
        fits &= verdict.bits == 0
    allowed = np.ones(columns.n, np.bool_)
    allowed[list(filtered.nominated)] = False

    def why(refused: Bools) -> str:
        here = {columns.nodes[at].name for at in np.flatnonzero(refused).tolist()}
        pods = [pod for pod in columns.cluster.pending() if pod.nominated_node in here]
        names = short_list([f"{pod.known_name} for {pod.nominated_node}" for pod in pods])
        return f"nominated and waiting: {names}" if pods else f"pods wait for {nodes(refused, columns)}"

    yield Requirement("", "the pods nominated to the nodes", allowed | ~fits, kind=RequirementKind.NOMINATED, why=why)
