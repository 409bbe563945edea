"""Pods of DaemonSets, which follow their nodes when interchangeable nodes are exchanged.

Such a pod requires its node by name, also while it waits. Its ordinal and its class therefore name the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Optional

from kubectl_spread.engine.state import P, PENDING, Slot, slot, Stage
from kubectl_spread.engine.world import World
from kubectl_spread.objects.affinity import NodeAffinity, NodeSelectorTerm
from kubectl_spread.objects.pod import PodClass


class Pins:
    """Pods of DaemonSets in a world, and the nodes that they require."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known = 0  # number of classes that were looked at
        self._homes: dict[int, int] = {}  # by class: the required node
        self._shapes: dict[int, int] = {}  # by class: equal for classes that differ in the required node only
        self._shape_at: dict[PodClass, int] = {}
        self._nameless: dict[P, P] = {}
        self._moved: dict[tuple[P, int], P] = {}

    def homes(self) -> Mapping[int, int]:
        """Return the required node of each class of a DaemonSet's pods."""
        classes = self._world.classes
        for at in range(self._known, len(classes)):
            home = self._world.node_at.get(required_node(classes[at]) or "")
            if home is not None:
                self._homes[at] = home
                shape = with_node(classes[at], "")
                self._shapes[at] = self._shape_at.setdefault(shape, len(self._shape_at))
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

    def _without_name(self, pod: P) -> P:
        found = self._nameless.get(pod)
        if found is None:
            nominated = PENDING if pod.nominated == PENDING else 0
            found = self._nameless[pod] = pod._replace(
                ordinal=0, cls=-2 - self._shapes[pod.cls], node=self._homes[pod.cls], nominated=nominated
            )
        return found

    def moved(self, pod: P, place: Mapping[int, int]) -> Optional[P]:
        """Return a pod after its node has changed its place; None if the pod requires no node."""
        if pod.cls not in self._homes or not self._is_at_home(pod):
            return None
        home = place.get(pod.ordinal, pod.ordinal)
        found = self._moved.get((pod, home))
        if found is None:
            cls = with_node(self._world.classes[pod.cls], self._world.node_names[home])
            found = self._moved[pod, home] = pod._replace(
                ordinal=home,
                cls=self._world.class_index(cls),
                node=PENDING if pod.node == PENDING else home,
                nominated=PENDING if pod.nominated == PENDING else home,
            )
        return found

    def moved_slot(self, named: Slot, place: Mapping[int, int]) -> Slot:
        """Return the identifier of a pod after its node has changed its place."""
        owner, rev, ordinal, cls, node, is_new = named
        found = self.moved(P(owner, rev, ordinal, cls, node, Stage.READY, is_new=is_new), place)
        return (*named[:4], place.get(node, node), is_new) if found is None else slot(found)


def with_node(cls: PodClass, name: str) -> PodClass:
    """Return the class of the pod that the same DaemonSet has on another node."""
    terms = tuple(_with_node(term, name) for term in cls.node_affinity.required or ())
    return cls._replace(node_affinity=NodeAffinity(terms, cls.node_affinity.preferred))


def _with_node(term: NodeSelectorTerm, name: str) -> NodeSelectorTerm:
    return term._replace(match_fields=tuple(field._replace(values=(name,)) for field in term.match_fields))


def required_node(cls: PodClass) -> Optional[str]:
    """Return the node that the pod of a DaemonSet requires by name; None for other pods."""
    if cls.owner is None or cls.owner.kind != "DaemonSet" or not cls.node_affinity.required:
        return None
    fields = [field for term in cls.node_affinity.required for field in term.match_fields]
    names = {name for field in fields for name in field.values}
    is_pinned = all(term.match_fields for term in cls.node_affinity.required)
    return names.pop() if is_pinned and len(names) == 1 and all(field.operator == "In" for field in fields) else None
