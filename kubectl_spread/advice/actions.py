"""Actions of a suggestion, which are simulated, printed as commands, and written as values for programs."""

from __future__ import annotations

import json
import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

from kubectl_spread.advice.plan import HypotheticalCluster, Plan
from kubectl_spread.advice.problem import PendingPodProblem
from kubectl_spread.advice.target import ADD, command, compact, END, Op, put_op, recreate_command, REMOVE
from kubectl_spread.engine import steps
from kubectl_spread.engine.controllers.daemonset import verdict_of
from kubectl_spread.engine.world import is_unreachable
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.node import Node, Taint, UNSCHEDULABLE
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.objects.reading.plain import Plain
from kubectl_spread.objects.resources import PODS
from kubectl_spread.objects.storage import claim as read_claim
from kubectl_spread.objects.storage import Storage, StorageClass
from kubectl_spread.objects.workloads.replica import daemon
from kubectl_spread.text import scalars


class Written(NamedTuple):
    """An action for users.

    documents: for programs, one entry per object. commands: command lines that carry it out, none if nothing has to be
    done. lines: the changed fields of the object, one line each.
    """

    documents: Sequence[Plain]
    commands: Sequence[str] = ()
    lines: Sequence[str] = ()


class Action(ABC):
    """A single change of the manifest or of the cluster."""

    is_of_manifest = False  # Whether the action changes the pod's manifest.

    @abstractmethod
    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        """Return the hypothetical cluster after the action."""

    @abstractmethod
    def plan(self, plan: Plan) -> None:
        """Add the steps of the action to a plan."""

    @abstractmethod
    def written(self, problem: PendingPodProblem) -> Written:
        """Return the action for users."""


def _of_node(name: str, **change: Any) -> Plain:
    return {"kind": "Node", "name": name, **change}


def _of_object(kind: str, namespace: str, name: str, **change: Any) -> Plain:
    return {"kind": kind, "namespace": namespace, "name": name, **change}


def _of_pods(pods: Sequence[Pod], **change: Any) -> Plain:
    names = [pod.name for pod in pods]
    return _of_object("Pod", pods[0].namespace, names[0], **change, deleted=names)


@dataclass(frozen=True)
class EditSpec(Action):
    """Edit of the pod spec."""

    ops: tuple[Op, ...]

    is_of_manifest = True

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.with_spec(self.ops)

    def plan(self, plan: Plan) -> None:
        plan.edit_template(self.ops)

    def written(self, problem: PendingPodProblem) -> Written:
        target, lines = problem.target, []
        for op in self.ops:
            path = path_text((*target.spec, *op.path))
            if op.op == ADD:
                value = scalars.scalar(op.value) if isinstance(op.value, str) else json.dumps(op.value)
                lines.append(f"{path.removesuffix(f'.{END}')}: {value}")
            elif op.op == REMOVE:
                lines.append(f"{path}: removed")
        return Written(*target.written(self.ops, problem.own), lines)


@dataclass(frozen=True)
class ResumeRollout(Action):
    """End of the pause of the problem's Deployment, which rolls out its present template."""

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene  # The waiting pods are replaced by a rollout, which only the simulation over time shows.

    def plan(self, plan: Plan) -> None:
        plan.edit_template(())

    def written(self, problem: PendingPodProblem) -> Written:
        target = problem.target
        line = command("rollout", "resume", target.display_name, namespace=target.namespace)
        return Written([_of_object(*target.key, patch=[put_op(("spec", "paused"), False).document()])], [line])


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

    def plan(self, plan: Plan) -> None:
        plan.edit_strategy(self._settings)

    def written(self, problem: PendingPodProblem) -> Written:
        target, path = problem.target, ("spec", "strategy", "rollingUpdate")
        rest = ("--type=merge", "-p", compact({"spec": {"strategy": {"rollingUpdate": self._settings}}}))
        line = command("patch", target.resource, target.name, namespace=target.namespace, rest=rest)
        ops = [put_op((*path, name), value).document() for name, value in self._settings.items()]
        return Written(
            [_of_object(*target.key, patch=ops, deletesFirst=[pod.name for pod in self.deleted])],
            [line] if target.is_live else (),
            [f"{'.'.join(path)}.{name}: {value}" for name, value in self._settings.items()],
        )


