"""Verdicts on the rules of a policy for one group, regime by regime; loads numpy.

A rule is decided by the first of these that can: a way from an earlier regime, a bound, a search through states that
tell no workloads apart, a search through all states.

A search visits states in the order of their distance, so that the first violation is a nearest one. If there are many
states, each rule that is still open gets a search of its own. It starts again, and visits states closer to a violation
first. The rest of the states is visited in turns, rule by rule.
"""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.guarantee.bound import Limits
from kubectl_spread.guarantee.build import disruptions, GroupBuilder
from kubectl_spread.guarantee.members import Member, more_shards, surroundings
from kubectl_spread.guarantee.model import (
    Disruption,
    Filters,
    Gap,
    GapEffect,
    GapKind,
    GroupModel,
    State,
    total_of,
    TransitionKind,
)
from kubectl_spread.guarantee.policy import PLACED, PolicyRule, Regime, REGIMES, RuleKind
from kubectl_spread.guarantee.space import merge_names, Space
from kubectl_spread.guarantee.symmetry import needed_nodes
from kubectl_spread.guarantee.verdict import (
    GroupResult,
    limit_of,
    ProofStatus,
    RegimeResult,
    RuleVerdict,
    Witness,
    witness,
)
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.framework.plugin import Profile

_NEAR = 5_000  # states of few nodes that are visited in the order of their distance; at most half of all
_SMALL = 16  # nodes; a state takes time in proportion to its nodes
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


class _Crowd(NamedTuple):
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
        self._near = _NEAR // (1 + len(space.group.layout.nodes) // _SMALL)
        self._open = list(questions)
        self._goal = goal
        self._came_from: dict[State, Optional[State]] = {}
        self._elsewhere = 0
        self._queue: list[tuple[int, int, State]] = []
        self._keys: dict[int, dict[State, int]] = {}  # by rule
        self._crowds: dict[tuple[PolicyRule, int, int], list[_Crowd]] = {}
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


def _crowds(space: Space, key: str, full: int, *, most: int) -> list[_Crowd]:
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
    found = [_Crowd(layout.domain_of[key], others, sum(least))]
    for name, domain_of, skew in sorted(spreads):
        outer = {inner: domain for inner, domain in zip(layout.domain_of[key], domain_of, strict=True) if inner >= 0}
        if name == key or -1 in outer.values() or full not in outer:
            continue
        inside = [0] * (max(domain_of) + 1)
        for inner, domain in outer.items():
            inside[domain] += least[inner]
        low = max(0, inside[outer[full]] - skew)
        inside = [max(low, number) for number in inside]
        found.append(_Crowd(domain_of, inside, sum(inside)))
    return found


ORDINARY = Limit(100_000)
_SCALED = (Regime.SCALING, Regime.DISRUPTIONS)
_FEW = 64  # nodes: fewer are searched as they are
_MANY_LOSSES = 2_000
_GRACE_S = 30  # default of terminationGracePeriodSeconds
_OPEN_WAITS = (GapEffect.WAITS, GapEffect.PINNED, GapEffect.COUNTS, GapEffect.EVERYTHING)

Verdicts = dict[Question, RuleVerdict]


class _StoppedError(Exception):
    """The limit ends the proof between two searches."""


