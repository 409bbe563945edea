"""Actions that change nodes, add or delete them, or wait for them."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.node import Node
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.taints import Taint, UNSCHEDULABLE
from kubectl_spread.suggest.editing.target import command
from kubectl_spread.suggest.judging.hypothetical import HypotheticalCluster
from kubectl_spread.suggest.judging.plan import Plan

Plain = dict[str, Any]


class EditNode(NamedTuple):
    """Edit of a node: labels to write or remove (None), its cordon, its taints."""

    node: str
    labels: tuple[tuple[str, Optional[str]], ...] = ()
    uncordoned: bool = False
    recordoned: bool = False
    untainted: Optional[Taint] = None

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        node = next(node for node in scene.cluster.nodes if node.name == self.node)
        return scene.with_nodes([self._changed(node)])

    def _changed(self, node: Node) -> Node:
        labels = dict(node.labels)
        for key, value in self.labels:
            if value is None:
                labels.pop(key, None)
            else:
                labels[key] = value
        taints = node.taints
        if self.uncordoned:
            taints = tuple(taint for taint in taints if taint != UNSCHEDULABLE)
            node = node._replace(unschedulable=False)
        if self.recordoned and UNSCHEDULABLE not in taints:
            taints = (*taints, UNSCHEDULABLE)
        taints = tuple(taint for taint in taints if taint != self.untainted)
        return node._replace(labels=labels, taints=taints)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.change_node(self.node, self._changed)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        found = []
        if self.labels:
            words = [f"{key}-" if value is None else f"{key}={value}" for key, value in self.labels]
            found.append(command("label", "node", self.node, *words, rest=("--overwrite",)))
        if self.uncordoned or self.recordoned:
            found.append(command("uncordon", self.node))
        if self.recordoned:
            found.append(command("cordon", self.node))
        if self.untainted is not None:
            found.append(command("taint", "node", self.node, f"{self.untainted}-"))
        return found

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        document: Plain = {"kind": "Node", "name": self.node}
        if self.labels:
            document["labels"] = dict(self.labels)
        if self.uncordoned:
            document["unschedulable"] = False
        if self.recordoned:
            document["taintAdded"] = str(UNSCHEDULABLE)
        if self.untainted is not None:
            document["taintRemoved"] = str(self.untainted)
        return [document]


class DeleteNode(NamedTuple):
    """Deletion of a node that runs no workload pods."""

    node: str

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.with_nodes((), without=[self.node])

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.delete_node(self.node)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return [command("delete", "node", self.node)]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "Node", "name": self.node, "deleted": [self.node]}]


class AddNodes(NamedTuple):
    """New nodes, as plain objects."""

    nodes: tuple[Plain, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.with_nodes([self.node(plain) for plain in self.nodes])

    @staticmethod
    def node(plain: Plain) -> Node:
        return read.node(plain)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.add_nodes(self.node(plain) for plain in self.nodes)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        labels = self.nodes[0]["metadata"]["labels"]
        room = self.nodes[0]["status"]["allocatable"]
        return [
            "labels: " + ", ".join(f"{key}={value}" for key, value in sorted(labels.items())),
            "allocatable: " + ", ".join(f"{key} {value}" for key, value in room.items()),
        ]

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "Node", "name": self.nodes[0]["metadata"]["name"], "added": list(self.nodes)}]


class AwaitNode(NamedTuple):
    """Wait for a node to become Ready, which removes its not-ready taints."""

    node: str
    taints: tuple[Taint, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        node = next(node for node in scene.cluster.nodes if node.name == self.node)
        return scene.with_nodes([self._ready(node)])

    def _ready(self, node: Node) -> Node:
        return node._replace(taints=tuple(taint for taint in node.taints if taint not in self.taints))

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.change_node(self.node, self._ready)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        taints = [str(taint) for taint in self.taints]
        return [{"kind": "Node", "name": self.node, "awaited": "Ready", "taintsRemoved": taints}]


class AwaitRemoval(NamedTuple):
    """Wait for an autoscaler to remove a node; controllers re-create its pods."""

    node: str

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        problem = scene.problem
        pods = problem.columns.pods[problem.columns.index[self.node]]
        ending = [pod for pod in pods if not (pod.owner is not None and pod.owner.kind in _BOUND_TO_NODES)]
        scene = scene.without_pods([pod for pod in ending if not pod.terminating], replaced=True)
        return scene.with_nodes((), without=[self.node])

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.delete_node(self.node)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "Node", "name": self.node, "awaited": "Deleted", "deleted": [self.node]}]


_BOUND_TO_NODES = ("DaemonSet", "Node")
