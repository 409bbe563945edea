"""What may happen next in a state.

A state's steps are: the scheduler binds a waiting pod, or evicts others for it; pods become ready and a controller that
waited for them goes on; a deletion finishes; old pods make room in a rollout; the user's next command, or eviction; a
taint removes a pod. Whatever needs no choice follows at once: controllers create what is missing.

Reductions, none of which loses an outcome:
* a pod becomes ready only when its controller goes on because of it, or when nothing else is left to happen;
* of pods that are alike the first becomes ready;
* a deletion finishes only where a controller waits for it, where a waiting pod would find other nodes after it, or when
  nothing else is left to happen.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from typing import Any
from typing import Optional

from kubectl_spread.timeline import doing
from kubectl_spread.timeline import eviction
from kubectl_spread.timeline import nodes
from kubectl_spread.timeline.controllers import daemonset
from kubectl_spread.timeline.controllers import deployment
from kubectl_spread.timeline.controllers import job
from kubectl_spread.timeline.controllers import replicaset
from kubectl_spread.timeline.controllers import statefulset
from kubectl_spread.timeline.draft import Draft
from kubectl_spread.timeline.oracle import Oracle
from kubectl_spread.timeline.state import End
from kubectl_spread.timeline.state import Kind
from kubectl_spread.timeline.state import Move
from kubectl_spread.timeline.state import P
from kubectl_spread.timeline.state import PENDING
from kubectl_spread.timeline.state import Stage
from kubectl_spread.timeline.state import State
from kubectl_spread.timeline.state import Step
from kubectl_spread.timeline.world import World

_ENDING = (End.TERMINATING, End.PREEMPTED)
_ACTS: dict[type, Callable[[Draft, int], bool]] = {
    deployment.Own: deployment.act,
    statefulset.Own: statefulset.act,
    daemonset.Own: daemonset.act,
    replicaset.Own: replicaset.act,
    job.Own: job.act,
}
_EXCESS: dict[type, Callable[..., list[tuple[P, ...]]]] = {
    deployment.Own: deployment.excess,
    replicaset.Own: replicaset.excess,
    job.Own: job.excess,
}


class Moves:
    """The steps of every state of one world."""

    def __init__(self, world: World, oracle: Oracle, *, patience_s: float = float("inf")) -> None:
        """`patience_s`: tolerationSeconds up to this end within a step."""
        self._world = world
        self._oracle = oracle
        self._patience_s = patience_s

    def settled(self, draft: Draft) -> Step:
        """Return the step once controllers have done all that needs no choice."""
        is_done = False
        while not is_done:
            is_done = True
            for owner, own in enumerate(draft.sets):
                if own is not None and _ACTS[type(own)](draft, owner):
                    is_done = False
        return draft.step()

    def after(self, state: State) -> list[Step]:
        """Return every step of a state; empty where it is steady."""
        forced = self._victims(state)
        if forced:
            return forced
        found = [
            *self._scheduled(state),
            *self._ended(state),
            *self._went_on(state),
            *self._by_user(state),
            *self._by_nodes(state),
        ]
        return found or self._rest(state) or self._given_up(state)

    def _victims(self, state: State) -> list[Step]:
        for owner, own in enumerate(state.sets):
            excess = _EXCESS.get(type(own))
            found = excess(self._world, state.pods, owner, own) if excess is not None else []
            if found:
                return [self._deleted(state, pods) for pods in found]
        return []

    def _deleted(self, state: State, pods: tuple[P, ...], kind: Kind = Kind.DELETED) -> Step:
        draft = Draft(self._world, state)
        draft.delete(pods, kind)
        return self.settled(draft)

    def _waiting(self, state: State) -> list[P]:
        """Return one of each kind of pods that wait, alike but for their ordinals."""
        found: dict[tuple[int, int, int, int, int], P] = {}
        for pod in state.pods:
            if pod.node == PENDING and pod.end == End.ALIVE:
                shape = self._world.shape(pod.cls)
                found.setdefault((pod.owner, pod.rev, shape, pod.nominated, pod.is_new), pod)
        return list(found.values())

    def _scheduled(self, state: State) -> list[Step]:
        """Let the scheduler try the pods of the highest priority that can be helped."""
        by_priority: dict[int, list[P]] = {}
        for pod in self._waiting(state):
            by_priority.setdefault(self._world.classes[pod.cls].priority, []).append(pod)
        for priority in sorted(by_priority, reverse=True):
            found = [step for pod in by_priority[priority] for step in self._tried(state, pod)]
            if found:
                return found
        return []

    def _tried(self, state: State, pod: P) -> Iterator[Step]:
        hosts = self._oracle.hosts(pod, state)
        for node in hosts:
            draft = Draft(self._world, state)
            draft.claims = self._oracle.reserved(pod, node, state)
            draft.bind(pod, node, others=len(hosts) - 1)
            yield self.settled(draft)
        if hosts:
            return
        for way in self._oracle.evictions(pod, state):
            draft = Draft(self._world, state)
            draft.replace(pod, pod._replace(nominated=way.node))
            draft.delete(way.victims, Kind.PREEMPTED)
            yield self.settled(draft)

    def _ended(self, state: State) -> Iterator[Step]:
        """Let deletions finish that somebody waits for."""
        ending = [pod for pod in dict.fromkeys(state.pods) if pod.end in _ENDING]
        if not ending:
            return
        matters = self._matters(state)
        for pod in ending:
            if matters or self._is_awaited(state, pod):
                yield self._gone(state, [pod])

    def _matters(self, state: State) -> bool:
        """Return whether a waiting pod would find other nodes if all deletions were finished."""
        for pod in self._waiting(state):
            if self._oracle.hosts(pod, state) != self._oracle.hosts(pod, state, without_ending=True):
                return True
        return False

    def _is_awaited(self, state: State, pod: P) -> bool:
        own = state.sets[pod.owner] if pod.owner >= 0 else None
        if isinstance(own, (statefulset.Own, daemonset.Own)):
            return True
        if isinstance(own, deployment.Own) and self._world.specs[own.spec].is_recreate:
            return True
        return any(item[0] == "drain" and item[1] == pod.node for item in state.todo[:1])

    def _gone(self, state: State, pods: list[P]) -> Step:
        draft = Draft(self._world, state)
        for pod in pods:
            draft.remove(pod)
            own = state.sets[pod.owner] if pod.owner >= 0 else None
            if isinstance(own, statefulset.Own):
                statefulset.pod_is_gone(draft, pod)
        return self.settled(draft)

    def _went_on(self, state: State) -> Iterator[Step]:
        """Let pods become ready whose controllers then go on."""
        for owner, own in enumerate(state.sets):
            if isinstance(own, deployment.Own):
                yield from self._rolled(state, owner)
            elif isinstance(own, statefulset.Own):
                for pod in statefulset.waits_for_ready(self._world, state.pods, owner, own)[:1]:
                    yield self._ready(state, [pod])
            elif isinstance(own, daemonset.Own):
                yield from self._daemons(state, owner)
        if any(item[0] in ("drain", "evict") for item in state.todo):
            yield from self._ready_each(state)

    def _rolled(self, state: State, owner: int) -> Iterator[Step]:
        """Let so many pods become ready, and then old ones make room."""
        bound = [pod for pod in state.pods if pod.owner == owner and pod.stage == Stage.BOUND and pod.end == End.ALIVE]
        for count in range(len(bound) + 1):
            draft = Draft(self._world, state)
            for pod in bound[:count]:
                draft.make_ready(pod)
            if deployment.scale_down(draft, owner):
                yield self.settled(draft)

    def _ready(self, state: State, pods: list[P]) -> Step:
        draft = Draft(self._world, state)
        for pod in pods:
            draft.make_ready(pod)
        return self.settled(draft)

    def _ready_each(self, state: State) -> Iterator[Step]:
        seen = set()
        for pod in state.pods:
            if pod.stage == Stage.BOUND and pod.end == End.ALIVE and (pod.owner, pod.rev) not in seen:
                seen.add((pod.owner, pod.rev))
                yield self._ready(state, [pod])

    def _daemons(self, state: State, owner: int) -> Iterator[Step]:
        for gone, more in daemonset.updates(self._world, state, owner):
            draft = Draft(self._world, state)
            draft.delete(gone)
            rev = self._world.specs[state.sets[owner].spec].rev
            for at in more:
                draft.create(rev, at, node=self._world.node_names[at])
            yield self.settled(draft)
        spec = self._world.specs[state.sets[owner].spec]
        mine = [pod for pod in state.pods if pod.owner == owner]
        if any(pod.rev != spec.rev for pod in mine):
            bound = [pod for pod in mine if pod.stage == Stage.BOUND and pod.end == End.ALIVE]
            for pod in bound:
                yield self._ready(state, [pod])

    def _by_user(self, state: State) -> Iterator[Step]:
        """Go on with what the user does."""
        item = next((item for item in state.todo if item[0] != "blocked"), None)
        if item is None:
            return
        if item[0] == "op":
            for draft in doing.do(self._world, _without(state, item), self._world.ops[item[1]]):
                draft.moves.insert(0, Move(Kind.DONE, number=item[1]))
                yield self.settled(draft)
        elif item[0] == "delete":
            yield from self._deletions(state, item)
        else:
            yield from self._evictions(state, item)

    def _deletions(self, state: State, item: Any) -> Iterator[Step]:
        """Delete one of several pods; those that are gone are passed over."""
        left = _present(state, item[1])
        if not left:
            yield Step((), _without(state, item))
        for pod in dict.fromkeys(left):
            slots = list(item[1])
            slots.remove(doing.slot(pod))
            rest = (("delete", tuple(slots)),) if slots else ()
            step = self._deleted(state._replace(todo=_replaced(state.todo, item, rest)), (pod,))
            yield step

    def _evictions(self, state: State, item: Any) -> Iterator[Step]:
        left = self._to_evict(state, item)
        if not left and not self._is_draining(state, item):
            yield Step((), _without(state, item))
        for pod in dict.fromkeys(left):
            if not eviction.refusal(self._world, state, pod):
                yield self._deleted(state, (pod,), Kind.EVICTED)

    def _is_draining(self, state: State, item: Any) -> bool:
        """Return whether a drained node still has pods that are on their way out."""
        return item[0] == "drain" and any(
            pod.node == item[1] and pod.end in (*_ENDING, End.HELD) and not self._is_daemon(state, pod)
            for pod in state.pods
        )

    def _to_evict(self, state: State, item: Any) -> list[P]:
        if item[0] == "evict":
            return [pod for pod in _present(state, item[1]) if pod.end == End.ALIVE]
        return [
            pod
            for pod in state.pods
            if pod.node == item[1] and pod.end == End.ALIVE and not self._is_daemon(state, pod)
        ]

    def _is_daemon(self, state: State, pod: P) -> bool:
        return pod.owner >= 0 and isinstance(state.sets[pod.owner], daemonset.Own)

    def _by_nodes(self, state: State) -> Iterator[Step]:
        """Let the garbage collector and taints remove pods."""
        for pod in dict.fromkeys(state.pods):
            if pod.end == End.LOST:
                yield self._gone(state, [pod])
            elif pod.end == End.ALIVE and pod.node != PENDING:
                node = self._world.node(state.facts, pod.node)
                if node is None or not node.taints:
                    continue
                if nodes.is_evicted(node, self._world.classes[pod.cls], self._patience_s):
                    yield self._deleted(state, (pod,))

    def _rest(self, state: State) -> list[Step]:
        """Let everything finish that nobody waited for."""
        bound = [pod for pod in state.pods if pod.stage == Stage.BOUND and pod.end == End.ALIVE]
        if bound:
            return [self._ready(state, bound)]
        ending = [pod for pod in state.pods if pod.end in _ENDING]
        return [self._gone(state, ending)] if ending else []

    def _given_up(self, state: State) -> list[Step]:
        """End a command whose evictions stay refused, and go on with the next."""
        item = next((item for item in state.todo if item[0] != "blocked"), None)
        if item is None:
            return []
        draft = Draft(self._world, state)
        refused = [(pod, eviction.refusal(self._world, state, pod)) for pod in self._to_evict(state, item)]
        blocked = tuple(("blocked", doing.slot(pod), text) for pod, text in refused if text)
        rest = () if item[0] == "drain" else None
        # A drain that is refused on one node does not reach the next.
        others = tuple(other for other in state.todo if other is not item and (rest is None or other[0] != "drain"))
        draft.todo = (*others, *blocked)
        draft.moves += [Move(Kind.REFUSED, pod, pod.node, text=text) for pod, text in refused if text]
        return [draft.step()]


def _without(state: State, item: Any) -> State:
    return state._replace(todo=_replaced(state.todo, item, ()))


def _replaced(todo: tuple[Any, ...], item: Any, others: tuple[Any, ...]) -> tuple[Any, ...]:
    at = todo.index(item)
    return (*todo[:at], *others, *todo[at + 1 :])


def _present(state: State, slots: tuple[Any, ...]) -> list[P]:
    """Return the pods that are still where they were, as many of each as were named."""
    found: list[P] = []
    left = list(slots)
    for pod in state.pods:
        named: Optional[Any] = doing.slot(pod)
        if named in left:
            left.remove(named)
            found.append(pod)
    return found
