"""Verdicts on the rules of a policy for one group, regime by regime; loads numpy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.guarantee import search
from kubectl_spread.guarantee.bound import always_placed, Bound, bounds
from kubectl_spread.guarantee.event import State
from kubectl_spread.guarantee.gap import Gap, GapEffect, GapKind
from kubectl_spread.guarantee.merged import merged
from kubectl_spread.guarantee.model import Alive, Disruption, Filters, GroupModel, LossKind
from kubectl_spread.guarantee.search import Found
from kubectl_spread.guarantee.setup.build import disruptions, GroupBuilder
from kubectl_spread.guarantee.setup.member import Member
from kubectl_spread.guarantee.setup.neighbours import surroundings
from kubectl_spread.guarantee.space import Space
from kubectl_spread.guarantee.witness import Witness, witness
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.policy.policy import Regime, REGIMES
from kubectl_spread.policy.rule import PolicyRule, RuleKind
from kubectl_spread.records import NamedTuple
from kubectl_spread.scheduler.framework.profile import Profile

_NEAR = 4_000  # states of the first, directed search
_WALK = 20_000  # states of random paths after a search was cut off
_STAGES = {
    Regime.CREATION: 0,
    Regime.RESTARTS: 0,
    Regime.ROLLOUTS: 1,
    Regime.SCALING: 2,
    Regime.DISRUPTIONS: 3,
}  # A higher stage distinguishes more kinds of pods.
_GRACE_S = 30  # default of terminationGracePeriodSeconds
_OPEN_WAITS = (GapEffect.WAITS, GapEffect.COUNTS, GapEffect.EVERYTHING)


class ProofStatus(Enum):
    """Answer for one rule in one regime."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "notApplicable"


class Method(Enum):
    """How a rule was decided."""

    BOUND = "bound"  # a limit that holds in any order
    STATES = "states"  # every state was visited
    MERGED = "mergedStates"  # every state was visited, with all workloads as one; more can happen there than in fact
    WITNESS = "witness"
    NONE = "none"


class RuleVerdict(NamedTuple):
    """Verdict on a rule in a regime.

    limit: the most or least that the rule allows, at the wanted replicas. states: number of visited states; 0 if gaps
    leave the rule undecided. regime: in which a witness was found first. witness: shortest way to a violation.
    """

    rule: PolicyRule
    verdict: ProofStatus
    method: Method
    limit: int = 0
    bound: Optional[Bound] = None
    states: int = 0
    regime: Optional[Regime] = None
    witness: Optional[Witness] = None


class RegimeResult(NamedTuple):
    """Verdicts in a regime; why: reason for a regime that does not apply."""

    regime: Regime
    rules: tuple[RuleVerdict, ...]
    seconds: float = 0.0

    @property
    def verdict(self) -> ProofStatus:
        """Return the worst verdict of the rules."""
        found = {item.verdict for item in self.rules}
        for verdict in (ProofStatus.REFUTED, ProofStatus.UNDECIDED, ProofStatus.PROVED):
            if verdict in found:
                return verdict
        return ProofStatus.NOT_APPLICABLE


class GroupResult(NamedTuple):
    """Verdicts on a group; neighbours: workloads that were followed as well, because they decide where pods go."""

    name: str
    workloads: tuple[OwnerKey, ...]
    pods: int
    results: tuple[RegimeResult, ...]
    gaps: tuple[Gap, ...] = ()
    neighbours: tuple[OwnerKey, ...] = ()

    @property
    def verdict(self) -> ProofStatus:
        """Return the worst verdict of all regimes."""
        found = {item.verdict for item in self.results}
        for verdict in (ProofStatus.REFUTED, ProofStatus.UNDECIDED):
            if verdict in found:
                return verdict
        return ProofStatus.PROVED


class Effort(NamedTuple):
    """Limits of the proofs of a group: states per regime, and a `time.monotonic()` at which to stop.

    is_enough: is called with the number of visited states; returns whether to stop. is_quick: only bounds are looked
    at. wants_shortest: of the ways to a violation, a shortest one is searched.
    """

    max_states: int = 100_000
    deadline: Optional[float] = None
    is_enough: Callable[[int], bool] = lambda _: False
    is_quick: bool = False
    wants_shortest: bool = True


