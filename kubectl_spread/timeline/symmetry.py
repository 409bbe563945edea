"""States that are the same but for interchangeable nodes, domains and ordinals.

Two nodes are interchangeable if nothing tells them apart: not the labels that anything selects, nor taints, room, pods
of the beginning, nor the user's steps. So are two zones whose nodes are. Of all states that differ in such names alone
one stands for the others:

    zone a: a1 {web}  a2 {}        zone a: a1 {}  a2 {}
    zone b: b1 {}     b2 {}   is   zone b: b1 {}  b2 {web}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.objects.affinity import PodAffinityTerm
from kubectl_spread.objects.labels import HOSTNAME
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.timeline.controllers import statefulset
from kubectl_spread.timeline.state import P
from kubectl_spread.timeline.state import PENDING
from kubectl_spread.timeline.state import State
from kubectl_spread.timeline.world import World


class _Group(NamedTuple):
    """A node, or a domain with what is in it; children of one class are interchangeable."""

    node: int = PENDING
    classes: tuple[tuple[_Group, ...], ...] = ()


class Symmetry:
    """The interchangeable nodes of a world, seen from one state."""

    def __init__(self, world: World, start: State, named: Iterable[str] = ()) -> None:
        """`named`: nodes that the user's steps name."""
        self._world = world
        self._classes = _classes(world)
        nodes = {at: node for at, node in enumerate(world.facts[start.facts].nodes) if node is not None}
        colors = {at: _color(world, start, at, node=node) for at, node in nodes.items()}
        for name in named:
            if name in world.node_at:
                colors[world.node_at[name]] = ("named", name)
        fixed = _selecting_keys(world, self._classes)
        self._keys = [key for key in _topology_keys(self._classes, _default_keys(world)) if key not in fixed]
        is_open = world.claim_templates and any(item.waits for item in world.cluster.storage.classes.values())
        signed: dict[int, Any] = {}
        for at, node in nodes.items():
            own = at if is_open or _is_named(node, self._classes) else 0
            labels = tuple((key, node.labels.get(key)) for key in sorted(fixed))
            signed[at] = (own, colors[at], labels, tuple(key in node.labels for key in self._keys))
        levels = _nested(self._keys, nodes)
        loose = [key for key in self._keys if key not in levels and not _is_unique(key, nodes)]
        for at, node in nodes.items():
            signed[at] = repr((signed[at], [node.labels.get(key) for key in loose]))
        paths: dict[int, tuple[Any, ...]] = dict.fromkeys(nodes, ())
        root, _ = _tree(levels, nodes, signed, list(nodes), paths=paths)
        self._root = root
        self._slots = _leaves(root)
        self.is_trivial = _is_trivial(root)
        self._domains: dict[str, dict[str, Any]] = {}
        for key in self._keys:
            depth = levels.index(key) + 1 if key in levels else len(levels) + 1
            if key not in loose:
                self._domains[key] = {
                    node.labels[key]: paths[at][:depth] for at, node in nodes.items() if key in node.labels
                }

    def canonical(self, state: State) -> State:
        """Return the state that stands for all that differ in interchangeable names alone."""
        state = self._ordinals(state)
        if self.is_trivial:
            return state
        contents: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        for pod in state.pods:
            if pod.node != PENDING:
                contents[pod.node].append((*pod[:4], *pod[5:]))
            elif pod.nominated != PENDING:
                contents[pod.nominated].append(pod)
        _, order = _ordered(self._root, contents)
        if order == self._slots:
            return state
        place = dict(zip(order, self._slots, strict=True))
        place[PENDING] = PENDING
        moved = sorted(
            pod._replace(node=place.get(pod.node, pod.node), nominated=place.get(pod.nominated, pod.nominated))
            for pod in state.pods
        )
        return self._ordinals(state._replace(pods=tuple(moved)))

    def _ordinals(self, state: State) -> State:
        """Give new pods of a StatefulSet that nothing tells apart their ordinals in the order of their nodes."""
        if state.todo:
            return state
        alike: dict[tuple[int, ...], list[P]] = defaultdict(list)
        for pod in state.pods:
            if pod.ordinal < 0 or not pod.is_new or pod.node == PENDING or not self._is_anonymous(state, pod):
                continue
            key = (pod.owner, pod.rev, self._world.shape(pod.cls), pod.stage, pod.end)
            alike[key].append(pod)
        changed: dict[P, P] = {}
        for pods in alike.values():
            ordinals = sorted(pod.ordinal for pod in pods)
            pods.sort(key=lambda pod: (pod.node, pod.ordinal))
            for pod, ordinal in zip(pods, ordinals, strict=True):
                if pod.ordinal != ordinal:
                    changed[pod] = pod._replace(ordinal=ordinal, cls=self._world.cls_of(pod.rev, ordinal))
        if not changed:
            return state
        return state._replace(pods=tuple(sorted(changed.get(pod, pod) for pod in state.pods)))

    def _is_anonymous(self, state: State, pod: P) -> bool:
        own = state.sets[pod.owner] if pod.owner >= 0 else None
        if not isinstance(own, statefulset.Own):
            return False
        return own.current == self._world.specs[own.spec].rev == pod.rev and not self._world.classes[pod.cls].volumes

    def alike(self, key: str) -> dict[str, Any]:
        """Return a signature of each domain of a key: domains with equal ones are interchangeable."""
        return self._domains.get(key, {})


