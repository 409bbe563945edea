"""Search for the smallest list of evictions after which every goal holds in every outcome.

It is an iterative deepening search. A list is as long as the evictions so far, plus the lower bound of those that are
still needed. Lists that are longer than the current limit are cut off; the next limit is the shortest of them.

    limit 2:  web-1 ── web-4 ── all goals hold                 found, and no list of 1 is enough
                 └──── web-5 ── 2 more are needed: cut off
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.advice.rebalance.board import Board, originals, pending, SettledStates, UnsafeEviction
from kubectl_spread.advice.rebalance.goals import NEVER
from kubectl_spread.advice.rebalance.tally import Tally
from kubectl_spread.engine.state import P, Slot, slot, State

_SOME = 10  # Evictions after which the states of the others are estimated.
TRIES = 3_000  # Most evictions that one search tries.
Belief = frozenset[State]  # all states in which the cluster may be


class FoundPlan(NamedTuple):
    """A list of evictions; reached: the states after each of them."""

    slots: tuple[Slot, ...]
    reached: tuple[SettledStates, ...]

    @property
    def is_exact(self) -> bool:
        """Return whether every outcome was visited."""
        return all(item.is_exact for item in self.reached)


class SearchResult(NamedTuple):
    """Result of a search.

    at_least: no list of fewer evictions is enough; NEVER if no list is. is_over: the search visited every list up to
    its limit. troubles: why evictions were discarded.
    """

    plan: Optional[FoundPlan]
    at_least: int
    is_over: bool
    troubles: tuple[UnsafeEviction, ...]
    evictions: int = 0


class Search:
    """Search for one list of evictions."""

    def __init__(
        self, board: Board, tally: Tally, candidates: Sequence[P], *, most: int, latest: Optional[int] = None
    ) -> None:
        """Set up a search.

        Args:
            board: the cluster; its named nodes include the nodes of all candidates.
            tally: the goals.
            candidates: the pods that may be evicted, one for each place.
            most: evictions of a list.
            latest: visited states to which the board's limit may move if every eviction so far helped and the list
                will be complete by then; None if it does not move.
        """
        self._board = board
        self._tally = tally
        self._slots = {slot(pod): pod for pod in candidates}
        self._most, self._latest = most, latest
        self._seen: dict[Belief, int] = {}  # evictions that were still allowed
        self._next = NEVER
        self._tries = 0
        self._began = board.states
        self._troubles: dict[UnsafeEviction, None] = {}
        self._kinds: dict[frozenset[str], dict[int, tuple[int, ...]]] = {}

    def run(self) -> SearchResult:
        """Return the smallest list, and what is known about smaller ones."""
        start = self._board.beginning
        self._began = self._board.states
        allowed = pending(start.states)
        limit = self._tally.need(start.states)
        while limit <= self._most:
            self._seen, self._next = {}, NEVER
            found = self._from(start.states, (), limit, allowed)
            if found is not None or self._is_stopped:
                return self._result(found, limit, is_over=not self._is_stopped)
            limit = self._next
        return self._result(None, limit, is_over=True)

    def any(self, before: SearchResult) -> SearchResult:
        """Return a list of any length, after a search that was cut off; the lower bound stays the same."""
        self._seen, self._tries = {}, 0
        start = self._board.beginning
        found = self._from(start.states, (), self._most, pending(start.states))
        return before._replace(plan=found, troubles=tuple(self._troubles), evictions=before.evictions + self._tries)

    def _result(self, plan: Optional[FoundPlan], limit: int, *, is_over: bool) -> SearchResult:
        return SearchResult(plan, limit, is_over, tuple(self._troubles), self._tries)

    @property
    def _is_stopped(self) -> bool:
        return self._tries >= TRIES or self._board.is_late

    def _from(
        self, states: Belief, path: tuple[tuple[Slot, SettledStates], ...], limit: int, allowed: dict[int, int]
    ) -> Optional[FoundPlan]:
        left = limit - len(path)
        need = self._tally.need(states)
        if need > left:
            self._next = min(self._next, len(path) + need)
            return None
        if not need:
            return FoundPlan(tuple(item for item, _ in path), tuple(item for _, item in path))
        if self._seen.get(states, -1) >= left:
            return None
        self._seen[states] = left
        for pod in self._candidates(states, [item for item, _ in path]):
            if self._is_stopped:
                return None
            self._tries += 1
            after = self._board.after(states, slot(pod), most_pending=allowed)
            if after.trouble is not None:
                self._troubles[after.trouble] = None
                continue
            self._extend(len(path) + 1, limit)
            found = self._from(after.states, (*path, (slot(pod), after)), limit, allowed)
            if found is not None:
                return found
        return None

    def _extend(self, done: int, length: int) -> None:
        """Move the limit if every eviction so far helped, and a list of this length will be complete by then."""
        limit, spent = self._board.limit, self._board.states - self._began
        if self._latest is None or done < _SOME or self._tries != done:
            return
        if limit.max_states < self._began + spent * length / done < self._latest:
            self._board.limit = limit._replace(max_states=self._latest)

    def _candidates(self, states: Belief, before: Sequence[Slot]) -> Iterator[P]:
        """Yield one pod of each kind, the most useful first; pods on interchangeable nodes are of one kind."""
        names = self._board.world.node_names
        first = min(states)
        left = [pod for pod in originals(states) if slot(pod) in self._slots and self._tally.is_movable(pod)]
        ranks = Ranks(self._tally, first)
        left.sort(key=lambda pod: (ranks.order(pod), -pod.ordinal, names[pod.node]))
        yield from left[:1]  # perf: most searches need no other, and finding the kinds takes as long as an eviction
        touched = frozenset(names[item[4]] for item in before)
        if touched not in self._kinds:
            self._kinds[touched] = self._board.kinds(touched)
        kinds = self._kinds[touched]
        found: dict[object, P] = {}
        for pod in left:
            found.setdefault((pod.owner, pod.rev, pod.ordinal, pod.cls, kinds.get(pod.node, pod.node)), pod)
        yield from list(found.values())[1:]


class Ranks:
    """Estimate of how much the eviction of each pod helps, in one state."""

    def __init__(self, tally: Tally, state: State) -> None:
        self._tally = tally
        self._counts = tally.counts(state)
        self._needs = tally.needs(state)
        self._own = _per_node(state)

    def gain(self, pod: P) -> int:
        """Return how much the goals gain: positive for a pod in a domain that has more than it needs."""
        return sum(self._gains(pod))

    def order(self, pod: P) -> tuple[int, int]:
        """Return a sort key: pods of full domains first, then pods on nodes with many of their siblings."""
        return (-self.gain(pod), -self._own[pod.owner, pod.node])

    def _gains(self, pod: P) -> Iterator[int]:
        for at, (goal, counts, need) in enumerate(zip(self._tally.goals, self._counts, self._needs, strict=True)):
            value = self._tally.domain(at, pod.node)
            if value is None or not self._tally.is_counted(at, pod.cls):
                continue
            number = counts.all[value]
            if need.evictions and number > need.least + goal.most_skew:
                yield 4
            elif number > need.least:
                yield 1 if need.evictions else 0
            else:
                yield -3


def _per_node(state: State) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for pod in state.pods:
        found[pod.owner, pod.node] = found.get((pod.owner, pod.node), 0) + 1
    return found


def useful(tally: Tally, states: Belief) -> list[P]:
    """Return the original pods whose eviction takes something from a domain that has more than it needs."""
    first = min(states)
    ranks = Ranks(tally, first)
    return [pod for pod in originals(states) if tally.is_movable(pod) and ranks.gain(pod) > 0]
