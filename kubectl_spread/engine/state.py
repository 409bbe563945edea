"""States of a cluster over time: pods with their nodes, and the memory of each controller."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, IntEnum
from typing import Any, NamedTuple, Optional

PENDING = -1  # the node of a pod that has none

NO_ORDINAL = -1


class Stage(IntEnum):
    """Stage of a pod. Controllers delete pods of lower stages first."""

    WAITING = 0  # without a node
    BOUND = 1  # has a node and will become ready
    UNREADY = 2  # runs and does not become ready
    READY = 3


class Deletion(IntEnum):
    """Deletion state of a pod. Whether a deletion finishes depends on the pod's node, too: see `World.ends`."""

    ALIVE = 0
    TERMINATING = 1
    PREEMPTED = 2  # terminating, because the scheduler evicted it
    HELD = 3  # terminating, and a finalizer keeps it
    OVERDUE = 4  # terminating for so long that its kubelet will not end it soon


ENDING = (Deletion.TERMINATING, Deletion.PREEMPTED)


class NodeStatus(Enum):
    """Status of the node of a pod."""

    UNBOUND = "unbound"  # The pod has no node.
    MISSING = "missing"  # The node was deleted, or the facts never had it: the pod garbage collector removes its pods.
    DOWN = "down"  # Its kubelet does not answer: no pod becomes ready there, and it finishes no deletion.
    UP = "up"


class P(NamedTuple):
    """A pod, reduced to the fields that decide its future; equal pods are interchangeable.

    owner: index of its workload in the world, -1 without one. rev: index of its revision. ordinal: of a StatefulSet's
    or an indexed Job's pod. cls: index of its PodClass. node: index of its node in the world. nominated: as node.
    is_new: created since the start. age: its number by `loading.age_classes`; 0 if it is new or its age is unknown.
    is_tried: the scheduler has refused it, so that pods of lower priority may come before it. is_chosen: its ReplicaSet
    has chosen it and will delete it; until then it is like any other pod.
    """

    owner: int
    rev: int
    ordinal: int
    cls: int
    node: int
    stage: int
    end: int = Deletion.ALIVE
    nominated: int = PENDING
    is_new: bool = True
    age: int = 0
    cost: int = 0
    is_tried: bool = False
    is_chosen: bool = False


_new = tuple.__new__  # perf: a tenth of the time of _replace

_STAGE, _END = P._fields.index("stage"), P._fields.index("end")


def at_stage(pod: P, stage: int) -> P:
    """Return a pod at another stage."""
    return _new(P, (*pod[:_STAGE], stage, *pod[_STAGE + 1 :]))


def ending(pod: P, end: int) -> P:
    """Return a pod with another deletion state."""
    return _new(P, (*pod[:_END], end, *pod[_END + 1 :]))


def on_node(pod: P, node: int) -> P:
    """Return a pod on another node."""
    return _new(P, (*pod[:4], node, *pod[5:]))


NAMING = ("delete", "evict")  # remaining steps of the user that name pods by their slots


class State(NamedTuple):
    """A moment: sorted pods, memory of controllers, cluster facts, and the user's remaining steps.

    facts: index of the world's facts. claims: changes of claims since the start, sorted.
    """

    pods: tuple[P, ...]
    sets: tuple[Any, ...]
    facts: int
    todo: tuple[Any, ...] = ()
    claims: tuple[tuple[str, str, str], ...] = ()


Slot = tuple[int, int, int, int, int, bool]  # Fields of a pod that are constant while it is on its node.


def slot(pod: P) -> Slot:
    """Return an identifier of a pod that is stable while the pod stays on its node."""
    return (pod.owner, pod.rev, pod.ordinal, pod.cls, pod.node, pod.is_new)


def with_slots(todo: tuple[Any, ...], change: Callable[[Slot], Slot]) -> tuple[Any, ...]:
    """Return remaining steps of the user that name pods by changed slots."""
    return tuple((item[0], tuple(map(change, item[1])), *item[2:]) if item[0] in NAMING else item for item in todo)


def to_be_ready(pods: Iterable[P]) -> list[P]:
    """Return the bound pods that are not ready yet."""
    return [pod for pod in pods if pod.stage == Stage.BOUND and not pod.end]


def present(pods: Iterable[P], slots: Iterable[Slot]) -> list[P]:
    """Return the named pods that are still on their nodes, up to the number named of each kind."""
    found: list[P] = []
    left = list(slots)
    for pod in pods:
        if (named := slot(pod)) in left:
            left.remove(named)
            found.append(pod)
    return found


def forget_refusals(state: State) -> State:
    """Return a state that does not tell which waiting pods the scheduler has refused."""
    if not any(pod.is_tried for pod in state.pods):
        return state
    return state._replace(pods=tuple(sorted(pod._replace(is_tried=False) for pod in state.pods)))


def of_owner(pods: Sequence[P], owner: int) -> Sequence[P]:
    """Return the pods of a workload among pods that are sorted by their workloads."""
    return pods[bisect_left(pods, (owner,)) : bisect_left(pods, (owner + 1,))]


class EventKind(Enum):
    """Kind of an event."""

    DONE = "done"  # a step of the user
    CREATED = "created"
    SCHEDULED = "scheduled"
    READY = "ready"
    DELETED = "deleted"
    GONE = "gone"
    SCALED = "scaled"
    EVICTED = "evicted"
    REFUSED = "refused"
    PREEMPTED = "preempted"
    JOINED = "joined"  # a node that a provisioner has made


class Move(NamedTuple):
    """An event of a pod or a workload; `pod` is the pod before the event, but a created pod after it.

    node: target or place of the event. number: the new size of a ReplicaSet, or the number of the user's step. others:
    number of other nodes with the same score.
    """

    kind: EventKind
    pod: Optional[P] = None
    node: int = PENDING
    number: int = 1
    others: int = 0
    owner: int = -1
    rev: int = -1
    text: str = ""


class Step(NamedTuple):
    """A move with its immediate consequences, and the state after it.

    is_settled: the controllers have finished; otherwise a controller acts again and again without an end.
    """

    moves: tuple[Move, ...]
    state: State
    is_settled: bool = True


Way = Callable[[], Step]  # A step that is computed when it is taken.
