"""Changes of pods in the way: deletion, settings of their rollout, and waiting for pods and nodes."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kubectl_spread.advice.actions import (
    DELETED,
    DeleteNode,
    EditNode,
    EndPods,
    PREEMPTED,
    RemovePods,
    ResumeRollout,
    ScaleDown,
    SetRollout,
)
from kubectl_spread.advice.change import Change, Damage, Ladder, Proposal, Rank
from kubectl_spread.advice.moves.nodes import (
    equal_groups,
    equal_ladder,
    is_down,
    is_leaving,
    names_of,
    temporary_taints,
)
from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.recreate import current_class
from kubectl_spread.advice.target import KEEPING_PODS
from kubectl_spread.cluster.ownership import OwnedPods, workload_of
from kubectl_spread.engine.loading import deleted_first, overdue_pods
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import differences, Pod
from kubectl_spread.objects.workloads.workload import SCALED_KINDS
from kubectl_spread.text.wording import comma_list

_MOST_ASKED = 400  # Most pods whose removal is tried.
_MOST = 6
_MOST_OWN = 8
_MOST_SCALED = 3


def propose(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Propose to remove pods whose absence lets the pod in, or to scale down their workloads."""
    found, columns, seen = blocking_pods(problem), problem.columns, set[str]()
    for pod in found[:_MOST]:
        yield from _without(problem, pod)
    # The youngest pod of the workload in each full domain
    for report in problem.reports:
        full = {domain.value for domain in report.domains if domain.usable and not domain.fits}
        by_value: dict[str, list[Pod]] = {}
        for pod in problem.running:
            at = columns.index.get(pod.node_name)
            value = None if at is None else columns.nodes[at].labels.get(report.constraint.topology_key)
            if value in full and _is_replaced(pod):
                by_value.setdefault(str(value), []).append(pod)
        for _, pods in sorted(by_value.items()):
            pod = max(pods, key=lambda pod: (pod.created, pod.name))
            if pod.uid not in seen and len(seen) < _MOST_OWN:
                seen.add(pod.uid)
                yield from _without(problem, pod)
    # Another workload may be scaled down, to one replica at least; its controller chooses the pods to delete.
    own = workload_of(problem.pod, problem.cluster)
    owners = Counter(
        owner
        for pod in found
        if not pod.terminating
        and (owner := workload_of(pod, problem.cluster)) != own
        and owner.kind in SCALED_KINDS
        and not problem.is_own(pod.labels)
    )
    owned = OwnedPods(problem.cluster)
    for owner, _ in owners.most_common(_MOST_SCALED):
        running = (pod for pod in owned.of(owner) if pod.node_name and pod.is_visible and not pod.terminating)
        ranked = victims_first(owner.kind, running)
        if len(ranked) > 1:
            yield Ladder(len(ranked) - 1, functools.partial(_scaled_down, owner, ranked))


def blocking_pods(problem: PendingPodProblem) -> list[Pod]:
    """Return the pods whose absence, each on its own, lets the pod onto their node."""
    filtered, columns = problem.filter_result, problem.columns
    tried = (
        (at, pod)
        for at in range(columns.n)
        if filtered.considered[at] and len(columns.pods[at]) <= _MOST_ASKED
        for pod in columns.pods[at]
        if pod.terminating or _is_replaced(pod)
    )
    found = itertools.islice(tried, _MOST_ASKED)
    return [pod for at, pod in found if filtered.filter_with(at, [pod], ()) is None]


def _is_replaced(pod: Pod) -> bool:
    return pod.owner is not None and pod.owner.kind in KEEPING_PODS and not pod.terminating


def _without(problem: PendingPodProblem, pod: Pod) -> Iterator[Proposal]:
    if pod.terminating:
        why = f", whose finalizers hold it: {', '.join(pod.finalizers)}" if pod.finalizers else ""
        yield Change(
            f"force the end of pod {pod.name}, which has been terminating{why}",
            (EndPods((pod,)),),
            "terminating",
            Rank.TERMINATING,
            gives_up="cleanup by finalizers does not run, and the containers may keep running unnoticed",
            damage=Damage.KILLS,
        )
        return
    cluster = problem.cluster
    is_own = workload_of(pod, cluster) == workload_of(problem.pod, cluster)
    yield Change(
        f"delete pod {pod.name} on {pod.node_name}: its controller creates it again on another node, and "
        "its place is free",
        (RemovePods((pod,)),),
        "delete pod",
        Rank.SIBLING if is_own else Rank.MOVED_POD,
        weight=1 + max(0, pod.cls.priority > problem.pod.cls.priority),
        gives_up="the pod is restarted",
        notes=tuple(
            f"the PodDisruptionBudget {budget.name} allows no eviction now, and kubectl delete ignores it"
            for budget in cluster.budgets
            if budget.namespace == pod.namespace and budget.selector.matches(pod.labels)
            if budget.disruptions_allowed < 1 and pod.name not in budget.disrupted_pods
        ),
        damage=Damage.RESTARTS,
        fold=f"delete pod of {workload_of(pod, cluster)}",
    )


