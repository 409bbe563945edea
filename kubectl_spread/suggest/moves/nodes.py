"""What can be changed about nodes: cordons, labels, taints, and how many there are."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import Optional

from kubectl_spread.explain.constraints import ConstraintReport
from kubectl_spread.objects.labels import HOSTNAME
from kubectl_spread.objects.labels import REGION
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.resources import CPU
from kubectl_spread.objects.resources import EPHEMERAL_STORAGE
from kubectl_spread.objects.resources import MEMORY
from kubectl_spread.objects.resources import PODS
from kubectl_spread.objects.taints import first_untolerated
from kubectl_spread.objects.taints import UNSCHEDULABLE
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.suggest.actions import Action
from kubectl_spread.suggest.actions import AddNodes
from kubectl_spread.suggest.actions import DeleteNode
from kubectl_spread.suggest.actions import EditNode
from kubectl_spread.suggest.change import Change
from kubectl_spread.suggest.change import Ladder
from kubectl_spread.suggest.change import Rank
from kubectl_spread.suggest.change import single
from kubectl_spread.suggest.moves.constraints import has_meant_key
from kubectl_spread.suggest.problem import Problem

Plain = dict[str, Any]

_MOST = 4  # nodes that are each proposed for one kind of change
_MOST_LABELLED = 20  # nodes that are labelled one by one
_MOST_NEW = 16
_MOST_PLACES = 2
_MEBI = 1024 * 1024
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
    for report in problem.reports:
        yield from _mended_labels(problem, report)
        yield from _missing_labels(problem, report)
    yield from _added(problem)


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
    chosen = [node for node in tainted if not any(taint.key.startswith(_UNFIT) for taint in node.taints)]
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
    if not (node.unschedulable or is_down) or _is_control_plane(node):
        return False
    pods = problem.columns.pods[problem.columns.index[node.name]]
    return all(pod.owner is not None and pod.owner.kind in ("DaemonSet", "Node") for pod in pods)


def _is_control_plane(node: Node) -> bool:
    return any(key in node.labels for key in _CONTROL_PLANE) or any(
        taint.key in _CONTROL_PLANE for taint in node.taints
    )


_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")


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


def _added(problem: Problem) -> Iterator[Ladder]:
    """Nodes for a domain that holds a minimum, for a new one where domains are missing, or for any."""
    places: list[dict[str, str]] = []
    for report in problem.reports:
        key = report.constraint.topology_key
        if key == HOSTNAME or has_meant_key(problem, report):
            continue
        held = [value for value in report.minimum_in if value]
        if not report.is_below_min_domains:
            places += [{key: value} for value in held[:_MOST_PLACES]]
        if report.is_below_min_domains or not held or _keeps_apart(problem, key):
            places.append({key: _new_value(report)})
    places = places or [{}]
    for number, place in enumerate(place for at, place in enumerate(places) if place not in places[:at]):
        model = _model(problem, place)
        if model is not None:
            yield _ladder(problem, place, model, weight=number)


def _keeps_apart(problem: Problem, key: str) -> bool:
    """Whether the pods want a domain of a key for themselves."""
    return any(term.topology_key == key for term in problem.pod.cls.pod_anti_affinity)


def _new_value(report: ConstraintReport) -> str:
    """A value that no node has, in the manner of those there are."""
    values = {domain.value for domain in report.domains}
    short = report.constraint.topology_key.rpartition("/")[2]
    names_ = ("new", f"new-{short}", *(f"new-{short}-{number}" for number in range(1, len(values) + 2)))
    return next(name for name in names_ if name not in values)


def _model(problem: Problem, place: dict[str, str]) -> Optional[Node]:
    """A node to be like: one of the domain, else one that the pod could use, else any that it may."""
    cls, nodes = problem.pod.cls, problem.cluster.nodes
    allowed = [node for node in nodes if cls.node_requirement.matches({**node.labels, **place}, node.name)]
    allowed = [node for node in allowed if not _is_control_plane(node)]
    if not allowed:
        return None
    usable = {problem.columns.nodes[at].name for at in problem.usable}

    def preference(node: Node) -> tuple[bool, ...]:
        is_there = all(node.labels.get(key) == value for key, value in place.items())
        return (not is_there, node.name not in usable, node.unschedulable, bool(node.taints))

    return min(allowed, key=preference)


def _ladder(problem: Problem, place: dict[str, str], model: Node, *, weight: int) -> Ladder:
    """One node with room for one pod; then for two, and so on; then more nodes with room for all."""
    waiting = min(len(problem.given.own), 64)
    sizes = [(1, count) for count in range(1, waiting + 1)]
    sizes += [(count, -(-waiting // count)) for count in range(2, min(waiting, _MOST_NEW) + 1)]

    def step(at: int) -> Change:
        nodes, pods = sizes[at]
        room = _room(problem, pods)
        made = tuple(_node(problem, place, model, room, number) for number in range(1, nodes + 1))
        where = "".join(f" to {key.rpartition('/')[2]} {value}" for key, value in place.items())
        if place and any(value.startswith("new") for value in place.values()):
            where = "".join(f" in a new {key.rpartition('/')[2]}" for key in place)
        what = "a node" if nodes == 1 else f"{nodes} nodes"
        each = "" if nodes == 1 else " each"
        title = f"add {what}{where} with {_size(room)} free{each}"
        note = "what DaemonSets put on a new node comes on top of that"
        return Change(title, (AddNodes(made),), "new node", Rank.NEW_NODE, weight, gives_up="", notes=(note,))

    return Ladder(len(sizes), step)


def _room(problem: Problem, pods: int) -> dict[str, str]:
    """Allocatable for so many pods of the problem, in whole cores and in gibibytes where it is about that much."""
    room: dict[str, str] = {}
    for resource, amount in problem.pod.cls.requests:
        total = amount * pods
        if resource == CPU:
            room[CPU] = f"{total}m" if total % 1000 else str(total // 1000)
        elif resource in (MEMORY, EPHEMERAL_STORAGE):
            room[resource] = f"{-(-total // _MEBI)}Mi"
        elif resource != PODS and total:
            room[resource] = str(total)
    room.setdefault(CPU, "1")
    room.setdefault(MEMORY, "1Gi")
    room[PODS] = str(max(110, pods))
    return room


def _size(room: dict[str, str]) -> str:
    told = {name: amount for name, amount in room.items() if name != PODS}
    return ", ".join(f"{name} {amount}" for name, amount in told.items())


def _node(problem: Problem, place: dict[str, str], model: Node, room: dict[str, str], number: int) -> Plain:
    name = f"new-node-{number}"
    while name in problem.columns.index:
        name = f"{name}-x"
    labels = {**model.labels, **place, HOSTNAME: name}
    if any(value.startswith("new") for value in place.values()):
        labels = {key: value for key, value in labels.items() if key in place or key not in _SAME_PLACE[ZONE]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {"allocatable": room},
    }
