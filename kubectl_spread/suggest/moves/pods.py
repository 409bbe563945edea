"""Pods in the way, which can be deleted or scaled down."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator

from kubectl_spread.cluster.ownership import workload_of
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.workload import SCALED_KINDS
from kubectl_spread.suggest.actions.pods import FinishDeletion, RemovePods, ScaleDown
from kubectl_spread.suggest.change import Change, Damage, Ladder, Rank, single
from kubectl_spread.suggest.problem import PendingPodProblem

_CREATED_AGAIN = frozenset({"ReplicaSet", "StatefulSet", "ReplicationController"})
_MOST_ASKED = 400  # Most pods whose removal is tried.
_MOST = 6
_MOST_OWN = 8
_MOST_SCALED = 3


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Propose to remove pods whose absence lets the pod in."""
    found = blocking_pods(problem)
    for pod in found[:_MOST]:
        yield from _without(problem, pod)
    yield from _siblings(problem)
    yield from _scaled(problem, found)


def blocking_pods(problem: PendingPodProblem) -> list[Pod]:
    """Return the pods whose absence, each on its own, lets the pod onto their node."""
    return list(_in_the_way(problem))


def _in_the_way(problem: PendingPodProblem) -> Iterator[Pod]:
    filtered, columns = problem.filter_result, problem.columns
    asked = 0
    for at in range(columns.n):
        if not filtered.considered[at] or len(columns.pods[at]) > _MOST_ASKED:
            continue
        for pod in columns.pods[at]:
            if pod.terminating or _is_replaced(pod):
                asked += 1
                if asked > _MOST_ASKED:
                    return
                if filtered.filter_with(at, [pod], ()) is None:
                    yield pod


def _is_replaced(pod: Pod) -> bool:
    return pod.owner is not None and pod.owner.kind in _CREATED_AGAIN and not pod.terminating


def _without(problem: PendingPodProblem, pod: Pod) -> Iterator[Ladder]:
    if pod.terminating:
        why = f", whose finalizers hold it: {', '.join(pod.finalizers)}" if pod.finalizers else ""
        yield single(
            Change(
                f"force the end of pod {pod.name}, which has been terminating{why}",
                (FinishDeletion(pod),),
                "terminating",
                Rank.TERMINATING,
                gives_up="cleanup by finalizers does not run, and the containers may keep running unnoticed",
                damage=Damage.KILLS,
            )
        )
        return
    cluster = problem.cluster
    is_own = workload_of(pod, cluster) == workload_of(problem.pod, cluster)
    yield single(
        Change(
            f"delete pod {pod.name} on {pod.node_name}: its controller creates it again on another node, and "
            "its place is free",
            (RemovePods((pod,)),),
            "delete pod",
            Rank.SIBLING if is_own else Rank.MOVED_POD,
            weight=1 + max(0, pod.cls.priority > problem.pod.cls.priority),
            gives_up="the pod is restarted",
            notes=tuple(_budget(problem, pod)),
            damage=Damage.RESTARTS,
            fold=f"delete pod of {workload_of(pod, cluster)}",
        )
    )


def _budget(problem: PendingPodProblem, pod: Pod) -> Iterator[str]:
    """Yield a warning for each PodDisruptionBudget that allows no eviction of the pod."""
    labels = dict(pod.cls.labels)
    for budget in problem.cluster.budgets:
        is_its = budget.namespace == pod.namespace and budget.selector.matches(labels)
        if is_its and budget.disruptions_allowed < 1 and pod.name not in budget.disrupted_pods:
            yield f"the PodDisruptionBudget {budget.name} allows no eviction now, and kubectl delete ignores it"


def _siblings(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Delete the youngest pod of the workload in each full domain, to make room for another."""
    columns = problem.columns
    proposed = 0
    seen: set[str] = set()
    for report in problem.reports:
        full = {domain.value for domain in report.domains if domain.usable and not domain.fits}
        by_value: dict[str, list[Pod]] = {}
        for pod in problem.given.running:
            at = columns.index.get(pod.node_name)
            value = None if at is None else columns.nodes[at].labels.get(report.constraint.topology_key)
            if value in full and _is_replaced(pod):
                by_value.setdefault(str(value), []).append(pod)
        for _, pods in sorted(by_value.items()):
            pod = max(pods, key=lambda pod: (pod.created, pod.name))
            if pod.uid not in seen and proposed < _MOST_OWN:
                seen.add(pod.uid)
                proposed += 1
                yield from _without(problem, pod)


def _scaled(problem: PendingPodProblem, in_the_way: list[Pod]) -> Iterator[Ladder]:
    """Scale down another workload, to one replica at least; its controller chooses the pods to delete."""
    owners = Counter(
        owner
        for pod in in_the_way
        if not pod.terminating
        and (owner := workload_of(pod, problem.cluster)) != workload_of(problem.pod, problem.cluster)
        and owner.kind in SCALED_KINDS
        and not problem.is_own(dict(pod.cls.labels))
    )
    if not owners:
        return
    running: dict[OwnerKey, list[Pod]] = {owner: [] for owner in owners}
    for pod in problem.cluster.bound_pods():
        owner = workload_of(pod, problem.cluster)
        if owner in running and not pod.terminating:
            running[owner].append(pod)
    for owner, _ in owners.most_common(_MOST_SCALED):
        ranked = _victims_first(owner, running[owner])
        if len(ranked) > 1:
            yield Ladder(len(ranked) - 1, functools.partial(_scale, owner, ranked))


def _victims_first(owner: OwnerKey, pods: list[Pod]) -> list[Pod]:
    """Return the pods in the order in which their controller deletes them; for a StatefulSet the last ordinal first.

    Source: pkg/controller/controller_utils.go, ActivePodsWithRanks (v1.36.2), of pods that are ready.
    """
    if owner.kind == "StatefulSet":
        return sorted(pods, key=lambda pod: (len(pod.name), pod.name), reverse=True)
    ranks = Counter(pod.node_name for pod in pods)
    return sorted(pods, key=lambda pod: (ranks[pod.node_name], pod.created, pod.name), reverse=True)


def _scale(owner: OwnerKey, ranked: list[Pod], at: int) -> Change:
    count = at + 1
    left = len(ranked) - count
    action = ScaleDown(owner.kind, owner.namespace, owner.name, left, tuple(ranked[:count]))
    pods = ", ".join(pod.name for pod in ranked[:count])
    return Change(
        f"scale {owner.kind.lower()}/{owner.name} down from {len(ranked)} to {left}",
        (action,),
        "scale",
        Rank.SCALED,
        weight=count,
        gives_up=f"{owner.name} has {count} fewer",
        damage=Damage.KILLS,
        notes=(f"simulated without {pods}: its controller may choose others of the same rank",),
    )
