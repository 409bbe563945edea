"""What can be done: to the manifest, to nodes, to pods, to storage.

Each action can be simulated, printed as commands, and told as a value that programs read.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple
from typing import Optional
from typing import Protocol

from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects import read
from kubectl_spread.objects.decode import path_text
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.storage import claim as read_claim
from kubectl_spread.objects.storage import ObjectKey
from kubectl_spread.objects.storage import Storage
from kubectl_spread.objects.storage import StorageClass
from kubectl_spread.objects.taints import Taint
from kubectl_spread.objects.taints import UNSCHEDULABLE
from kubectl_spread.suggest import patch
from kubectl_spread.suggest.patch import Op
from kubectl_spread.suggest.plan import Plan
from kubectl_spread.suggest.scene import Scene
from kubectl_spread.suggest.target import command
from kubectl_spread.suggest.target import local

Plain = dict[str, Any]


class Action(Protocol):
    """One thing to do."""

    @property
    def is_of_manifest(self) -> bool:
        """Whether it is done to the pod's manifest; else to the cluster."""

    def apply(self, scene: Scene) -> Scene:
        """The scene once it is done."""

    def plan(self, plan: Plan, scene: Scene) -> None:
        """Add what it does over time to a plan; `scene` is the one after the whole change."""

    def lines(self, scene: Scene) -> list[str]:
        """What changes, a line each, in terms of the object's fields."""

    def commands(self, scene: Scene) -> list[str]:
        """The command lines that do it, if some do."""

    def documents(self, scene: Scene) -> list[Plain]:
        """What a program needs to do it, an entry for each object."""


class EditSpec(NamedTuple):
    """Another spec of the pod."""

    ops: tuple[Op, ...]

    @property
    def is_of_manifest(self) -> bool:
        return True

    def apply(self, scene: Scene) -> Scene:
        return scene.with_spec(self.ops)

    def plan(self, plan: Plan, scene: Scene) -> None:
        plan.edit_template(self.ops, scene.recreation().pod)

    def lines(self, scene: Scene) -> list[str]:
        prefix = scene.problem.target.spec
        found = []
        for op in self.ops:
            if op.op == patch.ADD:
                found.append(f"{path_text((*prefix, *op.path)).removesuffix(_APPENDED)}: {_flow(op.value)}")
            elif op.op == patch.REMOVE:
                found.append(f"{path_text((*prefix, *op.path))}: removed")
        return found

    def commands(self, scene: Scene) -> list[str]:
        problem = scene.problem
        return problem.target.commands(self.ops, problem.given.own)

    def documents(self, scene: Scene) -> list[Plain]:
        problem = scene.problem
        return problem.target.document(self.ops, problem.given.own)


_APPENDED = f".{patch.END}"


class SetRollout(NamedTuple):
    """Let a Deployment delete a pod of the old revision before it makes one of the new."""

    deleted: tuple[Pod, ...]

    @property
    def is_of_manifest(self) -> bool:
        return True

    def apply(self, scene: Scene) -> Scene:
        settings = scene.problem.rollout._replace(surge=0, unavailable=1)
        return scene.without_pods(self.deleted, replaced=False)._replace(rollout=settings)

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.edit_strategy({"maxSurge": 0, "maxUnavailable": 1})

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return ["spec.strategy.rollingUpdate.maxSurge: 0", "spec.strategy.rollingUpdate.maxUnavailable: 1"]

    def commands(self, scene: Scene) -> list[str]:
        target = scene.problem.target
        if not target.is_live:
            return []
        merge = '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}}'
        rest = ("--type=merge", "-p", merge)
        return [command("patch", target.resource, target.name, namespace=target.namespace, rest=rest)]

    def documents(self, scene: Scene) -> list[Plain]:
        target = scene.problem.target
        path = ("spec", "strategy", "rollingUpdate")
        ops = [patch.put((*path, "maxSurge"), 0), patch.put((*path, "maxUnavailable"), 1)]
        return [
            {
                **_object(target.kind, target.namespace, target.name),
                "patch": [op.document() for op in ops],
                "deletesFirst": [pod.name for pod in self.deleted],
            }
        ]


class EditNode(NamedTuple):
    """Labels of a node written or removed (None), its cordon, its taints."""

    node: str
    labels: tuple[tuple[str, Optional[str]], ...] = ()
    uncordoned: bool = False
    recordoned: bool = False
    untainted: Optional[Taint] = None

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
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

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.change_node(self.node, self._changed)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
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

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
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
    """A node that runs nothing of anybody's."""

    node: str

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        return scene.with_nodes((), without=[self.node])

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.delete_node(self.node)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return [command("delete", "node", self.node)]

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "Node", "name": self.node, "deleted": [self.node]}]


