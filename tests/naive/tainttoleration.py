"""Taints and tolerations.

Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go (v1.36.2; v1.34.1 for its reason).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.naive import selectors
from tests.naive.framework import CycleState, default_normalize_score, Handle, Status, SUCCESS, unresolvable
from tests.naive.nodeinfo import NodeInfo

Plain = dict[str, Any]


class _Tolerations(NamedTuple):
    """The tolerations that speak of PreferNoSchedule."""

    prefer_no_schedule: list[Plain]


class TaintToleration:
    """Keep off tainted nodes, and prefer the less tainted."""

    name = "TaintToleration"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self.names_the_taint = handle.version < (1, 35)

    def filter(self, state: CycleState, pod: Plain, node: NodeInfo) -> Status:
        taint = selectors.find_matching_untolerated_taint(node.node, pod)
        if taint is None:
            return SUCCESS
        if self.names_the_taint:
            return unresolvable(f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value') or ''}}}")
        return unresolvable("node(s) had untolerated taint(s)")

    def pre_score(self, state: CycleState, pod: Plain, nodes: list[NodeInfo]) -> Status:
        state.values[self.name] = _Tolerations(get_all_tolerations_prefer_no_schedule(pod))
        return SUCCESS

    def score(self, state: CycleState, pod: Plain, node: NodeInfo) -> int:
        return count_intolerable_taints_prefer_no_schedule(
            (node.node.get("spec") or {}).get("taints") or [], state.read(self.name).prefer_no_schedule
        )

    def normalize_score(self, state: CycleState, scores: list[int], nodes: list[NodeInfo]) -> list[int]:
        return default_normalize_score(scores, reverse=True)


def get_all_tolerations_prefer_no_schedule(pod: Plain) -> list[Plain]:
    tolerations = pod["spec"].get("tolerations") or []
    return [toleration for toleration in tolerations if toleration.get("effect") in (None, "", "PreferNoSchedule")]


def count_intolerable_taints_prefer_no_schedule(taints: list[Plain], tolerations: list[Plain]) -> int:
    count = 0
    for taint in taints:
        if taint.get("effect") != "PreferNoSchedule":
            continue
        if not selectors.tolerations_tolerate_taint(tolerations, taint):
            count += 1
    return count
