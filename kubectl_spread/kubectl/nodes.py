"""Commands on nodes: `kubectl cordon`, `uncordon`, `drain` and `taint`; and steps beyond kubectl.

Beyond kubectl, a domain fails (`lose`) or recovers (`restore`), and nodes join (`add-nodes`).
Source: staging/src/k8s.io/kubectl/pkg/drain/filters.go, makeFilters; pkg/cmd/drain/drain.go; pkg/cmd/taint/taint.go,
utils.go (v1.36.2).
Difference: whether a pod that the run creates has an emptyDir volume is only known from its workload's template.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import steps
from kubectl_spread.engine.nodes import add_taint, remove_taints, set_cordon
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl.kinds import kind_of
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import Part, Situation
from kubectl_spread.kubectl.targets import find_targets, pairs_of, require, selector
from kubectl_spread.objects import resources
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import NO_EXECUTE, NO_SCHEDULE, Node, PREFER_NO_SCHEDULE, Taint
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.objects.selectors import HOSTNAME, key_errors, REGION, value_errors, ZONE
from kubectl_spread.text.wording import comma_list, short

_EFFECTS = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
_SHORT = {"zone": ZONE, "region": REGION, "node": HOSTNAME, "host": HOSTNAME, "hostname": HOSTNAME}
_ROOM = {"cpu": "CPU", "memory": "memory", "pods": "pod limit"}  # and their names in notes
_DEFAULT_ROOM = {"cpu": "16", "memory": "64Gi", "pods": "110"}
_NOT_READY = "node.kubernetes.io/not-ready"
_MOST_NODES = 15_000
_DAEMON = "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
_LOCAL = "cannot delete Pods with local storage (use --delete-emptydir-data to override)"
_BARE = "cannot delete cannot delete Pods that declare no controller (use --force to override)"  # kubectl's own words


def put_nodes(situation: Situation, nodes: Iterable[Node]) -> list[steps.Op]:
    """Add or replace nodes, and return the operations for it."""
    return situation.change("Node", {ObjectKey("Node", "", node.name): node for node in nodes})


def node_of(situation: Situation, name: str) -> Node:
    """Return a node that exists."""
    return next(node for node in situation.cluster.nodes if node.name == name)


def _named_nodes(command: Command, situation: Situation) -> tuple[str, ...]:
    """Return the names of the nodes to cordon, uncordon or drain; `node/NAME` is accepted, too.

    Raises:
        StepError: no node is named, or names are combined with a selector.
        RefusedError: a node does not exist.
    """
    words = command.arguments
    if command.has("selector"):
        if words:
            raise StepError("cannot specify both a node name and a --selector option")
        chosen = selector(command.value("selector"))
        return tuple(node.name for node in situation.cluster.nodes if chosen.matches(node.labels))
    if not words:
        raise StepError(f"name a node: `{command.verb.name} {command.verb.arguments}`")
    names = []
    for word in words:
        kind, slash, name = word.partition("/")
        if slash and (kind_of(kind) != "Node" or not name):
            raise StepError(f"{word} is not a node")
        names.append(name if slash else word)
    for name in names:
        require(ObjectKey("Node", "", name), situation.cluster)
    return tuple(names)


def cordon(command: Command, situation: Situation, *, is_cordoned: bool = True) -> Iterator[Part]:
    """Cordon nodes, or uncordon them."""
    names = _named_nodes(command, situation)
    put_nodes(situation, [set_cordon(node_of(situation, name), is_cordoned=is_cordoned) for name in names])
    yield steps.Cordon(names, is_cordoned)


def drain(command: Command, situation: Situation) -> Iterator[Part]:
    """Cordon nodes, then evict their pods; a node with pods that need an explicit option only gets cordoned."""
    names = _named_nodes(command, situation)
    text = command.value("pod-selector")
    chosen = selector(text) if text else None
    cluster = situation.cluster
    yield from cordon(command, situation)
    refusals: dict[str, str] = {}
    for name in names:
        reasons: dict[str, list[str]] = {}
        for pod in cluster.pods:
            if pod.node_name == name and (chosen is None or chosen.matches(pod.labels)):
                why = _why_not_evicted(pod, command, cluster)
                if why:
                    reasons.setdefault(why, []).append(pod.key)
        texts = [f"{why}: {', '.join(sorted(pods))}" for why, pods in reasons.items()]
        if texts:
            refusals[name] = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    able = tuple(name for name in names if name not in refusals)
    if able:
        timeout = command.value("timeout", "0")
        timeout_s = resources.seconds(timeout)
        if timeout_s is None or (timeout.isdigit() and timeout_s):
            why = f'{"missing unit in" if timeout_s else "invalid"} duration "{short(timeout)}"'
            raise StepError(f'invalid argument "{short(timeout)}" for "--timeout" flag: time: {why}')
        skips = command.number("skip-wait-for-delete-timeout") > 0
        yield steps.Drain(able, chosen, command.has("disable-eviction"), timeout_s > 0, skips)
    said = "\n".join(
        f'error: unable to drain node "{name}" due to error: {why}, continuing command...'
        for name, why in refusals.items()
    )
    if said:
        yield RefusedError(said)
    yield from (f"node/{name} stays cordoned, and keeps its pods" for name in refusals)
    owners = (cluster.top_owner(pod) for pod in cluster.bound_pods() if pod.node_name in able)
    concerns = {key for key in owners if key is not None and key.kind not in ("DaemonSet", "Node")}
    yield from concerns
    unsure = sorted({key.namespace for key in concerns if not cluster.has_all_budgets(key.namespace)})
    if unsure and not command.has("disable-eviction"):
        yield f"The facts hold no PodDisruptionBudget of {comma_list(unsure)}, so none refuses an eviction here"


def _why_not_evicted(pod: Pod, command: Command, cluster: Cluster) -> str:
    """Return the reason why kubectl does not evict a pod; empty if it evicts or skips it."""
    if pod.owner is not None and pod.owner.kind == "Node":  # a mirror pod
        return ""
    if pod.owner is not None and pod.owner.kind == "DaemonSet":
        return "" if command.has("ignore-daemonsets") or not pod.is_visible else _DAEMON
    deletes_local = command.has("delete-emptydir-data") or command.has("delete-local-data")
    controller = cluster.controllers.get(cluster.top_owner(pod) or ObjectKey())
    spec = {} if controller is None else fields(controller.workload.template, "spec")
    is_local = pod.has_local_storage or any("emptyDir" in volume for volume in mappings(spec.get("volumes")))
    if pod.is_visible and not deletes_local and is_local:
        return _LOCAL
    return _BARE if pod.owner is None and pod.is_visible and not command.has("force") else ""


def taint(command: Command, situation: Situation) -> Iterator[Part]:
    """Add taints to nodes, or remove them."""
    words = pairs_of(command)
    if not words:
        raise StepError("at least one taint update is required")
    added = tuple(taint_of(word) for word in words if not word.endswith("-"))
    removed = []  # keys and effects; an empty effect is any
    for word in words:
        if word.endswith("-"):  # KEY:EFFECT- or KEY-
            pair, _, effect = word.removesuffix("-").partition(":")
            _check_effect(effect or NO_SCHEDULE)
            removed.append((pair.partition("=")[0], effect))
    targets = find_targets(command, situation, has_pairs=True)
    if any(target.kind != "Node" for target in targets):
        raise StepError("invalid resource type, only node(s) is supported")
    nodes = [node_of(situation, target.name) for target in targets]
    replaced = {(item.key, item.effect) for item in added}
    changed = []
    for node in nodes:
        clashes = {item.key for item in node.taints if (item.key, item.effect) in replaced}
        if clashes and not command.has("overwrite"):
            what = f"already has {','.join(sorted(clashes))} taint(s) with same effect(s) and --overwrite is false"
            raise RefusedError(f"error: node {node.name} {what}")
        after = node
        for key, effect in removed:
            if remove_taints(node, key, effect) == node:
                raise RefusedError(f'error: taint "{key}{effect and f":{effect}"}" not found')
            after = remove_taints(after, key, effect)
        for item in added:
            after = add_taint(after, item)
        changed.append(after)
    put_nodes(situation, changed)
    names = tuple(node.name for node in changed)
    yield from (steps.Untaint(names, *each) for each in removed)
    yield from (steps.TaintNodes(names, each) for each in added)


def taint_of(word: str) -> Taint:
    """Return the taint of KEY=VALUE:EFFECT or KEY:EFFECT.

    Raises:
        StepError: it is invalid.
    """
    pair, colon, effect = word.partition(":")
    key, _, value = pair.partition("=")
    if not colon or not effect:
        raise StepError(f"invalid taint spec: {word}; write it as KEY=VALUE:EFFECT")
    errors = [*key_errors(key), *value_errors(value)]
    if errors:
        raise StepError(f"invalid taint spec: {word}, {errors[0]}")
    _check_effect(effect)
    return Taint(key, value, effect)


def _check_effect(effect: str) -> None:
    if effect not in _EFFECTS:
        raise StepError(f"invalid taint effect: {effect}, unsupported taint effect")


def lose(command: Command, situation: Situation) -> Iterator[Part]:
    """Make all nodes with a label unreachable."""
    yield steps.NodesDown(_nodes_of_domains(command, situation))


def restore(command: Command, situation: Situation) -> Iterator[Part]:
    """Recover lost nodes, and make joined nodes ready."""
    names = _nodes_of_domains(command, situation)
    nodes = [node_of(situation, name) for name in names]
    joined = [node for node in nodes if any(taint.key == _NOT_READY for taint in node.taints)]
    yield steps.NodesUp(names)
    if joined:
        yield steps.Untaint(tuple(node.name for node in joined), _NOT_READY)
        left = [tuple(taint for taint in node.taints if taint.key != _NOT_READY) for node in joined]
        put_nodes(situation, [node._replace(taints=taints) for node, taints in zip(joined, left, strict=True)])


def _nodes_of_domains(command: Command, situation: Situation) -> tuple[str, ...]:
    """Return the nodes in the given domains: they have one of the values of each key."""
    if not command.arguments:
        raise StepError(f"name a domain: `{command.verb.name} zone=a`")
    values_of: dict[str, set[str]] = {}
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
        values_of.setdefault(label, set()).add(value)
    return tuple(
        node.name for node in nodes if all(node.labels.get(label) in values for label, values in values_of.items())
    )


def _label(key: str, nodes: Iterable[Node]) -> str:
    """Return the label for a word: the word itself if a node has it as a label, else a well-known label."""
    return key if any(key in node.labels for node in nodes) else _SHORT.get(key, key)


def add_nodes(command: Command, situation: Situation) -> Iterator[Part]:
    """Add nodes: like a typical node of the cluster, with other labels and another room."""
    entries = [entry for word in (*command.arguments, *command.values("labels")) for entry in word.split(",")]
    if not entries:
        raise StepError("say where the nodes are: `add-nodes zone=c,count=2,cpu=4,memory=16Gi`")
    known = situation.cluster.nodes
    labels: dict[str, str] = {}
    room: dict[str, str] = {}
    count = 1
    for entry in entries:
        key, equals, value = entry.partition("=")
        if not equals or not key:
            raise StepError(f"`{entry}` is not KEY=VALUE, such as zone=a")
        if key == "count":
            if not value.isascii() or not value.isdecimal() or not 0 < int(value[:9]) <= _MOST_NODES:
                raise StepError(f"`count` is a number from 1 to {_MOST_NODES:,}, not {value or 'empty'}")
            count = int(value)
        elif key in _ROOM:
            try:
                is_negative = resources.parse(value) < 0
            except resources.QuantityError as error:
                raise StepError(f"`{key}` is not a quantity: {value or 'empty'}: {error}") from None
            if is_negative:
                raise StepError(f"`{key}` is less than 0: {value}")
            room[key] = value
        else:
            label = _label(key, known)
            errors = [*key_errors(label), *value_errors(value)]
            if errors:
                raise StepError(f'invalid label "{entry}": {errors[0]}')
            labels[label] = value
    # A typical node: of the most frequent size, and of the same domain if that has nodes
    usable = [node for node in known if not node.unschedulable and not any(taint.repels for taint in node.taints)]
    near = [node for node in usable if labels.items() <= node.labels.items()] or usable
    sizes = [tuple(sorted(node.allocatable.items())) for node in near]
    model = near[sizes.index(Counter(sizes).most_common(1)[0][0])] if near else None
    taints = tuple(taint_of(text) for text in command.values("taint"))
    if command.has("not-ready"):
        taints += (Taint(_NOT_READY, "", NO_SCHEDULE), Taint(_NOT_READY, "", NO_EXECUTE))
    allocatable = read.node({"status": {"allocatable": {**_DEFAULT_ROOM, **room}}}).allocatable
    if model is not None:
        allocatable = {**model.allocatable, **{key: allocatable[key] for key in room if key in allocatable}}
    where = labels.get(ZONE) or next(iter(labels.values()), "")
    stem = f"new-{where}" if where else "new"
    taken = {node.name for node in known}
    names = (name for number in itertools.count(1) if (name := f"{stem}-{number}") not in taken)
    nodes = []
    for name in itertools.islice(names, count):
        own = {**({} if model is None else model.labels), **labels, HOSTNAME: labels.get(HOSTNAME, name)}
        node = Node(name, own, taints=taints, allocatable=allocatable)
        if model is not None:
            node = node._replace(features=model.features, kubelet_version=model.kubelet_version)
        nodes.append(set_cordon(node, is_cordoned=True) if command.has("unschedulable") else node)
    yield from put_nodes(situation, nodes)
    missing = [name for key, name in _ROOM.items() if key not in room]
    if model is not None and missing:
        yield f"the new nodes copy {', '.join(missing)} and other labels from {model.name}"
