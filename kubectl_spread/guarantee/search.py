"""Searches for a state that violates a rule, the nearest first."""

from __future__ import annotations

import heapq
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.guarantee.distance import distance_of
from kubectl_spread.guarantee.event import Event, State
from kubectl_spread.guarantee.states.space import Space

_EVERY = 16  # states between two reports of their number


class ProofLimits(NamedTuple):
    """Limits of a search: number of states, and a `time.monotonic()` at which to stop.

    is_enough: is called with the number of visited states; returns whether to stop.
    """

    max_states: int = 200_000
    deadline: Optional[float] = None
    is_enough: Callable[[int], bool] = lambda _: False

    def is_reached(self, states: int) -> bool:
        """Return whether to stop."""
        if states > self.max_states or (self.deadline is not None and time.monotonic() > self.deadline):
            return True
        return states % _EVERY == 0 and self.is_enough(states)


class Found(NamedTuple):
    """Result of a search.

    states: number of visited states. is_exhaustive: there are no others. witness: for each violated rule, the states
    on the way to the nearest violation. is_shortest: no shorter way exists.
    """

    states: int
    is_exhaustive: bool
    witness: dict[int, tuple[State, ...]]
    is_shortest: bool = True


def starts(space: Space) -> list[State]:
    """Return the states in which the search begins: no pods, and the pods that run."""
    running = space.running()
    found = [space.start()] + ([] if running is None else [running])
    return list(dict.fromkeys(space.canonical(state) for state in found))


def explore(space: Space, rules: Sequence[int], limits: ProofLimits, *, is_proof_only: bool = False) -> Found:
    """Visit all states in breadth-first order, until every rule is violated, or a limit is reached.

    Args:
        space: the states.
        rules: indices of the rules to check.
        limits: of the search.
        is_proof_only: stop at the first violation of any rule.
    """
    came_from: dict[State, Optional[State]] = dict.fromkeys(starts(space))
    queue = deque(came_from)
    left, witness = list(rules), dict[int, tuple[State, ...]]()
    for state in list(queue):
        _check(space, state, left, witness, came_from=came_from)
    while queue and left:
        if limits.is_reached(len(came_from)) or (is_proof_only and witness):
            return Found(len(came_from), False, witness)
        state = queue.popleft()
        for _, raw in space.events(state):
            after = space.canonical(raw)
            if after in came_from:
                continue
            came_from[after] = state
            queue.append(after)
            _check(space, after, left, witness, came_from=came_from)
            if limits.is_reached(len(came_from)):
                break
    return Found(len(came_from), not queue, witness)


def _check(
    space: Space,
    state: State,
    left: list[int],
    witness: dict[int, tuple[State, ...]],
    *,
    came_from: dict[State, Optional[State]],
) -> None:
    """Record each rule that a state violates, and stop looking for other violations of it."""
    for at in list(left):
        if space.is_violated(space.rules[at], state):
            witness[at] = _way(state, came_from)
            left.remove(at)


def _way(state: Optional[State], came_from: dict[State, Optional[State]]) -> tuple[State, ...]:
    way: list[State] = []
    while state is not None:
        way.append(state)
        state = came_from[state]
    return tuple(reversed(way))


def nearest(space: Space, rule: int, limits: ProofLimits) -> Found:
    """Search for the nearest violation of one rule, states that are close to it first (A*)."""
    distance = distance_of(space, space.rules[rule])
    came_from: dict[State, Optional[State]] = {}
    steps: dict[State, int] = {}
    heap: list[tuple[int, int, int, State]] = []
    number = 0
    for state in starts(space):
        came_from[state], steps[state] = None, 0
        heapq.heappush(heap, (distance(state), 0, number, state))
    while heap:
        if limits.is_reached(len(came_from)):
            return Found(len(came_from), False, {})
        _, negative, _, state = heapq.heappop(heap)
        if steps[state] != -negative:
            continue  # A shorter way was found since.
        if space.is_violated(space.rules[rule], state):
            return Found(len(came_from), False, {rule: _way(state, came_from)})
        for _, raw in space.events(state):
            after = space.canonical(raw)
            if after in steps and steps[after] <= steps[state] + 1:
                continue
            came_from[after], steps[after] = state, steps[state] + 1
            number += 1
            heapq.heappush(heap, (steps[after] + distance(after), -steps[after], number, after))
    return Found(len(came_from), True, {})


