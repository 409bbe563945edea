"""DynamicResources for pods without claims, which is all that is decided here.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (v1.36.2). Claims are not allocated.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from tests.naive.framework import (
    CycleState,
    default_normalize_score,
    error,
    Handle,
    NodeToStatus,
    SKIP,
    Status,
    unschedulable,
)
from tests.naive.nodeinfo import NodeInfo

Plain = dict[str, Any]


class _State(NamedTuple):
    """That PreFilter ran."""

    def clone(self) -> _State:
        return self


class DynamicResources:
    """What the plug-in says of a pod without claims."""

    name = "DynamicResources"

    def __init__(self, args: Plain, handle: Handle) -> None:
        pass

    def pre_filter(self, state: CycleState, pod: Plain) -> tuple[Optional[frozenset[str]], Status]:
        # The state is written even when there is nothing to do: PostFilter looks for it.
        state.values[self.name] = _State()
        return None, SKIP

    def post_filter(self, state: CycleState, pod: Plain, statuses: NodeToStatus) -> tuple[Optional[str], Status]:
        if self.name not in state.values:
            # An earlier plug-in's PreFilter gave up before this one's ran.
            return None, error("not found")
        return None, unschedulable("no new claims to deallocate")


class ScoringDynamicResources:
    """The plug-in since it scores (1.35)."""

    name = "DynamicResources"

    def __init__(self, args: Plain, handle: Handle) -> None:
        self._unscoring = DynamicResources(args, handle)
        self.pre_filter = self._unscoring.pre_filter
        self.post_filter = self._unscoring.post_filter

    def score(self, state: CycleState, pod: Plain, node: NodeInfo) -> int:
        return 0

    def normalize_score(self, state: CycleState, scores: list[int], nodes: list[NodeInfo]) -> list[int]:
        return default_normalize_score(scores, reverse=False)