def _classes(world: World) -> list[PodClass]:
    made = [
        world.classes[world.cls_of(rev.at, rev.workload.first_ordinal)]
        for rev in world.revisions
        if rev.workload.kind != "DaemonSet"
    ]
    return [*world.classes, *made]


def _color(world: World, start: State, at: int, *, node: Node) -> Any:
    """Return what tells a node apart, its labels aside."""
    own = tuple(sorted((*pod[:4], *pod[5:]) for pod in start.pods if pod.node == at))
    others = sorted(repr(_as_seen(pod.cls, terminating=pod.terminating)) for pod in world.on_node(node.name))
    room = tuple(sorted(node.allocatable.items()))
    return (
        node.taints,
        node.unschedulable,
        room,
        node.images,
        node.features,
        own,
        others,
        at in world.facts[start.facts].down,
    )


def _as_seen(cls: PodClass, *, terminating: bool) -> Any:
    """Return what other pods' scheduling depends on."""
    return (
        cls.namespace, cls.labels, cls.requests, cls.nonzero, cls.host_ports, cls.pod_affinity, cls.pod_anti_affinity,
        cls.preferred_affinity, cls.preferred_anti_affinity, cls.priority, cls.volumes, terminating,
    )  # fmt: skip


def _default_keys(world: World) -> set[str]:
    """Return the keys of the cluster's default constraints."""
    found = {HOSTNAME, ZONE}
    for profile in world.profiles.values():
        for plugin in profile.pre_filter:
            if isinstance(plugin, PodTopologySpread):
                found.update(item.topology_key for item in plugin.configured_defaults or ())
    return found


def _topology_keys(classes: Iterable[PodClass], defaults: Iterable[str]) -> list[str]:
    """Return the label keys that only serve to tell domains apart."""
    found = set(defaults)
    for cls in classes:
        found.update(item.topology_key for item in cls.constraints)
        found.update(term.topology_key for term in _terms(cls))
    return sorted(found)


def _terms(cls: PodClass) -> Iterator[PodAffinityTerm]:
    yield from cls.pod_affinity
    yield from cls.pod_anti_affinity
    for _, term in (*cls.preferred_affinity, *cls.preferred_anti_affinity):
        yield term


def _selecting_keys(world: World, classes: Iterable[PodClass]) -> set[str]:
    """Return the label keys whose values something names."""
    found: set[str] = set()
    for cls in classes:
        found.update(key for key, _ in cls.node_selector)
        terms = list(cls.node_affinity.required or ())
        terms += [item[1] for item in cls.node_affinity.preferred]
        found.update(requirement.key for term in terms for requirement in term.match_expressions)
    for volume in world.cluster.storage.volumes.values():
        found.update(requirement.key for term in volume.terms or () for requirement in term.match_expressions)
        found.update(volume.labels)
    for item in world.cluster.storage.classes.values():
        found.update(requirement.key for term in item.allowed or () for requirement in term)
    for capacity in world.cluster.storage.capacities:
        found.update(requirement.key for requirement in capacity.topology.requirements or ())
    return found