def prove(
    members: Sequence[Member],
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    rules: Sequence[PolicyRule],
    *,
    regimes: Sequence[Regime] = REGIMES,
    limit: Limit = ORDINARY,
    is_quick: bool = False,
    name: str = "",
) -> GroupResult:
    """Return the verdicts on a group of workloads, regime by regime.

    Args:
        members: the workloads.
        cluster: the cluster facts.
        profiles: of the scheduler.
        rules: of the policy.
        regimes: to look at, in order.
        limit: of the search in each regime.
        is_quick: only bounds are looked at.
        name: of the group.
    """
    around, shards = surroundings(members, cluster, profiles), members[0].shards
    extra = more_shards(members, max(0, shards.most - len(members))) if shards is not None else []
    keys = tuple(dict.fromkeys(rule.topology_key for rule in rules if rule.topology_key))
    lost = [(rule.topology_key, rule.lost) for rule in rules if rule.kind in (RuleKind.SURVIVE, RuleKind.REPLACED)]
    gaps: dict[Gap, None] = {}
    pods = sum(member.controller.workload.replicas or 0 for member in members)

    def filters(builder: GroupBuilder, disruption: Optional[Disruption]) -> Filters:
        """Return the filters of a version of the nodes; there are many versions, and each takes a while."""
        if limit.is_enough(0):
            raise _StoppedError
        return builder.filters(disruption)

    def space_of(
        regime: Regime, nodes: Cluster = cluster, *, has_order: bool = False, has_losses: bool = True
    ) -> Space:
        """Return the states in a regime; has_order: tell all ordinals apart that are created in order."""
        if limit.is_enough(0):
            raise _StoppedError
        builder = GroupBuilder(
            (*members, *around.followed, *(extra if regime in _SCALED else ())), nodes, profiles, keys,
            regime=regime, name=name, around=around, has_order=has_order,
        )  # fmt: skip
        if nodes is cluster:
            gaps.update(dict.fromkeys(builder.group.gaps))
        broken = disruptions(builder.group, keys, lost) if regime is Regime.DISRUPTIONS and has_losses else ()
        return Space(builder.group, functools.partial(filters, builder), rules, regime, disruptions=broken)

    questions = [Question(at) for at in range(len(rules))]
    questions += [Question(at, is_settled=True) for at, rule in enumerate(rules) if rule.is_momentary]
    refuted: Verdicts = {}
    before: Optional[Regime] = None
    found: Verdicts = {}
    results = []
    is_scaled = any(member.bounds is not None or member.shards is not None for member in members)
    for regime in [item for item in REGIMES if item in regimes]:
        if regime is Regime.SCALING and not is_scaled:
            results.append(RegimeResult(regime, tuple(RuleVerdict(rule, None) for rule in rules)))
            continue
        last, found = found, {}
        try:
            together = _many_losses(cluster, lost) if regime is Regime.DISRUPTIONS else 0
            whole = _fewer_nodes(space_of(regime, has_losses=False), cluster, lost=together) if together else cluster
            space = space_of(regime, whole)
            group, limits = space.group, Limits(space)
            for item in questions:
                verdict = refuted.get(item) or _by_bound(space, limits, item, regime)
                if verdict is None and (before, regime) == (Regime.RESTARTS, Regime.ROLLOUTS):
                    # Without rollouts, more cannot happen than in the last regime.
                    verdict = None if any(owner.is_rolled for owner in group.owners) else last[item]
                if verdict is not None:
                    found[item] = verdict
            left = [item for item in questions if item not in found]
            if left and (is_quick or group.has_gap(GapEffect.EVERYTHING)):
                found |= {item: _undecided(space, item, 0) for item in left}
            elif left:
                fewer = _fewer_nodes(space, whole)
                found |= _searched(space if fewer is whole else space_of(regime, fewer), left, limit)
                # With podManagementPolicy OrderedReady, a StatefulSet's controller creates no pod while one with a
                # lower ordinal is on a lost node.
                disordered = [
                    item
                    for item in left
                    if any(owner.is_ordered for owner in group.owners)
                    and (way := found[item].witness) is not None
                    and any(event.is_loss for event in way.events)
                ]
                if disordered:
                    found |= _searched(space_of(regime, fewer, has_order=True), disordered, limit)
        except _StoppedError:
            left = [item for item in questions if item not in found]
            found |= {item: refuted.get(item) or _unvisited(rules[item.rule], pods, regime) for item in left}
        before = regime
        refuted |= {item: verdict for item, verdict in found.items() if verdict.verdict is ProofStatus.REFUTED}
        verdicts = tuple(_both(found, at) for at in range(len(rules)))
        results.append(RegimeResult(regime, verdicts))
    open_gaps = (*gaps, *_assumptions(members, results, regimes))
    workloads, neighbours = (tuple(member.key for member in items) for items in (members, around.followed))
    return GroupResult(name, workloads, pods, tuple(results), open_gaps, neighbours)


def _assumptions(
    members: Sequence[Member], results: Sequence[RegimeResult], regimes: Sequence[Regime]
) -> Iterator[Gap]:
    """Yield what is assumed of deleted pods, if proved rules limit the pods of a domain, and what is not scaled."""
    proved = [
        verdict.rule
        for item in results
        for verdict in item.rules
        if item.regime is not Regime.CREATION and verdict.verdict is ProofStatus.PROVED and verdict.rule.is_momentary
    ]
    for member in members:
        workload = member.controller.workload
        seconds = workload.pod_spec.get("terminationGracePeriodSeconds", _GRACE_S)
        # The pods of a StatefulSet are created again under the same names, so only once they are gone.
        if proved and workload.kind != "StatefulSet" and isinstance(seconds, int) and seconds > 0:
            yield Gap(GapKind.TERMINATING, member.key, number=seconds)
    if members[0].shards is not None and any(regime in _SCALED for regime in regimes):
        yield Gap(GapKind.SAME_CONSTRAINTS, others=tuple(member.key for member in members))
    fixed = tuple(member.key for member in members if member.bounds is None and member.shards is None)
    if fixed and Regime.SCALING in regimes:
        yield Gap(GapKind.NO_RANGE, others=fixed)


