"""Search for the smallest list of evictions after which every goal of one group of workloads holds in every outcome.

It is an iterative deepening search. A list is as long as the evictions so far, plus the lower bound of those that are
still needed. Lists that are longer than the current limit are cut off; the next limit is the shortest of them.

    limit 2:  web-1 ── web-4 ── all goals hold                 found, and no list of 1 is enough
                 └──── web-5 ── 2 more are needed: cut off
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.advice.rebalance.board import Board, originals, pending, SettledStates
from kubectl_spread.advice.rebalance.goals import conflict, goals, NEVER, Tally
from kubectl_spread.advice.rebalance.plan import Obstacle
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.reading import infer_owners
from kubectl_spread.engine.run import Watch
from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.engine.state import P, Slot, slot, State
from kubectl_spread.explain.status import statuses, WorkloadStatus
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.selectors import Labels
from kubectl_spread.objects.workloads.workload import REPLICATED_KINDS
from kubectl_spread.scheduler.framework.plugin import Profile

_SOME = 10  # Evictions after which the states of the others are estimated.
TRIES = 3_000  # Most evictions that one search tries.
Belief = frozenset[State]  # all states in which the cluster may be


Way = tuple[tuple[Slot, SettledStates], ...]  # evictions, each with the states after it


class SearchResult(NamedTuple):
    """Result of a search.

    at_least: no list of fewer evictions is enough; NEVER if no list is. is_over: the search visited every list up to
    its limit. troubles: why evictions were discarded.
    """

    plan: Optional[Way]
    at_least: int
    is_over: bool
    troubles: tuple[Obstacle, ...]
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
        self._troubles: dict[Obstacle, None] = {}
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
                return SearchResult(found, limit, not self._is_stopped, tuple(self._troubles), self._tries)
            limit = self._next
        return SearchResult(None, limit, True, tuple(self._troubles), self._tries)

    def any(self, before: SearchResult) -> SearchResult:
        """Return a list of any length, after a search that was cut off; the lower bound stays the same."""
        self._seen, self._tries = {}, 0
        start = self._board.beginning
        found = self._from(start.states, (), self._most, pending(start.states))
        return before._replace(plan=found, troubles=tuple(self._troubles), evictions=before.evictions + self._tries)

    @property
    def _is_stopped(self) -> bool:
        return self._tries >= TRIES or self._board.is_late

    def _from(self, states: Belief, path: Way, limit: int, allowed: dict[int, int]) -> Optional[Way]:
        left = limit - len(path)
        need = self._tally.need(states)
        if need > left:
            self._next = min(self._next, len(path) + need)
            return None
        if not need:
            return path
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
            # The limit moves if every eviction so far helped, and a list of this length will be complete by then.
            done, most = len(path) + 1, self._board.limit.max_states
            if self._latest is not None and self._tries == done >= _SOME:
                needed = self._began + (self._board.states - self._began) * limit / done
                if most < needed < self._latest:
                    self._board.limit = self._board.limit._replace(max_states=self._latest)
            found = self._from(after.states, (*path, (slot(pod), after)), limit, allowed)
            if found is not None:
                return found
        return None

    def _candidates(self, states: Belief, before: Sequence[Slot]) -> Iterator[P]:
        """Yield one pod of each kind, the most useful first; pods on interchangeable nodes are of one kind."""
        names = self._board.world.node_names
        first = min(states)
        left = [pod for pod in originals(states) if slot(pod) in self._slots and self._tally.is_movable(pod)]
        # Pods of full domains first, then pods on nodes with many of their siblings
        gain, own = gains(self._tally, first), Counter((pod.owner, pod.node) for pod in first.pods)
        left.sort(key=lambda pod: (-gain(pod), -own[pod.owner, pod.node], -pod.ordinal, names[pod.node]))
        yield from left[:1]  # perf: most searches need no other, and finding the kinds takes as long as an eviction
        touched = frozenset(names[item[4]] for item in before)
        if touched not in self._kinds:
            self._kinds[touched] = self._board.kinds(touched)
        kinds = self._kinds[touched]
        found: dict[object, P] = {}
        for pod in left:
            found.setdefault((pod.owner, pod.rev, pod.ordinal, pod.cls, kinds.get(pod.node, pod.node)), pod)
        yield from list(found.values())[1:]


def gains(tally: Tally, state: State) -> Callable[[P], int]:
    """Return how much the goals gain by the eviction of each pod: more than 0 in a domain with more than it needs."""
    found = list(enumerate(zip(tally.goals, tally.counts(state), tally.needs(state), strict=True)))

    def gain(pod: P) -> int:
        total = 0
        for at, (goal, counts, need) in found:
            value = tally.domain(at, pod.node)
            if value is None or not tally.is_counted(at, pod.cls):
                continue
            if need.evictions and counts.all[value] > need.least + goal.most_skew:
                total += 4
            elif counts.all[value] > need.least:
                total += 1 if need.evictions else 0
            else:
                total -= 3
        return total

    return gain


def useful(tally: Tally, states: Belief) -> list[P]:
    """Return the original pods whose eviction takes something from a domain that has more than it needs."""
    gain = gains(tally, min(states))
    return [pod for pod in originals(states) if tally.is_movable(pod) and gain(pod) > 0]


_SHARE = 0.7  # Share of the limit for a search in all states.
_WIDE = 60  # Most movable pods for a search among all of them.


class Workloads(NamedTuple):
    """All workloads of a cluster, with the counts of their constraints."""

    cluster: Cluster
    profiles: Mapping[str, Profile]
    items: tuple[WorkloadStatus, ...]

    @property
    def by_key(self) -> dict[ObjectKey, WorkloadStatus]:
        """Return each workload by its key."""
        return {item.key: item for item in self.items}


def workloads_of(cluster: Cluster, profiles: Mapping[str, Profile]) -> Workloads:
    """Count the pods of all constraints."""
    cluster = infer_owners(cluster)
    return Workloads(cluster, profiles, tuple(statuses(cluster, profiles, has_counts=True)))


class GroupSearchResult(NamedTuple):
    """A search's result for one group, in terms of the simulation."""

    board: Board
    tally: Tally
    result: SearchResult
    most: int  # evictions that were allowed
    movable: int  # pods that may be evicted


