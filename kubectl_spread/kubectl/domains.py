"""Steps beyond kubectl: a domain fails or recovers, and nodes join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from kubectl_spread.engine import steps
from kubectl_spread.engine.nodes import set_cordon
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl.editing.labels import taint_of
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.objects.amounts import quantity
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.selectors.labels import HOSTNAME, key_errors, REGION, value_errors, ZONE
from kubectl_spread.objects.taints import NO_EXECUTE, NO_SCHEDULE, Taint

_SHORT = {"zone": ZONE, "region": REGION, "node": HOSTNAME, "host": HOSTNAME, "hostname": HOSTNAME}
_ROOM = {"cpu": "CPU", "memory": "memory", "pods": "pod limit"}  # and their names in notes
_NOT_READY = "node.kubernetes.io/not-ready"
_MOST_NODES = 15_000


def lose(command: Command, situation: Situation) -> CommandEffect:
    """Make all nodes with a label unreachable."""
    names = _nodes_of(command, situation)
    situation.lost |= set(names)
    return CommandEffect((steps.NodesDown(names),))


def restore(command: Command, situation: Situation) -> CommandEffect:
    """Recover lost nodes, and make joined nodes ready."""
    names = _nodes_of(command, situation)
    situation.lost -= set(names)
    joined = tuple(name for name in names if any(taint.key == _NOT_READY for taint in situation.node(name).taints))
    ops: list[steps.Op] = [steps.NodesUp(names)]
    if joined:
        ops.append(steps.Untaint(joined, _NOT_READY))
        situation.put_nodes(_ready(situation.node(name)) for name in joined)
    return CommandEffect(tuple(ops))


def _ready(node: Node) -> Node:
    return node._replace(taints=tuple(taint for taint in node.taints if taint.key != _NOT_READY))


def _nodes_of(command: Command, situation: Situation) -> tuple[str, ...]:
    """Return the nodes in the given domains: they have one of the values of each key."""
    if not command.arguments:
        raise StepError(f"name a domain: `{command.verb.name} zone=a`")
    wanted: dict[str, set[str]] = {}
    nodes = situation.cluster.nodes
    for word in command.arguments:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise StepError(f"`{word}` is not KEY=VALUE, such as zone=a")
        label = _label(key, nodes)
        if all(node.labels.get(label) != value for node in nodes):
            values = sorted({node.labels[label] for node in nodes if label in node.labels})
            there = f"; there are {', '.join(values[:10])}" if values else f"; no node has a label {label}"
            raise RefusedError(f"error: no node has the label {label}={value}{there}")
        wanted.setdefault(label, set()).add(value)
    return tuple(
        node.name for node in nodes if all(node.labels.get(label) in values for label, values in wanted.items())
    )


def _label(key: str, nodes: Iterable[Node]) -> str:
    """Return the label for a word: the word itself if a node has it as a label, else a well-known label."""
    return key if any(key in node.labels for node in nodes) else _SHORT.get(key, key)


class _Joining(NamedTuple):
    """New nodes: their labels, number and room."""

    labels: dict[str, str]
    number: int
    room: dict[str, str]


def add_nodes(command: Command, situation: Situation) -> CommandEffect:
    """Add nodes."""
    joining = _joining(command, situation)
    model = _model(situation.cluster.nodes, joining.labels)
    taints = tuple(taint_of(text) for text in command.values("taint"))
    if command.has("not-ready"):
        taints += (Taint(_NOT_READY, "", NO_SCHEDULE), Taint(_NOT_READY, "", NO_EXECUTE))
    taken = {node.name for node in situation.cluster.nodes}
    made = []
    for name in _names(joining, taken):
        node = _made(name, joining, model)._replace(taints=taints)
        made.append(set_cordon(node, is_cordoned=True) if command.has("unschedulable") else node)
    situation.put_nodes(made)
    return CommandEffect((steps.ChangeNodes(tuple(made)),), notes=_notes(joining, model))


def _joining(command: Command, situation: Situation) -> _Joining:
    entries = [entry for word in command.arguments for entry in word.split(",")]
    entries += [entry for text in command.values("labels") for entry in text.split(",")]
    if not entries:
        raise StepError("say where the nodes are: `add-nodes zone=c,count=2,cpu=4,memory=16Gi`")
    labels: dict[str, str] = {}
    room: dict[str, str] = {}
    count = 1
    for entry in entries:
        key, equals, value = entry.partition("=")
        if not equals or not key:
            raise StepError(f"`{entry}` is not KEY=VALUE, such as zone=a")
        if key == "count":
            count = _count(value)
        elif key in _ROOM:
            room[key] = _amount(key, value)
        else:
            label = _label(key, situation.cluster.nodes)
            errors = [*key_errors(label), *value_errors(value)]
            if errors:
                raise StepError(f'invalid label "{entry}": {errors[0]}')
            labels[label] = value
    return _Joining(labels, count, room)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text[:9]) <= _MOST_NODES:
        raise StepError(f"`count` is a number from 1 to {_MOST_NODES:,}, not {text or 'empty'}")
    return int(text)


def _amount(key: str, text: str) -> str:
    try:
        if quantity.parse(text) < 0:
            raise StepError(f"`{key}` is less than 0: {text}")
    except quantity.QuantityError as error:
        raise StepError(f"`{key}` is not a quantity: {text or 'empty'}: {error}") from None
    return text


def _model(nodes: Iterable[Node], labels: dict[str, str]) -> Node | None:
    """Return a typical node: of the most frequent size, and of the same domain if that has nodes."""
    usable = [node for node in nodes if not node.unschedulable and not any(taint.repels for taint in node.taints)]
    near = [node for node in usable if all(node.labels.get(key) == value for key, value in labels.items())]
    sizes = Counter(tuple(sorted(node.allocatable.items())) for node in near or usable)
    if not sizes:
        return None
    size = sizes.most_common(1)[0][0]
    return next(node for node in near or usable if tuple(sorted(node.allocatable.items())) == size)


def _names(joining: _Joining, taken: set[str]) -> list[str]:
    where = joining.labels.get(ZONE) or next(iter(joining.labels.values()), "")
    stem = f"new-{where}" if where else "new"
    found: list[str] = []
    number = 0
    while len(found) < joining.number:
        number += 1
        name = f"{stem}-{number}"
        found += [] if name in taken else [name]
    return found


def _made(name: str, joining: _Joining, model: Node | None) -> Node:
    """Return a copy of a node with other labels and another room."""
    defaults = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    room = read.node({"status": {"allocatable": {**defaults, **joining.room}}}).allocatable
    if model is not None:
        own = read.node({"status": {"allocatable": joining.room}}).allocatable
        room = {**model.allocatable, **{key: value for key, value in own.items() if key in joining.room}}
    labels = {} if model is None else dict(model.labels)
    return Node(
        name,
        {**labels, **joining.labels, HOSTNAME: joining.labels.get(HOSTNAME, name)},
        allocatable=room,
        features=() if model is None else model.features,
        kubelet_version="" if model is None else model.kubelet_version,
    )


def _notes(joining: _Joining, model: Node | None) -> tuple[str, ...]:
    missing = [name for key, name in _ROOM.items() if key not in joining.room]
    if model is None or not missing:
        return ()
    return (f"the new nodes copy {', '.join(missing)} and other labels from {model.name}",)
