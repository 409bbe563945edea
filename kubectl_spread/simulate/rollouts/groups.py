"""Groups of new workloads whose pods matter to each other by a selector."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector


def connected_groups(classes: Sequence[PodClass], cluster: Cluster) -> list[list[int]]:
    """Return the positions of pod classes, grouped: each class of a group is connected to another of it."""
    group_of = list(range(len(classes)))
    for at, pod_class in enumerate(classes):
        for other in range(at):
            if group_of[other] != group_of[at] and _matter(pod_class, classes[other], cluster):
                old = group_of[other]
                group_of = [group_of[at] if group == old else group for group in group_of]
    found: dict[int, list[int]] = {}
    for at, group in enumerate(group_of):
        found.setdefault(group, []).append(at)
    return list(found.values())


def _matter(one: PodClass, other: PodClass, cluster: Cluster) -> bool:
    """Return whether a selector of a class matches the pods of the other one."""
    shared_port = bool(set(one.host_ports) & set(other.host_ports))
    return shared_port or _selects(one, other, cluster) or _selects(other, one, cluster)


def _selects(one: PodClass, other: PodClass, cluster: Cluster) -> bool:
    labels, own = dict(other.labels), dict(one.labels)
    if one.namespace == other.namespace and any(
        effective_selector(item, own).matches(labels) for item in one.constraints
    ):
        return True
    namespace = cluster.namespaces.get(other.namespace, {}) if isinstance(cluster.namespaces, dict) else {}
    terms = (*one.pod_affinity, *one.pod_anti_affinity)
    return any(term.matches(other.namespace, labels, namespace) for term in terms)
