"""Verdicts in one regime by searches through the states of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

from kubectl_spread.guarantee.event import TransitionKind
from kubectl_spread.guarantee.gap import GapEffect, GapKind
from kubectl_spread.guarantee.policy.policy import Regime
from kubectl_spread.guarantee.policy.rule import PolicyRule, RuleKind
from kubectl_spread.guarantee.search import ProofLimits, Question, Search
from kubectl_spread.guarantee.states.merged import merge_names
from kubectl_spread.guarantee.states.space import Space
from kubectl_spread.guarantee.verdict import Effort, limit_of, Method, ProofStatus, RuleVerdict
from kubectl_spread.guarantee.witness import Witness, witness
from kubectl_spread.objects.keys import ObjectKey

_NEAR = 10_000  # states that are visited before other ways are tried
_WALK = 20_000  # states of the directed searches of all questions together


class RegimeSearch:
    """Searches for violations near the start, on merged states, in one direction, and in all states.

    A verdict is added to `found` as soon as a search answers a question. A way to a violation may need pods of a
    StatefulSet in an order in which its controller does not create them. Then the question is answered by a second
    search, whose states tell all ordinals apart.
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
        self.found: dict[Question, RuleVerdict] = {}
        self._disordered: list[Question] = []
        self._ordered = ordered
        self._space = space
        self._regime = regime
        self._effort = effort
        self._limits = ProofLimits(effort.max_states, effort.deadline, effort.is_enough)

    def verdicts(self, questions: Sequence[Question]) -> dict[Question, RuleVerdict]:
        """Return a verdict for each question."""
        if self._effort.is_quick or self._space.group.has_gap(GapEffect.EVERYTHING):
            return {item: self._undecided(item, 0) for item in questions}
        search = Search(self._space, questions)
        search.run(self._within(_NEAR))
        self._take(search, questions)
        if not search.is_over:
            self._by_merged(self._left(questions))
        if not search.is_over:
            self._directed(self._left(questions))
        if self._left(questions):
            search.keep(self._left(questions))
            search.run(self._limits)
            self._take(search, questions)
        undecided = {item: self._undecided(item, search.states) for item in self._left(questions)}
        return self.found | undecided | self._in_order()

    def _within(self, states: int) -> ProofLimits:
        return self._limits._replace(max_states=min(states, self._limits.max_states))

    def _left(self, questions: Sequence[Question]) -> list[Question]:
        """Return the questions that still have no verdict and that a search without ordinals may answer."""
        return [item for item in questions if item not in self.found and item not in self._disordered]

    def _in_order(self) -> dict[Question, RuleVerdict]:
        """Return verdicts for the questions that depend on the order of a StatefulSet's pods."""
        if not self._disordered:
            return {}
        if self._ordered is None:
            return {item: self._undecided(item, 0) for item in self._disordered}
        return RegimeSearch(self._ordered(), self._regime, self._effort).verdicts(self._disordered)

    def _directed(self, questions: Sequence[Question]) -> None:
        """Search for a violation where states come closer to it."""
        for item in questions:
            search = Search(self._space, [item], is_directed=True)
            search.run(self._within(_WALK // len(questions)))
            self._take(search, [item])

    def _undecided(self, question: Question, states: int) -> RuleVerdict:
        rule = self._space.rules[question.rule]
        return RuleVerdict(rule, ProofStatus.UNDECIDED, Method.NONE, self._limit(rule), states=states)

    def _limit(self, rule: PolicyRule) -> int:
        return limit_of(rule, self._space.group.judged_replicas)

    def _by_merged(self, questions: Sequence[Question]) -> None:
        """Answer questions on states that do not tell workloads and revisions apart."""
        simpler = merge_names(self._space) if questions else None
        if simpler is None:
            return
        rules = self._space.rules
        open_ = [
            item for item in questions if simpler.can_prove(rules[item.rule]) and is_sure(self._space, rules[item.rule])
        ]
        search = Search(simpler, open_)
        search.run(self._limits)
        for item in open_ if search.is_exhaustive else ():
            if item not in search.witness:
                rule = rules[item.rule]
                self.found[item] = RuleVerdict(
                    rule, ProofStatus.PROVED, Method.MERGED, self._limit(rule), states=search.states
                )

    def _take(self, search: Search, questions: Sequence[Question]) -> None:
        """Turn the result of a search into verdicts."""
        for item in self._left(questions):
            rule = self._space.rules[item.rule]
            if item in search.witness:
                self._take_witness(item, search)
            elif search.is_exhaustive and is_sure(self._space, rule):
                self.found[item] = RuleVerdict(
                    rule, ProofStatus.PROVED, Method.STATES, self._limit(rule), states=search.states
                )

    def _take_witness(self, question: Question, search: Search) -> None:
        """Turn a way to a violation into a verdict, or note that a search with ordinals is needed."""
        rule = self._space.rules[question.rule]
        if not self._can_refute(rule):
            return
        way = witness(self._space, rule, search.witness[question], is_shortest=not search.is_directed)
        if way is None:  # No controller creates the pods in its order.
            self._disordered.append(question)
        elif not self._is_doubtful(way):
            self.found[question] = RuleVerdict(
                rule, ProofStatus.REFUTED, Method.WITNESS, self._limit(rule), states=search.states,
                regime=self._regime, witness=way,
            )  # fmt: skip

    def _is_doubtful(self, found: Witness) -> bool:
        """Return whether volumes or pod affinity could prevent the events.

        A StatefulSet's new volumes do so once one of its pods is created again.
        """
        group = self._space.group
        created = {gap.owner for gap in group.gaps if gap.kind is GapKind.VOLUMES}
        fixed = {gap.owner for gap in group.gaps if gap.kind in (GapKind.CLAIMS, GapKind.AFFINITY)}
        gone: set[Optional[ObjectKey]] = set()
        for event in found.events:
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
