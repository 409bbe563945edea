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

from collections.abc import Callable, Iterable

import numpy as np

from kubectl_spread.cluster.tables.columns import Bools, Columns, unique
from kubectl_spread.explain.requirements import node, pod_affinity, resources, taints, volumes
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.explain.wording import first_sentences, nodes, short_list
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, PreFilterState
from kubectl_spread.text.wording import count_noun

# Plugins whose requirements are part of another plugin's.
_WITH_ANOTHER = (names.TAINT_TOLERATION, names.VOLUME_ZONE)

_MAKERS: dict[str, Callable[[PluginResult, PodClass, Columns], Iterable[Requirement]]] = {
    names.NODE_NAME: node.node_name,
    names.NODE_AFFINITY: node.node_affinity,
    names.NODE_PORTS: resources.ports,
    names.NODE_RESOURCES_FIT: resources.resources,
    names.VOLUME_RESTRICTIONS: volumes.restrictions,
    names.NODE_VOLUME_LIMITS: volumes.limits,
    names.INTER_POD_AFFINITY: pod_affinity.requirements,
    names.NODE_DECLARED_FEATURES: node.features,
}


def requirements(cls: PodClass, filtered: FilterResult) -> list[Requirement]:
    """Return every requirement that at least one node does not meet, in the order the plugins run."""
    found: list[Requirement] = []
    done: set[str] = set()
    for verdict in filtered.plugin_results:
        if verdict.plugin in (names.NODE_UNSCHEDULABLE, names.TAINT_TOLERATION):
            made: Iterable[Requirement] = () if "health" in done else taints.health(cls, filtered)
            done.add("health")
        elif verdict.plugin in (names.VOLUME_BINDING, names.VOLUME_ZONE):
            made = () if "claims" in done else volumes.claims(cls, filtered)
            done.add("claims")
        else:
            made = _of_plugin(verdict, cls, filtered)
        found += made
    named = node.named_nodes(filtered)
    found += [] if named is None else [named]
    found += _nominated(filtered)
    return [requirement for requirement in found if not requirement.allowed.all()]


def _of_plugin(verdict: PluginResult, cls: PodClass, filtered: FilterResult) -> Iterable[Requirement]:
    columns, plugin = filtered.columns, verdict.plugin
    if isinstance(verdict.state, PreFilterState):
        return [_spread(cls, counts) for counts in verdict.state.counts]
    if not verdict.bits.any():
        return ()
    if plugin in _MAKERS:
        return _MAKERS[plugin](verdict, cls, columns)
    return [Requirement(plugin, plugin, verdict.bits == 0)]


def constraint_name(position: int, *, is_default: bool) -> str:
    """Return the field that holds a constraint: in the pod, or in the arguments of the scheduler's plugin."""
    return f"{'defaultConstraints' if is_default else 'topologySpreadConstraints'}[{position}]"


def _spread(cls: PodClass, counts: DomainCounts) -> Requirement:
    constraint = counts.constraint
    name = constraint_name(constraint.position, is_default=not cls.constraints)
    return Requirement(
        names.POD_TOPOLOGY_SPREAD,
        f"{name} ({constraint.topology_key}, maxSkew {constraint.max_skew})",
        counts.fits().copy(),
        constraint.position,
        RequirementKind.CONSTRAINT,
        constraint.topology_key,
        constraint.position,
        _why_skewed(counts),
    )


def _why_skewed(counts: DomainCounts) -> Callable[[Bools], str]:
    """Return `2 + 1 - 0 = 3 > 1 in a, b; 1 node without topology.kubernetes.io/zone: x1`."""

    def why(among: Bools) -> str:
        topology, constraint = counts.topology, counts.constraint
        codes = topology.codes[among & ~counts.fits()]
        match_num, least = counts.match_num, counts.min_match_num
        by_number: dict[int, list[str]] = {}
        for code in unique(codes[codes >= 0]).tolist():
            by_number.setdefault(int(match_num[code]), []).append(topology.values[code])
        self_match_num, most = constraint.self_match_num, constraint.max_skew
        parts = [
            f"{number} + {self_match_num} - {least} = {number + self_match_num - least} > {most} "
            f"in {short_list(sorted(by_number[number]))}"
            for number in sorted(by_number)
        ]
        lacking = int((codes < 0).sum())
        if lacking:
            parts.append(f"{constraint.topology_key} is missing on {count_noun(lacking, 'node')}")
        return first_sentences(parts)

    return why


def _nominated(filtered: FilterResult) -> list[Requirement]:
    """Return one requirement for the nodes that fit without the pods nominated to them."""
    if not filtered.nominated:
        return []
    columns = filtered.columns
    refused = np.zeros(columns.n, np.bool_)
    refused[list(filtered.nominated)] = True
    for verdict in filtered.plugin_results:
        refused &= verdict.bits == 0
    refused &= filtered.considered | (np.arange(columns.n) == filtered.own)
    if not refused.any():
        return []
    pods = [pod for pod in columns.cluster.pending() if pod.nominated_node]

    def why(among: Bools) -> str:
        found = refused & among
        here = {columns.nodes[at].name for at in np.flatnonzero(found).tolist()}
        waiting = [f"{pod.name} for {pod.nominated_node}" for pod in pods if pod.nominated_node in here]
        return f"nominated and waiting: {short_list(waiting)}" if waiting else f"pods wait for {nodes(found, columns)}"

    return [
        Requirement("", "the pods nominated to the nodes", ~refused, kind=RequirementKind.NOMINATED, why=why),
    ]
