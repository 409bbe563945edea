"""A mutable state."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, Optional

from kubectl_spread.containers import grouped
from kubectl_spread.engine import claims
from kubectl_spread.engine.refusals import has_quota, QuotaUsage, usage_now
from kubectl_spread.engine.state import (
    at_stage,
    Deletion,
    ending,
    EventKind,
    Move,
    NAMING,
    NO_ORDINAL,
    NodeStatus,
    of_owner,
    P,
    PENDING,
    slot,
    Stage,
    State,
    Step,
    with_slots,
)
from kubectl_spread.engine.world import World

_READY = int(Stage.READY)

Creation = tuple[int, int]  # revision and ordinal


class Draft:
    """Mutable pods and controllers, with a record of the moves. The pods of a workload are neighbours."""

    def __init__(self, world: World, state: State) -> None:
        self.world = world
        self.pods: list[P] = list(state.pods)
        self.sets: list[Any] = list(state.sets)
        self.facts = state.facts
        self.todo = state.todo
        self.claims = state.claims
        self.moves: list[Move] = []
        self.admitted: list[Creation] = []  # by quotas, and refused by one, with its message
        self.refused: dict[Creation, str] = {}
        self.rejected: dict[Creation, str] = {}  # for other reasons, which last
        self.allowed: Optional[list[Creation]] = None  # in namespaces with quotas; None for any
        self.postponed: list[Creation] = []  # not allowed
        self.most_created: Optional[int] = None  # None for any number
        self._usage: dict[str, QuotaUsage] = {}  # by namespace

    def step(self) -> Step:
        """Return the moves and the state after them."""
        return Step(tuple(self.moves), self.state())

    def state(self) -> State:
        self.pods.sort()
        return State(tuple(self.pods), tuple(self.sets), self.facts, self.todo, self.claims)

    def create(self, rev: int, ordinal: int = NO_ORDINAL) -> bool:
        """Create a pod for a controller, and return whether the API server admits it."""
        if self.most_created == 0:
            return False
        pod, creation = self._new_pod(rev, ordinal), (rev, ordinal)
        refusal = self.world.lasting_refusal(rev, self.facts)
        if refusal:
            self.rejected[creation] = refusal
            return False
        if has_quota(self.world, self.facts, self.world.classes[pod.cls].namespace):
            if self.allowed is not None and creation not in self.allowed:
                self.postponed.append(creation)
                return False
            problem = self._usage_for(pod).admit(self.world.charge_of(pod.cls, rev))
            if problem:
                self.refused[creation] = problem
                return False
            self.admitted.append(creation)
            if self.allowed is not None:
                self.allowed.remove(creation)
        if self.most_created is not None:
            self.most_created -= 1
        self.add(pod)
        self.moves.append(Move(EventKind.CREATED, pod))
        return True

    def _new_pod(self, rev: int, ordinal: int) -> P:
        made = self.world.revisions[rev]
        cls = self.world.cls_of(rev, ordinal, admission=self.world.admission(self.facts))
        return self.at_own_node(P(made.owner, rev, ordinal, cls, PENDING, Stage.WAITING))

    def at_own_node(self, pod: P) -> P:
        """Return a new pod on the node that its spec names, if it names one."""
        at = self.world.node_at.get(self.world.classes[pod.cls].node_name)
        return pod if at is None else pod._replace(node=at, stage=self.stage_of_bound(pod.rev, at))

    def _usage_for(self, pod: P) -> QuotaUsage:
        namespace = self.world.classes[pod.cls].namespace
        if namespace not in self._usage:
            self._usage[namespace] = usage_now(self.world, self.facts, namespace, self.pods)
        return self._usage[namespace]

    def would_admit(self, creation: Creation) -> bool:
        """Return whether the quotas admit a pod as the next one."""
        pod = self._new_pod(*creation)
        return not self._usage_for(pod).refusal(self.world.charge_of(pod.cls, pod.rev))

    def is_contended(self, later: Iterable[Creation]) -> bool:
        """Return whether quotas admitted some of several different pods, so that the order of creation decides.

        `later` are pods that may be created later, or before the others.
        """
        if not self.admitted:
            return False
        if self.refused:
            return len({*self.admitted, *self.refused}) > 1
        by_namespace = grouped(
            (self.world.classes[pod.cls].namespace, pod) for pod in (self._new_pod(*creation) for creation in later)
        )
        return any(
            not self._usage[name].admits_all(self.world.charge_of(pod.cls, pod.rev) for pod in pods)
            for name, pods in by_namespace.items()
            if name in self._usage
        )

    def bind(self, pod: P, node: int, *, others: int = 0) -> None:
        """Bind a pod, as the scheduler does. A step of the user still names the pod if no equal pod is left to name."""
        bound = pod._replace(node=node, nominated=PENDING, stage=self.stage_of_bound(pod.rev, node), is_tried=False)
        self.replace(pod, bound)
        if self.todo and not pod.is_new:
            before, once = slot(pod), iter([slot(bound)])
            named = sum(item[1].count(before) for item in self.todo if item[0] in NAMING)
            if named > sum(slot(other) == before for other in self.of(pod.owner)):
                self.todo = with_slots(self.todo, lambda name: next(once, name) if name == before else name)
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
        """Request the deletion of pods; a pod without a node, or with a grace period of 0, is removed at once.

        So is every pod of a widened world whose kubelet answers: nothing there depends on a pod that terminates.
        """
        for pod in pods:
            if pod.end:
                continue
            self.moves.append(Move(kind, pod, pod.node))
            ends = pod.node == PENDING or (pod.rev >= 0 and self.world.revisions[pod.rev].ends_at_once)
            if ends or (self.world.is_widened and self.world.ends(self.facts, ending(pod, Deletion.TERMINATING))):
                self._take_away(pod)
            else:
                end = Deletion.PREEMPTED if kind is EventKind.PREEMPTED else Deletion.TERMINATING
                self.replace(pod, ending(pod._replace(is_chosen=False) if pod.is_chosen else pod, end))

    def remove(self, pod: P) -> None:
        """Finish a pod's deletion."""
        self.moves.append(Move(EventKind.GONE, pod, pod.node))
        self._take_away(pod)

    def _take_away(self, pod: P) -> None:
        """Remove a pod, with the claims that go with it."""
        self._usage.clear()
        del self.pods[self._place(pod)]
        claims.release(self, pod)

    def replace(self, pod: P, other: P) -> None:
        at = self._place(pod)
        if other.owner == pod.owner:
            self.pods[at] = other
        else:
            del self.pods[at]
            self.add(other)

    def add(self, pod: P) -> None:
        self.pods.insert(bisect_left(self.pods, (pod.owner + 1,)), pod)

    def _place(self, pod: P) -> int:
        return self.pods.index(pod, bisect_left(self.pods, (pod.owner,)))

    def of(self, owner: int) -> Sequence[P]:
        """Return the pods of a workload."""
        return of_owner(self.pods, owner)
