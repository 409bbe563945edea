"""Policies: rules for groups of pods, and the largest or smallest numbers of pods that a rule allows."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.selectors import Selector


class RuleKind(Enum):
    """Kind of a rule."""

    MAX_SHARE = "maxShare"  # a domain holds at most a share of the pods
    MAX_COUNT = "maxCount"  # a domain holds at most a number of pods
    MIN_DOMAINS = "minDomains"  # the pods use at least a number of domains
    SEPARATE = "separate"  # the pods of one owner are in different domains
    SURVIVE = "survive"  # enough pods are left after losing domains
    REPLACED = "replaced"  # while these domains are lost, no pod stays Pending
    PLACED = "placed"  # no pod stays Pending otherwise


class Amount(NamedTuple):
    """A number of pods: a fraction of all pods, or a count if the denominator is 0.

    is_quorum: more than half of the pods. text: as it is written.
    """

    numerator: int
    denominator: int = 0
    is_quorum: bool = False
    text: str = ""

    def at_most(self, pods: int, *, is_strict: bool = False) -> int:
        """Return the largest number of pods that is at most, or if strict less than, the amount of all pods."""
        if not self.denominator:
            return self.numerator - is_strict
        return (self.numerator * pods - is_strict) // self.denominator

    def at_least(self, pods: int) -> int:
        """Return the smallest number of pods that is at least the amount of all pods."""
        if self.is_quorum:
            return pods // 2 + 1
        if not self.denominator:
            return self.numerator
        return -(-self.numerator * pods // self.denominator)


class PolicyRule(NamedTuple):
    """A rule of a policy.

    topology_key: label of the domains; empty for `PLACED`. amount: limit of a share, pods to keep, or a count.
    is_strict: the share must be less than the amount. lost: number of domains that are lost. is_implied: every policy
    has the rule unless it allows Pending pods. line, column: place in its file.
    """

    kind: RuleKind
    topology_key: str = ""
    amount: Amount = Amount(0)
    is_strict: bool = False
    lost: int = 1
    is_implied: bool = False
    line: int = 0
    column: int = 0

    @property
    def is_momentary(self) -> bool:
        """Return whether the rule must hold at every moment, not only once all pods are placed."""
        return self.kind in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT, RuleKind.SEPARATE)

    def most(self, pods: int) -> Optional[int]:
        """Return the most pods that a domain may hold, out of all pods; None if the rule sets no such limit."""
        if self.kind is RuleKind.MAX_SHARE:
            return max(0, self.amount.at_most(pods, is_strict=self.is_strict))
        return self.amount.numerator if self.kind is RuleKind.MAX_COUNT else None


PLACED = PolicyRule(RuleKind.PLACED, is_implied=True)


def with_places(rules: Iterable[PolicyRule], *, is_implied: bool = True) -> list[PolicyRule]:
    """Return rules, and those by which every pod finds a node: usually, and while domains are lost."""
    own = list(rules)
    lost = [rule for rule in own if rule.kind is RuleKind.SURVIVE]
    placed = [*(rule._replace(kind=RuleKind.REPLACED, amount=Amount(0)) for rule in lost), PLACED]
    return [*own, *(rule._replace(is_implied=is_implied) for rule in placed)]


class Regime(Enum):
    """Events during which a policy is to hold. Each regime includes the events of the previous ones."""

    CREATION = "creation"  # the pods are created, in any order
    RESTARTS = "restarts"  # any pods are deleted and created again, at a constant number of replicas
    ROLLOUTS = "rollouts"  # a new template is rolled out
    SCALING = "scaling"  # the number of replicas changes within a range
    DISRUPTIONS = "disruptions"  # a node is drained, or a domain is lost

    @property
    def level(self) -> int:
        """Return the place among all regimes, which is higher for more events."""
        return REGIMES.index(self)


REGIMES = tuple(Regime)


class GroupSpec(NamedTuple):
    """Pods that a policy is about, and their rules.

    selector: of the pods' labels; None for every workload that is given. namespace: empty for all. is_each: every
    workload is a group of its own. replicas: range of each workload's replicas; None for the range of its autoscaler.
    shards: range of the number of workloads, which are created and deleted as a whole; None if it is constant.
    """

    rules: tuple[PolicyRule, ...]
    name: str = ""
    selector: Optional[Selector] = None
    namespace: str = ""
    is_each: bool = False
    replicas: Optional[Range] = None
    shards: Optional[Range] = None
    line: int = 0
    column: int = 0


class Policy(NamedTuple):
    """A policy: its groups, and the regimes in which it is to hold; `file` is empty for a policy of flags."""

    groups: tuple[GroupSpec, ...]
    name: str = ""
    file: str = ""
    regimes: tuple[Regime, ...] = REGIMES
