"""Pods bound to nodes while nothing else happens: no controller, no user and no node acts.

One after another, as the scheduler does it: replicas of manifests, pods that are Pending, and tried suggestions.

```
pod ─▶ filter ─▶ no node fits  ─▶ Unschedulable: the same for each pod of its class until something changes
            └──▶ some nodes fit ─▶ highest score ─▶ pick one of equals ─▶ Binding: refused pods get another turn
```

Or in all ways. Every step of this search binds the next waiting pod to one of the nodes that the scheduler may take:

```
{} ── a1 ── a1 b1 ── a1 b1 b2 ── no node fits
   └─ b1 ── b1 a1     is the same state as a1 b1
```

Numbers of pods on interchangeable nodes are exchanged, so that each state is visited once. The states, the scheduler,
the interchangeable nodes and the searches are those of every other simulation.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.explore import Budget, weight
from kubectl_spread.engine.search.node_tree import affinity_terms
from kubectl_spread.engine.search.symmetry import first_twins, Symmetry
from kubectl_spread.engine.state import NO_ORDINAL, P, PENDING, Stage, State, Way
from kubectl_spread.engine.world import World
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import REGION, ZONE
from kubectl_spread.scheduler.cycle import Scheduler, unsupported_features
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import NodeIndices, Profile, ScoreError

_COPIED = (ZONE, REGION)
Pick = Callable[[NodeIndices], int]


def first_by_name(hosts: NodeIndices) -> int:
    """Pick the first node by name."""
    return int(hosts[0])


def seeded_pick(seed: int) -> Callable[[Any], Any]:
    """Return a pick at random among nodes or ways, the same ones for the same seed."""
    generator = random.Random(seed)  # noqa: S311 (a simulation's choice, no secret)
    return lambda choices: choices[generator.randrange(len(choices))]


class Binding(NamedTuple):
    """A pod bound to a node; `fitting` nodes were feasible, and `hosts` of them had the highest score."""

    pod: Pod
    node: int
    fitting: int
    hosts: int
    filtered: FilterResult  # as it was before the pod was bound


class Unschedulable(NamedTuple):
    """A pod without a node; `error`: a plugin failed to score the feasible nodes."""

    filtered: FilterResult
    error: Optional[ScoreError] = None


class Placer:
    """A cluster and its scheduler, changed by every pod that is bound or evicted.

    changes: pods bound and evicted so far; a refused pod is worth another try after a change.
    """

    def __init__(self, cluster: Cluster, scheduler: Scheduler, release: Profile, *, pick: Pick = first_by_name) -> None:
        """Start with a cluster.

        Args:
            cluster: the cluster that the scheduler sees.
            scheduler: its columns change with every pod.
            release: any profile of the scheduler; all follow the same release.
            pick: chooses among nodes of equal score.
        """
        self.cluster = cluster
        self.scheduler = scheduler
        self.changes = 0
        self._pick = pick
        self._copies_labels = release.labels_topology
        # By id() of a class and the labels; the entry keeps the class alive, so that its id() stays unique.
        self._labelled: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[PodClass, PodClass]] = {}
        self._refusals: dict[int, Unschedulable] = {}  # by class, valid until the cluster changes

    def unpredictable(self, pod: Pod) -> tuple[str, ...]:
        """Return the features of a pod that decide its node but are not evaluated."""
        scheduler = self.scheduler
        profile = scheduler.profile_of(pod.cls) if scheduler.has_profile(pod.cls) else None
        return unsupported_features(pod.cls, profile, self.cluster)

    def place(
        self, pod: Pod, *, before: Callable[[FilterResult], None] = lambda _: None
    ) -> Union[Binding, Unschedulable]:
        """Bind a pod to the best node, if any node fits.

        Args:
            pod: of a class that a profile schedules.
            before: gets the plugins' answers if some node fits, before the node is chosen.
        """
        class_at = self.scheduler.columns.class_index(pod.cls)
        refusal = None if pod.nominated_node else self._refusals.get(class_at)
        if refusal is not None:
            return refusal
        filtered = self.scheduler.filter(pod)
        refusal = Unschedulable(filtered)
        if filtered.feasible.any():
            before(filtered)
            try:
                hosts = self.scheduler.hosts(pod, filtered)
            except ScoreError as error:
                refusal = Unschedulable(filtered, error)
            else:
                node = int(self._pick(hosts))
                return Binding(self.bind(pod, node), node, int(filtered.feasible.sum()), len(hosts), filtered)
        if not pod.nominated_node:
            self._refusals[class_at] = refusal
        return refusal

    def bind(self, pod: Pod, node: int) -> Pod:
        """Bind a pod to a node, and return the pod with its node's labels."""
        bound = self._on_node(pod, node)
        self.scheduler.bind(bound, node)
        self._has_changed()
        return bound

    def put(self, pod: Pod, node: int) -> None:
        """Run a pod on the node that its own spec names, without the scheduler."""
        self.scheduler.columns.bind(self._on_node(pod, node), node)
        self._has_changed()

    def evict(self, victims: Sequence[Pod]) -> None:
        """Remove pods from their nodes; the volumes that other pods reserved stay reserved."""
        gone = frozenset(victim.uid for victim in victims)
        columns = self.scheduler.columns
        storage = self.cluster.storage._replace(claims=columns.storage.claims, volumes=columns.storage.volumes)
        staying = tuple(pod for pod in self.cluster.pods if pod.uid not in gone)
        self.cluster = self.cluster._replace(pods=staying, storage=storage)
        self.scheduler = self.scheduler.with_columns(columns.copy_for_cluster(self.cluster, gone))
        self._has_changed()

    def nominate(self, pod: Pod) -> None:
        """Reserve the nominated node of a pod against pods of lower priority."""
        self.scheduler.nominate(pod)
        self._refusals.clear()

    def recreate(self, pod: Pod) -> Pod:
        """Return the pod that a controller creates in place of an evicted one, without the labels of its node."""
        labels = tuple(item for item in pod.cls.labels if item[0] not in _COPIED)
        if self._copies_labels and labels != pod.cls.labels:
            pod = pod._replace(cls=pod.cls._replace(labels=labels))
        return pod._replace(uid=f"{pod.uid}/again", node_name="", nominated_node="", phase="Pending")

    def now(self) -> Cluster:
        """Return the current cluster."""
        others = [pod for pod in self.cluster.pods if not (pod.node_name and pod.is_visible)]
        return self.cluster._replace(pods=(*self.scheduler.columns.bound_pods, *others))

    def _on_node(self, pod: Pod, node: int) -> Pod:
        """Return a pod on a node, with the labels that the PodTopologyLabels admission copies from the node.

        Pods of one class that get the same labels share one labelled class, so that later comparisons are quick.
        """
        at = self.scheduler.columns.nodes[node]
        copied = tuple((key, at.labels[key]) for key in _COPIED if key in at.labels) if self._copies_labels else ()
        if copied:
            found = self._labelled.get((id(pod.cls), copied))
            if found is None:
                labels = {**pod.labels, **dict(copied)}
                found = pod.cls, pod.cls._replace(labels=tuple(sorted(labels.items())))
                self._labelled[id(pod.cls), copied] = found
            pod = pod._replace(cls=found[1])
        return pod._replace(node_name=at.name)

    def _has_changed(self) -> None:
        self.changes += 1
        self._refusals.clear()


