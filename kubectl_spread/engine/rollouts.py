"""Rollouts of one Deployment that a search meets, and all their outcomes.

Contents of interchangeable nodes are exchanged freely in the search, even if other pods were on the nodes when the step
began. Colours keep the difference: each place has the colour of its node, and colours move with the contents. All
colourings of each state are found along the steps that the search recorded.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from math import comb, factorial
from typing import Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import Numbering
from kubectl_spread.engine.controllers import replicaset
from kubectl_spread.engine.controllers.deployment import DeploymentSpec, DeploymentState
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.moves import Moves
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.refusals import has_quota
from kubectl_spread.engine.rollout_model import Counts, Model, NotCountable
from kubectl_spread.engine.search.explore import Budget, Exploration
from kubectl_spread.engine.search.symmetry import Arrangement, Numbers, Order, Symmetry
from kubectl_spread.engine.state import Deletion, of_owner, P, PENDING, Stage, State
from kubectl_spread.engine.world import World

Coloured = tuple[int, int]  # numbers of a state and of a colouring


class Graph:
    """Visited states as counts, and the steps between them.

    Arrays hold the target and the number of the order of each step, and for each visited state its first step.
    Colourings are numbers, and those of a state are the bits of one.
    """

    def __init__(self, places: Arrangement, colours: Numbers) -> None:
        """Set up the graph; `colours` are those of the nodes at their own places."""
        self.places = places
        self._colours = colours
        self._at = Numbering[Counts]()
        self.states = self._at.listed
        self.steady: list[int] = []
        self._order_at = Numbering[Order]()
        self._colouring_at = Numbering[Numbers]()
        self.targets = array("l")
        self.order_of = array("l")
        self.first = array("l")
        self._starts: dict[Coloured, None] = {}
        self._came_from: dict[Coloured, Optional[Coloured]] = {}

    def add(self, counts: Counts) -> tuple[int, int]:
        """Return the number of a state, equal for interchangeable nodes, and the number of its order of contents."""
        contents, order = self.places.sort(counts[0])
        return self._at[contents, counts[1]], self._order_at[order]

    @cached_method
    def swaps(self, at: int) -> tuple[int, ...]:
        """Return the numbers of the orders that exchange equal contents of a state."""
        return tuple(self._order_at[order] for order in self.places.swaps(self.states[at][0]))

    def steps(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the target and the number of the order of each step of a state."""
        for number in range(self.first[at], self.first[at + 1]):
            yield self.targets[number], self.order_of[number]

    @cached_method
    def _move(self, colouring: int, order: int) -> int:
        """Return a colouring after contents were put in an order."""
        colours = self._colouring_at.listed[colouring]
        return self._colouring_at[tuple([colours[at] for at in self._order_at.listed[order]])]

    def start(self, counts: Counts) -> None:
        """Add a state in which the search begins."""
        at, order = self.add(counts)
        self._starts[at, self._move(self._colouring_at[self._colours], order)] = None

    def spread(self) -> dict[int, int]:
        """Return the colourings of each state, as bits."""
        if len(set(self._colours)) == 1:  # perf: there is one colouring
            return dict.fromkeys(range(len(self.states)), 1)
        found: dict[int, int] = {}
        for at, colouring in self._starts:
            found[at] = found.get(at, 0) | 1 << colouring
        queue = deque(found)
        waiting = set(queue)
        while queue:
            at = queue.popleft()
            waiting.remove(at)
            bits = found[at] = self._closed(found[at], self.swaps(at))
            for target, order in self.steps(at):
                before = found.get(target, 0)
                after = before | self._bits_moved(bits, order)
                if after != before:
                    found[target] = after
                    if target not in waiting:
                        waiting.add(target)
                        queue.append(target)
        return found

    @cached_method
    def _bits_moved(self, bits: int, order: int) -> int:
        """Return colourings after contents were put in an order."""
        found = 0
        for colouring in each_bit(bits):
            found |= 1 << self._move(colouring, order)
        return found

    @cached_method
    def _closed(self, bits: int, swaps: tuple[int, ...]) -> int:
        """Return colourings of a state, and all that differ from them only in places of equal content."""
        found, before = bits, 0
        while found != before:
            before = found
            for order in swaps:
                found |= self._bits_moved(found, order)
        return found

    def way(self, end: Coloured) -> list[Coloured]:
        """Return the states on a shortest way to a coloured state, from the start on."""
        if end not in self._came_from:
            self._find(end)
        found: list[Coloured] = []
        item: Optional[Coloured] = end
        while item is not None:
            found.append(item)
            item = self._came_from[item]
        found.reverse()
        return found

    def _find(self, end: Coloured) -> None:
        """Follow the recorded steps in breadth-first order until a coloured state is found."""
        came_from: dict[Coloured, Optional[Coloured]] = dict.fromkeys(self._starts)
        queue = list(came_from)
        for item in queue:
            if end in came_from:
                break
            at, colouring = item
            found: list[tuple[Coloured, Optional[Coloured]]] = []
            found += [((target, self._move(colouring, order)), item) for target, order in self.steps(at)]
            # An exchange of equal contents is no step.
            found += [((at, self._move(colouring, order)), came_from[item]) for order in self.swaps(at)]
            for after, before in found:
                if after not in came_from:
                    came_from[after] = before
                    queue.append(after)
        self._came_from = came_from

    def place(self, colouring: int) -> Order:
        """Return the place in the contents for each place of the nodes, so that the colours agree."""
        ordered = self.places.sort
        own, theirs = ordered(self._colours)[1], ordered(self._colouring_at.listed[colouring])[1]
        found = [0] * len(own)
        for place, other in zip(own, theirs, strict=True):
            found[place] = other
        return tuple(found)


