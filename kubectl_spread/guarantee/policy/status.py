"""Policies on the running pods of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.containers import grouped
from kubectl_spread.explain.status import labels_of, pods_by_workload
from kubectl_spread.guarantee.policy.evaluate import evaluate, Evaluation, GroupPod, GroupState, node_domains
from kubectl_spread.guarantee.policy.policy import GroupSpec, Policy, RuleKind
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import Labels


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
