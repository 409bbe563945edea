"""Verdicts in one regime by searches through the states of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.guarantee import search
from kubectl_spread.guarantee.event import TransitionKind
from kubectl_spread.guarantee.gap import GapEffect, GapKind
from kubectl_spread.guarantee.search import Found
from kubectl_spread.guarantee.states.merged import merge_names
from kubectl_spread.guarantee.states.space import Space
from kubectl_spread.guarantee.verdict import Effort, limit_of, Method, ProofStatus, RuleVerdict
from kubectl_spread.guarantee.witness import Witness, witness
from kubectl_spread.policy.policy import Regime
from kubectl_spread.policy.rule import PolicyRule, RuleKind

_NEAR = 4_000  # states of the first, directed search
_WALK = 20_000  # states of random paths after a search was cut off


class RegimeSearch:
    """Searches for a near violation, on merged states, on all states, and along random paths; found: verdicts so far.

    A verdict is added to `found` as soon as a search decides a rule. A way to a violation may need pods of a
    StatefulSet in an order in which its controller does not create them. Then the rule is decided by a second search,
    whose states tell all ordinals apart.
    """

    def __init__(
        self, space: Space, regime: Regime, effort: Effort, *, ordered: Optional[Callable[[], Space]] = None
    ) -> None:
        """Set up the searches.

        Args:
            space: the states.
            regime: of the states.
            effort: limits of each search.
            ordered: returns states with the ordinals of all StatefulSets that create pods in order.
        """
        self.found: dict[int, RuleVerdict] = {}
        self._disordered: list[int] = []
        self._ordered = ordered
        self._space = space
        self._regime = regime
        self._effort = effort
        self._limits = search.ProofLimits(effort.max_states, effort.deadline, effort.is_enough)

    def verdicts(self, rules: Sequence[int]) -> dict[int, RuleVerdict]:
        """Return a verdict on each of some rules."""
        if self._effort.is_quick or self._space.group.has_gap(GapEffect.EVERYTHING):
            return {at: self._undecided(at, 0) for at in rules}
        self._nearby(rules)
        self._by_merged(self._left(rules))
        if not self._effort.wants_shortest:
            self._cornered(self._left(rules))
        states = self._everywhere(self._left(rules)) if self._left(rules) else 0
        if states and self._effort.wants_shortest:
            self._cornered(self._left(rules))
            self._at_random(self._left(rules))
        return self.found | {at: self._undecided(at, states) for at in self._left(rules)} | self._in_order()

    def _left(self, rules: Sequence[int]) -> list[int]:
        """Return the rules that still have no verdict and that a search without ordinals may decide."""
        return [at for at in rules if at not in self.found and at not in self._disordered]

    def _in_order(self) -> dict[int, RuleVerdict]:
        """Return verdicts on the rules for which the order of a StatefulSet's pods decides."""
        if not self._disordered:
            return {}
        if self._ordered is None:
            return {at: self._undecided(at, 0) for at in self._disordered}
        return RegimeSearch(self._ordered(), self._regime, self._effort).verdicts(self._disordered)

    def _everywhere(self, rules: Sequence[int]) -> int:
        """Search all states; return their number if a limit ended the search, or else 0."""
        everything = search.explore(self._space, rules, self._limits)
        self._take(everything, rules)
        is_over = everything.is_exhaustive or all(at in everything.witness for at in rules)
        return 0 if is_over else everything.states

    def _at_random(self, rules: Sequence[int]) -> None:
        """Search for violations along random paths."""
        limits = self._limits._replace(max_states=min(_WALK, self._limits.max_states))
        if rules:
            self._take(search.at_random(self._space, rules, limits), rules)

    def _nearby(self, rules: Sequence[int]) -> None:
        """Search for a violation near the start, of each rule about counts."""
        limits = self._limits._replace(max_states=min(_NEAR, self._limits.max_states))
        for at in rules:
            if self._space.rules[at].kind not in (RuleKind.PLACED, RuleKind.SEPARATE):
                self._take(search.nearest(self._space, at, limits), [at])

    def _cornered(self, rules: Sequence[int]) -> None:
        """Search for pods that stay Pending where choices are few."""
        limits = self._limits._replace(max_states=min(_WALK, self._limits.max_states))
        for at in rules:
            if self._space.rules[at].kind is RuleKind.PLACED:
                self._take(search.stuck(self._space, at, limits), [at])

    def _undecided(self, rule: int, states: int) -> RuleVerdict:
        found = self._space.rules[rule]
        return RuleVerdict(found, ProofStatus.UNDECIDED, Method.NONE, self._limit(found), states=states)

    def _limit(self, rule: PolicyRule) -> int:
        return limit_of(rule, self._space.group.judged_replicas)

    def _by_merged(self, rules: Sequence[int]) -> None:
        """Prove rules on states that do not tell the workloads apart."""
        simpler = merge_names(self._space) if rules else None
        if simpler is None:
            return
        for at in rules:
            rule = self._space.rules[at]
            if not simpler.can_prove(rule):
                continue
            found = search.explore(simpler, [at], self._limits, is_proof_only=True)
            if found.is_exhaustive and not found.witness and is_sure(self._space, rule):
                self.found[at] = RuleVerdict(
                    rule, ProofStatus.PROVED, Method.MERGED, self._limit(rule), states=found.states
                )

    def _take(self, result: Found, rules: Sequence[int]) -> None:
        """Turn the result of a search into verdicts."""
        for at in rules:
            rule = self._space.rules[at]
            if at in result.witness:
                self._take_witness(at, result)
            elif result.is_exhaustive and is_sure(self._space, rule):
                self.found[at] = RuleVerdict(
                    rule, ProofStatus.PROVED, Method.STATES, self._limit(rule), states=result.states
                )

    def _take_witness(self, rule: int, result: Found) -> None:
        """Turn a way to a violation into a verdict, or note that a search with ordinals is needed."""
        if not self._can_refute(self._space.rules[rule]):
            return
        refuted = self._refuted(rule, result)
        if refuted is None:
            self._disordered.append(rule)
        elif not self._is_doubtful(refuted.witness):
            self.found[rule] = refuted

    def _refuted(self, rule: int, result: Found) -> Optional[RuleVerdict]:
        """Return a verdict with the way to a violation; None if no controller creates the pods in its order."""
        found = self._space.rules[rule]
        way = witness(self._space, found, result.witness[rule], is_shortest=result.is_shortest)
        if way is None:
            return None
        return RuleVerdict(
            found,
            ProofStatus.REFUTED,
            Method.WITNESS,
            self._limit(found),
            states=result.states,
            regime=self._regime,
            witness=way,
        )

    def _is_doubtful(self, found: Optional[Witness]) -> bool:
        """Return whether volumes or pod affinity could prevent the events.

        A StatefulSet's new volumes do so once one of its pods is created again.
        """
        group = self._space.group
        created = {gap.owner for gap in group.gaps if gap.kind is GapKind.VOLUMES}
        fixed = {gap.owner for gap in group.gaps if gap.kind in (GapKind.CLAIMS, GapKind.AFFINITY)}
        gone: set[Optional[OwnerKey]] = set()
        for event in found.events if found is not None else ():
            if event.kind is TransitionKind.PLACED and event.owner in fixed | gone:
                return True
            if event.kind is not TransitionKind.PLACED and event.node and event.owner in created:
                gone.add(event.owner)
        return False

    def _can_refute(self, rule: PolicyRule) -> bool:
        """Return whether a violation can really happen."""
        group = self._space.group
        if group.has_gap(GapEffect.EVERYTHING):
            return False
        return not (rule.kind is RuleKind.PLACED and group.has_gap(GapEffect.PREEMPTION))


def is_sure(space: Space, rule: PolicyRule) -> bool:
    """Return whether visited states can prove a rule although some features or pods are not followed."""
    group = space.group
    if group.has_gap(GapEffect.COUNTS, GapEffect.EVERYTHING):
        return False
    if group.has_gap(GapEffect.PREEMPTION) and (not space.level or space.filters(0).free):
        return False  # Preempted pods are created again, as in the next regime; those of others leave room.
    return rule.kind not in (RuleKind.PLACED, RuleKind.SURVIVE) or not group.has_gap(GapEffect.WAITS, GapEffect.PINNED)
