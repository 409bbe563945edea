"""The requirements of a pod, one by one.

A plugin stops at its first reason, and the framework at the first plugin. Here every requirement is evaluated for every
node, so that the next failures are visible, too. The requirements of a plugin together leave exactly the nodes that
the plugin leaves. A cordon covers NodeUnschedulable and its taint; a claim covers VolumeBinding and VolumeZone.

Each requirement is evaluated with the whole pod, because the scheduler has no answer for a part of a pod. This concerns
three things. The node affinity, the tolerations and the keys of all hard constraints decide which nodes and pods a
spread constraint counts. All affinity terms together decide which pods satisfy the affinity. Pods that are nominated
to a node reduce its capacity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns, unique
from kubectl_spread.containers import grouped
from kubectl_spread.explain.requirements import node, pod_affinity
from kubectl_spread.explain.requirements.requirement import (
    first_sentences,
    nodes,
    Requirement,
    RequirementKind,
    short_list,
)
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, PreFilterState
from kubectl_spread.text.wording import count_noun

_MAKERS: dict[str, Callable[[PluginResult, PodClass, Columns], Iterable[Requirement]]] = {
    names.NODE_NAME: node.node_name,
    names.NODE_AFFINITY: node.node_affinity,
    names.NODE_PORTS: node.ports,
    names.NODE_RESOURCES_FIT: node.resources,
    names.VOLUME_RESTRICTIONS: node.restrictions,
    names.NODE_VOLUME_LIMITS: node.limits,
    names.INTER_POD_AFFINITY: pod_affinity.requirements,
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
