"""Running pods against a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.guarantee.policy.evaluate import evaluate, Evaluation, GroupPod, GroupState, node_domains
from kubectl_spread.guarantee.policy.policy import GroupSpec, Policy
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.selectors.labels import Labels


class GroupStatus(NamedTuple):
    """Pods of a group now: the rules with their numbers. wanted: pods that the workloads want."""

    name: str
    namespace: str
    workloads: tuple[ObjectKey, ...]
    running: int
    wanted: int
    rules: tuple[Evaluation, ...]


class PolicyStatus(NamedTuple):
    """The groups of a policy now."""

    policy: Policy
    groups: tuple[GroupStatus, ...]

    @property
    def is_kept(self) -> bool:
        """Return whether no rule is violated."""
        return not any(rule.is_violated for group in self.groups for rule in group.rules)


def policy_status(
    policy: Policy, cluster: Cluster, *, wants: Callable[[ObjectKey, Labels], bool] = lambda *_: True
) -> PolicyStatus:
    """Return the rules of a policy on the pods of a cluster; `wants` selects workloads by key and labels."""
    found: dict[ObjectKey, list[GroupPod]] = {}
    labels: dict[ObjectKey, Labels] = {}
    for pod in cluster.pods:
        if pod.is_visible:
            key = workload_of(pod, cluster)
            found.setdefault(key, []).append(GroupPod(key, pod.node_name, pod.terminating))
            labels.setdefault(key, dict(pod.cls.labels))
    for key, controller in cluster.controllers.items():
        if key not in cluster.owners and controller.workload.replicas and key.kind not in ("Job", "CronJob"):
            metadata = controller.workload.template.get("metadata") or {}
            labels[key] = metadata.get("labels") or labels.get(key, {})
            found.setdefault(key, [])
    chosen = {key: pods for key, pods in found.items() if wants(key, _own_labels(key, cluster, labels[key]))}
    groups = [item for spec in policy.groups for item in _groups(spec, chosen, labels, cluster=cluster)]
    return PolicyStatus(policy, tuple(groups))


def _own_labels(key: ObjectKey, cluster: Cluster, of_pods: Labels) -> Labels:
    controller = cluster.controllers.get(key)
    return of_pods if controller is None else controller.labels


def _groups(
    spec: GroupSpec, found: dict[ObjectKey, list[GroupPod]], labels: dict[ObjectKey, Labels], *, cluster: Cluster
) -> Iterable[GroupStatus]:
    """Yield the groups that a specification makes: by namespace, or of one workload each."""
    members: dict[tuple[str, str], list[ObjectKey]] = {}
    for key in sorted(found, key=lambda item: (item.namespace, item.kind, item.name)):
        if _is_member(key, labels[key], spec):
            members.setdefault((key.namespace, f"{key.kind}/{key.name}" if spec.is_each else ""), []).append(key)
    domains = node_domains(cluster, spec.rules)
    for (namespace, own), keys in members.items():
        name = "/".join(filter(None, (spec.name, own))) or f"{keys[0].kind}/{keys[0].name}"
        pods = tuple(pod for key in keys for pod in found[key])
        running = sum(1 for pod in pods if pod.node and not pod.is_terminating)
        wanted = sum(_wanted(key, found[key], cluster) for key in keys)
        rules = tuple(evaluate(spec.rules, GroupState(pods, wanted, domains)))
        yield GroupStatus(name, namespace, tuple(keys), running, wanted, rules)


def _is_member(key: ObjectKey, labels: Labels, spec: GroupSpec) -> bool:
    if spec.namespace and key.namespace != spec.namespace:
        return False
    return spec.selector is None or spec.selector.matches(labels)


def _wanted(key: ObjectKey, pods: list[GroupPod], cluster: Cluster) -> int:
    controller = cluster.controllers.get(key)
    replicas = None if controller is None or key.kind == "DaemonSet" else controller.workload.replicas
    return sum(1 for pod in pods if not pod.is_terminating) if replicas is None else replicas
