"""Changes that happen without any action: nodes become Ready or are removed, pods terminate, preemption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.suggest.actions.nodes import AwaitNode, AwaitRemoval
from kubectl_spread.suggest.actions.pods import AwaitPods
from kubectl_spread.suggest.change import Change, Ladder, Rank, single
from kubectl_spread.suggest.moves.on_nodes import equal_nodes
from kubectl_spread.suggest.moves.pods import blocking_pods
from kubectl_spread.suggest.problem import PendingPodProblem
from kubectl_spread.suggest.system_taints import is_down, is_leaving, temporary_taints

_MOST = 4


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Propose to wait."""
    yield from _preemption(problem)
    yield from _terminating(problem)
    yield from _starting(problem)
    yield from _leaving(problem)


def _preemption(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Wait until the scheduler has evicted pods in favour of this one."""
    item = problem.explanation
    victims = [pod for pod in item.victims if pod.node_name]
    node = item.nominated_node
    if not victims or not node:
        return
    names = _listed([pod.name for pod in victims])
    yield single(
        Change(
            f"only wait: preemption evicts {names} from {node}, and this pod takes its place",
            (AwaitPods(tuple(victims), is_replaced=True),),
            "wait for preemption",
            Rank.WAIT,
        )
    )


def _terminating(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Wait until deleted pods, which still hold their place, have terminated."""
    ending = [pod for pod in blocking_pods(problem) if pod.terminating]
    for pod in ending[:_MOST]:
        yield single(_after(problem, [pod]))
    if len(ending) > 1:
        yield single(_after(problem, ending))


def _after(problem: PendingPodProblem, pods: Sequence[Pod]) -> Change:
    names = _listed([pod.name for pod in pods])
    since = f" (terminating since {pods[0].deleted})" if len(pods) == 1 and pods[0].deleted else ""
    held = sorted({name for pod in pods for name in pod.finalizers})
    notes = (f"it ends only once {_listed(held)} is removed from its finalizers",) if held else ()
    down = [pod for pod in pods if _is_on_dead_node(problem, pod)]
    if down:
        notes = (*notes, f"{down[0].node_name} does not answer: {down[0].name} ends once the node is back or deleted")
    return Change(
        f"wait for pod {names}{since} to end on {pods[0].node_name}: then its place is free",
        (AwaitPods(tuple(pods)),),
        "wait for pods",
        Rank.OUTAGE if down else Rank.WAIT,
        weight=len(pods),
        notes=notes,
    )


def _is_on_dead_node(problem: PendingPodProblem, pod: Pod) -> bool:
    at = problem.columns.index.get(pod.node_name)
    return at is not None and is_down(problem.columns.nodes[at])


def _starting(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Wait until nodes become Ready that are starting or down."""
    nodes = [node for node in problem.cluster.nodes if temporary_taints(node)]
    for group in equal_nodes.groups(nodes)[:_MOST]:
        yield equal_nodes.ladder(group, _once_ready)
    if len(equal_nodes.groups(nodes)) > 1 and len(nodes) <= _MOST * _MOST:
        yield single(_once_ready(nodes, equal_nodes.names_of(nodes, len(nodes))))


def _once_ready(nodes: Sequence[Node], named: str) -> Change:
    is_outage = any(is_down(node) for node in nodes)
    verb, are = ("come back" if is_outage else "start"), "they are"
    if len(nodes) == 1:
        verb, are = ("comes back" if is_outage else "starts"), "it is"
    return Change(
        f"wait until {named} {verb}, and the scheduler tries again once {are} Ready",
        tuple(AwaitNode(node.name, temporary_taints(node)) for node in nodes),
        "wait for nodes",
        Rank.OUTAGE if is_outage else Rank.WAIT,
        weight=len(nodes),
        fold="wait for nodes",
    )


def _leaving(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Wait until an autoscaler has removed nodes that still count as domains."""
    nodes = [node for node in problem.cluster.nodes if is_leaving(node)]
    if nodes and len(nodes) <= _MOST * _MOST:
        named = equal_nodes.names_of(nodes, len(nodes))
        yield single(
            Change(
                f"wait until {named} {'is' if len(nodes) == 1 else 'are'} removed, as the taint says",
                tuple(AwaitRemoval(node.name) for node in nodes),
                "wait for removal",
                Rank.WAIT,
                weight=len(nodes),
            )
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