def prove(
    members: Sequence[Member],
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    rules: Sequence[PolicyRule],
    *,
    regimes: Sequence[Regime] = REGIMES,
    effort: Optional[Effort] = None,
    name: str = "",
) -> GroupResult:
    """Return the verdicts on a group of workloads.

    Args:
        members: the workloads.
        cluster: the cluster facts.
        profiles: of the scheduler.
        rules: of the policy.
        regimes: to look at, in order.
        effort: limits of the searches.
        name: of the group.
    """
    prover = _Prover(members, cluster, profiles, tuple(rules), effort or Effort(), name)
    results = tuple(prover.regime(regime) for regime in REGIMES if regime in regimes)
    gaps = (*prover.gaps, *_terminating(members, results))
    workloads = tuple(member.key for member in members)
    pods = sum(member.controller.workload.replicas or 0 for member in members)
    return GroupResult(name, workloads, pods, results, gaps, prover.neighbours)


def _terminating(members: Sequence[Member], results: Sequence[RegimeResult]) -> Iterator[Gap]:
    """Yield the workloads whose deleted pods run beside their replacements, if proved rules limit pods of a domain."""
    proved = [
        verdict.rule
        for item in results
        for verdict in item.rules
        if item.regime is not Regime.CREATION and verdict.verdict is ProofStatus.PROVED and verdict.rule.is_momentary
    ]
    for member in members:
        workload = member.controller.workload
        seconds = fields(workload.template.get("spec")).get("terminationGracePeriodSeconds", _GRACE_S)
        # The pods of a StatefulSet are created again under the same names, so only once they are gone.
        if proved and workload.kind != "StatefulSet" and isinstance(seconds, int) and seconds > 0:
            yield Gap(GapKind.TERMINATING, member.key, number=seconds)


