"""Actions that delete pods, wait for their end, or scale their workload."""

from __future__ import annotations

from typing import Any, NamedTuple

from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.suggest.actions.action import object_of
from kubectl_spread.suggest.editing.patch import put_op
from kubectl_spread.suggest.editing.target import command
from kubectl_spread.suggest.judging.hypothetical import HypotheticalCluster
from kubectl_spread.suggest.judging.plan import Plan

Plain = dict[str, Any]


class RemovePods(NamedTuple):
    """Deletion of pods; their controllers, if any, create replacements."""

    pods: tuple[Pod, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods(self.pods, replaced=any(pod.owner is not None for pod in self.pods))

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.delete_pods(self.pods)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return [command("delete", "pod", pod.name, namespace=pod.namespace) for pod in self.pods]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        pod = self.pods[0]
        return [{**object_of("Pod", pod.namespace, pod.name), "deleted": [pod.name for pod in self.pods]}]


class AwaitPods(NamedTuple):
    """Wait for pods that terminate or are being evicted by the scheduler. No command is needed.

    is_replaced: their controllers create replacements.
    """

    pods: tuple[Pod, ...]
    is_replaced: bool = False

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods(self.pods, replaced=self.is_replaced)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        if not self.is_replaced:  # the scheduler evicts the others by itself
            plan.end_pods(self.pods)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        pod = self.pods[0]
        names = [pod.name for pod in self.pods]
        awaited = "Preempted" if self.is_replaced else "Deleted"
        return [{**object_of("Pod", pod.namespace, pod.name), "awaited": awaited, "deleted": names}]


class FinishDeletion(NamedTuple):
    """Forced end of a pod that has been terminating for long, and whose node is needed."""

    pod: Pod

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods([self.pod], replaced=False)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.end_pods([self.pod])

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

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


class SetReplicas(NamedTuple):
    """Fewer replicas of the problem's own workload; `ended` are the waiting pods that its controller deletes."""

    replicas: int
    ended: tuple[Pod, ...]

    @property
    def is_of_manifest(self) -> bool:
        return True

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


class ScaleDown(NamedTuple):
    """Another workload with fewer replicas; `deleted` are the pods that its controller removes."""

    kind: str
    namespace: str
    name: str
    replicas: int
    deleted: tuple[Pod, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene.without_pods(self.deleted, replaced=False)

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.scale(OwnerKey(self.kind, self.namespace, self.name), self.replicas)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

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
