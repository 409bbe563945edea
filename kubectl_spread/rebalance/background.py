"""Reduction of pods that take no part, so that more nodes are interchangeable.

Nodes whose other pods differ only in labels that nothing in a plan selects are equal for it. Without these labels the
simulation merges many states:

    a1 {api, web}   a2 {db, web}     become     a1 {-, web}   a2 {-, web}
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from kubectl_spread.cluster.snapshot import Cluster, OwnerKey
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors.selector import Selector
from kubectl_spread.rebalance.goals import Goal
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector


def drop_unused_labels(cluster: Cluster, keys: Collection[OwnerKey], goals: Iterable[Goal]) -> Cluster:
    """Return the cluster with pods that keep only the labels that matter for a plan.

    Args:
        cluster: the cluster facts.
        keys: the workloads whose pods may be evicted, or that have unfinished work.
        goals: the constraints that count their pods.
    """
    moving = {id(pod.cls): pod.cls for pod in cluster.pods if _is_moving(pod, keys, cluster)}.values()
    if any(not cls.constraints for cls in moving):
        return cluster  # Default constraints count by labels that Services select.
    selectors = {goal.selector for goal in goals}
    selectors.update(selector for cls in moving for selector in _selectors(cls))
    for budget in cluster.budgets:
        if any(budget.selector.matches(dict(cls.labels)) for cls in moving):
            selectors.add(budget.selector)
    known: dict[int, PodClass] = {}
    pods = tuple(
        pod if _is_moving(pod, keys, cluster) else pod._replace(cls=_reduced(pod.cls, selectors, known))
        for pod in cluster.pods
    )
    return cluster._replace(pods=pods)


def _is_moving(pod: Pod, keys: Collection[OwnerKey], cluster: Cluster) -> bool:
    """Return whether a pod may be evicted, scheduled or removed."""
    return not pod.node_name or pod.terminating or not pod.is_visible or cluster.top_owner(pod) in keys


def _selectors(cls: PodClass) -> Iterator[Selector]:
    """Yield the selectors by which a pod counts others."""
    labels = dict(cls.labels)
    yield from (effective_selector(item, labels) for item in cls.constraints)
    for term in (*cls.pod_affinity, *cls.pod_anti_affinity):
        yield term.selector
    for _, term in (*cls.preferred_affinity, *cls.preferred_anti_affinity):
        yield term.selector


def _reduced(cls: PodClass, selectors: Collection[Selector], known: dict[int, PodClass]) -> PodClass:
    """Return a class without labels if nothing selects it; `known` keeps results by the id of the class."""
    found = known.get(id(cls))
    if found is None:
        labels = dict(cls.labels)
        is_needed = cls.has_pod_affinity or any(selector.matches(labels) for selector in selectors)
        found = known[id(cls)] = cls if is_needed else cls._replace(labels=())
    return found
