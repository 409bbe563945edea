"""Verdicts on the rules of a policy for one group, regime by regime; loads numpy."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.guarantee.bound import bounds, prove_placement
from kubectl_spread.guarantee.gap import Gap, GapEffect, GapKind
from kubectl_spread.guarantee.model import Alive, Disruption, Filters, GroupModel, LossKind
from kubectl_spread.guarantee.policy.policy import Regime, REGIMES
from kubectl_spread.guarantee.policy.rule import PolicyRule, RuleKind
from kubectl_spread.guarantee.regime_search import is_sure, RegimeSearch
from kubectl_spread.guarantee.search import Question
from kubectl_spread.guarantee.setup.build import disruptions, GroupBuilder
from kubectl_spread.guarantee.setup.member import Member
from kubectl_spread.guarantee.setup.neighbours import surroundings
from kubectl_spread.guarantee.setup.shards import more_shards
from kubectl_spread.guarantee.states.fewer_nodes import fewer_nodes
from kubectl_spread.guarantee.states.space import Space
from kubectl_spread.guarantee.verdict import (
    Effort,
    GroupResult,
    limit_of,
    Method,
    ProofStatus,
    RegimeResult,
    RuleVerdict,
)
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.scheduler.framework.profile import Profile

_STAGES = {
    Regime.CREATION: 0,
    Regime.RESTARTS: 0,
    Regime.ROLLOUTS: 1,
    Regime.SCALING: 2,
    Regime.DISRUPTIONS: 3,
}  # A higher stage distinguishes more kinds of pods.
_SCALED = (Regime.SCALING, Regime.DISRUPTIONS)
_GRACE_S = 30  # default of terminationGracePeriodSeconds
_OPEN_WAITS = (GapEffect.WAITS, GapEffect.PINNED, GapEffect.COUNTS, GapEffect.EVERYTHING)


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
    gaps = (*prover.gaps, *_terminating(members, results), *_scaled_gaps(members, regimes))
    workloads = tuple(member.key for member in members)
    pods = sum(member.controller.workload.replicas or 0 for member in members)
    return GroupResult(name, workloads, pods, results, gaps, prover.neighbours)


def space_of(
    members: Sequence[Member],
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    rules: Sequence[PolicyRule],
    regime: Regime,
) -> Space:
    """Return the states of a group of workloads in a regime."""
    return _Prover(members, cluster, profiles, tuple(rules), Effort(), "").space(regime)


def _terminating(members: Sequence[Member], results: Sequence[RegimeResult]) -> Iterator[Gap]:
    """Yield the workloads whose deleted pods run next to their replacements, if proved rules limit pods of a domain."""
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


def _scaled_gaps(members: Sequence[Member], regimes: Sequence[Regime]) -> Iterator[Gap]:
    """Yield the workloads that are not scaled, although the regime is to be looked at, and what stays in others."""
    if members[0].shards is not None and any(regime in _SCALED for regime in regimes):
        yield Gap(GapKind.SAME_CONSTRAINTS, others=tuple(member.key for member in members))
    fixed = tuple(member.key for member in members if member.bounds is None and member.shards is None)
    if fixed and Regime.SCALING in regimes:
        yield Gap(GapKind.NO_RANGE, others=fixed)


def _extra(members: Sequence[Member]) -> list[Member]:
    """Return the shards that can be added."""
    shards = members[0].shards
    return more_shards(members, max(0, shards.most - len(members))) if shards is not None else []


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
        self._extra = tuple(_extra(members))
        self.neighbours = tuple(member.key for member in self._around.followed)
        self._cluster = cluster
        self._profiles = profiles
        self._rules = rules
        self._effort = effort
        self._name = name
        self._keys = tuple(dict.fromkeys(rule.topology_key for rule in rules if rule.topology_key))
        self._builders: dict[tuple[int, bool], GroupBuilder] = {}
        self._filters: dict[tuple[int, bool, Optional[Disruption]], Filters] = {}
        self._questions = [Question(at) for at in range(len(rules))]
        if effort.is_final:
            self._questions += [Question(at, is_settled=True) for at, rule in enumerate(rules) if rule.is_momentary]
        self._refuted: dict[Question, RuleVerdict] = {}
        self._last: dict[Question, RuleVerdict] = {}
        self.gaps: dict[Gap, None] = {}

    def _builder(self, regime: Regime, *, has_order: bool) -> GroupBuilder:
        """Return the builder of the group; for rollouts and for scaling it may tell more pods apart."""
        stage = _STAGES[regime]
        found = self._builders.get((stage, has_order))
        if found is None:
            members = (*self._members, *(self._extra if regime in _SCALED else ()))
            found = self._builders[stage, has_order] = GroupBuilder(
                members, self._cluster, self._profiles, self._keys,
                regime=regime, name=self._name, around=self._around, has_order=has_order,
            )  # fmt: skip
            self.gaps |= dict.fromkeys(found.group.gaps)
        return found

    def space(self, regime: Regime, *, has_order: bool = False) -> Space:
        """Return the states in a regime; has_order: with all ordinals of StatefulSets that create pods in order."""
        builder = self._builder(regime, has_order=has_order)
        stage = _STAGES[regime]

        def filters(disruption: Optional[Disruption]) -> Filters:
            key = (stage, has_order, disruption)
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
        space = self.space(regime)
        if regime is Regime.SCALING and all(owner.bounds is None for owner in space.group.owners if owner.is_judged):
            none = tuple(RuleVerdict(rule, ProofStatus.NOT_APPLICABLE, Method.NONE) for rule in self._rules)
            return RegimeResult(regime, none)
        found = self._without_search(space, regime)
        left = [item for item in self._questions if item not in found]
        if left:
            prover = self._with_fewer_nodes(space)
            searched = space if prover is self else prover.space(regime)
            ordered = functools.partial(prover.space, regime, has_order=True)
            found |= RegimeSearch(searched, regime, self._effort, ordered=ordered).verdicts(left)
        self._last = found
        self._refuted |= {item: verdict for item, verdict in found.items() if verdict.verdict is ProofStatus.REFUTED}
        verdicts = tuple(_both(found, at) for at in range(len(self._rules)))
        return RegimeResult(regime, verdicts, time.monotonic() - begin)

    def _without_search(self, space: Space, regime: Regime) -> dict[Question, RuleVerdict]:
        """Return the verdicts that an earlier regime or a bound decides."""
        found: dict[Question, RuleVerdict] = {}
        for item in self._questions:
            verdict = self._refuted.get(item) or self._by_bound(space, self._rules[item.rule], regime)
            if verdict is None and self._adds_nothing(space, regime):
                verdict = self._last.get(item)
            if verdict is not None:
                found[item] = verdict
        return found

    def _with_fewer_nodes(self, space: Space) -> _Prover:
        """Return a prover with fewer nodes if many are interchangeable."""
        if self._effort.is_quick:
            return self
        cluster = fewer_nodes(space, self._cluster, self._alive(space)(range(len(space.group.kinds))))
        if cluster is None:
            return self
        return _Prover(self._members, cluster, self._profiles, self._rules, self._effort, self._name)

    def _adds_nothing(self, space: Space, regime: Regime) -> bool:
        """Return whether a regime has the same events as the one before."""
        return regime is Regime.ROLLOUTS and not any(owner.is_rolled for owner in space.group.owners)

    # Bounds.

    def _by_bound(self, space: Space, rule: PolicyRule, regime: Regime) -> Optional[RuleVerdict]:
        """Return a proof by a limit that holds in any order of events."""
        alive = self._alive(space)
        wanted = space.group.judged_replicas
        if rule.kind is RuleKind.PLACED:
            found = prove_placement(space.filters(0), alive, space.group.judged_kinds) if is_sure(space, rule) else None
            return None if found is None else RuleVerdict(rule, ProofStatus.PROVED, Method.BOUND, 0, found)
        versions = [space.filters(at) for at in range(len(space.disruptions) + 1)]
        found = bounds(space.group, versions, rule, alive)
        if rule.kind is RuleKind.MIN_DOMAINS and not _is_labelled(space, rule.topology_key):
            return None
        if rule.kind is RuleKind.SURVIVE and not self._are_replaced(space, rule, alive):
            return None
        numbers = space.group.numbers if _is_scaled(space) else [wanted]
        if found is None or not all(_is_enough(rule, found.most, number, regime) for number in numbers):
            return None
        return RuleVerdict(rule, ProofStatus.PROVED, Method.BOUND, limit_of(rule, wanted), found)

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
        return all(prove_placement(space.filters(at), alive, space.group.judged_kinds) is not None for at in losses)


def _both(found: Mapping[Question, RuleVerdict], rule: int) -> RuleVerdict:
    """Return the verdict on a rule at every moment, with the one once nothing moves any more if it differs."""
    always, settled = found[Question(rule)], found.get(Question(rule, is_settled=True))
    if settled is None or always.verdict is ProofStatus.PROVED:
        return always
    if settled.verdict is ProofStatus.REFUTED and always.verdict is not ProofStatus.REFUTED:
        always = settled
    return always._replace(settled=settled)


def _is_labelled(space: Space, key: str) -> bool:
    """Return whether every node that takes a pod has a label."""
    domain_of = space.group.layout.domain_of[key]
    return all(domain_of[node] >= 0 for item in space.filters(0).of_kind for node in item.allowed)


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
