"""Tree of a world's domains and nodes, with what distinguishes them: labels, taints, room, pods, and user steps.

Pods of DaemonSets follow their nodes when interchangeable nodes are exchanged. Such a pod requires its node by name,
also while it waits. Its ordinal and its class therefore name the node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.columns import refines
from kubectl_spread.containers import Numbering
from kubectl_spread.engine.state import P, PENDING, Slot, slot, Stage, State
from kubectl_spread.engine.world import template_pod, World
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import HOSTNAME, NodeAffinity, NodeSelectorTerm, PodAffinityTerm, ZONE
from kubectl_spread.scheduler.plugins.nodeaffinity import NodeAffinity as NodeAffinityPlugin
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread


class Pins:
    """Pods of DaemonSets in a world, and the nodes that they require."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known = 0  # number of classes that were looked at
        self._homes: dict[int, int] = {}  # by class: the required node
        self._shapes: dict[int, int] = {}  # by class: equal for classes that differ in the required node only
        self._shape_at = Numbering[PodClass]()

    def homes(self) -> Mapping[int, int]:
        """Return the required node of each class of a DaemonSet's pods."""
        classes = self._world.classes
        for at in range(self._known, len(classes)):
            home = self._world.node_at.get(required_node(classes[at]) or "")
            if home is not None:
                self._homes[at] = home
                self._shapes[at] = self._shape_at[with_node(classes[at], "")]
        self._known = len(classes)
        return self._homes

    def nameless(self, pods: Iterable[P]) -> Iterable[P]:
        """Return the pods on the nodes that they require, also the waiting ones, with no other name of the node."""
        homes = self.homes()
        if not homes:
            return pods
        return [self._without_name(pod) if self._is_at_home(pod) else pod for pod in pods]

    def _is_at_home(self, pod: P) -> bool:
        home = self._homes.get(pod.cls)
        return home is not None and pod.ordinal == home and pod.node in (home, PENDING)

    @cached_method
    def _without_name(self, pod: P) -> P:
        nominated = PENDING if pod.nominated == PENDING else 0
        return pod._replace(ordinal=0, cls=-2 - self._shapes[pod.cls], node=self._homes[pod.cls], nominated=nominated)

    def moved(self, pod: P, place: Mapping[int, int]) -> Optional[P]:
        """Return a pod after its node has changed its place; None if the pod requires no node."""
        return self._with_home(pod, place.get(pod.ordinal, pod.ordinal)) if self._is_at_home(pod) else None

    @cached_method
    def _with_home(self, pod: P, home: int) -> P:
        cls = with_node(self._world.classes[pod.cls], self._world.node_names[home])
        return pod._replace(
            ordinal=home,
            cls=self._world.class_index(cls),
            node=PENDING if pod.node == PENDING else home,
            nominated=PENDING if pod.nominated == PENDING else home,
        )

    def moved_slot(self, named: Slot, place: Mapping[int, int]) -> Slot:
        """Return the identifier of a pod after its node has changed its place."""
        owner, rev, ordinal, cls, node, is_new = named
        found = self.moved(P(owner, rev, ordinal, cls, node, Stage.READY, is_new=is_new), place)
        return (*named[:4], place.get(node, node), is_new) if found is None else slot(found)


def with_node(cls: PodClass, name: str) -> PodClass:
    """Return the class of the pod that the same DaemonSet has on another node."""
    terms = tuple(
        term._replace(match_fields=tuple(field._replace(values=(name,)) for field in term.match_fields))
        for term in cls.node_affinity.required or ()
    )
    return cls._replace(node_affinity=NodeAffinity(terms, cls.node_affinity.preferred))


def required_node(cls: PodClass) -> Optional[str]:
    """Return the node that the pod of a DaemonSet requires by name; None for other pods."""
    if cls.owner is None or cls.owner.kind != "DaemonSet" or not cls.node_affinity.required:
        return None
    fields = [field for term in cls.node_affinity.required for field in term.match_fields]
    names = {name for field in fields for name in field.values}
    is_pinned = all(term.match_fields for term in cls.node_affinity.required)
    return names.pop() if is_pinned and len(names) == 1 and all(field.operator == "In" for field in fields) else None


Tree = Any  # A node, or the classes of a domain's children; each is a tuple of trees that are interchangeable.
Level = tuple[Any, Callable[[Any], tuple[object, ...]]]  # The domain of each node, and what distinguishes a domain.


def leaves(tree: Tree) -> list[int]:
    """Return the nodes of a tree, in its order."""
    return [tree] if isinstance(tree, int) else [leaf for item in tree for child in item for leaf in leaves(child)]