class PlacedPods(NamedTuple):
    """Pods that were placed in turn: `bound` by key, in order of binding, and `refused` ones without a node."""

    bound: dict[str, Pod]
    refused: tuple[Pod, ...]
    scheduler: Scheduler


def place_in_turn(pods: Iterable[Pod], placer: Placer, *, needed: str = "") -> PlacedPods:
    """Place pods in order, and refused ones again after later bindings, until no more pod is bound.

    A pod that names its node is bound there. A pod that cannot be predicted is refused.

    Args:
        pods: in the order of the scheduler's queue.
        placer: of the cluster.
        needed: the key of a pod; if it is refused, no other pod is tried.
    """
    bound: dict[str, Pod] = {}
    waiting, has_changed = list(pods), True
    refused: list[Pod] = []
    while has_changed:
        refused, has_changed = [], False
        for pod in waiting:
            node, found = placer.scheduler.columns.index.get(pod.node_name), None
            if node is not None:
                found = placer.bind(pod, node)
            elif not pod.node_name and placer.scheduler.has_profile(pod.cls) and not placer.unpredictable(pod):
                answer = placer.place(pod)
                found = answer.pod if isinstance(answer, Binding) else None
            if found is not None:
                bound[pod.key] = found
                has_changed |= bool(refused)
                continue
            refused.append(pod)
            if pod.key == needed:
                return PlacedPods(bound, tuple(refused), placer.scheduler)
        waiting = refused
    return PlacedPods(bound, tuple(refused), placer.scheduler)


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
            ends.append(search.run(seeded_pick(seed)))
        return PlacementOutcomes(tuple(map(_counts, ends)), Basis.SAMPLE, len(ends))
    found = explore.everything(search, [search.start], canonical=search.canonical, budget=Budget(max_states))
    if found.is_exhaustive:
        may_preempt = found.states > 1 and any(map(search.may_preempt, found.steady))
        basis = Basis.NOT_SIMULATED if may_preempt else Basis.ALL_OUTCOMES
        return PlacementOutcomes(tuple(map(_counts, found.steady)), basis, len(found.steady), search.symmetry)
    ends = [search.run(explore.first), *(search.run(seeded_pick(seed)) for seed in range(runs - 1))]
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

    def after(self, state: State, *, has_twins: bool = False) -> list[Way]:
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
                bound = partial(self._oracle.bind, tried, pod, others=len(hosts) - 1)
                if self.symmetry is not None and not has_twins:
                    hosts = first_twins(hosts, self.symmetry.twins(state))
                return [partial(bound, node) for node in hosts]
            refused.append(pod)
        return []

    def canonical(self, state: State) -> State:
        """Return the representative of the states that differ in interchangeable nodes."""
        return state if self.symmetry is None else self.symmetry.canonical(state)

    def run(self, choose: Callable[[list[Way]], Way]) -> State:
        """Return the end of one path; `choose` picks one of the steps."""
        state, ways = self.start, self.after(self.start, has_twins=True)
        while ways:
            state = choose(ways)().state
            ways = self.after(state, has_twins=True)
        return state

    def may_preempt(self, state: State) -> bool:
        """Return whether a waiting pod would evict others."""
        return any(self._oracle.may_preempt(pod, state) for pod in dict.fromkeys(_waiting(state)))
