"""Reasons why nodes are not counted, or cannot run a pod: one reason for each group of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kubectl_spread.cluster.tables.columns import Bools, Columns, Int32s, Int64s, unique
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.objects.node import NodeReason, NodeReasonKind
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.taints import Taint
from kubectl_spread.scheduler.filter_result import FilterResult, PluginResult
from kubectl_spread.scheduler.framework.status import status_of
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint, match_affinity

_MOST = 3  # reasons of one domain


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
            domain: tuple(self.reasons[code] for _, code in sorted(of_domain)[:_MOST])
            for domain, of_domain in frequencies.items()
        }


class _Collector:
    """Reasons in the order they are added; the first reason of a node counts."""

    def __init__(self, columns: Columns) -> None:
        self._codes: Int64s = np.full(columns.n, -1, np.int64)
        self._reasons: dict[NodeReason, int] = {}

    def add(self, reason: NodeReason, mask: Bools) -> None:
        """Give a reason to the nodes of a mask (bool (N,)) that have no reason yet."""
        fresh = mask & (self._codes < 0)
        if fresh.any():
            self._codes[fresh] = self._reasons.setdefault(reason, len(self._reasons))

    def reasons(self) -> NodeReasons:
        return NodeReasons(self._codes, tuple(self._reasons))


def _first_untolerated(cls: PodClass, columns: Columns) -> dict[Taint, Bools]:
    """Return nodes (bool (N,)) by their first untolerated taint."""
    codes, taints = columns.tainted.first(cls.tolerations)
    return {taint: codes == at for at, taint in enumerate(taints)}


class PodNodes(NamedTuple):
    """Facts about one pod that several constraints need, computed once.

    affinity: bool (N,), nodes that its node affinity and nodeSelector take. tainted: nodes by their first
    untolerated taint.
    """

    affinity: Bools
    tainted: dict[Taint, Bools]


def pod_nodes(cls: PodClass, columns: Columns) -> PodNodes:
    """Return the facts that decide whether constraints count nodes."""
    return PodNodes(match_affinity(cls.node_requirement, columns), _first_untolerated(cls, columns))


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
    constraint: Constraint, missing: Mapping[str, Bools], nodes: PodNodes, columns: Columns
) -> NodeReasons:
    """Return why a constraint does not count nodes; `missing` are the nodes without labels, see `missing_labels`."""
    collector = _Collector(columns)
    if constraint.honors_affinity:
        collector.add(NodeReason(NodeReasonKind.OUTSIDE_AFFINITY), ~nodes.affinity)
    if constraint.honors_taints:
        for taint, mask in nodes.tainted.items():
            collector.add(NodeReason(NodeReasonKind.HONORED_TAINT, taint=taint), mask)
    for key, mask in missing.items():
        collector.add(NodeReason(NodeReasonKind.MISSING_LABEL, key), mask)
    return collector.reasons()


# Plugins whose requirements are more precise than their reasons.
_WITH_REQUIREMENTS = (
    names.NODE_AFFINITY,
    names.NODE_PORTS,
    names.VOLUME_RESTRICTIONS,
    names.VOLUME_BINDING,
    names.VOLUME_ZONE,
    names.INTER_POD_AFFINITY,
)


def reasons_for_not_running(
    filtered: FilterResult, nodes: PodNodes, *, refusing: Sequence[Requirement] = ()
) -> NodeReasons:
    """Return why nodes cannot run the pod, spread constraints aside: the first plugin that refuses each node.

    `refusing`: the pod's requirements, which replace the plugin's reason if they are more precise.
    """
    collector = _Collector(filtered.columns)
    for at, status in filtered.nominated.items():
        mask = np.zeros(filtered.columns.n, np.bool_)
        mask[at] = True
        for verdict in filtered.plugin_results:
            mask &= verdict.bits == 0
        collector.add(NodeReason(NodeReasonKind.PLUGIN, words=status.reasons), mask)
    for verdict in filtered.plugin_results:
        if verdict.plugin != names.POD_TOPOLOGY_SPREAD and verdict.bits.any():
            for requirement in refusing:
                if requirement.plugin == verdict.plugin and verdict.plugin in _WITH_REQUIREMENTS:
                    reason = NodeReason(NodeReasonKind.REQUIREMENT, requirement.id, words=(requirement.text,))
                    collector.add(reason, ~requirement.allowed)
            _add_plugin(verdict, nodes, collector)
    return collector.reasons()


def _add_plugin(verdict: PluginResult, nodes: PodNodes, collector: _Collector) -> None:
    """Add a plugin's own reasons; of taints, the taint."""
    bits = verdict.bits
    if verdict.plugin == names.TAINT_TOLERATION:
        for taint, mask in nodes.tainted.items():
            collector.add(NodeReason(NodeReasonKind.UNTOLERATED_TAINT, taint=taint), mask)
    elif verdict.plugin == names.NODE_UNSCHEDULABLE:
        collector.add(NodeReason(NodeReasonKind.CORDON), bits != 0)
    else:
        for value in unique(bits[bits != 0]).tolist():
            reasons = status_of(verdict.plugin, verdict.state.reasons, value).reasons
            collector.add(NodeReason(NodeReasonKind.PLUGIN, words=reasons), bits == np.uint64(value))
