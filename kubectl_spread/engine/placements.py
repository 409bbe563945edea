"""All placements of new pods while nothing else happens: no controller, no user and no node acts.

Every step of the search binds the next waiting pod to one of the nodes that the scheduler may take:

    {} ── a1 ── a1 b1 ── a1 b1 b2 ── no node fits
       └─ b1 ── b1 a1     is the same state as a1 b1

Numbers of pods on interchangeable nodes (`search.node_kinds`) are exchanged, so that each state is visited once. The
states, the scheduler and the searches are those of every other simulation.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.tables.columns import Columns, Int64s
from kubectl_spread.engine.oracle import bind, Oracle
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.limit import Budget, weight
from kubectl_spread.engine.state import Bindings, NO_ORDINAL, on_node, P, PENDING, Stage, State, Step, Way
from kubectl_spread.engine.world import World
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.framework.profile import Profile

_FEW_HOSTS = 100
NodeCounts = Counter[int]  # new pods by the index of their node


class NewPods(NamedTuple):
    """New pods of one workload, and the cluster for them.

    pods: in the order of their creation. bound: the pods that run already. are_equal: nothing but their names
    distinguishes the pods. is_ordered: no pod is created before the one before it has a node. all_nodes: the scheduler
    looks at every node, also in a large cluster.
    """

    cluster: Cluster
    profiles: Mapping[str, Profile]
    pods: Sequence[Pod]
    bound: Columns
    are_equal: bool = True
    is_ordered: bool = False
    all_nodes: bool = True


class PlacementOutcomes(NamedTuple):
    """Outcomes of all searches; basis: whether there are others. runs: how many outcomes or random runs there were."""

    counts: tuple[NodeCounts, ...]
    basis: Basis
    runs: int


def every_placement(new: NewPods, kinds: Optional[Sequence[int]], *, max_states: int, runs: int) -> PlacementOutcomes:
    """Return the outcomes of all choices among equally good nodes, or of random choices if there are too many.

    Args:
        new: the pods.
        kinds: a number for each node, equal for interchangeable nodes; None if every node is different.
        max_states: most states to visit.
        runs: most outcomes, if random choices are tried.
    """
    if not new.all_nodes:  # The sampling of nodes depends on all earlier pods, so equal states have other steps.
        return _random_placements(new, runs)
    search = _Search(new, kinds)
    found = explore.everything(search, [search.start], canonical=search.canonical, budget=Budget(max_states))
    if found.is_exhaustive:
        may_preempt = found.states > 1 and any(map(search.may_preempt, found.steady))
        basis = Basis.NOT_SIMULATED if may_preempt else Basis.ALL_OUTCOMES
        return PlacementOutcomes(tuple(map(_counts, found.steady)), basis, len(found.steady))
    ends = [search.run(explore.first), *(search.run(_at_random(seed)) for seed in range(runs - 1))]
    return PlacementOutcomes(
        tuple(_counts(end) for end in (*found.steady, *ends)), Basis.SAMPLE, len(found.steady) + runs
    )


def max_placed_pods(new: NewPods, kinds: Optional[Sequence[int]], *, max_states: int) -> Optional[int]:
    """Return the most of equal pods that any choice of fitting nodes places; scores are ignored.

    Returns None if there are too many states, or if a pod would evict others.

    Args:
        new: the pods.
        kinds: as of `every_placement`.
        max_states: most states to visit.
    """
    blind = {name: profile._replace(score=(), pre_score=()) for name, profile in new.profiles.items()}
    search = _Search(new._replace(profiles=blind), kinds)
    found = explore.everything(
        search,
        [search.start],
        budget=Budget(max_states * weight(len(new.pods))),
        canonical=search.canonical,
        priority=lambda state: len(_waiting(state)),
        is_goal=lambda state, is_steady: is_steady and not _waiting(state),
    )
    if any(map(search.may_preempt, found.steady)) or (found.goal is None and not found.is_exhaustive):
        return None
    return max(sum(_counts(end).values()) for end in found.steady)


def _random_placements(new: NewPods, runs: int) -> PlacementOutcomes:
    """Return the outcomes of random choices, each with a new scheduler; a single one if there is no choice."""
    search = _Search(new, None)
    ends = [search.run(explore.first)]
    for seed in range(runs - 1 if search.has_choice else 0):
        search.renew()
        ends.append(search.run(_at_random(seed)))
    return PlacementOutcomes(tuple(map(_counts, ends)), Basis.SAMPLE, len(ends))


def _at_random(seed: int) -> Callable[[Sequence[Way]], Way]:
    """Return a chooser at random, the same one for the same seed."""
    generator = random.Random(seed)  # noqa: S311 (a simulation's choice, no secret)
    return lambda ways: ways[generator.randrange(len(ways))]


def _all(hosts: Sequence[int], _: State) -> Sequence[int]:
    return hosts


def _counts(state: State) -> NodeCounts:
    return Counter(pod.node for pod in state.pods if pod.node != PENDING)


def _waiting(state: State) -> list[P]:
    return [pod for pod in state.pods if pod.node == PENDING]


class _Search:
    """States of new pods, and the steps between them.

    has_choice: some pod had several equally good nodes.
    """

    is_cut = False

    def __init__(self, new: NewPods, kinds: Optional[Sequence[int]]) -> None:
        self._new = new
        self._world = World(new.cluster, new.profiles)
        self._world.background = new.cluster.pods
        self._world.bound = new.bound
        self.renew()
        self._kinds = kinds
        self._kind_of: Int64s = np.array(kinds or (), np.int64)  # (N,)
        self._of_kind: dict[int, list[int]] = {}
        for node, kind in enumerate(kinds or ()):
            self._of_kind.setdefault(kind, []).append(node)
        self._bound_pod = self._equal_pod(Stage.BOUND)
        self.has_choice = False
        self.start = State(tuple(sorted(self._pods())), (), 0)

    def renew(self) -> None:
        """Start with a new scheduler, which has not looked at any node yet."""
        self._oracle = Oracle(self._world, all_nodes=self._new.all_nodes)

    def _pods(self) -> list[P]:
        """Return the waiting pods; equal ones are of the class of the first."""
        if self._new.are_equal:
            return [self._equal_pod(Stage.WAITING)] * len(self._new.pods)
        number = self._world.class_index
        return [P(-1, -1, at, number(pod.cls), PENDING, Stage.WAITING) for at, pod in enumerate(self._new.pods)]

    def _equal_pod(self, stage: Stage) -> P:
        cls = self._world.class_index(self._new.pods[0].cls) if self._new.pods else 0
        return P(-1, -1, NO_ORDINAL, cls, PENDING, stage)

    def after(self, state: State) -> Sequence[Way]:
        """Return the ways to bind the next pod that finds a node, one for each kind; none if no pod does."""
        return self._ways(state, self._distinct)

    def _ways(self, state: State, choose: Callable[[Sequence[int], State], Sequence[int]]) -> Sequence[Way]:
        refused: list[P] = []
        for pod in self._turns(state):
            hosts = self._oracle.ask(pod, state)
            if hosts:
                self.has_choice |= len(hosts) > 1
                bound = partial(self._bound, _tried(state, refused), pod, others=len(hosts) - 1)
                return Bindings(bound, choose(hosts, state))
            refused.append(pod)
        return ()

    def _turns(self, state: State) -> list[P]:
        """Return the waiting pods in the order of their attempts: refused ones come after the others."""
        waiting = _waiting(state)
        if self._new.are_equal or self._new.is_ordered:
            return waiting[:1]
        return sorted(waiting, key=lambda pod: pod.is_tried)

    def _bound(self, state: State, pod: P, node: int, *, others: int) -> Step:
        return bind(self._world, self._oracle, state, pod, node=node, others=others)

    def _distinct(self, hosts: Sequence[int], state: State) -> Sequence[int]:
        """Return one host of each kind and number of pods."""
        if self._kinds is None or len(hosts) < 2:
            return hosts
        there = _counts(state)
        if len(hosts) <= _FEW_HOSTS:
            looks = [(self._kinds[host], there.get(host, 0)) for host in hosts]
            return list(dict(zip(reversed(looks), reversed(hosts), strict=True)).values())
        return self._first_of_kinds(np.array(hosts, np.intp), there)

    def _first_of_kinds(self, hosts: NodeIndices, there: NodeCounts) -> list[int]:
        """Return the first host of each kind and number of pods (perf: without a loop over the hosts)."""
        looks = self._kind_of[hosts] * (sum(there.values()) + 1)
        for node, count in there.items():
            looks[hosts == node] += count
        found: list[int] = hosts[np.sort(np.unique(looks, return_index=True)[1])].tolist()
        return found

    def canonical(self, state: State) -> State:
        """Return the representative of the states that differ in interchangeable nodes."""
        if self._kinds is None:
            return state
        numbers: dict[int, list[int]] = {}
        for node, count in _counts(state).items():
            numbers.setdefault(self._kinds[node], []).append(count)
        pods = _waiting(state)
        for kind, counts in numbers.items():
            counts.sort(reverse=True)
            for node, count in zip(self._of_kind[kind], counts, strict=False):
                pods += [on_node(self._bound_pod, node)] * count
        pods.sort()
        return state._replace(pods=tuple(pods))

    def run(self, choose: Callable[[Sequence[Way]], Way]) -> State:
        """Return the end of one path; `choose` picks one of the steps."""
        state, ways = self.start, self._ways(self.start, _all)
        while ways:
            state = choose(ways)().state
            ways = self._ways(state, _all)
        return state

    def may_preempt(self, state: State) -> bool:
        """Return whether a waiting pod would evict others."""
        return any(self._oracle.may_preempt(pod, state) for pod in dict.fromkeys(_waiting(state)))


def _tried(state: State, refused: Sequence[P]) -> State:
    """Return a state in which some waiting pods count as refused."""
    if not refused:
        return state
    pods = (pod._replace(is_tried=True) if pod in refused else pod for pod in state.pods)
    return state._replace(pods=tuple(sorted(pods)))
