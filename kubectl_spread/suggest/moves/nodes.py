"""What can be changed about nodes: cordons, labels, taints, and how many there are."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

from kubectl_spread.explain.constraints import ConstraintReport
from kubectl_spread.objects.labels import HOSTNAME
from kubectl_spread.objects.labels import REGION
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.taints import first_untolerated
from kubectl_spread.objects.taints import UNSCHEDULABLE
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.suggest.actions import Action
from kubectl_spread.suggest.actions import DeleteNode
from kubectl_spread.suggest.actions import EditNode
from kubectl_spread.suggest.change import Change
from kubectl_spread.suggest.change import Ladder
from kubectl_spread.suggest.change import Rank
from kubectl_spread.suggest.change import single
from kubectl_spread.suggest.moves.constraints import has_meant_key
from kubectl_spread.suggest.moves.new_nodes import is_control_plane
from kubectl_spread.suggest.problem import Problem

Plain = dict[str, Any]

_MOST = 4  # nodes that are each proposed for one kind of change
_MOST_LABELLED = 20  # nodes that are labelled one by one
_SAME_PLACE = {
    ZONE: ("failure-domain.beta.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone", "topology.gke.io/zone"),
    REGION: ("failure-domain.beta.kubernetes.io/region",),
}
_UNFIT = "node.kubernetes.io/"


def propose(problem: Problem) -> Iterator[Ladder]:
    """Changes of nodes that hold a minimum down, or that would take the pod."""
    yield from _uncordoned(problem)
    yield from _untainted(problem)
    yield from _recordoned(problem)
    yield from _deleted(problem)
    yield from _selected(problem)
    for report in problem.reports:
        yield from _mended_labels(problem, report)
        yield from _missing_labels(problem, report)


def _by_minimum(problem: Problem, nodes: Iterable[Node]) -> list[Node]:
    """Nodes, first those whose domain holds a minimum: that is where a pod is missing."""
    held = {(report.constraint.topology_key, value) for report in problem.reports for value in report.minimum_in}
    return sorted(
        nodes, key=lambda node: (-sum((key, node.labels.get(key)) in held for key in _keys(problem)), node.name)
    )


def _keys(problem: Problem) -> list[str]:
    return list(dict.fromkeys(report.constraint.topology_key for report in problem.reports))


def _uncordoned(problem: Problem) -> Iterator[Ladder]:
    cordoned = _by_minimum(problem, (node for node in problem.cluster.nodes if node.unschedulable))
    relaxes = _texts(problem, names.NODE_UNSCHEDULABLE) | _cordon_taint(problem)
    for node in cordoned[:_MOST]:
        yield single(
            Change(
                f"uncordon node {node.name}",
                (EditNode(node.name, uncordoned=True),),
                "uncordon",
                Rank.UNCORDON,
                relaxes=relaxes,
                gives_up="pods go to the node again: not while it is being drained",
            )
        )


def _cordon_taint(problem: Problem) -> frozenset[str]:
    return frozenset(item.text for item in problem.explanation.requirements if item.text == f"taint {UNSCHEDULABLE}")


def _texts(problem: Problem, plugin: str) -> frozenset[str]:
    return frozenset(item.text for item in problem.explanation.requirements if item.plugin == plugin)


def _untainted(problem: Problem) -> Iterator[Ladder]:
    """Remove a taint that somebody put on a node; those that say what is wrong with it stay."""
    tolerations = problem.pod.cls.tolerations
    tainted = [node for node in problem.cluster.nodes if first_untolerated(node.taints, tolerations) is not None]
    chosen = [
        node
        for node in tainted
        if not is_control_plane(node) and not any(taint.key.startswith(_UNFIT) for taint in node.taints)
    ]
    for node in _by_minimum(problem, chosen)[:_MOST]:
        taint = first_untolerated(node.taints, tolerations)
        yield single(
            Change(
                f"remove the taint {taint} from node {node.name}",
                (EditNode(node.name, untainted=taint),),
                "taint",
                Rank.TAINT,
                gives_up=f"the node is no longer kept free by {taint}",
            )
        )


def _recordoned(problem: Problem) -> Iterator[Ladder]:
    """Cordons without the taint that comes with them: a constraint that honours taints counts such nodes."""
    nodes = [node for node in problem.cluster.nodes if node.unschedulable and UNSCHEDULABLE not in node.taints]
    if nodes:
        listed = ", ".join(node.name for node in nodes[:_MOST])
        yield single(
            Change(
                f"cordon {listed} again with kubectl, so that the node has the taint of its cordon",
                tuple(EditNode(node.name, recordoned=True) for node in nodes[:_MOST]),
                "recordon",
                Rank.RECORDON,
                gives_up="the node stops counting where taints are honoured",
            )
        )


def _deleted(problem: Problem) -> Iterator[Ladder]:
    """Nodes that nobody may use and nobody does: those of one domain that holds a minimum, all at once."""
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
                        gives_up="the node is gone; its kubelet must be stopped, or it registers again",
                    )
                )


def _is_idle(problem: Problem, node: Node) -> bool:
    """Whether a node is cordoned, or down, and runs nothing but pods of its own."""
    is_down = any(
        taint.key in ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready") for taint in node.taints
    )
    if not (node.unschedulable or is_down) or is_control_plane(node):
        return False
    pods = problem.columns.pods[problem.columns.index[node.name]]
    return all(pod.owner is not None and pod.owner.kind in ("DaemonSet", "Node") for pod in pods)


def _mended_labels(problem: Problem, report: ConstraintReport) -> Iterator[Ladder]:
    """Labels that are there and cannot be meant: an empty value, and one host name for several nodes."""
    key = report.constraint.topology_key
    empty = [node for node in problem.cluster.nodes if node.labels.get(key) == ""]
    if empty and len(empty) <= _MOST:
        yield single(
            Change(
                f"remove the empty label {key} from node {', '.join(node.name for node in empty)}",
                tuple(EditNode(node.name, ((key, None),)) for node in empty),
                "node label",
                Rank.NODE_LABEL,
                gives_up="the pods no longer go to the node" if report.constraint.is_hard else "",
            )
        )
    if key != HOSTNAME:
        return
    shared = [node for node in problem.cluster.nodes if key in node.labels and node.labels[key] != node.name]
    values = [node.labels[key] for node in shared]
    twice = [node for node in shared if values.count(node.labels[key]) > 1]
    if twice and len(twice) <= _MOST_LABELLED:
        yield single(
            Change(
                f"give each of {', '.join(node.name for node in twice)} its own {key}",
                tuple(EditNode(node.name, ((key, node.name),)) for node in twice),
                "node label",
                Rank.NODE_LABEL,
                gives_up="what selects these nodes by the label that they share no longer finds them",
            )
        )


def _missing_labels(problem: Problem, report: ConstraintReport) -> Iterator[Ladder]:
    """A label for nodes that would take the pod if they had it."""
    key = report.constraint.topology_key
    missing = [node for node in problem.cluster.nodes if key not in node.labels]
    if not missing:
        return
    known = [(node, value) for node in missing if (value := _same_place(node, key))]
    if known and len(known) <= _MOST_LABELLED:
        yield single(_labelled(known, key, rank=Rank.NODE_LABEL, notes=()))
        return
    if key == HOSTNAME:
        yield single(
            _labelled([(node, node.name) for node in missing[:_MOST_LABELLED]], key, rank=Rank.NODE_LABEL, notes=())
        )
        return
    note = (f"write the value of {key} that is true of each node; these were simulated",)
    values = [domain.value for domain in sorted(report.domains, key=lambda domain: (domain.matching, domain.value))]
    if not values and len(missing) <= _MOST_LABELLED and not has_meant_key(problem, report):
        made = key.rpartition("/")[2] + "-1"
        yield single(_labelled([(node, made) for node in missing], key, rank=Rank.NEW_LABEL, notes=note))
    usable = [node for node in missing if _would_take(problem, node)]
    for node in usable[:_MOST]:
        for value in values[:_MOST]:
            yield single(_labelled([(node, value)], key, rank=Rank.NEW_LABEL, notes=note))


def _selected(problem: Problem) -> Iterator[Ladder]:
    """A label that nodeSelector asks for, on a node that has everything else; none that a node is born with."""
    asked = dict(problem.pod.cls.node_selector)
    missing = {key: value for key, value in asked.items() if not key.startswith(_BORN_WITH)}
    if not missing:
        return
    others = [item for item in problem.filtered.verdicts if item.plugin != names.NODE_AFFINITY]
    found = 0
    for at, node in enumerate(problem.cluster.nodes):
        written = {key: value for key, value in missing.items() if node.labels.get(key) != value}
        if not written or found == _MOST or any(item.bits[at] for item in others):
            continue
        found += 1
        pairs = tuple(written.items())
        title = (
            f"label node {node.name} with {', '.join(f'{key}={value}' for key, value in pairs)}, as nodeSelector asks"
        )
        note = "label the node only if it is what the label says"
        yield single(
            Change(title, (EditNode(node.name, pairs),), "node label", Rank.NEW_LABEL, gives_up="", notes=(note,))
        )


_BORN_WITH = ("kubernetes.io/", "topology.", "node.kubernetes.io/", "beta.kubernetes.io/", "failure-domain.")


def _would_take(problem: Problem, node: Node) -> bool:
    at = problem.columns.index[node.name]
    others = [item for item in problem.filtered.verdicts if item.plugin != names.POD_TOPOLOGY_SPREAD]
    return all(not item.bits[at] for item in others)


def _same_place(node: Node, key: str) -> str:
    """What another label of the node says of the same thing."""
    return next((node.labels[other] for other in _SAME_PLACE.get(key, ()) if node.labels.get(other)), "")


def _labelled(pairs: Sequence[tuple[Node, str]], key: str, *, rank: int, notes: tuple[str, ...]) -> Change:
    values = dict.fromkeys(value for _, value in pairs)
    if len(values) == 1:
        listed = ", ".join(node.name for node, _ in pairs)
        title = f"label node {listed} with {key}={next(iter(values))}"
    else:
        title = "label nodes: " + ", ".join(f"{node.name} {key}={value}" for node, value in pairs)
    actions: tuple[Action, ...] = tuple(EditNode(node.name, ((key, value),)) for node, value in pairs)
    return Change(title, actions, "node label", rank, weight=len(pairs), gives_up="", notes=notes)