class NodeTree(NamedTuple):
    """The domains and nodes of a cluster. Two nodes or domains are interchangeable if their signatures are equal.

    traits: what distinguishes each node, as a text. signatures: of each domain, by key and value. paths: of each node,
    the signatures of its domains from the outermost, and its own.
    """

    root: Tree
    traits: dict[int, str]
    signatures: dict[str, dict[str, Any]]
    paths: dict[int, tuple[Any, ...]]


def node_tree(
    world: World,
    start: State,
    named: Iterable[str],
    *,
    joined: Collection[Node],
    marks: Mapping[str, object],
    pins: Pins,
) -> NodeTree:
    """Return the tree of domains and nodes.

    Args:
        world: the nodes and all references to them.
        start: initial state; its contents distinguish nodes.
        named: nodes that the user's steps name.
        joined: nodes as the steps create them; a domain that one of them joins is unique.
        marks: other distinctions between nodes, by name.
        pins: pods of DaemonSets, which do not distinguish nodes by requiring them.
    """
    homes = pins.homes()
    classes = [
        *dict.fromkeys(with_node(cls, "") if at in homes else cls for at, cls in enumerate(world.classes)),
        *(world.class_of_new_pods(rev.at) or template_pod(rev.workload).cls for rev in world.revisions),
        *world.background_affinities,
    ]
    nodes = {at: node for at, node in enumerate(world.facts[start.facts].nodes) if node is not None}
    selecting = _selecting_keys(world, classes)  # Selectors name their values.
    topology = [key for key in _topology_keys(world, classes) if key not in selecting]  # They only distinguish domains.
    nested = _nested(topology, nodes)
    loose = [key for key in topology if key not in nested and not _is_unique(key, nodes)]
    contents: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for pod in pins.nameless(start.pods):
        contents[pod.node].append((*pod[:4], *pod[5:]))
    down = world.facts[start.facts].down
    named = frozenset(named)
    # Claims of new pods may be bound to volumes only when their pods are placed.
    claims_bind_late = world.claim_templates and any(item.waits for item in world.cluster.storage.classes.values())
    domains = _joined_domains(topology, joined, nodes.values())
    signed: dict[int, str] = {}
    required = {name for term in _node_terms(world, classes) for field in term.match_fields for name in field.values}
    for at, node in nodes.items():
        others = sorted(_look(world, pod) for pod in world.on_node.get(node.name, ()))
        room = tuple(sorted(node.allocatable.items()))
        color = (node.taints, node.unschedulable, room, node.images, node.features, others)
        traits = ("named", node.name) if node.name in named else (at in down, contents.get(at), color)
        own = at if claims_bind_late or node.name in required else 0
        # A provisioner knows domains by their names.
        names = None if world.provisioner is None else sorted((node.labels | {HOSTNAME: ""}).items())
        special = tuple(domain for domain in domains if node.labels.get(domain[0]) == domain[1])
        selected = [node.labels.get(key) for key in sorted(selecting)]
        has_keys = [key in node.labels for key in topology], [node.labels.get(key) for key in loose]
        signed[at] = repr((own, names, marks.get(node.name), traits, selected, special, has_keys))
    paths: dict[int, tuple[Any, ...]] = dict.fromkeys(nodes, ())
    levels = [
        ({at: node.labels.get(key) for at, node in nodes.items()}, lambda value: (value is None,)) for key in nested
    ]
    root, _ = tree_of(levels, signed, nodes, paths=paths)
    signatures = {}
    for key in topology:
        if key not in loose:
            depth = nested.index(key) + 1 if key in nested else len(nested) + 1
            signatures[key] = {node.labels[key]: paths[at][:depth] for at, node in nodes.items() if key in node.labels}
    return NodeTree(root, signed, signatures, paths)


def _joined_domains(keys: Iterable[str], joined: Iterable[Node], nodes: Iterable[Node]) -> list[tuple[str, str]]:
    """Return the domains, as key and value, that a step adds a node to or takes a node from."""
    known = {node.name: node.labels for node in nodes}
    found: set[tuple[str, str]] = set()
    for node in joined:
        before = known.get(node.name, {})
        for key in keys:
            values = {before.get(key), node.labels.get(key)}
            if len(values) > 1:
                found.update((key, value) for value in values if value is not None)
    return sorted(found)


def _look(world: World, pod: Pod) -> int:
    """Return a number that is equal for pods that look the same to other pods.

    The world keeps its pods' classes alive, so an id always refers to the same class.
    """
    cls = pod.cls
    key = (id(cls), pod.terminating)
    found = world.looks.get(key)
    if found is None:
        # The fields on which the scheduling of other pods depends
        seen = (
            cls.namespace, cls.labels, cls.requests, cls.nonzero, cls.host_ports, cls.pod_affinity,
            cls.pod_anti_affinity, cls.preferred_affinity, cls.preferred_anti_affinity, cls.priority, cls.volumes,
            pod.terminating,
        )  # fmt: skip
        found = world.looks[key] = world.look_numbers[repr(seen)]
    return found