def _is_named(node: Node, classes: Iterable[PodClass]) -> bool:
    """Return whether some pod asks for the node by its name."""
    return any(
        node.name in requirement.values
        for cls in classes
        for term in cls.node_affinity.required or ()
        for requirement in term.match_fields
    )


def _is_unique(key: str, nodes: dict[int, Node]) -> bool:
    """Return whether no two nodes have the same value of a key."""
    values = [node.labels[key] for node in nodes.values() if key in node.labels]
    return len(values) == len(set(values))


def _nested(keys: Iterable[str], nodes: dict[int, Node]) -> list[str]:
    """Return keys each of whose domains lies in one domain of the key before it, the coarsest first."""
    coarse = [key for key in keys if not _is_unique(key, nodes)]
    coarse.sort(key=lambda key: (len({node.labels.get(key) for node in nodes.values()}), key))
    levels: list[str] = []
    for key in coarse:
        if not levels or _refines(key, levels[-1], nodes):
            levels.append(key)
    return levels


def _refines(fine: str, coarse: str, nodes: dict[int, Node]) -> bool:
    inside: dict[Optional[str], set[Optional[str]]] = defaultdict(set)
    for node in nodes.values():
        inside[node.labels.get(fine)].add(node.labels.get(coarse))
    return all(len(values) == 1 for values in inside.values())


def _tree(
    levels: list[str],
    nodes: dict[int, Node],
    signed: dict[int, Any],
    members: list[int],
    *,
    paths: dict[int, tuple[Any, ...]],
) -> tuple[_Group, Any]:
    """Return the tree of domains, and a signature that interchangeable ones share.

    Args:
        levels: label keys, the coarsest first.
        nodes: by index.
        signed: what tells each node apart from others of its domain.
        members: the nodes of the tree.
        paths: gets for each node the signatures of its domains, from the coarsest to the node itself.
    """
    children: list[tuple[_Group, Any]] = []
    if not levels:
        for at in members:
            children.append((_Group(at), signed[at]))
            paths[at] = (signed[at],)
    else:
        parts: dict[Optional[str], list[int]] = defaultdict(list)
        for at in members:
            parts[nodes[at].labels.get(levels[0])].append(at)
        for value, part in parts.items():
            child, inner = _tree(levels[1:], nodes, signed, part, paths=paths)
            signature = repr((value is None, inner))
            children.append((child, signature))
            for at in part:
                paths[at] = (signature, *paths[at])
    classes: dict[Any, list[_Group]] = defaultdict(list)
    for child, signature in children:
        classes[signature].append(child)
    ordered = sorted(classes)
    return (
        _Group(classes=tuple(tuple(classes[signature]) for signature in ordered)),
        repr([(signature, len(classes[signature])) for signature in ordered]),
    )


def _leaves(group: _Group) -> list[int]:
    if not group.classes:
        return [group.node] if group.node != PENDING else []
    return [leaf for members in group.classes for child in members for leaf in _leaves(child)]


def _is_trivial(group: _Group) -> bool:
    return all(len(members) == 1 and _is_trivial(members[0]) for members in group.classes)


def _ordered(group: _Group, contents: dict[int, list[tuple[int, ...]]]) -> tuple[Any, list[int]]:
    """Return the contents of a group in an order that does not depend on names, and the nodes in that order."""
    if not group.classes:
        found = contents.get(group.node)
        return (tuple(sorted(found)) if found else ()), [group.node]
    keys: list[Any] = []
    order: list[int] = []
    for members in group.classes:
        parts = [_ordered(child, contents) for child in members]
        if len(parts) > 1:
            parts.sort(key=_first)
        for key, nodes in parts:
            keys.append(key)
            order += nodes
    return tuple(keys), order


def _first(item: tuple[Any, list[int]]) -> Any:
    return item[0]