class AddNodes(NamedTuple):
    """New nodes, as plain objects."""

    nodes: tuple[Plain, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        return scene.with_nodes([self.node(plain) for plain in self.nodes])

    @staticmethod
    def node(plain: Plain) -> Node:
        return read.node(plain)

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.add_nodes(self.node(plain) for plain in self.nodes)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        labels = self.nodes[0]["metadata"]["labels"]
        room = self.nodes[0]["status"]["allocatable"]
        return [
            "labels: " + ", ".join(f"{key}={value}" for key, value in sorted(labels.items())),
            "allocatable: " + ", ".join(f"{key} {value}" for key, value in room.items()),
        ]

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "Node", "name": self.nodes[0]["metadata"]["name"], "added": list(self.nodes)}]


class DeletePods(NamedTuple):
    """Pods that are deleted; their controllers, if they have one, create them again at another place."""

    pods: tuple[Pod, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        return scene.without_pods(self.pods, replaced=any(pod.owner is not None for pod in self.pods))

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.delete_pods(self.pods)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return [command("delete", "pod", pod.name, namespace=pod.namespace) for pod in self.pods]

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        pod = self.pods[0]
        return [{**_object("Pod", pod.namespace, pod.name), "deleted": [pod.name for pod in self.pods]}]


class AwaitPods(NamedTuple):
    """Pods that end by themselves: they terminate, or the scheduler evicts them; no command does it.

    is_replaced: their controllers create others for them.
    """

    pods: tuple[Pod, ...]
    is_replaced: bool = False

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        return scene.without_pods(self.pods, replaced=self.is_replaced)

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        if not self.is_replaced:  # the scheduler evicts the others by itself
            plan.end_pods(self.pods)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        pod = self.pods[0]
        names = [pod.name for pod in self.pods]
        awaited = "Preempted" if self.is_replaced else "Deleted"
        return [{**_object("Pod", pod.namespace, pod.name), "awaited": awaited, "deleted": names}]


class AwaitNode(NamedTuple):
    """A node that becomes Ready, so that it loses the taints of one that is not."""

    node: str
    taints: tuple[Taint, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        node = next(node for node in scene.cluster.nodes if node.name == self.node)
        return scene.with_nodes([self._ready(node)])

    def _ready(self, node: Node) -> Node:
        return node._replace(taints=tuple(taint for taint in node.taints if taint not in self.taints))

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.change_node(self.node, self._ready)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        taints = [str(taint) for taint in self.taints]
        return [{"kind": "Node", "name": self.node, "awaited": "Ready", "taintsRemoved": taints}]


class AwaitRemoval(NamedTuple):
    """A node that an autoscaler removes; the controllers of its pods create others."""

    node: str

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        problem = scene.problem
        pods = problem.columns.pods[problem.columns.index[self.node]]
        ending = [pod for pod in pods if not (pod.owner is not None and pod.owner.kind in _BOUND_TO_NODES)]
        scene = scene.without_pods([pod for pod in ending if not pod.terminating], replaced=True)
        return scene.with_nodes((), without=[self.node])

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.delete_node(self.node)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "Node", "name": self.node, "awaited": "Deleted", "deleted": [self.node]}]


_BOUND_TO_NODES = ("DaemonSet", "Node")


