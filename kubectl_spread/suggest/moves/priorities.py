"""Priority for pods that are each bound to one node, so that the scheduler makes room for them there."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.explain.requirements.requirement import RequirementKind
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.preemption import post_filter
from kubectl_spread.suggest.actions.manifest import EditSpec
from kubectl_spread.suggest.actions.pods import AwaitPods
from kubectl_spread.suggest.change import Change, Damage, Ladder, Rank, single
from kubectl_spread.suggest.editing.patch import put_op
from kubectl_spread.suggest.problem import PendingPodProblem

_NODE_AGENT = "system-node-critical"


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Let a DaemonSet's pods preempt the pods that fill their nodes."""
    full = (RequirementKind.RESOURCE, RequirementKind.PODS, RequirementKind.PORT)
    if problem.owner.kind != "DaemonSet" or not any(item.kind in full for item in problem.explanation.requirements):
        return
    for name, value in _classes(problem):
        cls = problem.pod.cls._replace(priority=value, preemption_policy="")
        victims = _victims(problem, problem.pod._replace(cls=cls))
        if victims:
            yield single(_with_class(name, victims))
            return


def _classes(problem: PendingPodProblem) -> list[tuple[str, int]]:
    """Return the cluster's own priority classes above the pod's, the lowest first; then the one of node agents."""
    classes = problem.cluster.priority_classes
    own = [
        (name, item.value)
        for name, item in classes.items()
        if not name.startswith("system-")
        and item.value > problem.pod.cls.priority
        and item.preemption_policy != "Never"
    ]
    return [*sorted(own, key=lambda item: item[1]), (_NODE_AGENT, classes[_NODE_AGENT].value)]


def _victims(problem: PendingPodProblem, pod: Pod) -> tuple[Pod, ...]:
    scheduler = Scheduler(problem.columns.copy_for_cluster(problem.cluster), problem.profiles)
    filtered = scheduler.filter(pod)
    return () if filtered.feasible.any() else post_filter(pod, filtered, scheduler).victims


def _with_class(name: str, victims: tuple[Pod, ...]) -> Change:
    lost = [pod.name for pod in victims if pod.owner is None]
    listed = ", ".join(f"{pod.name} on {pod.node_name}" for pod in victims)
    kills = f"kills pod{'s' if len(lost) > 1 else ''} {', '.join(lost)}, which nothing creates again; " if lost else ""
    return Change(
        f"give the pods priorityClassName: {name}, so that the scheduler makes room for them on full nodes",
        (EditSpec((put_op(("priorityClassName",), name),)), AwaitPods(victims, is_replaced=True)),
        "priority",
        Rank.PRIORITY,
        gives_up=f"{kills}pods of a lower priority are evicted for them: {listed}",
        damage=Damage.KILLS if lost else Damage.EVICTS,
    )
