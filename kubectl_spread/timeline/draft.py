"""A mutable state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubectl_spread.timeline.state import (
    at_stage,
    Deletion,
    ending,
    EventKind,
    Move,
    NO_ORDINAL,
    NodeStatus,
    P,
    PENDING,
    Stage,
    State,
    Step,
)
from kubectl_spread.timeline.world import World

_READY = int(Stage.READY)


class Draft:
    """Mutable pods and controllers, with a record of the moves."""

    def __init__(self, world: World, state: State) -> None:
        self.world = world
        self.pods: list[P] = list(state.pods)
        self.sets: list[Any] = list(state.sets)
        self.facts = state.facts
        self.todo = state.todo
        self.claims = state.claims
        self.moves: list[Move] = []

    def step(self) -> Step:
        """Return the moves and the state after them."""
        return Step(tuple(self.moves), self.state())

    def state(self) -> State:
        self.pods.sort()
        return State(tuple(self.pods), tuple(self.sets), self.facts, self.todo, self.claims)

    def create(self, rev: int, ordinal: int = NO_ORDINAL, *, node: str = "") -> None:
        """Create a pod for a controller; `node` is the node of a DaemonSet's pod."""
        made = self.world.revisions[rev]
        cls = self.world.cls_of(rev, ordinal, node, admission=self.world.admission(self.facts))
        pod = P(made.owner, rev, ordinal, cls, PENDING, Stage.WAITING)
        bound_to = self.world.classes[cls].node_name
        if bound_to and bound_to in self.world.node_at:
            at = self.world.node_at[bound_to]
            pod = pod._replace(node=at, stage=self.stage_of_bound(rev, at))
        self.pods.append(pod)
        self.moves.append(Move(EventKind.CREATED, pod))

    def bind(self, pod: P, node: int, *, others: int = 0) -> None:
        """Bind a pod, as the scheduler does."""
        self.replace(
            pod, pod._replace(node=node, nominated=PENDING, stage=self.stage_of_bound(pod.rev, node), is_tried=False)
        )
        self.moves.append(Move(EventKind.SCHEDULED, pod, node, others=others))

    def stage_of_bound(self, rev: int, node: int) -> int:
        """Return the stage of a pod of a revision right after it got its node."""
        is_started = rev < 0 or self.world.revisions[rev].becomes_ready
        is_up = self.world.node_status(self.facts, node) is NodeStatus.UP
        return Stage.BOUND if is_started and is_up else Stage.UNREADY

    def make_ready(self, pod: P) -> None:
        self.replace(pod, at_stage(pod, _READY))
        self.moves.append(Move(EventKind.READY, pod, pod.node))

    def delete(self, pods: Iterable[P], kind: EventKind = EventKind.DELETED) -> None:
        """Request the deletion of pods; a pod without a node is removed at once."""
        for pod in pods:
            if pod.end:
                continue
            self.moves.append(Move(kind, pod, pod.node))
            if pod.node == PENDING:
                self.pods.remove(pod)
            else:
                end = Deletion.PREEMPTED if kind is EventKind.PREEMPTED else Deletion.TERMINATING
                self.replace(pod, ending(pod._replace(is_chosen=False) if pod.is_chosen else pod, end))

    def choose(self, pods: Iterable[P]) -> None:
        """Let a ReplicaSet choose the pods that it will delete."""
        for pod in pods:
            self.replace(pod, pod._replace(is_chosen=True))

    def remove(self, pod: P) -> None:
        """Finish a pod's deletion."""
        self.pods.remove(pod)
        self.moves.append(Move(EventKind.GONE, pod, pod.node))

    def replace(self, pod: P, other: P) -> None:
        self.pods[self.pods.index(pod)] = other

    def of(self, owner: int) -> list[P]:
        """Return the pods of a workload."""
        return [pod for pod in self.pods if pod.owner == owner]
