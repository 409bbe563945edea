"""Evictions of a plan as pods of the cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Optional

from kubectl_spread.advice.rebalance.board import Board
from kubectl_spread.advice.rebalance.plan import Eviction, UnclearBudget
from kubectl_spread.advice.rebalance.search import FoundPlan
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.state import Slot
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import fields, mappings

_BUDGET = "PodDisruptionBudget"


def chosen_pods(found: FoundPlan, board: Board, cluster: Cluster) -> tuple[Pod, ...]:
    """Return the pod of each eviction; among equal pods of one node, the one that a controller would delete first."""
    by_slot: dict[Slot, list[Pod]] = {}
    known = board.world.slot_of
    for pod in cluster.pods:
        if pod.uid in known and not pod.terminating:  # The place of one that ends may be the same.
            by_slot.setdefault(known[pod.uid], []).append(pod)
    for pods in by_slot.values():
        # Not ready first, then the lowest deletion cost, then the youngest.
        pods.sort(key=lambda pod: pod.name)
        pods.sort(key=lambda pod: pod.created, reverse=True)
        pods.sort(key=lambda pod: (pod.is_ready is not False, pod.deletion_cost))
    return tuple(by_slot[item].pop(0) for item in found.slots)


def evictions(
    found: FoundPlan, pods: Iterable[Pod], board: Board, cluster: Cluster, topology_keys: Collection[str]
) -> Iterator[Eviction]:
    """Yield the evictions with the possible nodes of the replacements, and with their domains of some keys."""
    names = board.world.node_names
    labels = {node.name: node.labels for node in cluster.nodes}
    for pod, reached in zip(pods, found.reached, strict=True):
        owner = cluster.top_owner(pod)
        if owner is None:
            continue
        nodes = tuple(sorted(names[at] for at in reached.nodes))
        yield Eviction(
            pod.name,
            owner,
            pod.node_name,
            nodes,
            {
                key: tuple(sorted({labels[name][key] for name in nodes if name in labels and key in labels[name]}))
                for key in topology_keys
            },
            budget := budget_of(pod, cluster),
            volatile_volumes(owner, cluster),
            bool(budget or unclear_budgets(cluster, pod.namespace)) or not has_all_budgets(cluster, pod.namespace),
            "" if "/" in pod.uid else pod.uid,  # Without a uid in the facts, it is made of the names.
        )


def has_all_budgets(cluster: Cluster, namespace: str) -> bool:
    """Return whether the facts hold every budget of a namespace: they say so, or they hold some of it."""
    if any(not key.kind for key in cluster.undecodable):
        return False  # A document that could not be read.
    unread = [item for item in cluster.unread if item.kind == _BUDGET]
    if unread:
        return any(item.namespace == namespace for item in unread)  # The only namespace that was read.
    return _BUDGET in cluster.complete or any(budget.namespace == namespace for budget in cluster.budgets)


def unclear_budgets(cluster: Cluster, namespace: str) -> tuple[UnclearBudget, ...]:
    """Return the budgets of a namespace whose selected pods are unknown."""
    invalid = [
        UnclearBudget(budget.namespace, budget.name, budget.selector_error)
        for budget in cluster.budgets
        if budget.namespace == namespace and budget.selector_error
    ]
    lost = [
        UnclearBudget(namespace, key.name)
        for key in cluster.undecodable
        if key.kind == _BUDGET and key.namespace == namespace
    ]
    return (*invalid, *lost)


def budget_of(pod: Pod, cluster: Cluster) -> str:
    """Return the name of the budget that selects a pod; empty if there is none."""
    labels = dict(pod.cls.labels)
    found: Optional[str] = next(
        (
            budget.name
            for budget in cluster.budgets
            if budget.namespace == pod.namespace and budget.selector.matches(labels)
        ),
        None,
    )
    return found or ""


def volatile_volumes(owner: ObjectKey, cluster: Cluster) -> tuple[str, ...]:
    """Return the volumes of a workload's pods whose data is lost with the pod."""
    controller = cluster.controllers.get(owner)
    if controller is None:
        return ()
    spec = fields(controller.workload.template.get("spec"))
    return tuple(
        str(volume.get("name", ""))
        for volume in mappings(spec.get("volumes"))
        if "emptyDir" in volume or "ephemeral" in volume
    )