class CreateClaims(NamedTuple):
    """Claims that pods name and that are not there, as plain objects."""

    claims: tuple[Plain, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        return scene._replace(cluster=scene.cluster._replace(storage=self._with_claims(scene.cluster.storage)))

    def _with_claims(self, storage: Storage) -> Storage:
        made = [read_claim(plain) for plain in self.claims]
        return storage._replace(claims={**storage.claims, **{claim.key: claim for claim in made}})

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.change_storage(self._with_claims)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        found = []
        for plain in self.claims:
            spec = plain["spec"]
            size = spec["resources"]["requests"]["storage"]
            modes = ", ".join(spec["accessModes"])
            in_class = f", class {spec['storageClassName']}" if "storageClassName" in spec else ""
            found.append(f"PersistentVolumeClaim {plain['metadata']['name']}: {size}, {modes}{in_class}")
        return found

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        import json

        found = []
        for plain in self.claims:
            text = shlex.quote(json.dumps(plain, separators=(",", ":")))
            found.append(f"echo {text} | kubectl create -f -")
        return found

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        metadata = self.claims[0]["metadata"]
        named = _object("PersistentVolumeClaim", metadata["namespace"], metadata["name"])
        return [{**named, "added": list(self.claims)}]


class FinishDeletion(NamedTuple):
    """A pod that has been terminating for long, and whose node is wanted."""

    pod: Pod

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        return scene.without_pods([self.pod], replaced=False)

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.end_pods([self.pod])

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        pod = self.pod
        force = ("--grace-period=0", "--force", "--wait=false")
        lines = [command("delete", "pod", pod.name, namespace=pod.namespace, rest=force)]
        if pod.finalizers:
            merge = ("--type=merge", "-p", '{"metadata":{"finalizers":null}}')
            lines.append(command("patch", "pod", pod.name, namespace=pod.namespace, rest=merge))
        return lines

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        return [{**_object("Pod", self.pod.namespace, self.pod.name), "deleted": [self.pod.name]}]


class ScaleDown(NamedTuple):
    """Another workload with fewer replicas; `deleted` are those that its controller takes away."""

    kind: str
    namespace: str
    name: str
    replicas: int
    deleted: tuple[Pod, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        return scene.without_pods(self.deleted, replaced=False)

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.scale(OwnerKey(self.kind, self.namespace, self.name), self.replicas)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        called = f"{self.kind.lower()}/{self.name}"
        return [command("scale", called, namespace=self.namespace, rest=(f"--replicas={self.replicas}",))]

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        return [
            {
                **_object(self.kind, self.namespace, self.name),
                "replicas": self.replicas,
                "deleted": [pod.name for pod in self.deleted],
            }
        ]


class EditClass(NamedTuple):
    """A StorageClass made anew, as it cannot be changed, that waits for pods or allows more places."""

    before: StorageClass
    after: StorageClass
    ops: tuple[Op, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        return scene._replace(cluster=scene.cluster._replace(storage=self._with_class(scene.cluster.storage)))

    def _with_class(self, storage: Storage) -> Storage:
        return storage._replace(classes={**storage.classes, self.after.name: self.after})

    def plan(self, plan: Plan, scene: Scene) -> None:  # noqa: ARG002
        plan.change_storage(self._with_class)

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:  # noqa: ARG002
        get = command("get", "storageclass", self.before.name, rest=("-o", "json"))
        ops = patch_text(self.ops)
        edit = command("patch", "--local", "-f", "-", "--type=json", "-o", "json", "-p", ops)
        return [f"{get} | {edit} | kubectl replace --force -f -"]

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "StorageClass", "name": self.before.name, "patch": [op.document() for op in self.ops]}]


class DeleteClaims(NamedTuple):
    """Claims made anew, so that they get a volume where their pod is put."""

    claims: tuple[ObjectKey, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: Scene) -> Scene:
        return scene._replace(cluster=scene.cluster._replace(storage=self._without_claims(scene.cluster.storage)))

    def _without_claims(self, storage: Storage) -> Storage:
        claims, volumes = dict(storage.claims), dict(storage.volumes)
        for key in self.claims:
            old = claims[key]
            volumes.pop(old.volume_name, None)
            claims[key] = old._replace(
                uid=f"{old.uid}/anew", volume_name="", is_bind_completed=False, selected_node=None, is_lost=False
            )
        return storage._replace(claims=claims, volumes=volumes)

    def plan(self, plan: Plan, scene: Scene) -> None:
        plan.change_storage(self._without_claims)
        wanted = set(self.claims)
        own = scene.problem.given.own
        if scene.problem.owner.kind == "Pod":  # created again as it is: to the scheduler it is the same
            return
        plan.delete_pods(
            pod for pod in own if any(ObjectKey(pod.namespace, volume.claim) in wanted for volume in pod.cls.volumes)
        )

    def lines(self, scene: Scene) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: Scene) -> list[str]:
        """The claims go once the pods that wait with them are deleted; those that nobody makes are created again."""
        found = [
            command("delete", "pvc", key.name, namespace=key.namespace, rest=("--wait=false",))
            if _is_made_again(key, scene)
            else _claim_anew(key)
            for key in self.claims
        ]
        wanted = set(self.claims)
        pods = [
            pod
            for pod in scene.problem.given.own
            if any(ObjectKey(pod.namespace, volume.claim) in wanted for volume in pod.cls.volumes)
        ]
        target = scene.problem.target
        if pods and target.is_live:
            found.append(target.anew() if target.kind == "Pod" else _deleted(pods))
        return found

    def documents(self, scene: Scene) -> list[Plain]:  # noqa: ARG002
        key = self.claims[0]
        deleted = [claim.name for claim in self.claims]
        return [{**_object("PersistentVolumeClaim", key.namespace, key.name), "deleted": deleted}]


def _is_made_again(key: ObjectKey, scene: Scene) -> bool:
    """Whether the claim is named as a claim template of a StatefulSet names those of its pods."""
    problem = scene.problem
    pods = (*problem.given.own, *problem.given.running)
    return problem.owner.kind == "StatefulSet" and any(key.name.endswith(f"-{pod.name}") for pod in pods)


def _claim_anew(key: ObjectKey) -> str:
    """Delete a claim and create it again, without the volume and the node that were chosen."""
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
    """A JSON patch on one line."""
    import json

    return json.dumps([op.document() for op in ops], separators=(",", ":"))


def _object(kind: str, namespace: str, name: str) -> Plain:
    return {"kind": kind, "namespace": namespace, "name": name}


def _flow(value: Any) -> str:
    """A value on one line, as YAML reads it."""
    import json

    if (
        isinstance(value, str)
        and value.replace("-", "").replace("/", "").replace(".", "").isalnum()
        and value[:1].isalpha()
    ):
        return value
    return json.dumps(value)