def victims_first(kind: str, pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods in the order in which a controller deletes them; for a StatefulSet the last ordinal first."""
    if kind == "StatefulSet":
        return sorted(pods, key=lambda pod: (len(pod.name), pod.name), reverse=True)
    return deleted_first(sorted(pods, key=lambda pod: pod.name, reverse=True))


def _scaled_down(owner: ObjectKey, ranked: list[Pod], at: int) -> Change:
    count, deleted = at + 1, tuple(ranked[: at + 1])
    left, pods = len(ranked) - count, ", ".join(pod.name for pod in deleted)
    return Change(
        f"scale {owner.kind.lower()}/{owner.name} down from {len(ranked)} to {left}",
        (ScaleDown(owner, left, deleted),),
        "scale",
        Rank.SCALED,
        weight=count,
        gives_up=f"{owner.name} has {count} fewer",
        damage=Damage.KILLS,
        notes=(f"simulated without {pods}: its controller may choose others of the same rank",),
    )


_MOST_NAMED = 4


def propose_preemption(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Wait until the scheduler has evicted pods in favour of this one."""
    victims = tuple(pod for pod in problem.explanation.victims if pod.node_name)
    if victims and (node := problem.explanation.nominated_node):
        names = comma_list((pod.name for pod in victims), most=_MOST_NAMED)
        title = f"only wait: preemption evicts {names} from {node}, and this pod takes its place"
        yield Change(title, (EndPods(victims, PREEMPTED),), "wait for preemption", Rank.WAIT)


def propose_terminating(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Wait until deleted pods, which still hold their place, have terminated."""
    ending = [pod for pod in blocking_pods(problem) if pod.terminating]
    for pod in ending[:_MOST_NAMED]:
        yield _after(problem, [pod])
    if len(ending) > 1:
        yield _after(problem, ending)


def _after(problem: PendingPodProblem, pods: Sequence[Pod]) -> Change:
    names = comma_list((pod.name for pod in pods), most=_MOST_NAMED)
    since = f" (terminating since {pods[0].deleted})" if len(pods) == 1 and pods[0].deleted else ""
    held = sorted({name for pod in pods for name in pod.finalizers})
    notes = (f"it ends only once {comma_list(held, most=_MOST_NAMED)} is removed from its finalizers",) if held else ()
    dead = {node.name for node in problem.cluster.nodes if is_down(node)}
    down = [pod for pod in pods if pod.node_name in dead]
    if down:
        notes = (*notes, f"{down[0].node_name} does not answer: {down[0].name} ends once the node is back or deleted")
    is_overdue = not (held or down) and overdue_pods(problem.cluster).issuperset(pod.uid for pod in pods)
    title = f"wait for pod {names}{since} to end on {pods[0].node_name}"
    if is_overdue:
        title = f"find out why the kubelet of {pods[0].node_name} does not end pod {names}{since}"
    return Change(
        f"{title}: then its place is free",
        (EndPods(tuple(pods), DELETED),),
        "wait for pods",
        Rank.OUTAGE if down or is_overdue else Rank.WAIT,
        weight=len(pods),
        notes=notes,
    )


def propose_starting(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Wait until nodes become Ready that are starting or down."""
    nodes = [node for node in problem.cluster.nodes if temporary_taints(node)]
    for group in equal_groups(nodes)[:_MOST_NAMED]:
        yield equal_ladder(group, _once_ready)
    if len(equal_groups(nodes)) > 1 and len(nodes) <= _MOST_NAMED * _MOST_NAMED:
        yield _once_ready(nodes, names_of(nodes, len(nodes)))


def _once_ready(nodes: Sequence[Node], named: str) -> Change:
    is_outage = any(is_down(node) for node in nodes)
    again = " again" if is_outage else ""
    return Change(
        f"wait until {named} {'is' if len(nodes) == 1 else 'are'} Ready{again}; the scheduler then tries again",
        tuple(EditNode(node.name, untainted=temporary_taints(node), is_awaited=True) for node in nodes),
        "wait for nodes",
        Rank.OUTAGE if is_outage else Rank.WAIT,
        weight=len(nodes),
        fold="wait for nodes",
    )


def propose_leaving(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Wait until an autoscaler has removed nodes that still count as domains."""
    nodes = [node for node in problem.cluster.nodes if is_leaving(node)]
    if nodes and len(nodes) <= _MOST_NAMED * _MOST_NAMED:
        named = names_of(nodes, len(nodes))
        yield Change(
            f"wait until {named} {'is' if len(nodes) == 1 else 'are'} removed, as the taint says",
            tuple(DeleteNode(node.name, is_awaited=True) for node in nodes),
            "wait for removal",
            Rank.WAIT,
            weight=len(nodes),
        )


_WORDS = {
    "requests": "other requests",
    "node_selector": "another nodeSelector",
    "node_affinity": "another node affinity",
    "pod_affinity": "another pod affinity",
    "pod_anti_affinity": "another pod anti-affinity",
    "tolerations": "other tolerations",
    "constraints": "other topologySpreadConstraints",
}


def propose_stale(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Delete the waiting pods, so that their controller re-creates them from its current template."""
    pod, maker = problem.pod, problem.pod.owner
    pods = [item for item in problem.own if item.owner is not None and item.created is not None]
    if not problem.target.is_live or pod not in pods or maker is None:
        return
    now = current_class(pod, problem.cluster)
    if now is pod.cls:
        return
    fields = differences(pod.cls, now)
    words = [_WORDS[field] for field in fields if field in _WORDS]
    if "host_ports" in fields:
        gone = [str(port.port) for port in pod.cls.host_ports if port not in now.host_ports]
        words.append(f"no hostPort {', '.join(gone)}" if gone else "other host ports")
    changed = [item for item in pods if current_class(item, problem.cluster) is not item.cls]
    yield Change(
        f"delete the Pending pod {', '.join(item.name for item in changed)}: the {maker.kind} creates it again with "
        f"{', '.join(words)}, as its template has it now",
        (RemovePods(tuple(changed)),),
        "stale pod",
        Rank.MISTAKE,
    )


DELETING_FIRST = "set maxSurge: 0 and maxUnavailable: 1, so that an old pod is deleted before a new one is created"
ONE_MISSING = "one replica is missing while a rollout lasts"


def deleting_first(problem: PendingPodProblem, change: Change, deleted: tuple[Pod, ...] = ()) -> Iterator[Change]:
    """Yield a change with a rollout that deletes old pods before it creates new ones, one at a time or more.

    Pods that wait count as unavailable, so that one more may have to be. `deleted` are pods that go first.
    """
    for unavailable in dict.fromkeys((1, problem.pending + 1)):
        title, gives_up = DELETING_FIRST, ONE_MISSING
        if unavailable > 1:
            title = (
                f"set maxSurge: 0 and maxUnavailable: {unavailable}, so that old pods are deleted before new ones are "
                "created"
            )
            gives_up = f"{unavailable} replicas may be missing while a rollout lasts"
        yield change._replace(
            title=f"{change.title}, and {title}",
            actions=(*change.actions, SetRollout(deleted, unavailable)),
            gives_up="; ".join(filter(None, (change.gives_up, gives_up))),
        )


def propose_resumed(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Let a paused Deployment roll out its template, which may need less than the waiting pods."""
    if problem.target.is_paused:
        title = f"resume the rollout of {problem.target.display_name}, which is paused"
        note = "it rolls out all changes of the template since the pause"
        yield Change(title, (ResumeRollout(),), RESUMED, Rank.MISTAKE, notes=(note,))


RESUMED = "resumed rollout"


def propose_rollout(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Let a rollout delete an old pod before it creates a new one."""
    for deleted in first_pod_to_delete(problem):
        yield Change(DELETING_FIRST, (SetRollout((deleted,)),), "rollout", Rank.ROLLOUT, gives_up=ONE_MISSING)


def is_stuck_for_room(problem: PendingPodProblem, change: Change) -> bool:
    """Return whether a rollout of the change could lack room because new pods run next to old ones."""
    is_rolled_out = problem.owner.kind == "Deployment" and change.edits_template and problem.target.is_live
    has_settings = any(isinstance(action, SetRollout) for action in change.actions)
    return is_rolled_out and problem.may_surge and not has_settings and change.family != "matchLabelKeys"


def first_pod_to_delete(problem: PendingPodProblem) -> Iterator[Pod]:
    """Yield the pod of the old revision that its controller would delete first; none if no old revision runs."""
    label = problem.revision_label
    if problem.owner.kind != "Deployment" or not label or not problem.may_surge:
        return
    own = problem.pod.labels.get(label)
    old = [pod for pod in problem.running if pod.labels.get(label) not in (None, own)]
    yield from victims_first("ReplicaSet", old)[:1]
