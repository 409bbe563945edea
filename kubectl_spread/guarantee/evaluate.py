"""Evaluation of rules on the pods of a group at one moment, and of policies on the running pods of a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.explain.status import labels_of, pods_by_workload
from kubectl_spread.guarantee.policy import GroupSpec, Policy, PolicyRule, RuleKind
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import Labels


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


class GroupStatus(NamedTuple):
    """Pods of a group now: the rules with their numbers. wanted: pods that the workloads want."""

    name: str
    namespace: str
    workloads: tuple[ObjectKey, ...]
    running: int
    wanted: int
    rules: tuple[Evaluation, ...]


class PolicyStatus(NamedTuple):
    """The groups of a policy now. unmatched: specifications of groups that match no workload."""

    policy: Policy
    groups: tuple[GroupStatus, ...]
    unmatched: tuple[GroupSpec, ...]

    @property
    def is_kept(self) -> bool:
        """Return whether no rule is violated."""
        return not any(rule.is_violated for group in self.groups for rule in group.rules)


def policy_status(
    policy: Policy, cluster: Cluster, *, wants: Callable[[ObjectKey, Labels], bool] = lambda *_: True
) -> PolicyStatus:
    """Return the rules of a policy on the pods of a cluster; `wants` selects workloads by key and labels."""
    pods = pods_by_workload(cluster)
    labels: dict[ObjectKey, Labels] = {key: own[0].labels for key, own in pods.items()}
    found = {key: [GroupPod(key, pod.node_name, pod.terminating) for pod in own] for key, own in pods.items()}
    for key, controller in cluster.controllers.items():
        if key not in cluster.owners and controller.workload.replicas and key.kind not in ("Job", "CronJob"):
            metadata = fields(controller.workload.template, "metadata")
            labels[key] = metadata.get("labels") or labels.get(key, {})
            found.setdefault(key, [])
    chosen = {key: pods for key, pods in found.items() if wants(key, labels_of(key, cluster, labels[key]))}
    found_of = [(spec, list(_groups(spec, chosen, labels, cluster=cluster))) for spec in policy.groups]
    unmatched = tuple(spec for spec, own in found_of if not own)
    return PolicyStatus(policy, tuple(item for _, own in found_of for item in own), unmatched)


def _groups(
    spec: GroupSpec, found: dict[ObjectKey, list[GroupPod]], labels: dict[ObjectKey, Labels], *, cluster: Cluster
) -> Iterable[GroupStatus]:
    """Yield the groups that a specification makes: by namespace, or of one workload each."""
    members = grouped(
        ((key.namespace, f"{key.kind}/{key.name}" if spec.is_each else ""), key)
        for key in sorted(found, key=lambda item: (item.namespace, item.kind, item.name))
        if spec.namespace in ("", key.namespace) and (spec.selector is None or spec.selector.matches(labels[key]))
    )
    domains = node_domains(cluster, spec.rules)
    for (namespace, own), keys in members.items():
        name = "/".join(filter(None, (spec.name, own))) or f"{keys[0].kind}/{keys[0].name}"
        pods = tuple(pod for key in keys for pod in found[key])
        wanted = sum(_wanted_by(key, found[key], cluster) for key in keys)
        state = GroupState(pods, wanted, domains)
        now = [rule for rule in spec.rules if rule.kind is not RuleKind.REPLACED]
        rules = tuple(evaluate(now, state))
        yield GroupStatus(name, namespace, tuple(keys), state.running, wanted, rules)


def _wanted_by(key: ObjectKey, pods: list[GroupPod], cluster: Cluster) -> int:
    controller = cluster.controllers.get(key)
    replicas = None if controller is None or key.kind == "DaemonSet" else controller.workload.replicas
    return sum(1 for pod in pods if not pod.is_terminating) if replicas is None else replicas
