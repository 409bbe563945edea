"""Actions of a suggestion, which are simulated, printed as commands, and written as values for programs."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from kubectl_spread.advice import patch
from kubectl_spread.advice.patch import Op, put_op
from kubectl_spread.advice.plan import Plan
from kubectl_spread.advice.scene import HypotheticalCluster
from kubectl_spread.advice.target import command, local
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node, Taint, UNSCHEDULABLE
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.objects.storage import claim as read_claim
from kubectl_spread.objects.storage import NamespacedName, Storage, StorageClass

Plain = dict[str, Any]


class Action(ABC):
    """A single change of the manifest or of the cluster; by default of the cluster, and without a command."""

    is_of_manifest = False  # Whether the action changes the pod's manifest.

    @abstractmethod
    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        """Return the hypothetical cluster after the action."""

    @abstractmethod
    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:
        """Add the steps of the action to a plan; `scene` is the cluster after the whole change."""

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        """Return the changes in terms of the object's fields, one line each."""
        return []

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        """Return the command lines that carry out the action; empty if there are none."""
        return []

    @abstractmethod
    def documents(self, scene: HypotheticalCluster) -> list[Plain]:
        """Return the action for programs, one entry per object."""


def object_of(kind: str, namespace: str, name: str) -> Plain:
    """Return the fields that name an object."""
    return {"kind": kind, "namespace": namespace, "name": name}


@dataclass(frozen=True)
class EditSpec(Action):
    """Edit of the pod spec."""

    ops: tuple[Op, ...]

    is_of_manifest = True

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.with_spec(self.ops)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:
        plan.edit_template(self.ops, scene.recreation().pod)

    def lines(self, scene: HypotheticalCluster) -> list[str]:
        prefix = scene.problem.target.spec
        found = []
        for op in self.ops:
            if op.op == patch.ADD:
                found.append(f"{path_text((*prefix, *op.path)).removesuffix(_APPENDED)}: {_flow(op.value)}")
            elif op.op == patch.REMOVE:
                found.append(f"{path_text((*prefix, *op.path))}: removed")
        return found

    def commands(self, scene: HypotheticalCluster) -> list[str]:
        problem = scene.problem
        return problem.target.commands(self.ops, problem.given.own)

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:
        problem = scene.problem
        return problem.target.document(self.ops, problem.given.own)


_APPENDED = f".{patch.END}"


@dataclass(frozen=True)
class SetRollout(Action):
    """Rollout settings of a Deployment that delete a pod of the old revision before creating a new one."""

    deleted: tuple[Pod, ...]
    unavailable: int = 1

    is_of_manifest = True

    @property
    def _settings(self) -> Plain:
        return {"maxSurge": 0, "maxUnavailable": self.unavailable}

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        settings = scene.problem.rollout._replace(surge=0, unavailable=self.unavailable)
        return scene.without_pods(self.deleted, replaced=False)._replace(rollout=settings)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.edit_strategy(self._settings)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return [f"spec.strategy.rollingUpdate.{name}: {value}" for name, value in self._settings.items()]

    def commands(self, scene: HypotheticalCluster) -> list[str]:
        target = scene.problem.target
        if not target.is_live:
            return []
        merge = f'{{"spec":{{"strategy":{{"rollingUpdate":{{"maxSurge":0,"maxUnavailable":{self.unavailable}}}}}}}}}'
        rest = ("--type=merge", "-p", merge)
        return [command("patch", target.resource, target.name, namespace=target.namespace, rest=rest)]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:
        target = scene.problem.target
        path = ("spec", "strategy", "rollingUpdate")
        ops = [patch.put_op((*path, name), value) for name, value in self._settings.items()]
        return [
            {
                **object_of(target.kind, target.namespace, target.name),
                "patch": [op.document() for op in ops],
                "deletesFirst": [pod.name for pod in self.deleted],
            }
        ]


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    import json

    if (
        isinstance(value, str)
        and value.replace("-", "").replace("/", "").replace(".", "").isalnum()
        and value[:1].isalpha()
    ):
        return value
    return json.dumps(value)


