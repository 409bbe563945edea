"""Verdicts on the rules of a policy, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.guarantee.bound import Bound
from kubectl_spread.guarantee.gap import Gap
from kubectl_spread.guarantee.policy.policy import Regime
from kubectl_spread.guarantee.policy.rule import PolicyRule, RuleKind
from kubectl_spread.guarantee.witness import Witness
from kubectl_spread.objects.keys import ObjectKey


class ProofStatus(Enum):
    """Answer for one rule in one regime."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "notApplicable"


def worst(verdicts: Iterable[ProofStatus]) -> ProofStatus:
    """Return the worst verdict; NOT_APPLICABLE if nothing is to be decided."""
    found = set(verdicts)
    order = (ProofStatus.REFUTED, ProofStatus.UNDECIDED, ProofStatus.PROVED)
    return next((item for item in order if item in found), ProofStatus.NOT_APPLICABLE)


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
    settled: verdict once nothing moves by itself any more, if the rule is violated while pods move.
    """

    rule: PolicyRule
    verdict: ProofStatus
    method: Method
    limit: int = 0
    bound: Optional[Bound] = None
    states: int = 0
    regime: Optional[Regime] = None
    witness: Optional[Witness] = None
    settled: Optional[RuleVerdict] = None

    @property
    def once_settled(self) -> RuleVerdict:
        """Return the verdict once nothing moves by itself any more."""
        return self.settled or self


class RegimeResult(NamedTuple):
    """Verdicts in a regime; why: reason for a regime that does not apply."""

    regime: Regime
    rules: tuple[RuleVerdict, ...]
    seconds: float = 0.0

    @property
    def verdict(self) -> ProofStatus:
        """Return the worst verdict of the rules."""
        return worst([item.verdict for item in self.rules])

    @property
    def settled_verdict(self) -> ProofStatus:
        """Return the worst verdict of the rules once nothing moves by itself any more."""
        return worst([item.once_settled.verdict for item in self.rules])


class GroupResult(NamedTuple):
    """Verdicts on a group; neighbours: workloads that were followed as well, because they decide where pods go."""

    name: str
    workloads: tuple[ObjectKey, ...]
    pods: int
    results: tuple[RegimeResult, ...]
    gaps: tuple[Gap, ...] = ()
    neighbours: tuple[ObjectKey, ...] = ()

    @property
    def verdict(self) -> ProofStatus:
        """Return the worst verdict of all regimes."""
        return worst([item.verdict for item in self.results])

    @property
    def settled_verdict(self) -> ProofStatus:
        """Return the worst verdict of all regimes once nothing moves by itself any more."""
        return worst([item.settled_verdict for item in self.results])


class Effort(NamedTuple):
    """Limits of the proofs of a group: states per regime, and a `time.monotonic()` at which to stop.

    is_enough: is called with the number of visited states; returns whether to stop. is_quick: only bounds are looked
    at. is_final: rules are also decided for states in which nothing moves by itself any more.
    """

    max_states: int = 100_000
    deadline: Optional[float] = None
    is_enough: Callable[[int], bool] = lambda _: False
    is_quick: bool = False
    is_final: bool = True


def limit_of(rule: PolicyRule, pods: int) -> int:
    """Return the number that a rule allows or demands."""
    if rule.kind is RuleKind.SURVIVE:
        return rule.amount.at_least(pods)
    most = rule.most(pods)
    return rule.amount.numerator if most is None else most