def stuck(space: Space, rule: int, limits: ProofLimits) -> Found:
    """Search for pods that wait forever: states with the fewest nodes for waiting pods first."""
    came_from: dict[State, Optional[State]] = dict.fromkeys(starts(space))
    heap = [(_choices(space, state), number, state) for number, state in enumerate(came_from)]
    heapq.heapify(heap)
    while heap and not limits.is_reached(len(came_from)):
        _, _, state = heapq.heappop(heap)
        if space.is_violated(space.rules[rule], state):
            return Found(len(came_from), False, {rule: _way(state, came_from)}, is_shortest=False)
        for _, raw in space.events(state):
            after = space.canonical(raw)
            if after not in came_from:
                came_from[after] = state
                heapq.heappush(heap, (_choices(space, after), len(came_from), after))
    return Found(len(came_from), False, {}, is_shortest=False)


def _choices(space: Space, state: State) -> int:
    """Return the number of nodes that waiting pods can take; none are as many as possible, as nothing waits."""
    waiting = space.waiting(state, space.placed_counts(state))
    if not waiting:
        return len(state[0]) * len(state[1])
    return sum([len(space.hosts(state[2], kind, state[0])) for kind in waiting])


def at_random(space: Space, rules: Iterable[int], limits: ProofLimits, *, seed: int = 0) -> Found:
    """Follow random paths until a rule is violated or a limit is reached."""
    generator = random.Random(seed)  # noqa: S311 (a simulation's choice, no secret)
    left, witness = list(rules), dict[int, tuple[State, ...]]()
    begin = starts(space)
    states = 0
    most = 20 * sum(owner.replicas for owner in space.group.owners) + 20
    while left and states < limits.max_states:
        state = generator.choice(begin)
        way = [state]
        for _ in range(most):
            states += 1
            if limits.deadline is not None and time.monotonic() > limits.deadline:
                return Found(states, False, witness, is_shortest=False)
            following = [space.canonical(raw) for _, raw in space.events(state)]
            if not following:
                break
            state = generator.choice(following)
            way.append(state)
            for at in [at for at in left if space.is_violated(space.rules[at], state)]:
                witness[at] = tuple(way)
                left.remove(at)
            if not left:
                break
    return Found(states, False, witness, is_shortest=False)


class TraceStep(NamedTuple):
    """An event with the real names: indices of node, workload and kind of pods; -1 for none.

    nodes: of a disruption. contents: the pods on each node after the event, by real node and kind. owners: real
    workload for each workload of the representative after the event.
    """

    event: Event
    node: int
    owner: int
    pods: int
    nodes: tuple[int, ...]
    contents: tuple[int, ...]
    owners: tuple[int, ...]


def trace(space: Space, way: Sequence[State]) -> tuple[TraceStep, ...]:
    """Return the events along a way of representatives, under the names of one run."""
    running = space.running()
    begin = next(item for item in (space.start(), running) if item is not None and space.canonical(item) == way[0])
    now, nodes, owners = space.renaming(begin)
    found = []
    for wanted in way[1:]:
        event, raw = next((event, raw) for event, raw in space.events(now) if space.canonical(raw) == wanted)
        if event.order is not None:
            nodes = [nodes[old] for old in event.order]
        now, order, exchanged = space.renaming(raw)
        found.append(_step(space, event, raw[0], nodes=nodes, owners=owners, exchanged=exchanged))
        nodes = [nodes[old] for old in order]
        owners = [owners[old] for old in exchanged]
    return tuple(found)


def _step(
    space: Space,
    event: Event,
    contents: tuple[int, ...],
    *,
    nodes: Sequence[int],
    owners: Sequence[int],
    exchanged: Sequence[int],
) -> TraceStep:
    """Return an event under real names; contents: after it, under the names that nodes and owners translate."""
    inside = space.disruptions[event.disruption].nodes if event.disruption >= 0 else ()
    owner = owners[event.owner] if event.owner >= 0 else -1
    return TraceStep(
        event,
        nodes[event.node] if event.node >= 0 else -1,
        owner,
        space.kind_of(event.pods, owner),
        tuple(sorted(nodes[at] for at in inside)),
        space.under_names(contents, nodes, owners),
        tuple(owners[old] for old in exchanged),
    )
