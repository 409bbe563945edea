"""Recommendation as data: candidates as fields of a pod template, options with their proofs and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.guarantee.members import Member
from kubectl_spread.guarantee.policy import PolicyRule, Regime, REGIMES
from kubectl_spread.guarantee.verdict import GroupResult, RuleVerdict
from kubectl_spread.objects.constraints.constraint import DO_NOT_SCHEDULE, plain_constraint
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH, Workload
from kubectl_spread.scheduler.framework.plugin import Profile

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Hard(NamedTuple):
    """A DoNotSchedule constraint of a candidate; 0 and False are left out."""

    topology_key: str
    max_skew: int
    min_domains: int = 0
    honors_taints: bool = False
    by_revision: bool = False

    def field(self, selector: Plain, *, is_stateful: bool) -> Plain:
        """Return the constraint as a field of a manifest."""
        made = plain_constraint(self.topology_key, DO_NOT_SCHEDULE, selector, max_skew=self.max_skew)
        if self.min_domains:
            made["minDomains"] = self.min_domains
        if self.honors_taints:
            made["nodeTaintsPolicy"] = "Honor"
        if self.by_revision and not is_stateful:
            made["matchLabelKeys"] = [POD_TEMPLATE_HASH]
        return made


def lacking(workload: Workload, keys: Sequence[str]) -> list[str]:
    """Return the keys over which no required anti-affinity keeps the pods of a workload apart."""
    pod = replica(workload, 0).cls
    apart = {item.topology_key for item in pod.pod_anti_affinity if item.matches(pod.namespace, dict(pod.labels), {})}
    return [key for key in keys if key not in apart]


def common_selector(members: Sequence[Member]) -> Plain:
    """Return a selector of all pods of the group: of a constraint, or by the labels that all of them have."""
    templates = [item.controller.workload.template for item in members]
    labels = [fields(item, "metadata", "labels") for item in templates]
    for template in templates:
        for constraint in fields(template, "spec").get("topologySpreadConstraints") or ():
            selector = fields(constraint, "labelSelector")
            equal = {} if selector.get("matchExpressions") else fields(selector, "matchLabels")
            if equal and all(equal.items() <= item.items() for item in labels):
                return {"matchLabels": dict(equal)}
    own = fields(members[0].controller.workload.selector, "matchLabels")
    if len(members) == 1 and own:
        return {"matchLabels": dict(own)}
    common = {key: value for key, value in labels[0].items() if all(item.get(key) == value for item in labels)}
    return {"matchLabels": common} if common else {}


class RecommendationRequest(NamedTuple):
    """The workloads of a group, and the policy that recommended constraints have to keep.

    Args:
        members: the workloads.
        cluster: the cluster facts.
        profiles: of the scheduler.
        rules: of the policy.
        limit: of the search in each regime.
        regimes: in which the policy is to hold; disruptions only order the options.
        result: verdicts on the constraints as they are, if they are known.
    """

    members: Sequence[Member]
    cluster: Cluster
    profiles: Mapping[str, Profile]
    rules: tuple[PolicyRule, ...]
    limit: Limit
    regimes: Sequence[Regime] = REGIMES
    result: Optional[GroupResult] = None


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


class Option(NamedTuple):
    """Constraints that keep the policy, with their proof.

    soft: keys of ScheduleAnyway constraints with maxSkew 1, where there is no other constraint. apart: keys for which
    the pods of one workload need a required anti-affinity. patches: changed fields of the spec of each workload, with
    the constraints of other keys. result: verdicts in all regimes. has_volumes: the pods get new volumes, which
    are left aside in the search. changes: fields that differ from the workloads as they are; with 0, there are no
    patches. removed: fields of replaced constraints, with their values, that the new ones lack.
    """

    constraints: tuple[Hard, ...]
    soft: tuple[str, ...]
    apart: tuple[str, ...]
    patches: tuple[tuple[ObjectKey, Plain], ...]
    result: GroupResult
    needs: tuple[NeededDomains, ...] = ()
    has_volumes: bool = False
    changes: int = 0
    removed: tuple[str, ...] = ()


class RefusedCandidate(NamedTuple):
    """A candidate that does not keep the policy, and the verdict that says so, once nothing moves any more."""

    constraints: tuple[Hard, ...]
    verdict: RuleVerdict
    regime: Regime


class Recommendation(NamedTuple):
    """Options, the best first. relaxed: whether rules were relaxed from `less than` to `at most` for them.

    rules: that the options keep. impossible: unrelaxed rules for which there are too few domains. refused: the best
    candidate for the unrelaxed rules, or for the rules if there is no option. tried: number of candidates. why_not:
    reason if nothing could be tried. attempts: candidates that were refused.
    is_exhaustive: each candidate for the unrelaxed rules was refuted. by_shards: recommendation for each number of
    shards, if the group grows by shards. is_cut_off: the limit of states was reached before all candidates were tried.
    is_one_by_one: no constraints alone keep the policy; with the options, rollouts start no extra pods.
    is_beside_rollouts: the options do not keep the policy while a template is rolled out, and no candidate does.
    """

    options: tuple[Option, ...]
    rules: tuple[PolicyRule, ...]
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
    is_one_by_one: bool = False
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
