"""Rollouts of one Deployment that a search meets, and all their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Optional

from kubectl_spread.engine.counting.applies import Alone, others
from kubectl_spread.engine.counting.control import NotCountable
from kubectl_spread.engine.counting.model import Model
from kubectl_spread.engine.counting.places import Numbers, Places
from kubectl_spread.engine.counting.search import Colours, each_bit, Graph, Tail, visit
from kubectl_spread.engine.moves import Moves
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.search.limit import Limit
from kubectl_spread.engine.search.symmetry import Symmetry
from kubectl_spread.engine.state import State
from kubectl_spread.engine.world import World

STATES_FOR_ONE = 4  # States as counts that are visited instead of one state: each takes a fraction of the time.
MOST_PLACES = 400  # Each exchange of two nodes is a tuple as long as the nodes.
_MOST_COLOURINGS = 200  # With more, nodes of different colours are not exchanged.


class RolloutOutcomes(NamedTuple):
    """Result of the search through rollouts.

    tails: for each steady state, a function that returns the states on the way to it. states: number of visited ones.
    extremes: states that have the largest skews and the fewest ready pods of all visited ones.
    """

    tails: Mapping[State, Callable[[], list[State]]]
    is_exhaustive: bool
    states: int
    extremes: tuple[State, ...]


class CountedRollouts:
    """States of a search in which one Deployment rolls out and nothing else can happen."""

    def __init__(self, world: World, oracle: Oracle, symmetry: Symmetry) -> None:
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

    def explore(self, canonical: Callable[[State], State], limit: Limit) -> RolloutOutcomes:
        """Visit everything that follows the states.

        Raises:
            NotCountable: counts do not decide what happens; each state must be visited by itself.
        """
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
            visit(model, graph, limit.times(STATES_FOR_ONE).less(states))
            states += len(graph.states)
            extremes += _extremes(model, graph)
            colourings = coloured.spread(limit) if graph.is_complete else None
            if colourings is None:
                is_exhaustive = False
                continue
            for at in graph.steady:
                for colouring in each_bit(colourings[at]):
                    tail = Tail(model, coloured, graph, (at, colouring))
                    tails.setdefault(canonical(tail.state()), tail.way)
        return RolloutOutcomes(tails, is_exhaustive, states, tuple(extremes))

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


def _as_places(symmetry: Symmetry) -> Places:
    if isinstance(symmetry.nodes.tree, int) or not 0 < len(symmetry.nodes.slots) <= MOST_PLACES:
        raise NotCountable
    return Places(symmetry.nodes.tree, symmetry.nodes.slots)


def _extremes(model: Model, graph: Graph) -> list[State]:
    """Return a state for each number of pods per node, and one with the fewest ready pods."""
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
    return [model.state(graph.states[at], own) for at in chosen]