class _Prover:
    def __init__(
        self,
        members: Sequence[Member],
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        rules: tuple[PolicyRule, ...],
        effort: Effort,
        name: str,
    ) -> None:
        self._around = surroundings(members, cluster, profiles)
        self._members = (*members, *self._around.followed)
        self.neighbours = tuple(member.key for member in self._around.followed)
        self._cluster = cluster
        self._profiles = profiles
        self._rules = rules
        self._effort = effort
        self._name = name
        self._keys = tuple(dict.fromkeys(rule.topology_key for rule in rules if rule.topology_key))
        self._builders: dict[int, GroupBuilder] = {}
        self._filters: dict[tuple[int, Optional[Disruption]], Filters] = {}
        self._refuted: dict[int, RuleVerdict] = {}
        self._last: dict[int, RuleVerdict] = {}
        self.gaps: dict[Gap, None] = {}

    def _builder(self, regime: Regime) -> GroupBuilder:
        """Return the builder of the group; for rollouts and for scaling it may tell more pods apart."""
        stage = _STAGES[regime]
        found = self._builders.get(stage)
        if found is None:
            found = self._builders[stage] = GroupBuilder(
                self._members, self._cluster, self._profiles, self._keys,
                regime=regime, name=self._name, around=self._around,
            )  # fmt: skip
            self.gaps |= dict.fromkeys(found.group.gaps)
        return found

    def _space(self, regime: Regime) -> Space:
        builder = self._builder(regime)
        stage = _STAGES[regime]

        def filters(disruption: Optional[Disruption]) -> Filters:
            key = (stage, disruption)
            if key not in self._filters:
                self._filters[key] = builder.filters(disruption)
            return self._filters[key]

        return Space(builder.group, filters, self._rules, regime, disruptions=self._disruptions(builder.group, regime))

    def _disruptions(self, group: GroupModel, regime: Regime) -> tuple[Disruption, ...]:
        if regime is not Regime.DISRUPTIONS:
            return ()
        lost = [(rule.topology_key, rule.lost) for rule in self._rules if rule.kind is RuleKind.SURVIVE]
        return disruptions(group, self._keys, lost)

    def regime(self, regime: Regime) -> RegimeResult:
        """Return the verdicts in a regime."""
        begin = time.monotonic()
        space = self._space(regime)
        if regime is Regime.SCALING and all(owner.bounds is None for owner in space.group.owners if owner.is_judged):
            none = tuple(RuleVerdict(rule, ProofStatus.NOT_APPLICABLE, Method.NONE) for rule in self._rules)
            return RegimeResult(regime, none)
        found: dict[int, RuleVerdict] = {}
        for at, rule in enumerate(self._rules):
            verdict = self._refuted.get(at) or self._by_bound(space, rule, regime)
            if verdict is None and self._adds_nothing(space, regime):
                verdict = self._last.get(at)
            if verdict is not None:
                found[at] = verdict
        found |= self._search(space, regime, _missing(list(range(len(self._rules))), found))
        self._last = found
        self._refuted |= {at: item for at, item in found.items() if item.verdict is ProofStatus.REFUTED}
        return RegimeResult(regime, tuple(found[at] for at in sorted(found)), time.monotonic() - begin)

    def _adds_nothing(self, space: Space, regime: Regime) -> bool:
        """Return whether a regime has the same events as the one before."""
        return regime is Regime.ROLLOUTS and not any(owner.is_rolled for owner in space.group.owners)

    # Bounds.

    def _by_bound(self, space: Space, rule: PolicyRule, regime: Regime) -> Optional[RuleVerdict]:
        """Return a proof by a limit that holds in any order of events."""
        alive = self._alive(space)
        wanted = self._wanted(space.group)
        if rule.kind is RuleKind.PLACED:
            found = always_placed(space.filters(0), alive, space.group.judged) if self._is_sure(space, rule) else None
            return None if found is None else RuleVerdict(rule, ProofStatus.PROVED, Method.BOUND, 0, found)
        versions = [space.filters(at) for at in range(len(space.disruptions) + 1)]
        found = bounds(space.group, versions, rule, alive)
        if rule.kind is RuleKind.MIN_DOMAINS and not _is_labelled(space, rule.topology_key):
            return None
        if rule.kind is RuleKind.SURVIVE and not self._are_replaced(space, rule, alive):
            return None
        numbers = range(self._fewest(space.group), self._most(space.group) + 1) if _is_scaled(space) else [wanted]
        if found is None or not all(_is_enough(rule, found.most, number, regime) for number in numbers):
            return None
        return RuleVerdict(rule, ProofStatus.PROVED, Method.BOUND, _limit(rule, wanted), found)

    @staticmethod
    def _alive(space: Space) -> Alive:
        return Alive(space.group, has_surge=space.level >= REGIMES.index(Regime.ROLLOUTS), is_scaled=_is_scaled(space))

    @staticmethod
    def _are_replaced(space: Space, rule: PolicyRule, alive: Alive) -> bool:
        """Return whether lost pods always find other nodes."""
        losses = [
            at
            for at, item in enumerate(space.disruptions, 1)
            if item.kind is LossKind.LOSS and item.topology_key == rule.topology_key and len(item.domains) == rule.lost
        ]
        if losses and space.group.has_gap(*_OPEN_WAITS):
            return False
        return all(always_placed(space.filters(at), alive, space.group.judged) is not None for at in losses)

    @staticmethod
    def _wanted(group: GroupModel) -> int:
        return sum(owner.replicas for owner in group.owners if owner.is_judged)

    @staticmethod
    def _fewest(group: GroupModel) -> int:
        return sum(owner.least for owner in group.owners if owner.is_judged)

    @staticmethod
    def _most(group: GroupModel) -> int:
        return sum(owner.most for owner in group.owners if owner.is_judged)

    # Searches.

    def _search(self, space: Space, regime: Regime, rules: list[int]) -> dict[int, RuleVerdict]:
        """Return verdicts by searches: for a near violation, on merged states, on all states, along random paths."""
        if self._effort.is_quick or space.group.has_gap(GapEffect.EVERYTHING):
            return {at: self._undecided(space, at, 0) for at in rules}
        found: dict[int, RuleVerdict] = {}
        states = 0
        limits = search.ProofLimits(self._effort.max_states, self._effort.deadline, self._effort.is_enough)
        self._nearby(space, regime, rules, limits=limits, into=found)
        left = self._by_merged(space, _missing(rules, found), limits=limits, into=found)
        if not self._effort.wants_shortest:
            self._cornered(space, regime, left, limits=limits, into=found)
            left = _missing(left, found)
        if left:
            states = self._everywhere(space, regime, left, limits=limits, into=found)
            left = _missing(left, found)
        if left and states and self._effort.wants_shortest:
            self._cornered(space, regime, left, limits=limits, into=found)
            left = _missing(left, found)
        if left and states and self._effort.wants_shortest:
            walk = limits._replace(max_states=min(_WALK, limits.max_states))
            self._take(space, regime, search.at_random(space, left, walk), rules=left, into=found)
        return found | {at: self._undecided(space, at, states) for at in _missing(left, found)}

    def _everywhere(
        self,
        space: Space,
        regime: Regime,
        rules: list[int],
        *,
        limits: search.ProofLimits,
        into: dict[int, RuleVerdict],
    ) -> int:
        """Search all states; return their number if a limit ended it before any violation, or else 0."""
        everything = search.explore(space, rules, limits)
        self._take(space, regime, everything, rules=rules, into=into)
        is_over = everything.is_exhaustive or any(at in everything.witness for at in rules)
        return 0 if is_over else everything.states

    def _nearby(
        self,
        space: Space,
        regime: Regime,
        rules: list[int],
        *,
        limits: search.ProofLimits,
        into: dict[int, RuleVerdict],
    ) -> None:
        """Search for a violation near the start, of each rule about counts."""
        limits = limits._replace(max_states=min(_NEAR, limits.max_states))
        for at in rules:
            if space.rules[at].kind not in (RuleKind.PLACED, RuleKind.SEPARATE):
                self._take(space, regime, search.nearest(space, at, limits), rules=[at], into=into)

    def _cornered(
        self,
        space: Space,
        regime: Regime,
        rules: list[int],
        *,
        limits: search.ProofLimits,
        into: dict[int, RuleVerdict],
    ) -> None:
        """Search for pods that stay Pending where choices are few."""
        for at in rules:
            if space.rules[at].kind is RuleKind.PLACED:
                found = search.stuck(space, at, limits._replace(max_states=min(_WALK, limits.max_states)))
                self._take(space, regime, found, rules=[at], into=into)

    def _undecided(self, space: Space, rule: int, states: int) -> RuleVerdict:
        limit = _limit(space.rules[rule], self._wanted(space.group))
        return RuleVerdict(space.rules[rule], ProofStatus.UNDECIDED, Method.NONE, limit, states=states)

    def _by_merged(
        self, space: Space, rules: list[int], *, limits: search.ProofLimits, into: dict[int, RuleVerdict]
    ) -> list[int]:
        """Prove rules on states that do not tell the workloads apart; return the rules that are left."""
        simpler = merged(space)
        if simpler is None or not rules:
            return rules
        for at in list(rules):
            if not simpler.can_prove(space.rules[at]):
                continue
            found = search.explore(simpler, [at], limits, is_proof_only=True)
            if found.is_exhaustive and not found.witness and self._is_sure(space, space.rules[at]):
                limit = _limit(space.rules[at], self._wanted(space.group))
                into[at] = RuleVerdict(space.rules[at], ProofStatus.PROVED, Method.MERGED, limit, states=found.states)
        return _missing(rules, into)

    @staticmethod
    def _is_sure(space: Space, rule: PolicyRule) -> bool:
        """Return whether visited states can prove a rule although some features or pods are not followed."""
        group = space.group
        if group.has_gap(GapEffect.COUNTS, GapEffect.EVERYTHING):
            return False
        if group.has_gap(GapEffect.PREEMPTION) and (not space.level or space.filters(0).free):
            return False  # Preempted pods are created again, as in the next regime; those of others leave room.
        return rule.kind not in (RuleKind.PLACED, RuleKind.SURVIVE) or not group.has_gap(GapEffect.WAITS)

    @staticmethod
    def _can_refute(space: Space, rule: PolicyRule) -> bool:
        """Return whether a violation can really happen."""
        if space.group.has_gap(GapEffect.EVERYTHING):
            return False
        is_about_waiting = rule.kind is RuleKind.PLACED
        return not (is_about_waiting and space.group.has_gap(GapEffect.PREEMPTION))

    def _take(
        self, space: Space, regime: Regime, result: Found, *, rules: Sequence[int], into: dict[int, RuleVerdict]
    ) -> None:
        """Turn the result of a search into verdicts."""
        for at in rules:
            rule = space.rules[at]
            limit = _limit(rule, self._wanted(space.group))
            if at in result.witness and self._can_refute(space, rule):
                way = result.witness[at]
                refutation = witness(space, rule, way, is_shortest=result.is_shortest)
                into[at] = RuleVerdict(
                    rule,
                    ProofStatus.REFUTED,
                    Method.WITNESS,
                    limit,
                    states=result.states,
                    regime=regime,
                    witness=refutation,
                )
            elif at not in result.witness and result.is_exhaustive and self._is_sure(space, rule):
                into[at] = RuleVerdict(rule, ProofStatus.PROVED, Method.STATES, limit, states=result.states)


def _missing(rules: list[int], found: dict[int, RuleVerdict]) -> list[int]:
    """Return the rules without a verdict."""
    return [at for at in rules if at not in found]


def _is_labelled(space: Space, key: str) -> bool:
    """Return whether every node that takes a pod has a label."""
    domain_of = space.group.layout.domain_of[key]
    return all(domain_of[node] >= 0 for item in space.filters(0).of_kind for node in item.allowed)


def _limit(rule: PolicyRule, pods: int) -> int:
    """Return the number that a rule allows or demands."""
    if rule.kind is RuleKind.SURVIVE:
        return rule.amount.at_least(pods)
    most = rule.most(pods)
    return rule.amount.numerator if most is None else most


def _is_scaled(space: Space) -> bool:
    return space.level >= REGIMES.index(Regime.SCALING)


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


__all__ = [
    "Effort",
    "GroupResult",
    "LossKind",
    "Method",
    "ProofStatus",
    "RegimeResult",
    "RuleVerdict",
    "State",
    "prove",
]
