"""A search through the states of a group for violations of rules.

States are visited in the order of their distance, so that the first violation is a nearest one. If there are many
states, each rule that is still open gets a search of its own. It starts again, and visits states closer to a violation
first. The rest of the states is visited in turns, rule by rule.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple, Optional

from kubectl_spread.engine.search.limit import Limit
from kubectl_spread.guarantee.model import State, total_of
from kubectl_spread.guarantee.policy.policy import PolicyRule, RuleKind
from kubectl_spread.guarantee.space import Space

_NEAR = 5_000  # states of few nodes that are visited in the order of their distance; at most half of all
_FEW = 16  # nodes; a state takes time in proportion to its nodes
_TURN = 1_000  # states that are visited for one question, before it is the turn of the next
_OWN = 20  # the search of a rule's own visits at most one of so many states


class Question(NamedTuple):
    """Whether a rule can be violated; rule: its index. is_settled: once nothing happens by itself any more."""

    rule: int
    is_settled: bool = False


class Way(NamedTuple):
    """The states from a start to a violation."""

    states: tuple[State, ...]
    is_shortest: bool


class Crowd(NamedTuple):
    """Pods when a domain gets its last one, by a constraint; least: fewest pods of each domain of its key."""

    domain_of: tuple[int, ...]
    least: list[int]
    together: int


class Search:
    """A search from the state without pods, and from the pods that run.

    ways: to the first violation of each rule. is_exhaustive: all states were visited.
    """

    def __init__(self, space: Space, questions: Sequence[Question], goal: Optional[Question] = None) -> None:
        """Set up a search; goal: states closer to its violation are visited first."""
        self.ways: dict[Question, Way] = {}
        self._space = space
        self._near = _NEAR // (1 + len(space.group.layout.nodes) // _FEW)
        self._open = list(questions)
        self._goal = goal
        self._came_from: dict[State, Optional[State]] = {}
        self._elsewhere = 0
        self._queue: list[tuple[int, int, State]] = []
        self._keys: dict[int, dict[State, int]] = {}  # by rule
        self._crowds: dict[tuple[PolicyRule, int, int], list[Crowd]] = {}
        running = space.running()
        for state in [space.start()] + ([] if running is None else [running]):
            self._visit(space.canonical(state), None)

    @property
    def states(self) -> int:
        """Return the number of visited states."""
        return len(self._came_from) + self._elsewhere

    @property
    def is_exhaustive(self) -> bool:
        return not self._queue and not any(controller.is_cut for controller in self._space.controllers)

    def run(self, limit: Limit) -> None:
        """Visit states until every question is answered, or the limit is reached."""
        self._follow(limit, min(self._near, limit.max_states // 2))
        for rule in dict.fromkeys(question.rule for question in self._open if self._queue):
            own = [question for question in self._open if question.rule == rule]
            if limit.is_over(self.states):
                return
            search = Search(self._space, own, own[0])
            search._follow(limit.after(self.states), min(limit.max_states - self.states, limit.max_states // _OWN))
            self._elsewhere += search.states
            self.ways |= search.ways
            self._open = [question for question in self._open if question not in search.ways]
        while self._queue and self._open and not limit.is_over(self.states):
            goal = self._open[self.states // _TURN % len(self._open)]
            if goal != self._goal:
                self._goal = goal
                self._queue = [(self._key(state), number, state) for _, number, state in self._queue]
                heapq.heapify(self._queue)
            self._follow(limit, self.states // _TURN * _TURN + _TURN)

    def _follow(self, limit: Limit, most: int) -> None:
        """Visit states until every question is answered, or a number of states or the limit is reached."""
        while self._queue and self._open and self.states < most and not limit.is_over(self.states):
            item = heapq.heappop(self._queue)
            for _, raw in self._space.events(item[2]):
                after = self._space.canonical(raw)
                if after not in self._came_from:
                    self._visit(after, item[2])
                    if limit.is_over(self.states):
                        heapq.heappush(self._queue, item)  # Its other events were not looked at.
                        return

    def _visit(self, state: State, before: Optional[State]) -> None:
        """Note a state, and each rule that it violates."""
        self._came_from[state] = before
        heapq.heappush(self._queue, (self._key(state), self.states, state))
        for question in list(self._open):
            is_violated = self._space.is_violated(self._space.rules[question.rule], state)
            if is_violated and (not question.is_settled or self._space.is_settled(state)):
                way = [state]
                while (earlier := self._came_from[way[-1]]) is not None:
                    way.append(earlier)
                self.ways[question] = Way(tuple(reversed(way)), is_shortest=self._goal is None)
                self._open.remove(question)

    def _key(self, state: State) -> int:
        """Return a number that is smaller for states closer to a violation of the rule that is searched for."""
        if self._goal is None:
            return 0
        known = self._keys.setdefault(self._goal.rule, {})  # perf: each turn asks for all that wait
        found = known.get(state)
        if found is None:
            found = known[state] = self._distance(self._space.rules[self._goal.rule], state)
        return found

    def _distance(self, rule: PolicyRule, state: State) -> int:
        space = self._space
        placed = space.placed_counts(state)
        waiting = space.waiting(state, placed)
        # Few nodes for the waiting pods; none are as many as possible.
        if rule.kind in (RuleKind.PLACED, RuleKind.REPLACED):
            all_nodes = len(state[0]) * len(state[1])
            return sum([len(space.hosts(state[2], kind, state[0])) for kind in waiting]) if waiting else all_nodes
        if rule.kind is RuleKind.MIN_DOMAINS:
            return len(space.domain_counts(rule.topology_key, state)) + len(waiting)
        return self._crowding(rule, state)

    def _crowding(self, rule: PolicyRule, state: State) -> int:
        """Return how many pods have to come, and then to go, until a domain holds more than a rule allows.

        The domain grows while no other has maxSkew fewer pods. If there are rollouts, it is to be full of new pods. An
        old ReplicaSet that shrinks early leaves too few pods for a crowd.
        """
        space = self._space
        wanted = space.judged_replicas(state)
        allowed = rule.most(wanted)
        if rule.kind is RuleKind.SEPARATE:
            allowed = 1
        elif allowed is None:
            allowed = (wanted - rule.amount.at_least(wanted)) // rule.lost
        counts = [0] * len(space.group.layout.values[rule.topology_key])
        lasting = list(counts)
        judged = space.group.judged_kinds
        kinds = [at for at in judged if space.group.kinds[at].is_new] or judged
        for domain, content in space.domain_contents(rule.topology_key, state).items():
            counts[domain], lasting[domain] = total_of(content, judged), total_of(content, kinds)
        full = max(range(len(counts)), key=lambda domain: (lasting[domain], -counts[domain]), default=-1)
        missing = allowed + 1 - lasting[full] if counts else 0
        if missing <= 0:
            return sum(counts) - sum(lasting) + abs(sum(state[1]) - sum(counts)) + abs(sum(counts) - wanted)
        if (rule, allowed, full) not in self._crowds:
            self._crowds[rule, allowed, full] = _crowds(space, rule.topology_key, full, most=allowed + 1)
        lacking = 4 * missing + 2 * (counts[full] - lasting[full])
        possible = space.possible_pods(state)
        pods = [(at, total_of(content, judged)) for at, content in enumerate(state[0]) if content]
        for domain_of, least, together in self._crowds[rule, allowed, full]:
            short = list(least)
            for at, number in pods:
                if domain_of[at] >= 0:
                    short[domain_of[at]] -= number
            lacking += 2 * sum([number for number in short if number > 0]) + 100 * max(0, together - possible)
        return 10_000 + lacking - sum([state[1][at] for at in kinds])


def _crowds(space: Space, key: str, full: int, *, most: int) -> list[Crowd]:
    """Return the crowds by the rule's key, and by each constraint with larger domains.

    Args:
        space: the states.
        key: a topology key.
        full: the domain.
        most: its pods.
    """
    layout = space.group.layout
    spreads = {
        (spread.topology_key, spread.domain_of, spread.max_skew)
        for item in space.filters(0).of_kind
        for spread in item.spreads
    }
    low = most - min([skew for name, _, skew in spreads if name == key], default=most)
    least = [max(0, low)] * len(layout.values[key])
    least[full] = most
    others = [0 if domain == full else number for domain, number in enumerate(least)]
    found = [Crowd(layout.domain_of[key], others, sum(least))]
    for name, domain_of, skew in sorted(spreads):
        outer = {inner: domain for inner, domain in zip(layout.domain_of[key], domain_of, strict=True) if inner >= 0}
        if name == key or -1 in outer.values() or full not in outer:
            continue
        inside = [0] * (max(domain_of) + 1)
        for inner, domain in outer.items():
            inside[domain] += least[inner]
        low = max(0, inside[outer[full]] - skew)
        inside = [max(low, number) for number in inside]
        found.append(Crowd(domain_of, inside, sum(inside)))
    return found