# Bounds.


def _by_bound(space: Space, limits: Limits, item: Question, regime: Regime) -> Optional[RuleVerdict]:
    """Return a proof by a limit that holds in any order of events."""
    group, rule = space.group, space.rules[item.rule]
    wanted = group.judged_replicas
    room = limits.placement(0, group.judged_kinds) if _is_sure(space, PLACED) else None
    if rule.kind is RuleKind.PLACED:
        return None if room is None else RuleVerdict(rule, Basis.ENOUGH_ROOM, 0, room)
    if rule.kind is RuleKind.REPLACED:
        losses = [at for at, item in enumerate(space.disruptions, 1) if item.is_loss_of(rule)]
        if not losses:
            return RuleVerdict(rule, None)
        rooms = [limits.placement(at, group.judged_kinds) for at in losses]
        is_open = group.has_gap(*_OPEN_WAITS) or None in rooms
        return None if is_open else RuleVerdict(rule, Basis.ENOUGH_ROOM, 0, rooms[0])
    # If every pod finds a node, a settled group rolls out nothing.
    is_rolled_out = not rule.is_momentary or (item.is_settled and room is not None)
    parts = _revisions(group) if is_rolled_out else [group.judged_kinds]
    found = max((limits.in_domain(rule, kinds) for kinds in parts), key=lambda limit: limit.most)
    domain_of = group.layout.domain_of[rule.topology_key]
    if rule.kind is RuleKind.MIN_DOMAINS and any(
        domain_of[node] < 0 for kind in space.filters(0).of_kind for node in kind.allowed
    ):
        return None  # A node that takes pods lacks the label.
    numbers = group.numbers if regime in _SCALED else [wanted]
    if not all(_is_enough(rule, found.most, number, regime) for number in numbers):
        return None
    return RuleVerdict(rule, Basis.EVERY_ORDER, limit_of(rule, wanted), found)


def _revisions(group: GroupModel) -> list[Sequence[int]]:
    """Return the judged kinds without those of the old or of the new revision, if one Deployment is rolled out."""
    rolled = [at for at, owner in enumerate(group.owners) if owner.is_rolled and owner.is_judged]
    if len(rolled) != 1 or group.owners[rolled[0]].is_stateful:
        return [group.judged_kinds]
    kinds = [(at, group.kinds[at]) for at in group.judged_kinds]
    return [[at for at, kind in kinds if kind.owner != rolled[0] or kind.is_new is is_new] for is_new in (False, True)]


def _is_enough(rule: PolicyRule, most: int, pods: int, regime: Regime) -> bool:
    """Return whether a limit of the pods in a domain proves a rule, for a number of wanted pods."""
    if rule.kind is RuleKind.SEPARATE:
        return most <= 1
    if rule.kind is RuleKind.MIN_DOMAINS:
        return regime is not Regime.DISRUPTIONS and pods > (rule.amount.numerator - 1) * most
    if rule.kind is RuleKind.SURVIVE:
        return pods - rule.lost * most >= rule.amount.at_least(pods)
    allowed = rule.most(pods)
    return allowed is not None and most <= allowed


def _both(found: Verdicts, rule: int) -> RuleVerdict:
    """Return the verdict on a rule at every moment, with the one once nothing moves any more if it differs."""
    always, settled = found[Question(rule)], found.get(Question(rule, is_settled=True))
    if settled is None or always.verdict is ProofStatus.PROVED:
        return always
    if settled.verdict is ProofStatus.REFUTED and always.verdict is not ProofStatus.REFUTED:
        always = settled
    return always._replace(settled=settled)


# Searches.


def _many_losses(cluster: Cluster, lost: Sequence[tuple[str, int]]) -> int:
    """Return the most domains that are lost together, if there are too many sets of them to follow each; 0 if not."""
    values = {key: len({node.labels[key] for node in cluster.nodes if key in node.labels}) for key, _ in lost}
    most = max((number for key, number in lost if math.comb(values[key], number) > _MANY_LOSSES), default=0)
    return most if most > 1 else 0