@dataclass(frozen=True)
class EditNode(Action):
    """Edit of a node: labels to write or remove (None), its cordon, its taints."""

    node: str
    labels: tuple[tuple[str, Optional[str]], ...] = ()
    uncordoned: bool = False
    recordoned: bool = False
    untainted: Optional[Taint] = None

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


@dataclass(frozen=True)
class DeleteNode(Action):
    """Deletion of a node that runs no workload pods."""

    node: str

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.with_nodes((), without=[self.node])

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.delete_node(self.node)

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return [command("delete", "node", self.node)]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "Node", "name": self.node, "deleted": [self.node]}]


@dataclass(frozen=True)
class AddNodes(Action):
    """New nodes, as plain objects."""

    nodes: tuple[Plain, ...]

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

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "Node", "name": self.nodes[0]["metadata"]["name"], "added": list(self.nodes)}]


@dataclass(frozen=True)
class AwaitNode(Action):
    """Wait for a node to become Ready, which removes its not-ready taints."""

    node: str
    taints: tuple[Taint, ...]

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        node = next(node for node in scene.cluster.nodes if node.name == self.node)
        return scene.with_nodes([self._ready(node)])

    def _ready(self, node: Node) -> Node:
        return node._replace(taints=tuple(taint for taint in node.taints if taint not in self.taints))

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.start_node(self.node, self._ready)

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        taints = [str(taint) for taint in self.taints]
        return [{"kind": "Node", "name": self.node, "awaited": "Ready", "taintsRemoved": taints}]


@dataclass(frozen=True)
class AwaitRemoval(Action):
    """Wait for an autoscaler to remove a node; controllers re-create its pods."""

    node: str

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        problem = scene.problem
        pods = problem.columns.pods[problem.columns.index[self.node]]
        ending = [pod for pod in pods if not (pod.owner is not None and pod.owner.kind in _BOUND_TO_NODES)]
        scene = scene.without_pods([pod for pod in ending if not pod.terminating], replaced=True)
        return scene.with_nodes((), without=[self.node])

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.delete_node(self.node)

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "Node", "name": self.node, "awaited": "Deleted", "deleted": [self.node]}]


_BOUND_TO_NODES = ("DaemonSet", "Node")


@dataclass(frozen=True)
class RemovePods(Action):
    """Deletion of pods; their controllers, if any, create replacements."""

    pods: tuple[Pod, ...]

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods(self.pods, replaced=any(pod.owner is not None for pod in self.pods))

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.delete_pods(self.pods)

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return [command("delete", "pod", pod.name, namespace=pod.namespace) for pod in self.pods]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        pod = self.pods[0]
        return [{**object_of("Pod", pod.namespace, pod.name), "deleted": [pod.name for pod in self.pods]}]


@dataclass(frozen=True)
class AwaitPods(Action):
    """Wait for pods that terminate or are being evicted by the scheduler. No command is needed.

    is_replaced: their controllers create replacements.
    """

    pods: tuple[Pod, ...]
    is_replaced: bool = False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods(self.pods, replaced=self.is_replaced)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        if not self.is_replaced:  # the scheduler evicts the others by itself
            plan.end_pods(self.pods)

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        pod = self.pods[0]
        names = [pod.name for pod in self.pods]
        awaited = "Preempted" if self.is_replaced else "Deleted"
        return [{**object_of("Pod", pod.namespace, pod.name), "awaited": awaited, "deleted": names}]


@dataclass(frozen=True)
class FinishDeletion(Action):
    """Forced end of a pod that has been terminating for long, and whose node is needed."""

    pod: Pod

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods([self.pod], replaced=False)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.end_pods([self.pod])

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        pod = self.pod
        force = ("--grace-period=0", "--force", "--wait=false")
        lines = [command("delete", "pod", pod.name, namespace=pod.namespace, rest=force)]
        if pod.finalizers:
            merge = ("--type=merge", "-p", '{"metadata":{"finalizers":null}}')
            lines.append(command("patch", "pod", pod.name, namespace=pod.namespace, rest=merge))
        return lines

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [{**object_of("Pod", self.pod.namespace, self.pod.name), "deleted": [self.pod.name]}]


