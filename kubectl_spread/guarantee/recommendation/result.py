"""Result of a recommendation: options with their proofs and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.guarantee.policy.policy import Regime, REGIMES
from kubectl_spread.guarantee.policy.rule import PolicyRule
from kubectl_spread.guarantee.recommendation.constraints import Hard, Plain
from kubectl_spread.guarantee.setup.member import Member
from kubectl_spread.guarantee.verdict import Effort, GroupResult, ProofStatus, RuleVerdict
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.framework.profile import Profile


class RecommendationRequest(NamedTuple):
    """The workloads of a group, and the policy that recommended constraints have to keep.

    Args:
        members: the workloads.
        cluster: the cluster facts.
        profiles: of the scheduler.
        rules: of the policy.
        effort: limits of the searches.
        regimes: in which the policy is to hold; disruptions only order the options.
    """

    members: Sequence[Member]
    cluster: Cluster
    profiles: Mapping[str, Profile]
    rules: tuple[PolicyRule, ...]
    effort: Effort
    regimes: Sequence[Regime] = REGIMES


class Formula(NamedTuple):
    """The largest maxSkew that a rule allows by its number, and the one that is proved.

    most: pods that a domain may hold. pods: of the group. proved: maxSkew of the recommendation; 0 for none. needs: the
    fewest domains that can hold all pods. domains: that exist for the pods.
    """

    rule: PolicyRule
    most: int
    pods: int
    proved: int
    needs: int
    domains: int


class NeededDomains(NamedTuple):
    """The fewest domains of a key that can hold all pods."""

    topology_key: str
    domains: int


class Cost(NamedTuple):
    """What an option costs: verdict on lost pods finding other nodes, by key of the lost domain."""

    replaced: tuple[tuple[str, ProofStatus], ...] = ()


class Option(NamedTuple):
    """Constraints that keep the policy, with their proof.

    soft: keys of ScheduleAnyway constraints with maxSkew 1, where there is no other constraint.
    apart: keys for which the pods of one workload need a required anti-affinity. patches: changed fields of the pod
    spec of each workload, with the constraints of other keys. result: verdicts in all regimes. has_volumes: the pods
    get new volumes, which are left aside in the search. changes: fields that differ from the workloads as they are;
    with 0, there are no patches.
    """

    constraints: tuple[Hard, ...]
    soft: tuple[str, ...]
    apart: tuple[str, ...]
    patches: tuple[tuple[ObjectKey, Plain], ...]
    result: GroupResult
    cost: Cost
    needs: tuple[NeededDomains, ...] = ()
    has_volumes: bool = False
    changes: int = 0

    @property
    def is_kept_always(self) -> bool:
        """Return whether the policy is kept during disruptions, too."""
        return self.result.verdict is ProofStatus.PROVED


class RefusedCandidate(NamedTuple):
    """The candidate that comes closest, and why it is none."""

    constraints: tuple[Hard, ...]
    verdict: RuleVerdict
    regime: Regime


class Recommendation(NamedTuple):
    """Options, the best first. relaxed: whether rules were relaxed from `less than` to `at most` for them.

    rules: that the options keep. impossible: unrelaxed rules for which there are too few domains. refused: the best
    candidate for the unrelaxed rules, or for the rules if there is no option. tried: number of candidates. why_not:
    reason if nothing could be tried. selector: of the constraints. attempts: candidates that were refused.
    is_exhaustive: each candidate for the unrelaxed rules was refuted. by_shards: recommendation for each number of
    shards, if the group grows by shards. is_cut_off: the limit of states was reached before all candidates were tried.
    is_beside_rollouts: the options do not keep the policy while a template is rolled out, and no candidate does.
    """

    options: tuple[Option, ...]
    rules: tuple[PolicyRule, ...]
    selector: Plain
    formulas: tuple[Formula, ...] = ()
    impossible: tuple[Formula, ...] = ()
    relaxed: bool = False
    refused: Optional[RefusedCandidate] = None
    tried: int = 0
    why_not: str = ""
    attempts: tuple[RefusedCandidate, ...] = ()
    is_exhaustive: bool = False
    by_shards: tuple[ShardRecommendation, ...] = ()
    is_cut_off: bool = False
    is_beside_rollouts: bool = False


class ShardLimit(NamedTuple):
    """The most pods that a rule lets into a domain: the largest maxSkew while a domain is empty."""

    rule: PolicyRule
    most: int


class ShardRecommendation(NamedTuple):
    """Recommendation for a number of shards; pods: of all of them."""

    shards: int
    pods: int
    limits: tuple[ShardLimit, ...]
    recommendation: Recommendation
