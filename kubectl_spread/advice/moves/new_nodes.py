"""New nodes for domains that need one, no larger than the waiting pods require."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Optional

from kubectl_spread.advice.actions import AddNodes
from kubectl_spread.advice.change import Change, Ladder, Proposal, Rank
from kubectl_spread.advice.moves.constraints import has_meant_key
from kubectl_spread.advice.moves.nodes import is_control_plane, is_unfit, misspelt_values, SAME_PLACE
from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import Plain
from kubectl_spread.objects.resources import amount, CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from kubectl_spread.objects.selectors import HOSTNAME, Labels, NodeSelectorTerm, OS, ZONE
from kubectl_spread.objects.storage import Volume
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.text.wording import spelling_of

FAMILY = "new node"
_MOST_NEW = 16
_MOST_USUAL = 200  # Most new nodes of the usual size.
_MOST_ON_ONE = 100  # pods on a single new node
_MOST_PLACES = 3
_FULL = {names.NODE_RESOURCES_FIT, names.NODE_PORTS, names.INTER_POD_AFFINITY, names.NODE_VOLUME_LIMITS}
_MEBI = 1024 * 1024
_GIBI = 1024 * _MEBI
_LARGE = 10 * _GIBI  # from here on, rounded up to whole GiB


_MOST_OF_A_NODE = 10**15  # milli-CPU or bytes; no machine has as much


def propose(problem: PendingPodProblem) -> Iterator[Proposal]:
    """Propose nodes for a domain at the global minimum, for a new domain if some are missing, or for any domain."""
    if problem.owner.kind == "DaemonSet":
        return  # Each of its pods has its own node.
    if any(amount >= _MOST_OF_A_NODE for _, amount in problem.pod.cls.requests):
        return
    places = _places(problem)
    for number, place in enumerate(place for at, place in enumerate(places) if place not in places[:at]):
        # No node is added to a domain that is down or about to be removed, whose value is misspelt, or whose nodes all
        # have an operating system that the workload cannot use.
        there, wanted = _nodes_at(problem, place), problem.operating_system
        systems = {node.labels.get(OS) for node in there} - {None}
        is_other_system = bool(systems and wanted) and wanted not in systems
        is_misspelt = any(value in misspelt_values(problem.cluster.nodes, key) for key, value in place.items())
        is_closed = bool(there and place) and (is_unfit(there) or is_misspelt or is_other_system)
        labels = None if is_closed else _labels(problem, place)
        if labels is None:
            continue
        values = {key: problem.values(key) for key in labels}
        # A value that no node has may be a misspelt one; no node is added for it.
        if not any(value not in values[key] and spelling_of(value, values[key]) for key, value in labels.items()):
            yield _ladder(problem, place, labels, weight=number)


def _nodes_at(problem: PendingPodProblem, place: dict[str, str]) -> list[Node]:
    nodes = problem.cluster.nodes
    return [node for node in nodes if place.items() <= node.labels.items()]


def _places(problem: PendingPodProblem) -> list[dict[str, str]]:
    """Return the labels of the domains that need a new node."""
    # From some places a volume is reachable, but they have no usable node.
    places = [
        place
        for volume in _volumes(problem)
        if not any(volume.matches_node(problem.columns.nodes[at].labels) for at in problem.usable)
        for term in (volume.terms or ())[:_MOST_PLACES]
        if (place := _met(term))
    ]
    for report in problem.reports:
        key = report.constraint.topology_key
        if key == HOSTNAME or has_meant_key(problem, report) or len(report.without_key) == problem.columns.n:
            continue
        held = [value for value in report.counts.smallest_in if value]
        if not report.counts.is_below_min_domains:
            places += [{key: value} for value in held[:_MOST_PLACES]]
        if report.counts.is_below_min_domains or not held:
            places.append({key: _new_value(problem, key)})
    apart = {term.topology_key for term in problem.pod.cls.pod_anti_affinity} - {HOSTNAME}
    places += [{key: _new_value(problem, key)} for key in sorted(apart)]
    return [*places, {}]


def _volumes(problem: PendingPodProblem) -> list[Volume]:
    """Return the volumes that are bound to the pod's claims."""
    storage = problem.cluster.storage
    claims = map(storage.claims.get, problem.pod.cls.claims())
    names = [claim.volume_name for claim in claims if claim is not None and claim.is_bound]
    return [storage.volumes[name] for name in names if name in storage.volumes]


def _met(term: NodeSelectorTerm) -> dict[str, str]:
    """Return labels that meet the label conditions of a term, except conditions on the hostname."""
    return {
        item.key: item.values[0] if item.operator == "In" else "true"
        for item in term.match_expressions
        if (item.operator == "Exists" or (item.operator == "In" and item.values)) and item.key != HOSTNAME
    }


def _new_value(problem: PendingPodProblem, key: str) -> str:
    """Return a value of the label that no node has."""
    values = problem.values(key)
    names = ("new", *(f"new-{number}" for number in range(1, len(values) + 2)))
    return next(name for name in names if name not in values)