def visit(model: Model, graph: Graph, budget: Budget, share: float) -> bool:
    """Visit every state that can be reached from the states of a graph, in breadth-first order.

    Each takes a share of the time of an ordinary state. Returns whether the budget was enough.
    """
    at = spent = 0
    while at < len(graph.states):
        budget.spend(0, len(graph.states) - spent, share=share)
        spent = len(graph.states)
        if budget.is_over():
            return False
        graph.first.append(len(graph.targets))
        after = model.after(*graph.states[at])
        if not after:
            graph.steady.append(at)
        for counts in after:
            number, order = graph.add(counts)
            graph.targets.append(number)
            graph.order_of.append(order)
        at += 1
    graph.first.append(len(graph.targets))
    return True


def each_bit(bits: int) -> Iterator[int]:
    """Yield the positions of the bits that are set."""
    at = 0
    while bits:
        if bits & 1:
            yield at
        bits >>= 1
        at += 1


_QUIET = (Stage.READY, Stage.UNREADY)


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
        self._moves = Moves(world, oracle)
        self._groups: dict[tuple[object, ...], tuple[State, int, list[State]]] = {}

    def add(self, state: State) -> bool:
        """Add a state; return whether it belongs to a rollout, so that the search need not visit what follows."""
        owner = self._owner(state)
        if owner < 0 or not self._is_quiet(rest := others(state, owner)):
            return False
        own = state.sets[owner]
        self._groups.setdefault((owner, rest, own.spec, own.order), (rest, owner, []))[2].append(state)
        return True

    def _owner(self, state: State) -> int:
        """Return the index of the Deployment; -1 if there is none, or its pods or the facts are unusual."""
        world = self._world
        if state.facts != self._symmetry.facts or state.todo or state.claims:
            return -1
        if world.facts[state.facts].down or world.evicting(state.facts):
            return -1
        if world.may_lag and self._moves.settle(Draft(world, state), are_late=True).state != state:
            return -1  # Counts are those of a controller that has acted.
        # The only workload that has pods of an old revision, or pods that have yet to change.
        revs = [world.specs[own.spec].rev if isinstance(own, DeploymentState) else None for own in state.sets]
        moving = {
            pod.owner
            for pod in state.pods
            if (pod.stage not in _QUIET or pod.end not in (Deletion.ALIVE, Deletion.HELD, Deletion.OVERDUE))
            or (pod.owner >= 0 and revs[pod.owner] is not None and pod.rev != revs[pod.owner])
        }
        owner = moving.pop() if len(moving) == 1 else -1
        return owner if owner >= 0 and revs[owner] is not None and self._is_usual(state, owner) else -1

    def _is_usual(self, state: State, owner: int) -> bool:
        """Return whether only pods of the newest revision wait or become ready, and all deleted pods end.

        The API server admits every new pod, and no autoscaler changes their number. New pods preempt no other pod.
        Pods whose template names a node do not wait, because they bypass the scheduler.
        """
        world, pods = self._world, of_owner(state.pods, owner)
        spec: DeploymentSpec = world.specs[state.sets[owner].spec]
        if has_quota(world, state.facts, world.keys[owner].namespace) or world.lasting_refusal(spec.rev, state.facts):
            return False
        if any(replicaset.out_of_range(world, state)) or world.classes[world.cls_of(spec.rev)].node_name:
            return False
        if spec.is_recreate or not all(world.revisions[rev].ends for rev in {spec.rev, *(pod.rev for pod in pods)}):
            return False
        priority = world.classes[world.cls_of(spec.rev, admission=world.admission(state.facts))].priority
        if world.lowest < priority or any(world.classes[pod.cls].priority < priority for pod in state.pods):
            return False
        return all(_is_countable(pod, spec.rev) for pod in pods)

    @cached_method
    def _is_quiet(self, rest: State) -> bool:
        """Return whether nothing can happen without the Deployment."""
        return self._moves.settle(Draft(self._world, rest)).state == rest and not self._moves.after(rest)

    def explore(self, canonical: Callable[[State], State], budget: Budget) -> Optional[Exploration]:
        """Visit everything that follows the states; None if counts do not decide what happens."""
        try:
            tails: dict[State, Callable[[], list[State]]] = {}
            extremes: list[State] = []
            states, is_exhaustive = 0, True
            for rest, owner, entries in self._groups.values():
                places, colours = self._places(rest)
                model = Model(self._world, self._oracle, rest, entries=entries, owner=owner, places=places)
                graph = Graph(places, colours)
                for entry in entries:
                    graph.start(model.counts(entry))
                replicas = self._world.specs[entries[0].sets[owner].spec].replicas
                # About how many states a rollout has: spreads of new pods and of the old ones that are left. A third of
                # them, up to the order of the places, was measured for 9 to 30 pods in three places.
                number = len(places.slots)
                spreads = comb(replicas + number - 1, replicas) * comb(replicas + number, replicas)
                is_small = spreads // factorial(number) // 3 < self._most
                is_complete = visit(model, graph, budget, budget.left / self._most if is_small else _SHARE)
                states += len(graph.states)
                extremes += _extremes(model, graph)
                if not is_complete:
                    is_exhaustive = False
                    continue
                colourings = graph.spread()
                for at in graph.steady:
                    for colouring in each_bit(colourings[at]):
                        end = model.state(graph.states[at], graph.place(colouring))
                        tails.setdefault(canonical(end), partial(_way, model, graph, (at, colouring)))
            return Exploration((), is_exhaustive, states, {}, tails=tails, extremes=tuple(extremes))
        except NotCountable:
            return None

    def _places(self, rest: State) -> tuple[Arrangement, Numbers]:
        """Return the places of the nodes, and a colour for each: equal ones were equal when the step began."""
        numbers = Numbering[object]()
        colour_of = {node: numbers[trait] for node, trait in self._symmetry.traits.items()}
        places = _nodes_of(self._symmetry.of(rest))
        colours = tuple(colour_of[node] for node in places.slots)
        if len(numbers) == 1 or places.variants(colours) <= _MOST_COLOURINGS:
            return places, colours
        names = self._world.node_names
        places = _nodes_of(self._symmetry.of(rest, {names[node]: colour for node, colour in colour_of.items()}))
        return places, (0,) * len(places.slots)


def _nodes_of(symmetry: Symmetry) -> Arrangement:
    if isinstance(symmetry.nodes.tree, int) or not 0 < len(symmetry.nodes.slots) <= MOST_PLACES:
        raise NotCountable
    return symmetry.nodes


def _way(model: Model, graph: Graph, end: Coloured) -> list[State]:
    """Return the states from the beginning to an end, each as equivalent to those of the cluster as needed."""
    return [model.state(graph.states[at], graph.place(colouring)) for at, colouring in graph.way(end)]


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
        by_order.setdefault(graph.places.sort(counts)[0], at)
    chosen = [*by_order.values(), *([] if fewest is None else [fewest])]
    own = range(len(graph.places.slots))
    return [model.state(graph.states[at], own, has_waiting=False) for at in chosen]
