"""Rollouts of one Deployment that a search meets, and all their outcomes."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, factorial
from typing import Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.engine.controllers import scale
from kubectl_spread.engine.controllers.deployment import DeploymentSpec, DeploymentState
from kubectl_spread.engine.counting.control import NotCountable
from kubectl_spread.engine.counting.model import Model
from kubectl_spread.engine.counting.search import Colours, each_bit, Graph, Tail, visit
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.moves import Moves
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.refusals import has_quota
from kubectl_spread.engine.search.explore import RolloutOutcomes
from kubectl_spread.engine.search.limit import Budget
from kubectl_spread.engine.search.symmetry import Numbers, Places, Symmetry
from kubectl_spread.engine.state import Deletion, of_owner, P, PENDING, Stage, State
from kubectl_spread.engine.world import World

_QUIET = (Stage.READY, Stage.UNREADY)


class Alone:
    """Finds the only Deployment of a state that rolls out."""

    def __init__(self, world: World, moves: Moves) -> None:
        self._world = world
        self._moves = moves

    def owner(self, state: State) -> Optional[int]:
        """Return the index of the Deployment; None if other things can happen, or its pods are of unusual kinds."""
        world = self._world
        if state.todo or state.claims or world.facts[state.facts].down or world.evicting(state.facts):
            return None
        if world.may_lag and self._moves.settle(Draft(world, state), are_late=True).state != state:
            return None  # Counts are those of a controller that has acted.
        owner = self._moving(state)
        if owner is None or not self._is_usual(state, owner) or self._may_preempt(state, owner):
            return None
        return owner if self._is_quiet(others(state, owner)) else None

    def _moving(self, state: State) -> Optional[int]:
        """Return the only workload that has pods of an old revision, or pods that have yet to change."""
        revs = [self._world.specs[own.spec].rev if isinstance(own, DeploymentState) else None for own in state.sets]
        found = {
            pod.owner
            for pod in state.pods
            if (pod.stage not in _QUIET or pod.end not in (Deletion.ALIVE, Deletion.HELD))
            or (pod.owner >= 0 and revs[pod.owner] is not None and pod.rev != revs[pod.owner])
        }
        owner = found.pop() if len(found) == 1 else -1
        return owner if owner >= 0 and revs[owner] is not None else None

    def _is_usual(self, state: State, owner: int) -> bool:
        """Return whether only pods of the newest revision wait or become ready, and all deleted pods end.

        The API server admits every new pod, and no autoscaler changes their number.
        Pods whose template names a node do not wait, because they bypass the scheduler.
        """
        spec: DeploymentSpec = self._world.specs[state.sets[owner].spec]
        if any(scale.out_of_range(self._world, state)):
            return False
        namespace = self._world.keys[owner].namespace
        if has_quota(self._world, state.facts, namespace) or self._world.lasting_refusal(spec.rev, state.facts):
            return False
        pods = of_owner(state.pods, owner)
        revisions = self._world.revisions
        if self._world.classes[self._world.cls_of(spec.rev)].node_name:
            return False
        if spec.is_recreate or not all(revisions[rev].ends for rev in {spec.rev, *(pod.rev for pod in pods)}):
            return False
        return all(_is_countable(pod, spec.rev) for pod in pods)

    def _may_preempt(self, state: State, owner: int) -> bool:
        """Return whether waiting pods have a higher priority than some bound pod."""
        rev = self._world.specs[state.sets[owner].spec].rev
        cls = self._world.cls_of(rev, admission=self._world.admission(state.facts))
        classes = self._world.classes
        priority = classes[cls].priority
        return self._world.lowest < priority or any(classes[pod.cls].priority < priority for pod in state.pods)

    @cached_method
    def _is_quiet(self, rest: State) -> bool:
        """Return whether nothing can happen without the Deployment."""
        return self._moves.settle(Draft(self._world, rest)).state == rest and not self._moves.after(rest)


def others(state: State, owner: int) -> State:
    """Return a state without a workload and its pods."""
    pods = tuple(pod for pod in state.pods if pod.owner != owner)
    sets = tuple(None if at == owner else own for at, own in enumerate(state.sets))
    return state._replace(pods=pods, sets=sets)


def _is_countable(pod: P, newest: int) -> bool:
    if pod.end == Deletion.TERMINATING:
        return pod.node != PENDING and pod.rev != newest
    if pod.end != Deletion.ALIVE or pod.nominated != PENDING:
        return False
    if pod.rev != newest:
        return pod.stage in _QUIET and pod.node != PENDING
    return pod.is_new or pod.node != PENDING


MOST_PLACES = 400  # Each exchange of two nodes is a tuple as long as the nodes.

_SHARE = 1 / 4  # of the time of an ordinary state that a state as counts takes

_MOST_COLOURINGS = 200  # With more, nodes of different colours are not exchanged.


class CountedRollouts:
    """States of a search in which one Deployment rolls out and nothing else can happen."""

    def __init__(self, world: World, oracle: Oracle, symmetry: Symmetry, most: int) -> None:
        """Set up the search; `most`: states of a rollout that is searched whole if it seems to have no more."""
        self._most = most
        self._world = world
        self._oracle = oracle
        self._symmetry = symmetry
        self._alone = Alone(world, Moves(world, oracle))
        self._groups: dict[tuple[object, ...], tuple[State, int, list[State]]] = {}

    def add(self, state: State) -> bool:
        """Add a state; return whether it belongs to a rollout, so that the search need not visit what follows."""
        if state.facts != self._symmetry.facts:
            return False
        owner = self._alone.owner(state)
        if owner is None:
            return False
        rest, own = others(state, owner), state.sets[owner]
        key = (owner, rest, own.spec, own.order)
        self._groups.setdefault(key, (rest, owner, []))[2].append(state)
        return True

    def explore(self, canonical: Callable[[State], State], budget: Budget) -> Optional[RolloutOutcomes]:
        """Visit everything that follows the states; None if counts do not decide what happens."""
        try:
            tails: dict[State, Callable[[], list[State]]] = {}
            extremes: list[State] = []
            states, is_exhaustive = 0, True
            for rest, owner, entries in self._groups.values():
                model = Model(self._world, self._oracle, rest, entries=entries, owner=owner)
                places, colours = self._places(rest)
                model.at(places)
                graph = Graph(places)
                coloured = Colours(graph, colours)
                for entry in entries:
                    coloured.start(*graph.add(model.counts(entry)))
                replicas = self._world.specs[entries[0].sets[owner].spec].replicas
                is_small = _estimate(replicas, len(places.nodes)) < self._most
                visit(model, graph, budget, budget.left / self._most if is_small else _SHARE)
                states += len(graph.states)
                extremes += _extremes(model, graph)
                if not graph.is_complete:
                    is_exhaustive = False
                    continue
                colourings = coloured.spread()
                for at in graph.steady:
                    for colouring in each_bit(colourings[at]):
                        tail = Tail(model, coloured, graph, (at, colouring))
                        tails.setdefault(canonical(tail.state()), tail.way)
            return RolloutOutcomes(tails, is_exhaustive, states, tuple(extremes))
        except NotCountable:
            return None

    def _places(self, rest: State) -> tuple[Places, Numbers]:
        """Return the places of the nodes, and a colour for each: equal ones were equal when the step began."""
        numbers: dict[object, int] = {}
        traits = self._symmetry.traits
        colour_of = {node: numbers.setdefault(trait, len(numbers)) for node, trait in traits.items()}
        free = self._symmetry.of(rest)
        places = _as_places(free)
        colours = tuple(colour_of[node] for node in places.nodes)
        if len(numbers) == 1 or places.variants(colours) <= _MOST_COLOURINGS:
            return places, colours
        names = self._world.node_names
        places = _as_places(self._symmetry.of(rest, {names[node]: colour for node, colour in colour_of.items()}))
        return places, (0,) * len(places.nodes)


def _estimate(pods: int, places: int) -> int:
    """Return about how many states a rollout has: spreads of new pods and of the old ones that are left.

    A third of them, up to the order of the places, was measured for 9 to 30 pods in three places.
    """
    return comb(pods + places - 1, pods) * comb(pods + places, pods) // factorial(places) // 3


def _as_places(symmetry: Symmetry) -> Places:
    if isinstance(symmetry.nodes.tree, int) or not 0 < len(symmetry.nodes.slots) <= MOST_PLACES:
        raise NotCountable
    return Places(symmetry.nodes.tree, symmetry.nodes.slots)


def _extremes(model: Model, graph: Graph) -> list[State]:
    """Return a state for each number of pods per node, and one with the fewest ready pods; without waiting pods."""
    numbers = model.kinds.contents
    by_number: dict[Numbers, int] = {}
    fewest: Optional[int] = None
    ready = [model.controls.available(at) for at in range(len(model.controls.all))]
    for at, (contents, control) in enumerate(graph.states):
        counts = tuple([len(numbers[content]) for content in contents])
        by_number.setdefault(counts, at)
        if fewest is None or ready[control] < ready[graph.states[fewest][1]]:
            fewest = at
    by_order: dict[Numbers, int] = {}
    for counts, at in by_number.items():
        by_order.setdefault(graph.places.order(counts)[0], at)
    chosen = [*by_order.values(), *([] if fewest is None else [fewest])]
    own = range(len(graph.places.nodes))
    return [model.state(graph.states[at], own, has_waiting=False) for at in chosen]
