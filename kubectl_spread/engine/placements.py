"""All placements of new pods while nothing else happens: no controller, no user and no node acts.

Every step of the search binds the next waiting pod to one of the nodes that the scheduler may take:

    {} ── a1 ── a1 b1 ── a1 b1 b2 ── no node fits
       └─ b1 ── b1 a1     is the same state as a1 b1

Numbers of pods on interchangeable nodes are exchanged, so that each state is visited once. The states, the scheduler,
the interchangeable nodes and the searches are those of every other simulation.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Optional

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.oracle import bind, Oracle
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.limit import Budget, weight
from kubectl_spread.engine.search.node_tree import affinity_terms
from kubectl_spread.engine.search.symmetry import first_twins, Symmetry
from kubectl_spread.engine.state import Bindings, NO_ORDINAL, P, PENDING, Stage, State, Way
from kubectl_spread.engine.world import World
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.scheduler.framework.plugin import Profile

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
    """Outcomes of all searches; basis: whether there are others. runs: how many outcomes or random runs there were.

    symmetry: the nodes with which the outcomes stand for others; None if they stand for none.
    """

    counts: tuple[NodeCounts, ...]
    basis: Basis
    runs: int
    symmetry: Optional[Symmetry] = None


def every_placement(new: NewPods, *, max_states: int, runs: int) -> PlacementOutcomes:
    """Return the outcomes of all choices among equally good nodes, or of random choices if there are too many.

    Args:
        new: the pods.
        max_states: most states to visit.
        runs: most outcomes, if random choices are tried.
    """
    search = _Search(new)
    if not new.all_nodes:  # The sampling of nodes depends on all earlier pods, so equal states have other steps.
        ends = [search.run(explore.first)]
        for seed in range(runs - 1 if search.has_choice else 0):
            search.renew()
            ends.append(search.run(_at_random(seed)))
        return PlacementOutcomes(tuple(map(_counts, ends)), Basis.SAMPLE, len(ends))
    found = explore.everything(search, [search.start], canonical=search.canonical, budget=Budget(max_states))
    if found.is_exhaustive:
        may_preempt = found.states > 1 and any(map(search.may_preempt, found.steady))
        basis = Basis.NOT_SIMULATED if may_preempt else Basis.ALL_OUTCOMES
        return PlacementOutcomes(tuple(map(_counts, found.steady)), basis, len(found.steady), search.symmetry)
    ends = [search.run(explore.first), *(search.run(_at_random(seed)) for seed in range(runs - 1))]
    return PlacementOutcomes(
        tuple(_counts(end) for end in (*found.steady, *ends)), Basis.SAMPLE, len(found.steady) + runs
    )


def max_placed_pods(new: NewPods, *, max_states: int) -> Optional[int]:
    """Return the most of equal pods that any choice of fitting nodes places; scores are ignored.

    Returns None if there are too many states, or if a pod would evict others.

    Args:
        new: the pods.
        max_states: most states to visit.
    """
    blind = {name: profile._replace(score=(), pre_score=()) for name, profile in new.profiles.items()}
    search = _Search(new._replace(profiles=blind))
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


def _at_random(seed: int) -> Callable[[Sequence[Way]], Way]:
    """Return a chooser at random, the same one for the same seed."""
    generator = random.Random(seed)  # noqa: S311 (a simulation's choice, no secret)
    return lambda ways: ways[generator.randrange(len(ways))]


def _without_names(new: NewPods) -> tuple[Pod, ...]:
    """Return the pods of the cluster without labels that no selector reads, so that they distinguish no node."""
    classes = {cls: None for pod in (*new.cluster.pods, *new.pods) if (cls := pod.cls).has_pod_affinity}
    selectors = [term.selector for cls in classes for term in affinity_terms(cls)]
    selectors += [budget.selector for budget in new.cluster.budgets]
    keys = {requirement.key for selector in selectors for requirement in selector.requirements or ()}
    for cls in {pod.cls for pod in new.pods}:  # A default constraint selects pods by labels that these pods have.
        keys.update(cls.selecting_keys, (key for key, _ in cls.labels))
    known: dict[int, PodClass] = {}
    for pod in new.cluster.pods:
        if id(pod.cls) not in known:
            known[id(pod.cls)] = pod.cls._replace(labels=tuple(item for item in pod.cls.labels if item[0] in keys))
    return tuple(pod._replace(cls=known[id(pod.cls)]) for pod in new.cluster.pods)


def _counts(state: State) -> NodeCounts:
    return Counter(pod.node for pod in state.pods if pod.node != PENDING)


def _waiting(state: State) -> list[P]:
    return [pod for pod in state.pods if pod.node == PENDING]


class _Search:
    """States of new pods, and the steps between them.

    has_choice: some pod had several equally good nodes.
    """

    is_cut, repeating = False, ()

    def may_repeat(self, _state: State, /) -> bool:
        return False

    def __init__(self, new: NewPods) -> None:
        self._new = new
        self._world = World(new.cluster, new.profiles)
        self._world.background = _without_names(new)
        self._world.bound = new.bound
        self.renew()
        self.has_choice = False
        number = self._world.class_index
        if new.are_equal:  # They are of the class of the first.
            cls = number(new.pods[0].cls) if new.pods else 0
            pods = [P(-1, -1, NO_ORDINAL, cls, PENDING, Stage.WAITING)] * len(new.pods)
        else:
            pods = [P(-1, -1, at, number(pod.cls), PENDING, Stage.WAITING) for at, pod in enumerate(new.pods)]
        self.start = State(tuple(sorted(pods)), (), 0)
        # The sampling of nodes, and the claims of pods, depend on more than the contents of nodes.
        nominated = {pod.nominated_node for pod in new.cluster.pending()}
        is_symmetric = new.all_nodes and new.are_equal
        self.symmetry = Symmetry(self._world, self.start, nominated) if is_symmetric else None

    def renew(self) -> None:
        """Start with a new scheduler, which has not looked at any node yet."""
        self._oracle = Oracle(self._world, all_nodes=self._new.all_nodes)

    def after(self, state: State, *, has_twins: bool = False) -> Sequence[Way]:
        """Return the ways to bind the next pod that finds a node; none if no pod does. `has_twins`: also equal ways."""
        refused: list[P] = []
        turns = sorted(_waiting(state), key=lambda pod: pod.is_tried)  # Refused pods come after the others.
        for pod in turns[:1] if self._new.are_equal or self._new.is_ordered else turns:
            hosts: Sequence[int] = self._oracle.ask(pod, state)
            if hosts:
                self.has_choice |= len(hosts) > 1
                tried = state
                if refused:
                    pods = (each._replace(is_tried=True) if each in refused else each for each in state.pods)
                    tried = state._replace(pods=tuple(sorted(pods)))
                bound = partial(bind, self._world, self._oracle, tried, pod, others=len(hosts) - 1)
                if self.symmetry is not None and not has_twins:
                    hosts = first_twins(hosts, self.symmetry.twins(state))
                return Bindings(bound, hosts)
            refused.append(pod)
        return ()

    def canonical(self, state: State) -> State:
        """Return the representative of the states that differ in interchangeable nodes."""
        return state if self.symmetry is None else self.symmetry.canonical(state)

    def run(self, choose: Callable[[Sequence[Way]], Way]) -> State:
        """Return the end of one path; `choose` picks one of the steps."""
        state, ways = self.start, self.after(self.start, has_twins=True)
        while ways:
            state = choose(ways)().state
            ways = self.after(state, has_twins=True)
        return state

    def may_preempt(self, state: State) -> bool:
        """Return whether a waiting pod would evict others."""
        return any(self._oracle.may_preempt(pod, state) for pod in dict.fromkeys(_waiting(state)))
