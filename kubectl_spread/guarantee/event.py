"""States of a group, and the events between them.

A state is `(contents, sizes, facts, desired)`:

* contents: the pods on each node as one integer, with `model.BITS` bits for each kind;
* sizes: the pods that controllers want of each kind;
* facts: the version of the nodes;
* desired: the wanted replicas of each workload.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

State = tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]


class TransitionKind(Enum):
    """Kind of an event."""

    PLACED = "placed"
    RESTARTED = "restarted"  # deleted, and created again
    ROLLED = "rolled"  # a rollout begins
    SHRUNK = "shrunk"  # an old ReplicaSet gets a smaller size
    REMOVED = "removed"  # a pod is scaled down
    FINISHED = "finished"  # a rollout ends
    SCALED = "scaled"
    CREATED = "created"  # a shard
    DELETED = "deleted"  # a shard
    DISRUPTED = "disrupted"  # a node is drained, or a domain is lost
    EVICTED = "evicted"
    RETURNED = "returned"  # the node or domain is back


class Event(NamedTuple):
    """An event.

    kind: of the event. pods: kind of its pods, or -1. node: index, or -1. owner: of the pods. number: of pods, or the
    new number of replicas. disruption: index. order: new order of the nodes, if the event renames them. is_shrunk: the
    old ReplicaSet gets the size `number`.
    """

    kind: TransitionKind
    pods: int = -1
    node: int = -1
    owner: int = -1
    number: int = 1
    disruption: int = -1
    order: Optional[tuple[int, ...]] = None
    is_shrunk: bool = False


Next = tuple[Event, State]