def _fewer_nodes(space: Space, cluster: Cluster, *, lost: int = 0) -> Cluster:
    """Return a cluster in which the group has the same states up to names; the same one if no node can be left out.

    With one node of a kind more than there are pods, one of them is always empty, as with thousands. The same holds for
    interchangeable domains.
    """
    if len(cluster.nodes) <= _FEW:
        return cluster
    taken = frozenset(pod.node for pod in space.group.placed)
    of_kind = space.filters(0).of_kind
    is_counted = any(item.separations or any(any(spread.base) for spread in item.spreads) for item in of_kind)
    if is_counted or any(pod.cls.pod_anti_affinity for pod in cluster.pods):  # Other pods matter by more than room.
        used = {pod.node_name for pod in cluster.pods}
        taken = frozenset(at for at, node in enumerate(cluster.nodes) if node.name in used)
    pods = Limits(space).pods(range(len(space.group.kinds)))
    least = max((spread.min_domains for item in of_kind for spread in item.spreads), default=1)
    lost = max([lost, *(len(item.domains) for item in space.disruptions)])
    kept = frozenset(needed_nodes(space.arrangement(0).tree, max(pods, least) + lost + 1, taken))
    if len(kept) == len(cluster.nodes):
        return cluster
    return cluster._replace(nodes=tuple(node for at, node in enumerate(cluster.nodes) if at in kept))


def _searched(space: Space, questions: Sequence[Question], limit: Limit) -> Verdicts:
    """Return the verdicts of a search on merged states, and of one on all states for the rest."""
    sure = [item for item in questions if _is_sure(space, space.rules[item.rule])]
    simpler = merge_names(space)
    can_prove = [item for item in sure if simpler is not None and simpler.can_prove(space.rules[item.rule])]
    found: Verdicts = {}
    if simpler is not None and can_prove:
        search = Search(simpler, can_prove)
        search.run(limit)
        for item in can_prove if search.is_exhaustive else ():
            if item not in search.ways:
                found[item] = _decided(space, item, Basis.EVERY_ORDER, search.states)
    search = Search(space, [item for item in questions if item not in found])
    search.run(limit)
    for item in questions:
        if item in found:
            continue
        rule, way, path = space.rules[item.rule], None, search.ways.get(item)
        if path is not None and not (rule.kind is RuleKind.PLACED and space.group.has_gap(GapEffect.PREEMPTION)):
            way = witness(space, rule, path.states, is_shortest=path.is_shortest)
        if way is not None and not _is_doubtful(space, way):
            found[item] = _decided(space, item, Basis.SAMPLE, search.states, way=way)
        elif item not in search.ways and search.is_exhaustive and item in sure:
            found[item] = _decided(space, item, Basis.ALL_OUTCOMES, search.states)
        else:
            found[item] = _undecided(space, item, 0 if search.is_exhaustive else search.states)
    return found


def _decided(space: Space, item: Question, basis: Basis, states: int, *, way: Optional[Witness] = None) -> RuleVerdict:
    rule = space.rules[item.rule]
    most = limit_of(rule, space.group.judged_replicas)
    regime = None if way is None else REGIMES[space.level]
    return RuleVerdict(rule, basis, most, states=states, regime=regime, witness=way)


def _undecided(space: Space, item: Question, states: int) -> RuleVerdict:
    return _decided(space, item, Basis.STATE_LIMIT if states else Basis.NOT_SIMULATED, states)


def _unvisited(rule: PolicyRule, pods: int, regime: Regime) -> RuleVerdict:
    if rule.kind is RuleKind.REPLACED and regime is not Regime.DISRUPTIONS:
        return RuleVerdict(rule, None)
    return RuleVerdict(rule, Basis.STATE_LIMIT, limit_of(rule, pods))


def _is_doubtful(space: Space, way: Witness) -> bool:
    """Return whether volumes or pod affinity could prevent the events of a way.

    A StatefulSet's new volumes do so once one of its pods is created again.
    """
    created = {gap.owner for gap in space.group.gaps if gap.kind is GapKind.VOLUMES}
    fixed = {gap.owner for gap in space.group.gaps if gap.kind in (GapKind.CLAIMS, GapKind.AFFINITY)}
    gone: set[Optional[ObjectKey]] = set()
    for event in way.events:
        if event.kind is TransitionKind.PLACED and event.owner in fixed | gone:
            return True
        if event.kind is not TransitionKind.PLACED and event.node and event.owner in created:
            gone.add(event.owner)
    return False


def _is_sure(space: Space, rule: PolicyRule) -> bool:
    """Return whether visited states can prove a rule although some features or pods are not followed."""
    group = space.group
    if group.has_gap(GapEffect.COUNTS, GapEffect.EVERYTHING):
        return False
    if group.has_gap(GapEffect.PREEMPTION) and (not space.level or space.filters(0).free):
        return False  # Preempted pods are created again, as in the next regime; those of others leave room.
    return rule.kind not in (RuleKind.PLACED, RuleKind.REPLACED) or not group.has_gap(GapEffect.WAITS, GapEffect.PINNED)