class RepairRequest(NamedTuple):
    """What to repair, and within which limits.

    wants: selects workloads by their key and labels. has_soft: include ScheduleAnyway constraints. most_moves: most
    evictions of a plan; None for no limit. effort: factor of the limits. has_defaults: include workloads that have only
    ScheduleAnyway constraints of the scheduler's defaults. limit, watch: of the search that is under way.
    """

    wants: Callable[[ObjectKey, Labels], bool] = lambda *_: True
    has_soft: bool = False
    most_moves: Optional[int] = None
    effort: float = 1.0
    has_defaults: bool = False
    limit: Limit = Limit(0)
    watch: Watch = Watch()


def propose(
    known: Workloads,
    keys: Sequence[ObjectKey],
    request: RepairRequest,
    *,
    repaired: Iterable[ObjectKey] = (),
    earlier: Sequence[str] = (),
) -> GroupSearchResult:
    """Search for the smallest list of evictions for a group.

    Args:
        known: all workloads.
        keys: the group.
        request: extent of the search.
        repaired: workloads whose constraints hold after earlier plans.
        earlier: uids of the pods that these plans evict.
    """
    touched = {*keys, *repaired}
    # Only the goals that count pods of the workloads to repair, or are theirs
    owned = OwnedPods(known.cluster)
    classes = {id(pod.cls): pod.cls for key in keys for pod in owned.of(key)}.values()
    every = goals(known.items, known.cluster.nodes, touched, has_soft=request.has_soft)
    wanted = [goal for goal in every if goal.key in keys or any(map(goal.is_counted, classes))]
    board = Board(
        known.cluster,
        known.profiles,
        touched,
        wanted,
        earlier=earlier,
        limit=request.limit,
        watch=request.watch,
    )
    owners = [at for key in keys if key.kind in REPLICATED_KINDS and (at := board.world.owner_at.get(key)) is not None]
    tally = Tally(board.world, wanted, owners)
    movable = sum(map(tally.is_movable, min(board.beginning.states).pods))
    most = movable if request.most_moves is None else min(movable, request.most_moves)
    if set(board.unsettled_workloads) & set(keys):
        return GroupSearchResult(board, tally, SearchResult(None, 0, True, ()), most, movable)
    return GroupSearchResult(board, tally, _search_twice(board, tally, most=most), most, movable)


def _search_twice(board: Board, tally: Tally, *, most: int) -> SearchResult:
    """Search among the pods of full domains, and then, if a shorter list is possible, among all of them."""
    start = board.beginning.states
    least = tally.need(start)
    if least >= NEVER or least > most:
        return SearchResult(None, least, True, ())
    if least and conflict(tally.goals, tally.counts(min(start))):
        return SearchResult(None, NEVER, True, ())
    narrow = useful(tally, start)
    movable = [pod for pod in originals(start) if tally.is_movable(pod)]
    found = _search(board, tally, narrow, most)
    smaller = most if found.plan is None else len(found.plan) - 1
    if smaller < least or (len(narrow) == len(movable) and found.is_over):
        return found
    if len(movable) > _WIDE or len(narrow) == len(movable) or board.is_late:
        return found._replace(at_least=least, is_over=False)
    wide = _search(board, tally, movable, smaller)
    if wide.plan is None and found.plan is not None:
        board.name_nodes(_nodes(board, narrow))  # The states of the first search's plan are of these.
    # The result of two searches, the second one for a shorter list among more pods
    troubles = tuple(dict.fromkeys((*found.troubles, *wide.troubles)))
    if wide.plan is not None or found.plan is None:
        return wide._replace(troubles=troubles)
    at_least = len(found.plan) if wide.is_over else wide.at_least
    return found._replace(at_least=at_least, is_over=wide.is_over, troubles=troubles)


def _search(board: Board, tally: Tally, pods: Sequence[P], most: int) -> SearchResult:
    """Search in all states; if the limit is too low for that, follow only a few of them."""
    board.name_nodes(_nodes(board, pods))
    limit = board.limit
    search = Search(board, tally, pods, most=most, latest=limit.max_states)
    board.limit = limit._replace(max_states=board.states + int((limit.max_states - board.states) * _SHARE))
    found = search.run()
    board.limit = limit
    if found.plan is not None or found.is_over or board.is_late:
        return found
    board.is_hasty = True
    board.name_nodes(_nodes(board, pods))
    hasty = Search(board, tally, pods, most=most).run()
    if hasty.plan is None:
        hasty = search.any(found)
    board.is_hasty = False
    return found._replace(plan=hasty.plan, troubles=tuple(dict.fromkeys((*found.troubles, *hasty.troubles))))


def _nodes(board: Board, pods: Iterable[P]) -> frozenset[str]:
    return frozenset(board.world.node_names[pod.node] for pod in pods)
