"""Nodes that the pods cannot use but their constraints count: another operating system or a missing device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_spread.explain.requirements.requirement import RequirementKind
from kubectl_spread.objects.amounts.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors.labels import HOSTNAME, OS
from kubectl_spread.suggest.actions.action import Action
from kubectl_spread.suggest.actions.manifest import EditSpec
from kubectl_spread.suggest.actions.nodes import EditNode
from kubectl_spread.suggest.change import Change, Ladder, Rank, single
from kubectl_spread.suggest.editing.patch import Op, put_op
from kubectl_spread.suggest.problem import PendingPodProblem

_OF_EVERY_NODE = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE, PODS})
_MOST_LABELLED = 20


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Propose a nodeSelector for the nodes that can run the pods, so that other nodes do not count as domains."""
    if not problem.reports or problem.owner.kind == "DaemonSet":
        return
    yield from _system(problem)
    yield from _device(problem)


def _system(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Select the operating system of the pods, if the cluster has nodes of several."""
    systems = {node.labels[OS] for node in problem.cluster.nodes if OS in node.labels}
    wanted = problem.operating_system
    if len(systems) < 2 or _asks_for(problem, OS):
        return
    title = f"add {OS}: {wanted} to nodeSelector, as only nodes with {wanted} can run these pods"
    yield single(
        Change(
            title,
            (EditSpec(_selecting(problem, OS, wanted)),),
            "nodeSelector",
            Rank.NODE_KIND,
            gives_up=f"the pods never run on nodes without {OS}={wanted}",
        )
    )


def _parted(nodes: Iterable[Node], resource: str) -> tuple[list[Node], list[Node]]:
    """Return the nodes that have a resource, and those without it."""
    having: list[Node] = []
    others: list[Node] = []
    for node in nodes:
        (having if node.allocatable.get(resource, 0) else others).append(node)
    return having, others


def _device(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Select the nodes with a requested resource, if only some nodes have it."""
    lacking = (item.key for item in problem.explanation.requirements if item.kind is RequirementKind.RESOURCE)
    for resource in dict.fromkeys(lacking):
        having, others = _parted(problem.cluster.nodes, resource)
        if resource in _OF_EVERY_NODE or not having or not others:
            continue
        key, value = _label_of(having, others) or (f"{resource}.present", "true")
        unlabelled = [node for node in having if node.labels.get(key) != value]
        if len(unlabelled) <= _MOST_LABELLED and not _asks_for(problem, key):
            yield single(_with_device(problem, resource, key, value, unlabelled))


def _with_device(problem: PendingPodProblem, resource: str, key: str, value: str, unlabelled: Sequence[Node]) -> Change:
    actions: list[Action] = [EditNode(node.name, ((key, value),)) for node in unlabelled]
    labels = f", and give {', '.join(node.name for node in unlabelled)} this label" if unlabelled else ""
    return Change(
        f"add {key}: {value} to nodeSelector, as only such nodes have {resource}{labels}",
        (*actions, EditSpec(_selecting(problem, key, value))),
        "nodeSelector",
        Rank.NODE_KIND,
        weight=len(unlabelled),
        gives_up=f"the pods never run on nodes without {key}={value}",
    )


def _label_of(having: Iterable[Node], others: Iterable[Node]) -> tuple[str, str] | None:
    """Return the label that all nodes of one kind have and no other node has; an accelerator's label comes first."""
    first, *rest = having
    common = {item for item in first.labels.items() if item[0] != HOSTNAME}
    for node in rest:
        common &= set(node.labels.items())
    for node in others:
        common -= set(node.labels.items())
    telling = [item for item in common if not item[0].startswith(("topology.", "failure-domain."))]
    return min(telling, key=lambda item: ("gpu" not in item[0] and "accelerator" not in item[0], item), default=None)


def _asks_for(problem: PendingPodProblem, key: str) -> bool:
    cls = problem.pod.cls
    terms = cls.node_affinity.required or ()
    return key in dict(cls.node_selector) or any(item.key == key for term in terms for item in term.match_expressions)


def _selecting(problem: PendingPodProblem, key: str, value: str) -> tuple[Op, ...]:
    if fields(problem.spec.get("nodeSelector")):
        return (put_op(("nodeSelector", key), value),)
    return (put_op(("nodeSelector",), {key: value}),)