def _labels(problem: PendingPodProblem, place: dict[str, str]) -> Optional[dict[str, str]]:
    """Return the labels of a new node at a place; None if the pod could not use such a node.

    The labels are copied from a node of the domain if possible, else from a node that the pod could use, else from any
    node. As a last resort they are the ones that the pod's node selector and affinity require.
    """
    usable = {problem.columns.nodes[at].name for at in problem.usable}

    def preference(node: Node) -> tuple[bool, ...]:
        return (
            not place.items() <= node.labels.items(),
            node.name not in usable,
            node.unschedulable,
            bool(node.taints),
        )

    models = sorted((node for node in problem.cluster.nodes if not is_control_plane(node)), key=preference)
    cls = problem.pod.cls
    asked = dict(cls.node_selector)
    if cls.node_affinity.required:
        asked |= _met(cls.node_affinity.required[0])
    for wanted in ({}, asked):
        for model in models:
            labels = {**model.labels, **wanted}
            # Other zone labels are of the old place.
            is_there = place.items() <= labels.items()
            labels = {key: value for key, value in labels.items() if is_there or key not in SAME_PLACE[ZONE]} | place
            if _is_allowed(problem, labels):
                return labels
    return asked | place if _is_allowed(problem, asked | place) else None


def _is_allowed(problem: PendingPodProblem, labels: Labels) -> bool:
    """Return whether the pod may use a node with these labels and reaches its volumes from there."""
    return problem.pod.cls.node_requirement.matches(labels, "") and all(
        volume.matches_node(labels) for volume in _volumes(problem)
    )


def _ladder(problem: PendingPodProblem, place: dict[str, str], labels: dict[str, str], *, weight: int) -> Ladder:
    """Return a ladder of new nodes: first one node with room for one, two or more pods, then several nodes.

    Each size is proposed twice, the second time with room for the other waiting pods that may use such a node.
    """
    rank, there = Rank.NEW_NODE, _nodes_at(problem, place)
    if there and all(map(is_control_plane, there)):
        rank = Rank.FIRST_NODE
    for node in there:  # Does one of them refuse the pod only for lack of room?
        at = problem.columns.index[node.name]
        refusing = {item.plugin for item in problem.filter_result.plugin_results if item.bits[at]}
        refusing.discard(names.POD_TOPOLOGY_SPREAD)
        if refusing and refusing <= _FULL:
            rank = Rank.CAPACITY
    is_new = any(value.startswith("new") for value in place.values())
    asked = {key for item in _volumes(problem) for term in item.terms or () for key in _met(term)}
    told = {key: value for key, value in labels.items() if key in asked} | place
    cls = problem.pod.cls
    needed = dict(cls.node_selector).keys() | {key for term in cls.node_affinity.required or () for key in _met(term)}
    pairs = ", ".join(f"{key}={labels[key]}" for key in sorted(needed - {*told, OS}) if key in labels)
    labelled = f", labelled {pairs}" if pairs else ""
    shorts = dict.fromkeys((key.rpartition("/")[2], value) for key, value in told.items())
    where = "".join(f" in a new {key}" if is_new else f" to {key} {value}" for key, value in shorts)
    waiting = problem.pending + problem.missing
    sizes = [(1, count) for count in range(1, min(waiting, _MOST_ON_ONE) + 1)]
    sizes += [(count, -(-waiting // count)) for count in range(2, min(waiting, _MOST_NEW) + 1)]
    usual = _pods_on_a_usual_node(problem)
    if waiting > _MOST_NEW and 0 < -(-waiting // usual) <= _MOST_USUAL:
        sizes.append((-(-waiting // usual), usual))
    rivals = [pod for pod in problem.rivals if pod.cls.node_requirement.matches(labels, "")]
    additions = ([], rivals) if rivals else ([],)

    def step(at: int) -> Change:
        nodes, pods = sizes[at // len(additions)]
        room = _room(problem, pods, additions[at % len(additions)])
        made: list[Plain] = []
        for number in range(1, nodes + 1):
            name = f"new-node-{number}"
            while name in problem.columns.index:
                name = f"{name}-x"
            metadata = {"name": name, "labels": {**labels, HOSTNAME: name}}
            status = {"allocatable": room}
            made.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": status})
        size = ", ".join(f"{name} {amount}" for name, amount in room.items() if name != PODS)
        free = f" with {size} free{'' if nodes == 1 else ' each'}" if size else ""
        title = f"add {'a node' if nodes == 1 else f'{nodes} nodes'}{where}{free}{labelled}"
        fold = f"{FAMILY} {' '.join(place)}" if there and place else ""
        return Change(title, (AddNodes(tuple(made)),), FAMILY, rank, weight, fold=fold)

    return Ladder(len(sizes) * len(additions), step)


def _pods_on_a_usual_node(problem: PendingPodProblem) -> int:
    """Return how many of the pods an empty node of the cluster takes, at least 1.

    The number is the median of all nodes that take any.
    """
    requests = [(name, amount) for name, amount in problem.pod.cls.requests if amount and name != PODS]
    fitting = sorted(
        min([node.allocatable.get(PODS, 0), *(node.allocatable.get(name, 0) // amount for name, amount in requests)])
        for node in problem.cluster.nodes
        if not is_control_plane(node)
    )
    fitting = [count for count in fitting if count > 0]
    return fitting[len(fitting) // 2] if fitting else 1


def _room(problem: PendingPodProblem, pods: int, others: Iterable[Pod]) -> dict[str, str]:
    """Return the allocatable resources that a number of pods and others need, as Kubernetes quantities."""
    room: dict[str, str] = {}
    wanted = Counter({name: amount * pods for name, amount in problem.pod.cls.requests})
    for other in others:
        wanted.update(dict(other.cls.requests))
    for resource, total in wanted.items():
        if not total:
            continue
        if resource == CPU:
            room[CPU] = amount(CPU, total)
        elif resource in (MEMORY, EPHEMERAL_STORAGE):
            is_large = total >= _LARGE or total % _GIBI == 0
            room[resource] = f"{-(-total // _GIBI)}Gi" if is_large else f"{-(-total // _MEBI)}Mi"
        elif resource != PODS:
            room[resource] = str(total)
    room[PODS] = str(max(110, pods))
    return room
