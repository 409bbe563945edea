"""Evaluation of rules on the pods of a group at one moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.guarantee.policy.policy import PolicyRule, RuleKind
from kubectl_spread.objects.keys import ObjectKey


class GroupPod(NamedTuple):
    """A pod of a group; `node` is empty while it is Pending.

    is_terminating: it runs still, but the scheduler does not count it.
    """

    owner: ObjectKey
    node: str
    is_terminating: bool = False


class Evaluation(NamedTuple):
    """Result of a rule.

    domains: that hold the most pods, or whose loss leaves the fewest. number: pods in the fullest domain, domains in
    use, pods that are left, or Pending pods. limit: the most or least that the rule allows. pods: all pods that the
    share refers to. owner: of the pods, for `SEPARATE`. terminating: pods that are terminating, in the fullest domain,
    if the rule would be violated with them only.
    """

    rule: PolicyRule
    domains: tuple[str, ...]
    number: int
    limit: int
    pods: int
    is_violated: bool
    owner: Optional[ObjectKey] = None
    terminating: int = 0


class GroupState(NamedTuple):
    """The pods of a group: where they are, and how many are wanted.

    domains: domain of each node, by topology key and name.
    """

    pods: tuple[GroupPod, ...]
    desired: int
    domains: Mapping[str, Mapping[str, str]]

    @property
    def running(self) -> int:
        return sum(1 for pod in self.pods if pod.node and not pod.is_terminating)

    @property
    def base(self) -> int:
        """Return the number of pods that shares refer to: the wanted pods, or all running ones if these are more."""
        return max(self.desired, self.running)

    def counts(self, key: str, *, has_terminating: bool = False) -> Counter[str]:
        """Return the running pods per domain."""
        of = self.domains[key]
        return Counter(
            of[pod.node] for pod in self.pods if pod.node in of and (has_terminating or not pod.is_terminating)
        )


def node_domains(cluster: Cluster, rules: Iterable[PolicyRule]) -> dict[str, dict[str, str]]:
    """Return the domain of each node, by topology key of rules and name; nodes without the label are left out."""
    keys = {rule.topology_key for rule in rules if rule.topology_key}
    return {key: {node.name: node.labels[key] for node in cluster.nodes if key in node.labels} for key in keys}


def evaluate(rules: Iterable[PolicyRule], situation: GroupState) -> Iterator[Evaluation]:
    """Yield the result of each rule."""
    for rule in rules:
        yield _EVALUATIONS[rule.kind](rule, situation)


def _fullest(counts: Mapping[str, int]) -> tuple[int, tuple[str, ...]]:
    """Return the most pods in a domain, and the domains that have so many."""
    most = max(counts.values(), default=0)
    return most, tuple(sorted(value for value, count in counts.items() if count == most))


def _most_in_domain(rule: PolicyRule, situation: GroupState) -> Evaluation:
    counts = situation.counts(rule.topology_key)
    base = situation.base
    limit = rule.most(base) or 0
    most, fullest = _fullest(counts)
    everything = situation.counts(rule.topology_key, has_terminating=True)
    with_ending = max(everything.values(), default=0)
    ending = with_ending - most if with_ending > limit >= most else 0
    return Evaluation(rule, fullest, most, limit, base, most > limit, terminating=ending)


def _domains_in_use(rule: PolicyRule, situation: GroupState) -> Evaluation:
    counts = situation.counts(rule.topology_key)
    wanted = rule.amount.numerator
    return Evaluation(rule, tuple(sorted(counts)), len(counts), wanted, situation.base, len(counts) < wanted)


def _separate(rule: PolicyRule, situation: GroupState) -> Evaluation:
    worst = Evaluation(rule, (), 0, 1, situation.base, is_violated=False)
    for owner in sorted({pod.owner for pod in situation.pods}):
        own = situation._replace(pods=tuple(pod for pod in situation.pods if pod.owner == owner))
        most, fullest = _fullest(own.counts(rule.topology_key))
        if most > worst.number:
            worst = worst._replace(domains=fullest, number=most, owner=owner, is_violated=most > 1)
    return worst


def _left_after_loss(rule: PolicyRule, situation: GroupState) -> Evaluation:
    counts = situation.counts(rule.topology_key)
    lost = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: rule.lost]
    left = situation.running - sum(count for _, count in lost)
    limit = rule.amount.at_least(situation.desired)
    return Evaluation(rule, tuple(value for value, _ in lost), left, limit, situation.desired, left < limit)


def _pending(rule: PolicyRule, situation: GroupState) -> Evaluation:
    waiting = sum(1 for pod in situation.pods if not pod.node and not pod.is_terminating)
    return Evaluation(rule, (), waiting, 0, situation.base, waiting > 0)


_EVALUATIONS = {
    RuleKind.MAX_SHARE: _most_in_domain,
    RuleKind.MAX_COUNT: _most_in_domain,
    RuleKind.MIN_DOMAINS: _domains_in_use,
    RuleKind.SEPARATE: _separate,
    RuleKind.SURVIVE: _left_after_loss,
    RuleKind.REPLACED: _pending,
    RuleKind.PLACED: _pending,
}