@dataclass(frozen=True)
class SetReplicas(Action):
    """Fewer replicas of the problem's own workload; `ended` are the waiting pods that its controller deletes."""

    replicas: int
    ended: tuple[Pod, ...]

    is_of_manifest = True

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene._replace(ended=scene.ended | {pod.key for pod in self.ended})

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.set_replicas(self.replicas)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return [f"spec.replicas: {self.replicas}"]

    def commands(self, scene: HypotheticalCluster) -> list[str]:
        target = scene.problem.target
        if not target.is_live:
            return []
        rest = (f"--replicas={self.replicas}",)
        return [command("scale", target.display_name, namespace=target.namespace, rest=rest)]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:
        target = scene.problem.target
        own = object_of(target.kind, target.namespace, target.name)
        if target.is_live:
            return [{**own, "replicas": self.replicas, "deleted": [pod.name for pod in self.ended]}]
        return [{**own, "patch": [put_op(("spec", "replicas"), self.replicas).document()]}]


@dataclass(frozen=True)
class ScaleDown(Action):
    """Another workload with fewer replicas; `deleted` are the pods that its controller removes."""

    kind: str
    namespace: str
    name: str
    replicas: int
    deleted: tuple[Pod, ...]

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods(self.deleted, replaced=False)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.scale(ObjectKey(self.kind, self.namespace, self.name), self.replicas)

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        called = f"{self.kind.lower()}/{self.name}"
        return [command("scale", called, namespace=self.namespace, rest=(f"--replicas={self.replicas}",))]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [
            {
                **object_of(self.kind, self.namespace, self.name),
                "replicas": self.replicas,
                "deleted": [pod.name for pod in self.deleted],
            }
        ]


@dataclass(frozen=True)
class CreateClaims(Action):
    """Creation of claims that pods name but that do not exist, as plain objects."""

    claims: tuple[Plain, ...]

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene._replace(cluster=scene.cluster._replace(storage=self._with_claims(scene.cluster.storage)))

    def _with_claims(self, storage: Storage) -> Storage:
        made = [read_claim(plain) for plain in self.claims]
        return storage._replace(claims={**storage.claims, **{claim.key: claim for claim in made}})

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.change_storage(self._with_claims)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        found = []
        for plain in self.claims:
            spec = plain["spec"]
            size = spec["resources"]["requests"]["storage"]
            modes = ", ".join(spec["accessModes"])
            in_class = f", class {spec['storageClassName']}" if "storageClassName" in spec else ""
            found.append(f"PersistentVolumeClaim {plain['metadata']['name']}: {size}, {modes}{in_class}")
        return found

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        import json

        found = []
        for plain in self.claims:
            text = shlex.quote(json.dumps(plain, separators=(",", ":")))
            found.append(f"echo {text} | kubectl create -f -")
        return found

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        metadata = self.claims[0]["metadata"]
        named = object_of("PersistentVolumeClaim", metadata["namespace"], metadata["name"])
        return [{**named, "added": list(self.claims)}]


@dataclass(frozen=True)
class EditClass(Action):
    """Replacement of an immutable StorageClass by one with another binding mode or more topologies."""

    before: StorageClass
    after: StorageClass
    ops: tuple[Op, ...]

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene._replace(cluster=scene.cluster._replace(storage=self._with_class(scene.cluster.storage)))

    def _with_class(self, storage: Storage) -> Storage:
        return storage._replace(classes={**storage.classes, self.after.name: self.after})

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.change_storage(self._with_class)

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        get = command("get", "storageclass", self.before.name, rest=("-o", "json"))
        ops = patch_text(self.ops)
        edit = command("patch", "--local", "-f", "-", "--type=json", "-o", "json", "-p", ops)
        return [f"{get} | {edit} | kubectl replace --force -f -"]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "StorageClass", "name": self.before.name, "patch": [op.document() for op in self.ops]}]


