"""Search through all states of a rollout as counts, with its results as states of the cluster.

Contents of interchangeable nodes are exchanged freely in the search, even if other pods were on the nodes when the step
began. Colours keep the difference: each place has the colour of its node, and colours move with the contents. All
colourings of each state are found along the steps that the search recorded.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator
from typing import Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.containers import Numbering
from kubectl_spread.engine.counting.model import Counts, Model
from kubectl_spread.engine.search.limit import Budget
from kubectl_spread.engine.search.symmetry import Numbers, Order, Places
from kubectl_spread.engine.state import State


class Graph:
    """Visited states as counts, and the steps between them.

    Arrays hold the target and the number of the order of each step, and for each visited state its first step.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self._at = Numbering[Counts]()
        self.states = self._at.listed
        self.steady: list[int] = []
        self.is_complete = False
        self._number = Numbering[Order]()
        self.orders = self._number.listed
        self.targets = array("l")
        self.order_of = array("l")
        self.first = array("l")
        self._arranged: dict[Numbers, tuple[Numbers, int]] = {}  # perf: each is met with many controls

    def add(self, counts: Counts) -> tuple[int, int]:
        """Return the number of a state up to interchangeable nodes, and that of the order of its contents."""
        found = self._arranged.get(counts[0])
        if found is None:
            contents, order = self.places.order(counts[0])
            found = self._arranged[counts[0]] = contents, self._number[order]
        return self._at[found[0], counts[1]], found[1]

    @cached_method
    def swaps(self, at: int) -> tuple[int, ...]:
        """Return the numbers of the orders that exchange equal contents of a state."""
        return tuple(self._number[order] for order in self.places.swaps(self.states[at][0]))

    def steps(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the target and the number of the order of each step of a state."""
        for number in range(self.first[at], self.first[at + 1]):
            yield self.targets[number], self.order_of[number]


def visit(model: Model, graph: Graph, budget: Budget, share: float) -> None:
    """Visit every state that can be reached from the states of a graph, in breadth-first order.

    Each takes a share of the time of an ordinary state.
    """
    at = spent = 0
    while at < len(graph.states):
        budget.spend(0, len(graph.states) - spent, share=share)
        spent = len(graph.states)
        if budget.is_over():
            return
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
    graph.is_complete = True


Coloured = tuple[int, int]  # numbers of a state and of a colouring


class Colours:
    """Colourings of the visited states: all that can be reached, as the bits of a number for each state."""

    def __init__(self, graph: Graph, colours: Numbers) -> None:
        """Set up the colours; `colours` are those of the nodes at their own places."""
        self._graph = graph
        self._own = colours
        self._number = Numbering[Numbers]()
        self.all = self._number.listed
        self._starts: dict[Coloured, None] = {}
        self._came_from: dict[Coloured, Optional[Coloured]] = {}

    @cached_method
    def move(self, colouring: int, order: int) -> int:
        """Return a colouring after contents were put in an order."""
        colours = self.all[colouring]
        return self._number[tuple([colours[at] for at in self._graph.orders[order]])]

    def start(self, at: int, order: int) -> None:
        """Add a state in which the search begins; `order` is that of its contents."""
        self._starts[at, self.move(self._number[self._own], order)] = None

    def spread(self) -> dict[int, int]:
        """Return the colourings of each state, as bits."""
        graph = self._graph
        if len(set(self._own)) == 1:  # perf: there is one colouring
            return dict.fromkeys(range(len(graph.states)), 1)
        found: dict[int, int] = {}
        for at, colouring in self._starts:
            found[at] = found.get(at, 0) | 1 << colouring
        queue = deque(found)
        waiting = set(queue)
        while queue:
            at = queue.popleft()
            waiting.remove(at)
            bits = found[at] = self._closed(found[at], graph.swaps(at))
            for target, order in graph.steps(at):
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
            found |= 1 << self.move(colouring, order)
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
            found += [((target, self.move(colouring, order)), item) for target, order in self._graph.steps(at)]
            # An exchange of equal contents is no step.
            found += [((at, self.move(colouring, order)), came_from[item]) for order in self._graph.swaps(at)]
            for after, before in found:
                if after not in came_from:
                    came_from[after] = before
                    queue.append(after)
        self._came_from = came_from

    def place(self, colouring: int) -> Order:
        """Return the place in the contents for each place of the nodes, so that the colours agree."""
        ordered = self._graph.places.order
        own, theirs = ordered(self._own)[1], ordered(self.all[colouring])[1]
        found = [0] * len(own)
        for place, other in zip(own, theirs, strict=True):
            found[place] = other
        return tuple(found)


def each_bit(bits: int) -> Iterator[int]:
    """Yield the positions of the bits that are set."""
    at = 0
    while bits:
        if bits & 1:
            yield at
        bits >>= 1
        at += 1


class Tail:
    """A steady state, and the way to it from a state in which the rollout begins."""

    def __init__(self, model: Model, colours: Colours, graph: Graph, end: Coloured) -> None:
        self._model, self._colours, self._graph, self._end = model, colours, graph, end

    def state(self) -> State:
        return self._state(self._end)

    def _state(self, item: Coloured) -> State:
        at, colouring = item
        return self._model.state(self._graph.states[at], self._colours.place(colouring))

    def way(self) -> list[State]:
        """Return the states from the beginning to the end, each as equivalent to those of the cluster as needed."""
        return [self._state(item) for item in self._colours.way(self._end)]