def _topology_keys(world: World, classes: Iterable[PodClass]) -> list[str]:
    """Return the label keys that only distinguish domains, also those of the cluster's default constraints."""
    keys = {HOSTNAME, ZONE}
    for profile in world.profiles.values():
        plugin = profile.plugin(PodTopologySpread)
        keys.update(item.topology_key for item in (plugin and plugin.configured_defaults) or ())
    for cls in classes:
        keys.update(item.topology_key for item in cls.constraints)
        keys.update(term.topology_key for term in affinity_terms(cls))
    return sorted(keys)


def affinity_terms(cls: PodClass) -> Iterator[PodAffinityTerm]:
    """Yield the terms of required and preferred affinity and anti-affinity to other pods."""
    yield from cls.pod_affinity
    yield from cls.pod_anti_affinity
    for _, term in (*cls.preferred_affinity, *cls.preferred_anti_affinity):
        yield term


def _selecting_keys(world: World, classes: Iterable[PodClass]) -> set[str]:
    """Return the label keys whose values are named by a selector."""
    storage = world.cluster.storage
    found = {key for cls in classes for key, _ in cls.node_selector}
    found.update(key for volume in storage.volumes.values() for key in volume.labels)
    of_volumes = (term for volume in storage.volumes.values() for term in volume.terms or ())
    for term in (*_node_terms(world, classes), *of_volumes):
        found.update(requirement.key for requirement in term.match_expressions)
    for item in storage.classes.values():
        found.update(requirement.key for allowed in item.allowed or () for requirement in allowed)
    for capacity in storage.capacities:
        found.update(requirement.key for requirement in capacity.topology.requirements or ())
    return found


def _node_terms(world: World, classes: Iterable[PodClass]) -> Iterator[NodeSelectorTerm]:
    """Yield the terms of the pods' node affinity, and of the one that the scheduler's configuration adds."""
    plugins = (profile.plugin(NodeAffinityPlugin) for profile in world.profiles.values())
    added = (plugin.added for plugin in plugins if plugin is not None)
    for affinity in (*(cls.node_affinity for cls in classes), *added):
        yield from affinity.required or ()
        for preferred in affinity.preferred:
            yield preferred.term


def _is_unique(key: str, nodes: dict[int, Node]) -> bool:
    """Return whether no two nodes have the same value of a key."""
    values = [node.labels[key] for node in nodes.values() if key in node.labels]
    return len(values) == len(set(values))


def _nested(keys: Iterable[str], nodes: dict[int, Node]) -> list[str]:
    """Return nested keys, the coarsest first: each domain lies in one domain of the previous key."""
    coarse = [key for key in keys if not _is_unique(key, nodes)]
    coarse.sort(key=lambda key: (len({node.labels.get(key) for node in nodes.values()}), key))
    levels: list[str] = []
    for key in coarse:
        domains = [node.labels.get(key) for node in nodes.values()]
        if not levels or refines(domains, [node.labels.get(levels[-1]) for node in nodes.values()]):
            levels.append(key)
    return levels


def tree_of(
    levels: Sequence[Level], signed: Any, members: Iterable[int], *, paths: dict[int, tuple[Any, ...]]
) -> tuple[Tree, str]:
    """Return the tree of domains, and a signature that interchangeable trees share.

    Args:
        levels: divisions into nested domains, the coarsest first.
        signed: signature of each node in its domain.
        members: the nodes of the tree.
        paths: is filled with the signatures of each node's domains, from the coarsest to the node itself.
    """
    children: list[tuple[Tree, Any]] = []
    if not levels:
        for at in members:
            children.append((at, signed[at]))
            paths[at] = (signed[at],)
    else:
        (domain_of, traits), *finer = levels
        parts: dict[Any, list[int]] = defaultdict(list)
        for at in members:
            parts[domain_of[at]].append(at)
        for value, part in parts.items():
            child, inner = tree_of(finer, signed, part, paths=paths)
            signature = repr((*traits(value), inner))
            children.append((child, signature))
            for at in part:
                paths[at] = (signature, *paths[at])
    classes: dict[Any, list[Tree]] = defaultdict(list)
    for child, signature in children:
        classes[signature].append(child)
    ordered = sorted(classes)
    return (
        tuple(tuple(classes[signature]) for signature in ordered),
        repr([(signature, len(classes[signature])) for signature in ordered]),
    )