@dataclass(frozen=True)
class DeleteClaims(Action):
    """Deletion and re-creation of claims, so that their volumes are provisioned where the pod is scheduled."""

    claims: tuple[NamespacedName, ...]

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene._replace(cluster=scene.cluster._replace(storage=self._without_claims(scene.cluster.storage)))

    def _without_claims(self, storage: Storage) -> Storage:
        claims, volumes = dict(storage.claims), dict(storage.volumes)
        for key in self.claims:
            old = claims[key]
            volumes.pop(old.volume_name, None)
            claims[key] = old._replace(
                uid=f"{old.uid}/recreated", volume_name="", is_bind_completed=False, selected_node=None, is_lost=False
            )
        return storage._replace(claims=claims, volumes=volumes)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:
        plan.change_storage(self._without_claims)
        if scene.problem.owner.kind != "Pod":  # It is created again as it is: to the scheduler it is the same.
            plan.delete_pods(self._users(scene))

    def commands(self, scene: HypotheticalCluster) -> list[str]:
        """Return the commands that replace the claims.

        A claim is deleted only once its waiting pods are deleted. A claim without a controller is created again.
        """
        found = [
            command("delete", "pvc", key.name, namespace=key.namespace, rest=("--wait=false",))
            if _is_made_again(key, scene)
            else _recreate_claim_command(key)
            for key in self.claims
        ]
        pods, target = self._users(scene), scene.problem.target
        if pods and target.is_live:
            found.append(target.recreate_command() if target.kind == "Pod" else _deleted(pods))
        return found

    def _users(self, scene: HypotheticalCluster) -> list[Pod]:
        """Return the waiting pods that name the claims."""
        claims = set(self.claims)
        return [
            pod
            for pod in scene.problem.given.own
            if any(NamespacedName(pod.namespace, volume.claim) in claims for volume in pod.cls.volumes)
        ]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:
        found: list[Plain] = []
        again = [key for key in self.claims if _is_made_again(key, scene)]
        if again:
            key = again[0]
            deleted = [claim.name for claim in again]
            found.append({**object_of("PersistentVolumeClaim", key.namespace, key.name), "deleted": deleted})
        for key in self.claims:
            if key not in again:
                found.append({**object_of("PersistentVolumeClaim", key.namespace, key.name), "replaced": True})
        pods, target = self._users(scene), scene.problem.target
        if pods and target.is_live and target.kind == "Pod":
            found += [{**object_of("Pod", pod.namespace, pod.name), "replaced": True} for pod in pods]
        elif pods and target.is_live and len(again) < len(self.claims):
            first = pods[0]
            named = object_of("Pod", first.namespace, first.name)
            found.append({**named, "deleted": [pod.name for pod in pods]})
        return found


def _is_made_again(key: NamespacedName, scene: HypotheticalCluster) -> bool:
    """Return whether a StatefulSet creates the claim again: its name ends with the name of a pod."""
    problem = scene.problem
    pods = (*problem.given.own, *problem.given.running)
    return problem.owner.kind == "StatefulSet" and any(key.name.endswith(f"-{pod.name}") for pod in pods)


def _recreate_claim_command(key: NamespacedName) -> str:
    """Return the command that deletes a claim and creates it again, without its volume and its selected node."""
    import json

    get = command("get", "pvc", key.name, namespace=key.namespace, rest=("-o", "json"))
    chosen = {"metadata": {"annotations": dict.fromkeys(_CHOSEN)}, "spec": {"volumeName": None}}
    return f"{get} | {local('merge', json.dumps(chosen, separators=(',', ':')))} | kubectl replace --force -f -"


# What binding adds to a claim; null removes it.
_CHOSEN = (
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "volume.kubernetes.io/selected-node",
)


def _deleted(pods: Sequence[Pod]) -> str:
    return command("delete", "pod", *(pod.name for pod in pods), namespace=pods[0].namespace)


def patch_text(ops: Sequence[Op]) -> str:
    """Return a JSON patch on one line."""
    import json

    return json.dumps([op.document() for op in ops], separators=(",", ":"))
