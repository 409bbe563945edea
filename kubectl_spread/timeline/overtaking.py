"""Races between the user's commands and the cluster: a command may come before a controller or kubelet has reacted.

The commands of one step follow each other without waiting. Most of them commute with the reactions to earlier ones:
applying ten new workloads leads to the same pods, whether controllers are fast or slow.
"""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.cluster.snapshot import key_of, OwnerKey
from kubectl_spread.timeline import steps
from kubectl_spread.timeline.state import State
from kubectl_spread.timeline.world import World

_ON_PODS = (
    steps.DeleteSome,
    steps.DeletePods,
    steps.DeleteSelected,
    steps.Evict,
    steps.PatchSome,
    steps.LabelPods,
    steps.SetCost,
    steps.Drain,
    steps.TaintNodes,
    steps.ChangeNodes,
    steps.DeleteNodes,
    steps.NodesDown,
)


def open_items(state: State) -> list[Any]:
    """Return the remaining commands of the user, without refused evictions."""
    return [item for item in state.todo if item[0] != "blocked"]


def may_overtake_controllers(world: World, state: State) -> bool:
    """Return whether the order matters: the next command, controllers' reactions to it, and the commands after it."""
    item, *later = open_items(state)
    key = _key(world.ops[item[1]]) if item[0] == "op" else None
    return any(
        other[0] != "op"
        or isinstance(world.ops[other[1]], _ON_PODS)
        or (key is not None and _key(world.ops[other[1]]) == key)
        for other in later
    )


def may_overtake_kubelets(world: World, state: State) -> bool:
    """Return whether a command remains whose effect depends on which pods are ready."""
    return any(
        item[0] in ("drain", "evict") or (item[0] == "op" and _is_affected(world, state, world.ops[item[1]]))
        for item in state.todo
    )


def _is_affected(world: World, state: State, op: steps.Op) -> bool:
    """Return whether a command acts on pods, or on a workload that exists."""
    if isinstance(op, _ON_PODS):
        return True
    key = _key(op)
    owner = None if key is None else world.find_owner(key)
    return owner is not None and owner < len(state.sets) and state.sets[owner] is not None


def _key(op: steps.Op) -> Optional[OwnerKey]:
    if isinstance(op, steps.Apply):
        return key_of(op.controller.workload)
    if isinstance(
        op, (steps.Scale, steps.Restart, steps.Undo, steps.Pause, steps.Delete, steps.DeleteSet, steps.Orphan)
    ):
        return op.key
    return None