@dataclass(frozen=True)
class EditNode(Action):
    """Edit of a node: labels to write or remove (None), its cordon, its taints.

    is_awaited: the node loses the taints when it becomes Ready. No command is needed.
    """

    node: str
    labels: tuple[tuple[str, Optional[str]], ...] = ()
    uncordoned: bool = False
    recordoned: bool = False
    untainted: tuple[Taint, ...] = ()
    is_awaited: bool = False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        node = next(node for node in scene.cluster.nodes if node.name == self.node)
        return scene.with_nodes([self._changed(node)])

    def _changed(self, node: Node) -> Node:
        labels = {**node.labels, **dict(self.labels)}
        taints = [taint for taint in node.taints if not (self.uncordoned and taint == UNSCHEDULABLE)]
        if self.recordoned and UNSCHEDULABLE not in taints:
            taints.append(UNSCHEDULABLE)
        return node._replace(
            labels={key: value for key, value in labels.items() if value is not None},
            taints=tuple(taint for taint in taints if taint not in self.untainted),
            unschedulable=node.unschedulable and not self.uncordoned,
        )

    def plan(self, plan: Plan) -> None:
        if self.is_awaited and is_unreachable(plan.nodes[self.node]):
            plan.ops.append(steps.NodesUp((self.node,)))
        node = plan.nodes[self.node] = self._changed(plan.nodes[self.node])
        plan.ops.append(steps.ChangeNodes((node,)))

    def written(self, problem: PendingPodProblem) -> Written:  # noqa: ARG002
        taints = [str(taint) for taint in self.untainted]
        if self.is_awaited:
            return Written([_of_node(self.node, awaited="Ready", taintsRemoved=taints)])
        document, lines = _of_node(self.node), []
        if self.labels:
            document["labels"] = dict(self.labels)
            words = [f"{key}-" if value is None else f"{key}={value}" for key, value in self.labels]
            lines.append(command("label", "node", self.node, *words, rest=("--overwrite",)))
        if self.uncordoned:
            document["unschedulable"] = False
            lines.append(command("uncordon", self.node))
        if self.recordoned:  # `uncordon` and `cordon` would let pods come to the node between them
            document["taintAdded"] = str(UNSCHEDULABLE)
            lines.append(command("taint", "node", self.node, str(UNSCHEDULABLE)))
        if taints:
            document["taintRemoved"] = taints[0]
        return Written([document], [*lines, *(command("taint", "node", self.node, f"{taint}-") for taint in taints)])


@dataclass(frozen=True)
class DeleteNode(Action):
    """Deletion of a node, by a command or by an autoscaler that is awaited; controllers create its pods again."""

    node: str
    is_awaited: bool = False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        pods = [pod for pod in scene.problem.pods_of_workloads(self.node) if not pod.terminating]
        return scene.without_pods(pods, replaced=True).with_nodes((), without=[self.node])

    def plan(self, plan: Plan) -> None:
        plan.ops.append(steps.DeleteNodes((self.node,)))

    def written(self, problem: PendingPodProblem) -> Written:  # noqa: ARG002
        awaited = {"awaited": "Deleted"} if self.is_awaited else {}
        commands = () if self.is_awaited else [command("delete", "node", self.node)]
        return Written([_of_node(self.node, **awaited, deleted=[self.node])], commands)


@dataclass(frozen=True)
class AddNodes(Action):
    """New nodes, as plain objects."""

    nodes: tuple[Plain, ...]

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.with_nodes(map(read.node, self.nodes))

    def plan(self, plan: Plan) -> None:
        every = (item.workload for key, item in plan.start.controllers.items() if key.kind == "DaemonSet")
        daemons = [item for item in every if item.pod_spec.get("containers")]
        for node in map(read.node, self.nodes):  # They have room for their DaemonSet pods as well.
            room = dict(node.allocatable)
            for owner in daemons:
                requests = {**dict(daemon(owner, node.name).cls.requests), PODS: 1}
                for name in requests.keys() & room.keys() if verdict_of(owner)(node).runs else ():
                    room[name] += requests[name]
            plan.ops.append(steps.ChangeNodes((node._replace(allocatable=room),)))

    def written(self, problem: PendingPodProblem) -> Written:  # noqa: ARG002
        metadata, room = self.nodes[0]["metadata"], self.nodes[0]["status"]["allocatable"]
        lines = [
            "labels: " + ", ".join(f"{key}={value}" for key, value in sorted(metadata["labels"].items())),
            "allocatable: " + ", ".join(f"{key} {value}" for key, value in room.items()),
        ]
        return Written([_of_node(metadata["name"], added=list(self.nodes))], lines=lines)


