"""Actions that create or delete claims, or change their StorageClass."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.storage import claim as read_claim
from kubectl_spread.objects.storage import ObjectKey, Storage, StorageClass
from kubectl_spread.suggest.actions.action import object_of
from kubectl_spread.suggest.editing.patch import Op
from kubectl_spread.suggest.editing.target import command, local
from kubectl_spread.suggest.judging.hypothetical import HypotheticalCluster
from kubectl_spread.suggest.judging.plan import Plan

Plain = dict[str, Any]


class CreateClaims(NamedTuple):
    """Creation of claims that pods name but that do not exist, as plain objects."""

    claims: tuple[Plain, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

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


class EditClass(NamedTuple):
    """Replacement of an immutable StorageClass by one with another binding mode or more topologies."""

    before: StorageClass
    after: StorageClass
    ops: tuple[Op, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        return scene._replace(cluster=scene.cluster._replace(storage=self._with_class(scene.cluster.storage)))

    def _with_class(self, storage: Storage) -> Storage:
        return storage._replace(classes={**storage.classes, self.after.name: self.after})

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:  # noqa: ARG002
        plan.change_storage(self._with_class)

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

    def commands(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        get = command("get", "storageclass", self.before.name, rest=("-o", "json"))
        ops = patch_text(self.ops)
        edit = command("patch", "--local", "-f", "-", "--type=json", "-o", "json", "-p", ops)
        return [f"{get} | {edit} | kubectl replace --force -f -"]

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        return [{"kind": "StorageClass", "name": self.before.name, "patch": [op.document() for op in self.ops]}]


class DeleteClaims(NamedTuple):
    """Deletion and re-creation of claims, so that their volumes are provisioned where the pod is scheduled."""

    claims: tuple[ObjectKey, ...]

    @property
    def is_of_manifest(self) -> bool:
        return False

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
        wanted = set(self.claims)
        own = scene.problem.given.own
        if scene.problem.owner.kind == "Pod":  # created again as it is: to the scheduler it is the same
            return
        plan.delete_pods(
            pod for pod in own if any(ObjectKey(pod.namespace, volume.claim) in wanted for volume in pod.cls.volumes)
        )

    def lines(self, scene: HypotheticalCluster) -> list[str]:  # noqa: ARG002
        return []

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
        wanted = set(self.claims)
        pods = [
            pod
            for pod in scene.problem.given.own
            if any(ObjectKey(pod.namespace, volume.claim) in wanted for volume in pod.cls.volumes)
        ]
        target = scene.problem.target
        if pods and target.is_live:
            found.append(target.recreate_command() if target.kind == "Pod" else _deleted(pods))
        return found

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:  # noqa: ARG002
        key = self.claims[0]
        deleted = [claim.name for claim in self.claims]
        return [{**object_of("PersistentVolumeClaim", key.namespace, key.name), "deleted": deleted}]


def _is_made_again(key: ObjectKey, scene: HypotheticalCluster) -> bool:
    """Return whether a StatefulSet creates the claim again: its name ends with the name of a pod."""
    problem = scene.problem
    pods = (*problem.given.own, *problem.given.running)
    return problem.owner.kind == "StatefulSet" and any(key.name.endswith(f"-{pod.name}") for pod in pods)


def _recreate_claim_command(key: ObjectKey) -> str:
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
