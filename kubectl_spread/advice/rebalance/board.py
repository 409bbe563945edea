"""States that follow from evictions, one after the other, each once the cluster is at rest.

Several states can follow from one eviction, as the scheduler breaks ties. They are kept together:

    {start} ── evict web-1 ──▶ {on b1, on c1} ── evict web-2 ──▶ {on b1 and c1}
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.advice.rebalance.goals import Goal
from kubectl_spread.advice.rebalance.plan import Obstacle, ObstacleKind
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.engine.controllers.deployment import DeploymentState
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.loading import load
from kubectl_spread.engine.moves import Moves, refusals
from kubectl_spread.engine.oracle import MorePods, Oracle
from kubectl_spread.engine.reading import infer_owners
from kubectl_spread.engine.run import Watch
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.explore import Limit, weight
from kubectl_spread.engine.search.node_tree import affinity_terms
from kubectl_spread.engine.search.symmetry import Symmetry
from kubectl_spread.engine.state import Deletion, EventKind, NO_ORDINAL, of_owner, P, PENDING, Slot, Stage, State, Step
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector

_MOST_STATES = 2_000  # Most states that are visited after one eviction.
_MOST_ENDS = 400  # Most states at rest that are all followed further.
_FEW_ENDS = 12  # States that are followed if there are more.
_FEWEST_ENDS = 3  # The same in haste.
NO_LIMIT = 1_000_000_000
_RUNS = 12  # Random runs if there are too many states to visit.


class SettledStates(NamedTuple):
    """States at rest after an eviction.

    is_exact: there are no others. nodes: nodes, by index, on which the replacement may land. trouble: why
    no plan may have the eviction, if it is not acceptable in some state. fewest_ready: ready pods of the evicted pod's
    workload, the fewest on the way.
    """

    states: frozenset[State]
    is_exact: bool = True
    nodes: frozenset[int] = frozenset()
    visited: int = 0
    trouble: Optional[Obstacle] = None
    fewest_ready: int = 0


class Board:
    """The cluster under a plan."""

    def __init__(
        self,
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        keys: Iterable[ObjectKey],
        goals: Sequence[Goal],
        *,
        earlier: Sequence[str],
        limit: Limit,
        watch: Watch,
    ) -> None:
        """Load the cluster.

        Args:
            cluster: the cluster facts.
            profiles: of the scheduler, by name.
            keys: the workloads whose pods may be evicted.
            goals: the constraints that count their pods.
            earlier: uids of pods that are evicted before the beginning.
            limit: at which searches become random runs.
            watch: shows the progress, and can end the search.
        """
        self._watch = watch
        self._runs = _RUNS
        self.is_hasty = False  # Follow only a few states, to come to an end.
        self.states = 0  # visited so far, counted as ordinary states
        self._earlier = earlier
        self._cluster = self._whole = infer_owners(cluster)
        self._profiles = profiles
        self._touched = frozenset(keys)
        self._nodes: frozenset[str] = frozenset()
        self.limit = limit
        live = load(self._whole, profiles, touched=self._touched).live
        self._cluster = infer_owners(_without_unused_labels(self._whole, self._touched | live, goals))
        self._load()
        self.name_nodes(())

    def _load(self) -> None:
        loaded = load(self._cluster, self._profiles, touched=self._touched, nodes=self._nodes)
        self.world, self.loaded = loaded.world, loaded.state
        self._oracle = Oracle(self.world)
        self._moves = Moves(self.world, self._oracle, twins=lambda state: self.symmetry.twins(state))  # noqa: PLW0108 (set later)
        self._hasty = Moves(self.world, self._oracle, is_hasty=True)

    def _settled(self, names: frozenset[str]) -> SettledStates:
        """Return the states in which the cluster is at rest before the first eviction."""
        while True:
            self.symmetry = Symmetry(self.world, self.loaded, names)
            self._known: dict[tuple[State, Slot], SettledStates] = {}
            self._alike = self.kinds(names)
            nodes = self.world.facts[self.loaded.facts].nodes
            self._twins = {
                at: (self._alike[at][0], tuple(sorted(item for item in node.labels.items() if item[0] != HOSTNAME)))
                for at, node in enumerate(nodes)
                if node is not None
            }
            try:
                start = self._moves.settle(Draft(self.world, self.loaded)).state
                return self._explored(start)
            except MorePods as involved:
                if involved.keys <= self._touched and involved.nodes <= self._nodes:
                    raise
                self._touched |= involved.keys
                self._nodes |= involved.nodes
                self._cluster = self._whole  # Other pods take part after all.
                self._load()

    def name_nodes(self, names: Iterable[str]) -> None:
        """Distinguish nodes that a plan names from all others, and return to the beginning."""
        slots = (self.world.slot_of[uid] for uid in self._earlier)
        self.beginning = self._settled(frozenset(names).union(self.world.node_names[slot[4]] for slot in slots))
        for uid in self._earlier:
            before = self.beginning
            after = self.after(before.states, self.world.slot_of[uid], most_pending=pending(before.states))
            self.beginning = after._replace(is_exact=before.is_exact and after.is_exact)

    def kinds(self, names: frozenset[str]) -> dict[int, tuple[int, ...]]:
        """Return the nodes that are interchangeable with each node, by index, if the named nodes are unique."""
        signatures = Symmetry(self.world, self.loaded, names).alike(HOSTNAME)
        signed = {
            at: signatures.get(node.labels.get(HOSTNAME, ""), f"node {at}")
            for at, node in enumerate(self.world.facts[self.loaded.facts].nodes)
            if node is not None
        }
        groups = grouped((signature, at) for at, signature in signed.items())
        return {at: tuple(groups[signature]) for at, signature in signed.items()}

    @property
    def is_late(self) -> bool:
        """Return whether the limit is reached, or the user ended the search."""
        return self._watch.is_stopped or self.limit.is_over(self.states)

    def after(self, states: Iterable[State], slot: Slot, *, most_pending: Mapping[int, int]) -> SettledStates:
        """Return the states after one pod is evicted in each of several states.

        `most_pending` is the number of Pending pods that each workload may have, by its index.
        """
        ends: set[State] = set()
        nodes: set[int] = set()
        is_exact, visited, ready = True, 0, NO_LIMIT
        self._runs = max(1, _RUNS // len(frozenset(states)))
        for state in sorted(states):
            if ends and self.is_late:
                is_exact = False
                break
            found = self._evicted(state, slot, most_pending)
            visited += found.visited
            if found.trouble is not None:
                return found
            ends |= found.states
            nodes |= found.nodes
            is_exact &= found.is_exact
            ready = min(ready, found.fewest_ready)
        few = _FEWEST_ENDS if self.is_hasty else _FEW_ENDS
        if len(ends) > (few if self.is_hasty or not is_exact else _MOST_ENDS):
            ends, is_exact = set(random.Random(len(ends)).sample(sorted(ends), few)), False  # noqa: S311 (no secret)
        return SettledStates(frozenset(ends), is_exact, frozenset(nodes), visited, fewest_ready=ready)

    def _evicted(self, state: State, slot: Slot, most_pending: Mapping[int, int]) -> SettledStates:
        known = self._known.get((state, slot))
        if known is not None:
            return known
        trouble: Optional[Obstacle]
        try:
            found = self._explored(state._replace(todo=(("evict", (slot,)),)), slot)
        except MorePods:
            found, trouble = SettledStates(frozenset()), Obstacle(ObstacleKind.DISPLACES)
        else:
            troubles = (self._trouble(state, end, slot, most_pending) for end in sorted(found.states))
            trouble = next(filter(None, troubles), None if found.states else Obstacle(ObstacleKind.ENDLESS))
        if trouble is not None:
            names = self.world.names.get(slot, [""])
            found = found._replace(trouble=trouble._replace(pods=(names[0],)))
        self._known[state, slot] = found
        return found

    def _trouble(self, before: State, after: State, slot: Slot, most_pending: Mapping[int, int]) -> Optional[Obstacle]:
        refused = next((item[2] for item in after.todo if item[0] == "blocked"), "")
        if refused:
            return Obstacle(ObstacleKind.REFUSED, message=refused)
        wanted = _staying(before)
        wanted[slot[0]] -= 1
        if _staying(after) != +wanted:
            return Obstacle(ObstacleKind.DISPLACES)
        more = {owner for owner, number in pending([after]).items() if number > most_pending.get(owner, 0)}
        for pod in after.pods:
            if pod.owner in more and pod.node == PENDING and pod.end == Deletion.ALIVE:
                return Obstacle(ObstacleKind.PENDING, message=self._oracle.message(pod, after))
        if _running(after, slot[0]) < _running(before, slot[0]):
            return Obstacle(ObstacleKind.UNCREATED, message=refusals(self.world, after).get(slot[0], ""))
        ready = [pod for pod in after.pods if pod.owner == slot[0] and pod.is_new and pod.stage == Stage.UNREADY]
        return Obstacle(ObstacleKind.UNREADY) if ready else None

    def _explored(self, start: State, slot: Optional[Slot] = None) -> SettledStates:
        """Visit all states that follow from one, or follow random runs if there are too many.

        `slot` is the evicted pod, whose replacement is followed and whose workload's ready pods are counted.
        """
        owner, ordinal = (-1, -1) if slot is None else (slot[0], slot[2])
        first = self.symmetry.canonical(start)
        seen, queue = {first}, deque([first])
        ends: list[State] = []
        nodes: set[int] = set()
        while queue:
            self._watch.saw(self._watch.states + 1)
            self.states += weight(len(start.pods))
            if len(seen) > _MOST_STATES or self.is_late:
                return self._sampled(start, owner, nodes)
            state = queue.popleft()
            ways = list(self._moves.after(state))
            if not ways:
                ends.append(state)
            tried: set[object] = set()
            contents: dict[int, list[P]] = {}  # the pods on each node, and those nominated for it
            for pod in state.pods if len(ways) > 1 else ():
                for node in {pod.node, pod.nominated} - {PENDING}:
                    contents.setdefault(node, []).append(pod)
            for way in ways:
                step = way()
                for move in step.moves:
                    came = None if slot is None or move.kind is not EventKind.SCHEDULED else move.pod
                    # It may replace the evicted one: it has the same workload, and the same ordinal if any.
                    if came is not None and came.owner == owner and came.ordinal in (ordinal, NO_ORDINAL):
                        nodes.update(self._alike.get(move.node, (move.node,)))
                if len(ways) > 1 and self._is_repeated(step, contents, tried):
                    continue
                after = self.symmetry.canonical(step.state)
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
        ready = min(_ready(state, owner) for state in seen)
        return SettledStates(frozenset(ends), True, frozenset(nodes), len(seen), fewest_ready=ready)

    def _is_repeated(self, step: Step, contents: Mapping[int, Sequence[P]], tried: set[object]) -> bool:
        """Return whether a step binds a pod to the twin of a node that was tried: both are equal, and in one place."""
        if len(step.moves) != 1 or step.moves[0].kind is not EventKind.SCHEDULED:
            return False
        move = step.moves[0]
        own = tuple((*pod[:4], *pod[5:]) for pod in contents.get(move.node, ()))
        key = (move.pod, self._twins.get(move.node, move.node), own)
        is_known = key in tried
        tried.add(key)
        return is_known

    def _sampled(self, start: State, owner: int, nodes: set[int]) -> SettledStates:
        ends: set[State] = set()
        visited, ready = 0, _ready(start, owner)
        for at in range(self._runs):
            chooser = explore.first if at == 0 else explore.at_random(at)
            found = explore.one(self._hasty, start, chooser, canonical=self.symmetry.canonical)
            ends.update(found.steady)
            visited += found.states
            self.states += found.states * weight(len(start.pods))
            ready = min(ready, *(_ready(state, owner) for state in found.came_from))
            if self.is_late:
                break
        before = Counter((pod.owner, pod.node) for pod in start.pods if pod.is_new)
        for end in ends:
            after = Counter((pod.owner, pod.node) for pod in end.pods if pod.is_new)
            bound = {node for _, node in after - before if node != PENDING}
            nodes |= {other for node in bound for other in self._alike.get(node, (node,))}
        return SettledStates(frozenset(ends), False, frozenset(nodes), visited, fewest_ready=ready)

    @property
    def unsettled_workloads(self) -> tuple[ObjectKey, ...]:
        """Return the workloads whose running pods are replaced or removed anyway before the cluster is at rest."""
        before = _staying(self.loaded)
        kept = [_staying(state) for state in self.beginning.states]
        owners = {owner for owner in before if any(item[owner] < before[owner] for item in kept)}
        for state in self.beginning.states:
            pairs = enumerate(zip(self.loaded.sets, state.sets, strict=False))
            owners |= {owner for owner, (old, new) in pairs if _sizes(old) - _sizes(new)}
        return tuple(self.world.keys[owner] for owner in sorted(owners) if owner >= 0)

    @property
    def is_in_motion(self) -> bool:
        """Return whether pods of the workloads are created, scheduled or deleted before the cluster is at rest."""
        owners = {self.world.owner_at.get(key) for key in self._touched} - {None}
        before, *after = (
            Counter((pod.owner, pod.node, pod.end != Deletion.ALIVE) for pod in state.pods if pod.owner in owners)
            for state in (self.loaded, *self.beginning.states)
        )
        return any(places != before for places in after)

    def ready(self, states: Iterable[State], key: ObjectKey) -> int:
        """Return the number of ready pods of a workload, the fewest in several states."""
        owner = self.world.owner_at.get(key)
        return 0 if owner is None else min(_ready(state, owner) for state in states)

    def is_rolled_out(self, states: Iterable[State], key: ObjectKey) -> bool:
        """Return whether all pods of a workload are ready and of its newest revision, in several states.

        False, too, if its controller makes no rollouts: a paused Deployment, or a StatefulSet with OnDelete.
        """
        owner = self.world.owner_at.get(key)
        own = None if owner is None else min(states).sets[owner]
        if owner is None or own is None or key.kind not in ("Deployment", "StatefulSet"):
            return False
        spec = self.world.specs[own.spec]
        if getattr(spec, "is_paused", False) or getattr(spec, "is_on_delete", False):
            return False
        least = spec.rev if key.kind == "Deployment" else None
        return all(
            pod.stage == Stage.READY and least in (None, pod.rev)
            for state in states
            for pod in of_owner(state.pods, owner)
            if pod.end == Deletion.ALIVE
        )


def _without_unused_labels(cluster: Cluster, keys: Collection[ObjectKey], goals: Iterable[Goal]) -> Cluster:
    """Return the cluster with pods that keep only the labels that matter for a plan.

    Args:
        cluster: the cluster facts.
        keys: the workloads whose pods may be evicted, or that have unfinished work.
        goals: the constraints that count their pods.
    """
    moving = {  # They may be evicted, scheduled or removed.
        pod.uid: pod.cls
        for pod in cluster.pods
        if not pod.node_name or pod.terminating or not pod.is_visible or cluster.top_owner(pod) in keys
    }
    if any(not cls.constraints for cls in moving.values()):
        return cluster  # Default constraints count by labels that Services select.
    selectors = {goal.selector for goal in goals}
    for cls in {id(cls): cls for cls in moving.values()}.values():  # the selectors by which a pod counts others
        selectors.update(effective_selector(item, dict(cls.labels)) for item in cls.constraints)
        selectors.update(term.selector for term in affinity_terms(cls))
        selectors.update(item.selector for item in cluster.budgets if item.selector.matches(dict(cls.labels)))
    # The others are selected by nothing, and their own rules do not look at other pods.
    reduced = {
        at: cls
        if cls.has_pod_affinity or any(selector.matches(dict(cls.labels)) for selector in selectors)
        else cls._replace(labels=())
        for at, cls in {id(pod.cls): pod.cls for pod in cluster.pods}.items()
    }
    pods = (pod if pod.uid in moving else pod._replace(cls=reduced[id(pod.cls)]) for pod in cluster.pods)
    return cluster._replace(pods=tuple(pods))


def _sizes(own: object) -> Counter[int]:
    """Return the size of each ReplicaSet of a Deployment, by its revision."""
    sets = own.sets if isinstance(own, DeploymentState) else ()
    return Counter({item.rev: item.size for item in sets})


def _running(state: State, owner: int) -> int:
    alive = Deletion.ALIVE
    return len([pod for pod in of_owner(state.pods, owner) if pod.node != PENDING and pod.end == alive])


def _ready(state: State, owner: int) -> int:
    # perf: a list of pods is counted three times as fast as a generator of truth values, with local names
    ready, alive = Stage.READY, Deletion.ALIVE
    return len([pod for pod in of_owner(state.pods, owner) if pod.stage == ready and pod.end == alive])


def _staying(state: State) -> Counter[int]:
    """Count the original pods that keep running, by the index of their workload."""
    alive = Deletion.ALIVE
    return Counter([pod.owner for pod in state.pods if not pod.is_new and pod.end == alive])


def pending(states: Iterable[State]) -> dict[int, int]:
    """Return the most Pending pods of each workload, by its index, over several states."""
    found: dict[int, int] = {}
    for state in states:
        counts = Counter([pod.owner for pod in state.pods if pod.node == PENDING and pod.end == Deletion.ALIVE])
        for owner, number in counts.items():
            found[owner] = max(found.get(owner, 0), number)
    return found


def originals(states: Iterable[State]) -> list[P]:
    """Return one original running pod for each place, as in the first of several states."""
    first = min(states)
    return list(
        dict.fromkeys(pod for pod in first.pods if not pod.is_new and pod.end == Deletion.ALIVE and pod.node != PENDING)
    )