@dataclass(frozen=True)
class RemovePods(Action):
    """Deletion of pods; their controllers, if any, create replacements."""

    pods: tuple[Pod, ...]

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods(self.pods, replaced=any(pod.owner is not None for pod in self.pods))

    def plan(self, plan: Plan) -> None:
        plan.delete_pods(self.pods)

    def written(self, problem: PendingPodProblem) -> Written:  # noqa: ARG002
        commands = [command("delete", "pod", pod.name, namespace=pod.namespace) for pod in self.pods]
        return Written([_of_pods(self.pods)], commands)


@dataclass(frozen=True)
class EndPods(Action):
    """End of pods that terminate already, or that the scheduler evicts, whose controllers then create replacements.

    awaited: how they end without a command; without it, a command forces the end of pods that have been terminating
    for long, and whose node is needed.
    """

    pods: tuple[Pod, ...]
    awaited: str = ""

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods(self.pods, replaced=self.awaited == PREEMPTED)

    def plan(self, plan: Plan) -> None:
        if self.awaited != PREEMPTED:  # the scheduler evicts the others by itself
            plan.ended |= {pod.uid for pod in self.pods}

    def written(self, problem: PendingPodProblem) -> Written:  # noqa: ARG002
        if self.awaited:
            return Written([_of_pods(self.pods, awaited=self.awaited)])
        force = ("--grace-period=0", "--force", "--wait=false")
        merge = ("--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        lines = []
        for pod in self.pods:
            lines.append(command("delete", "pod", pod.name, namespace=pod.namespace, rest=force))
            if pod.finalizers:
                lines.append(command("patch", "pod", pod.name, namespace=pod.namespace, rest=merge))
        return Written([_of_pods(self.pods)], lines)


DELETED, PREEMPTED = "Deleted", "Preempted"


@dataclass(frozen=True)
class SetReplicas(Action):
    """Fewer replicas of the problem's own workload; `ended` are the waiting pods that its controller deletes."""

    replicas: int
    ended: tuple[Pod, ...]

    is_of_manifest = True

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene._replace(ended=scene.ended | {pod.key for pod in self.ended})

    def plan(self, plan: Plan) -> None:
        plan.set_replicas(self.replicas)

    def written(self, problem: PendingPodProblem) -> Written:
        target, lines = problem.target, [f"spec.replicas: {self.replicas}"]
        if not target.is_live:
            patch = [put_op(("spec", "replicas"), self.replicas).document()]
            return Written([_of_object(*target.key, patch=patch)], lines=lines)
        line = command("scale", target.display_name, namespace=target.namespace, rest=(f"--replicas={self.replicas}",))
        deleted = [pod.name for pod in self.ended]
        return Written([_of_object(*target.key, replicas=self.replicas, deleted=deleted)], [line], lines)


@dataclass(frozen=True)
class ScaleDown(Action):
    """Another workload with fewer replicas; `deleted` are the pods that its controller removes."""

    key: ObjectKey
    replicas: int
    deleted: tuple[Pod, ...]

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods(self.deleted, replaced=False)

    def plan(self, plan: Plan) -> None:
        plan.ops.append(steps.Scale(self.key, self.replicas))

    def written(self, problem: PendingPodProblem) -> Written:  # noqa: ARG002
        named, rest = f"{self.key.kind.lower()}/{self.key.name}", (f"--replicas={self.replicas}",)
        return Written(
            [_of_object(*self.key, replicas=self.replicas, deleted=[pod.name for pod in self.deleted])],
            [command("scale", named, namespace=self.key.namespace, rest=rest)],
        )


class _EditStorage(Action):
    """A change of claims, volumes and their classes."""

    @abstractmethod
    def change(self, storage: Storage) -> Storage:
        """Return the storage after the change."""

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        cluster = scene.cluster
        return scene._replace(cluster=cluster._replace(storage=self.change(cluster.storage)))

    def plan(self, plan: Plan) -> None:
        plan.storage = self.change(plan.storage)
        plan.ops.append(steps.ChangeFacts(plan.start._replace(storage=plan.storage)))


@dataclass(frozen=True)
class CreateClaims(_EditStorage):
    """Creation of claims that pods name but that do not exist, as plain objects."""

    claims: tuple[Plain, ...]

    def change(self, storage: Storage) -> Storage:
        claims = map(read_claim, self.claims)
        return storage._replace(claims={**storage.claims, **{claim.key: claim for claim in claims}})

    def written(self, problem: PendingPodProblem) -> Written:  # noqa: ARG002
        lines = []
        for plain in self.claims:
            spec = plain["spec"]
            size = spec["resources"]["requests"]["storage"]
            modes = ", ".join(spec["accessModes"])
            in_class = f", class {spec['storageClassName']}" if "storageClassName" in spec else ""
            lines.append(f"PersistentVolumeClaim {plain['metadata']['name']}: {size}, {modes}{in_class}")
        metadata = self.claims[0]["metadata"]
        return Written(
            [_of_object(_CLAIM, metadata["namespace"], metadata["name"], added=list(self.claims))],
            [f"echo {shlex.quote(compact(plain))} | kubectl create -f -" for plain in self.claims],
            lines,
        )


_CLAIM = "PersistentVolumeClaim"


@dataclass(frozen=True)
class EditClass(_EditStorage):
    """Replacement of an immutable StorageClass by one with another binding mode or more topologies."""

    after: StorageClass
    ops: tuple[Op, ...]

    def change(self, storage: Storage) -> Storage:
        return storage._replace(classes={**storage.classes, self.after.name: self.after})

    def written(self, problem: PendingPodProblem) -> Written:  # noqa: ARG002
        ops = [op.document() for op in self.ops]
        document = {"kind": "StorageClass", "name": self.after.name, "patch": ops}
        return Written([document], [recreate_command("storageclass", self.after.name, patches=[("json", ops)])])


@dataclass(frozen=True)
class DeleteClaims(_EditStorage):
    """Deletion and re-creation of claims, so that their volumes are provisioned where the pod is scheduled.

    A claim is deleted only once its waiting pods are deleted. A claim without a controller is created again.
    """

    claims: tuple[NamespacedName, ...]

    def change(self, storage: Storage) -> Storage:
        claims, volumes = dict(storage.claims), dict(storage.volumes)
        for key in self.claims:
            old = claims[key]
            volumes.pop(old.volume_name, None)
            claims[key] = old._replace(
                uid=f"{old.uid}/recreated", volume_name="", is_bind_completed=False, selected_node=None, is_lost=False
            )
        return storage._replace(claims=claims, volumes=volumes)

    def plan(self, plan: Plan) -> None:
        super().plan(plan)
        if plan.problem.owner.kind != "Pod":  # It is created again as it is: to the scheduler it is the same.
            plan.delete_pods(self._users(plan.problem))

    def _users(self, problem: PendingPodProblem) -> list[Pod]:
        """Return the waiting pods that name the claims."""
        return [pod for pod in problem.own if not set(self.claims).isdisjoint(pod.cls.claims())]

    def written(self, problem: PendingPodProblem) -> Written:
        # A StatefulSet creates the claims again whose names end with the name of a pod.
        names = tuple(f"-{pod.name}" for pod in (*problem.own, *problem.running))
        again = [key for key in self.claims if problem.owner.kind == "StatefulSet" and key.name.endswith(names)]
        documents = [_of_object(_CLAIM, *again[0], deleted=[key.name for key in again])] if again else []
        documents += [_of_object(_CLAIM, *key, replaced=True) for key in self.claims if key not in again]
        commands = [
            command("delete", "pvc", key.name, namespace=key.namespace, rest=("--wait=false",))
            if key in again
            else recreate_command("pvc", key.name, key.namespace, [("merge", _UNBOUND)])
            for key in self.claims
        ]
        pods, target = self._users(problem), problem.target
        if not (pods and target.is_live):
            return Written(documents, commands)
        if target.kind == "Pod":
            documents += [_of_object("Pod", pod.namespace, pod.name, replaced=True) for pod in pods]
            return Written(documents, [*commands, recreate_command("pod", target.name, target.namespace)])
        if len(again) < len(self.claims):
            documents.append(_of_pods(pods))
        delete = command("delete", "pod", *(pod.name for pod in pods), namespace=pods[0].namespace)
        return Written(documents, [*commands, delete])


# A claim without its volume and its selected node: null removes what binding adds.
_CHOSEN = (
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "volume.kubernetes.io/selected-node",
)
_UNBOUND = {"metadata": {"annotations": dict.fromkeys(_CHOSEN)}, "spec": {"volumeName": None}}
