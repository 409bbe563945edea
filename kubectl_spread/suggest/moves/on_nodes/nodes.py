"""Changes of nodes: cordons, taints, labels that pods select by, and the number of nodes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

from kubectl_spread.explain.requirements.requirement import RequirementKind
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.taints import first_untolerated, Taint, UNSCHEDULABLE
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.suggest.actions.nodes import DeleteNode, EditNode
from kubectl_spread.suggest.change import Change, Ladder, of_kind, Rank, single
from kubectl_spread.suggest.moves.on_nodes import equal_nodes
from kubectl_spread.suggest.moves.on_nodes.new_nodes import is_control_plane
from kubectl_spread.suggest.problem import PendingPodProblem
from kubectl_spread.suggest.system_taints import is_down, is_leaving, is_of_system

_MOST = 4  # Most nodes that are proposed for one kind of change.


def propose(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Propose changes of nodes that hold the global minimum down or that could take the pod."""
    yield from _uncordoned(problem)
    yield from _untainted(problem)
    yield from _recordoned(problem)
    yield from _deleted(problem)
    yield from _selected(problem)


def _by_minimum(problem: PendingPodProblem, nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes sorted so that domains at the global minimum come first: they lack a pod."""
    held = {(report.constraint.topology_key, value) for report in problem.reports for value in report.minimum_in}
    return sorted(
        nodes, key=lambda node: (-sum((key, node.labels.get(key)) in held for key in _keys(problem)), node.name)
    )


def _keys(problem: PendingPodProblem) -> list[str]:
    return list(dict.fromkeys(report.constraint.topology_key for report in problem.reports))


def _uncordoned(problem: PendingPodProblem) -> Iterator[Ladder]:
    cordoned = (node for node in problem.cluster.nodes if node.unschedulable and not is_leaving(node))
    relaxes = of_kind(problem, RequirementKind.CORDON)

    def change(nodes: Sequence[Node], named: str) -> Change:
        return Change(
            f"uncordon {named}",
            tuple(EditNode(node.name, uncordoned=True) for node in nodes),
            "uncordon",
            Rank.UNCORDON,
            weight=len(nodes),
            relaxes=relaxes,
            gives_up=f"pods go to the node{'s' if len(nodes) > 1 else ''} again: do not do this during a drain",
            fold="uncordon",
        )

    for group in equal_nodes.groups(_by_minimum(problem, cordoned))[:_MOST]:
        yield equal_nodes.ladder(group, change)


def _untainted(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Remove a taint that a user has put on nodes; taints that cluster components set are left alone."""
    tolerations = problem.pod.cls.tolerations
    chosen = (
        node
        for node in problem.cluster.nodes
        if first_untolerated(node.taints, tolerations) is not None
        and not is_control_plane(node)
        and not any(is_of_system(taint) for taint in node.taints)
    )
    for group in equal_nodes.groups(_by_minimum(problem, chosen))[:_MOST]:
        taint = first_untolerated(group[0].taints, tolerations)
        if taint is not None:
            yield equal_nodes.ladder(group, functools.partial(_without_taint, taint))


def _without_taint(taint: Taint, nodes: Sequence[Node], named: str) -> Change:
    return Change(
        f"remove the taint {taint} from {named}",
        tuple(EditNode(node.name, untainted=taint) for node in nodes),
        "taint",
        Rank.TAINT,
        weight=len(nodes),
        gives_up=f"{taint} no longer keeps {named} free of pods",
        fold=f"taint {taint}",
    )


def _recordoned(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Cordon a node again whose cordon lacks its taint: a constraint that honours taints counts such a node."""
    nodes = [node for node in problem.cluster.nodes if node.unschedulable and UNSCHEDULABLE not in node.taints]
    if nodes:
        listed = ", ".join(node.name for node in nodes[:_MOST])
        yield single(
            Change(
                f"cordon {listed} again with kubectl, which adds the taint of a cordon",
                tuple(EditNode(node.name, recordoned=True) for node in nodes[:_MOST]),
                "recordon",
                Rank.RECORDON,
                gives_up="constraints with nodeTaintsPolicy: Honor no longer count the node",
            )
        )


def _deleted(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Delete the unusable, empty nodes of one domain at the global minimum, all at once."""
    idle = {node.name for node in problem.cluster.nodes if _is_idle(problem, node)}
    for report in problem.reports if idle else ():
        key = report.constraint.topology_key
        by_value: dict[str, list[Node]] = {}
        for node in problem.cluster.nodes:
            by_value.setdefault(node.labels.get(key, ""), []).append(node)
        for value in report.minimum_in:
            nodes = by_value[value]
            if len(nodes) <= _MOST and all(node.name in idle for node in nodes):
                listed = ", ".join(node.name for node in nodes)
                yield single(
                    Change(
                        f"delete node {listed}, which takes no pods and counts as a domain of {key}",
                        tuple(DeleteNode(node.name) for node in nodes),
                        "delete node",
                        Rank.EMPTY_NODE,
                        weight=len(nodes),
                        gives_up="the node is removed; stop its kubelet, or it registers the node again",
                        notes=tuple(_may_still_run(problem, nodes)),
                    )
                )


def _is_idle(problem: PendingPodProblem, node: Node) -> bool:
    """Return whether a node is cordoned or down, and runs only DaemonSet and static pods.

    On a node that is down, pods that terminate end only once the node is deleted.
    """
    if not (node.unschedulable or is_down(node)) or is_control_plane(node) or is_leaving(node):
        return False
    return all(is_down(node) and pod.terminating for pod in problem.workload_pods(node))


def _may_still_run(problem: PendingPodProblem, nodes: Iterable[Node]) -> Iterator[str]:
    """Yield a warning of a second pod with one identity: a node that is down may still run pods of StatefulSets."""
    down = [node for node in nodes if is_down(node)]
    there = [
        pod.name
        for node in down
        for pod in problem.workload_pods(node)
        if pod.owner is not None and pod.owner.kind == "StatefulSet"
    ]
    has_sets = any(key.kind == "StatefulSet" for key in problem.cluster.controllers)
    if there:
        yield (
            f"make sure that {down[0].name} is off: {', '.join(there)} may still run there, and would run twice once "
            "it is created elsewhere"
        )
    elif down and has_sets:
        yield (
            f"make sure that {down[0].name} is off: pods of StatefulSets may still run there, and would run twice once "
            "they are created elsewhere"
        )


def _selected(problem: PendingPodProblem) -> Iterator[Ladder]:
    """Label nodes that lack only a label that nodeSelector requires.

    Labels that a node has from the beginning are not proposed.
    """
    asked = dict(problem.pod.cls.node_selector)
    missing = {key: value for key, value in asked.items() if not key.startswith(_BORN_WITH)}
    if not missing:
        return
    others = [item.bits for item in problem.filter_result.plugin_results if item.plugin != names.NODE_AFFINITY]
    lacking = [
        node
        for at, node in enumerate(problem.cluster.nodes)
        if any(node.labels.get(key) != value for key, value in missing.items()) and not any(bits[at] for bits in others)
    ]
    for group in equal_nodes.groups(_by_minimum(problem, lacking))[:_MOST]:
        yield equal_nodes.ladder(group, functools.partial(_with_labels, missing))


def _with_labels(missing: dict[str, str], nodes: Sequence[Node], named: str) -> Change:
    written = {key: value for key, value in missing.items() if nodes[0].labels.get(key) != value}
    pairs = tuple(written.items())
    replaced = [f"{key}={nodes[0].labels[key]}" for key in written if key in nodes[0].labels]
    return Change(
        f"label {named} with {', '.join(f'{key}={value}' for key, value in pairs)}, as nodeSelector requires",
        tuple(EditNode(node.name, pairs) for node in nodes),
        "node label",
        Rank.OTHER_TIER if replaced else Rank.NEW_LABEL,
        weight=len(nodes),
        gives_up=f"{named} no longer belongs to {', '.join(replaced)}" if replaced else "",
        notes=("label a node only if the label is true of it",),
        fold="label for nodeSelector",
    )


_BORN_WITH = ("kubernetes.io/", "topology.", "node.kubernetes.io/", "beta.kubernetes.io/", "failure-domain.")
