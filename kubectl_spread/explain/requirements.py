"""The requirements of a pod, one by one, and the smallest sets of them that leave no node.

A plugin stops at its first reason, and the framework at the first plugin. Here every requirement is asked about
every node, so that what would fail next is seen too.
"""

from __future__ import annotations

from typing import NamedTuple
from typing import Optional

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.taints import first_untolerated
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.cycle import Verdict
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PreFilterState

MAX_SETS = 20


class Requirement(NamedTuple):
    """One condition that a node must meet.

    allowed: bool (N,). `position` is that of a spread constraint, None for anything else.
    """

    plugin: str
    text: str
    allowed: Bools
    position: Optional[int] = None


class Conflict(NamedTuple):
    """Requirements that no node meets together, though any fewer of them some node does."""

    requirements: tuple[Requirement, ...]


def requirements(cls: PodClass, filtered: Filtered) -> list[Requirement]:
    """Every requirement that at least one node does not meet, in the order the plugins run."""
    found: list[Requirement] = []
    for verdict in filtered.verdicts:
        if isinstance(verdict.state, PreFilterState):
            found += [_spread(cls, counts) for counts in verdict.state.counts]
        elif verdict.plugin == names.TAINT_TOLERATION:
            found += _taints(cls, filtered)
        else:
            found += _by_reason(verdict, cls)
    return [requirement for requirement in found if not requirement.allowed.all()]


def conflicts(found: list[Requirement]) -> list[Conflict]:
    """All irredundant sets of requirements that leave no node, the smallest first; at most `MAX_SETS`.

    Each node is refused by a set of requirements, and a conflict must contain one of them for every node: the
    conflicts are the minimal hitting sets, found by adding node after node (Berge's algorithm).
    """
    if not found:
        return []
    failing = ~np.array([requirement.allowed for requirement in found], np.bool_)  # (R, N)
    rows = {tuple(np.flatnonzero(column).tolist()) for column in failing.T}
    if () in rows:
        return []
    hitting: list[frozenset[int]] = [frozenset()]
    for row in sorted(rows, key=len):
        grown = {chosen if chosen.intersection(row) else chosen | {at} for chosen in hitting for at in row}
        hitting = [chosen for chosen in grown if not any(other < chosen for other in grown)]
    ordered = sorted(hitting, key=lambda chosen: (len(chosen), sorted(chosen)))
    return [Conflict(tuple(found[at] for at in sorted(chosen))) for chosen in ordered[:MAX_SETS]]


def _spread_violation(counts: DomainCounts) -> Bools:
    """Bool (N,): nodes that one constraint refuses, whatever the others say."""
    codes = counts.topology.codes
    if not len(counts.topology.values):
        return np.ones(len(codes), np.bool_)
    return (codes < 0) | (counts.skew() > counts.constraint.max_skew)[codes]


def constraint_name(position: int, *, is_default: bool) -> str:
    """A constraint where it is written: in the pod, or in the arguments of the scheduler's plugin."""
    return f"{'defaultConstraints' if is_default else 'topologySpreadConstraints'}[{position}]"


def _spread(cls: PodClass, counts: DomainCounts) -> Requirement:
    constraint = counts.constraint
    name = constraint_name(constraint.position, is_default=not cls.constraints)
    text = f"{name} ({constraint.topology_key}, maxSkew {constraint.max_skew})"
    return Requirement(names.POD_TOPOLOGY_SPREAD, text, ~_spread_violation(counts), constraint.position)


def _taints(cls: PodClass, filtered: Filtered) -> list[Requirement]:
    """One requirement a taint, so that each taint group is named."""
    first = [first_untolerated(node.taints, cls.tolerations) for node in filtered.columns.nodes]
    return [
        Requirement(
            names.TAINT_TOLERATION,
            f"taint {taint}",
            np.array([other != taint for other in first], np.bool_),
        )
        for taint in dict.fromkeys(taint for taint in first if taint is not None)
    ]


_TEXTS = {
    names.NODE_UNSCHEDULABLE: "a cordon",
    names.NODE_NAME: "spec.nodeName",
    names.NODE_PORTS: "a host port in use",
}


def _by_reason(verdict: Verdict, cls: PodClass) -> list[Requirement]:
    """One requirement a reason text; reasons that differ only in their code are one."""
    masks: dict[str, int] = {}
    for at, reason in enumerate(verdict.state.reasons):
        masks[reason.text] = masks.get(reason.text, 0) | 1 << at
    return [
        Requirement(verdict.plugin, _text(verdict.plugin, reason, cls), (verdict.bits & np.uint64(mask)) == 0)
        for reason, mask in masks.items()
    ]


def _text(plugin: str, reason: str, cls: PodClass) -> str:
    if plugin == names.NODE_AFFINITY:
        parts = ["nodeSelector"] if cls.node_selector else []
        parts += ["node affinity"] if cls.node_affinity.required is not None else []
        return " and ".join(parts)
    if plugin == names.NODE_RESOURCES_FIT:
        return (
            "the limit of pods per node"
            if reason == "Too many pods"
            else f"the {reason.removeprefix('Insufficient ')} request"
        )
    if plugin == names.INTER_POD_AFFINITY:
        if "existing" in reason:
            return "anti-affinity of running pods"
        return "pod anti-affinity" if "anti-affinity" in reason else "pod affinity"
    return _TEXTS.get(plugin, plugin)
