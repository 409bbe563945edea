"""StatefulSets.

Source: pkg/controller/statefulset/stateful_set_control.go, stateful_set_utils.go, stateful_pod_control.go (v1.36.2: the
gate MaxUnavailableStatefulSet is off). The status has only the revisions, with their templates, and `volumesOf` and
`claimsOf`: volumes and claims by pod where a snapshot shows no claim templates.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from tests.naive import objects
from tests.naive.controllers import admission, controller_utils, persistentvolume, replicaset
from tests.naive.controllers.deployment import template_of
from tests.naive.controllers.replicaset import replicas_of
from tests.naive.controllers.world import delete_pod, hashed, is_owned_by, World

Plain = dict[str, Any]

REVISION = "controller-revision-hash"
POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
OWNED_BY = "naive/deleted-with"


class Revisions(NamedTuple):
    """The revision that pods are rolled out from, and the one they are rolled out to."""

    current: str
    update: str


def ordinal_of(pod: Plain) -> int:
    return int(pod["metadata"]["name"].rpartition("-")[2])


def start_of(item: Plain) -> int:
    return (item["spec"].get("ordinals") or {}).get("start") or 0


def ordinals_of(item: Plain) -> range:
    return range(start_of(item), start_of(item) + replicas_of(item))


def partition_of(item: Plain) -> int:
    rolling = (item["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    return rolling.get("partition") or 0


def is_on_delete(item: Plain) -> bool:
    return (item["spec"].get("updateStrategy") or {}).get("type") == "OnDelete"


def is_parallel(item: Plain) -> bool:
    return bool(item["spec"].get("podManagementPolicy") == "Parallel")


def pods_of(world: World, item: Plain) -> dict[int, Plain]:
    pods = [pod for pod in world.pods(objects.namespace_of(item)) if is_owned_by(pod, item)]
    return {ordinal_of(pod): pod for pod in sorted(pods, key=ordinal_of)}


def revisions_of(item: Plain) -> Revisions:
    status = item.get("status") or {}
    update = update_revision(item)
    return Revisions(status.get("currentRevision") or update, update)


def update_revision(item: Plain) -> str:
    """The name of the template's revision; a snapshot may have given it one."""
    known: dict[str, str] = (item.get("status") or {}).get("revisionNames") or {}
    short = hashed(template_of(item))
    return known.get(short) or f"{item['metadata']['name']}-{short}"


def sync(world: World, item: Plain) -> Iterator[World]:
    """What one reconciliation leads to; nothing where there is nothing to do."""
    if objects.is_terminating(item):
        return
    name = objects.name_of(item)
    mine = [pod for pod in world.pods(objects.namespace_of(item)) if objects.name_of(pod).rpartition("-")[0] == name]
    claimed = replicaset.claim(world, item, [pod for pod in mine if objects.name_of(pod).rpartition("-")[2].isdigit()])
    if claimed is not None:
        yield claimed
        return
    revisions = revisions_of(item)
    noted = _noted(world, item, revisions)
    after = noted or _Sync(world, item, revisions).run() or _completed(world, item, revisions)
    if after is not None:
        yield after


def _noted(world: World, item: Plain, revisions: Revisions) -> Optional[World]:
    """The status and the templates by revision, which are ControllerRevisions upstream."""
    status = item.get("status") or {}
    templates = status.get("templates") or {}
    if status.get("currentRevision") == revisions.current and revisions.update in templates:
        return None
    after = world.copy()
    templates = {**templates, revisions.update: copy.deepcopy(item["spec"]["template"])}
    after.put({**item, "status": {**status, "currentRevision": revisions.current, "templates": templates}})
    return after


def _completed(world: World, item: Plain, revisions: Revisions) -> Optional[World]:
    """`completeRollingUpdate`."""
    if is_on_delete(item) or revisions.current == revisions.update:
        return None
    pods = [pod for pod in pods_of(world, item).values() if not objects.is_terminating(pod)]
    if len(pods) != replicas_of(item) or any(revision_of(pod) != revisions.update for pod in pods):
        return None
    if not all(is_available(item, pod) for pod in pods):
        return None
    after = world.copy()
    after.put({**item, "status": {**item["status"], "currentRevision": revisions.update}})
    return after


def revision_of(pod: Plain) -> str:
    return objects.labels_of(pod).get(REVISION, "")


def is_available(item: Plain, pod: Plain) -> bool:
    return controller_utils.is_available(pod, item["spec"].get("minReadySeconds") or 0)


def is_healthy(item: Plain, pod: Plain) -> bool:
    return is_available(item, pod) and not objects.is_terminating(pod)


class _Sync:
    """One reconciliation: all that is done at once, or None."""

    def __init__(self, world: World, item: Plain, revisions: Revisions) -> None:
        self._world, self._item, self._revisions = world, item, revisions
        self._pods = pods_of(world, item)
        self._is_monotonic = not is_parallel(item)

    def run(self) -> Optional[World]:
        after = self._world.copy()
        changed, is_blocked = self._replicas(after)
        if not is_blocked:
            more, is_blocked = self._condemned(after)
            changed = changed or more
        if changed:
            return after
        return None if is_blocked else self._update()

    def _replicas(self, after: World) -> tuple[bool, bool]:
        """Walk up the ordinals.

        Returns:
            Whether anything was done, and whether the walk stops here.
        """
        changed = False
        for ordinal in ordinals_of(self._item):
            pod = self._pods.get(ordinal)
            if pod is None:
                created = self._create(after, ordinal)
                changed = changed or created
                if self._is_monotonic or (created and admission.is_racy(after)):
                    return changed, True
            elif objects.is_terminated(pod) and not objects.is_terminating(pod):
                delete_pod(after, pod)
                changed = True
                if self._is_monotonic:
                    return changed, True
            elif not pod["spec"].get("nodeName") and self._create_claims(after, ordinal):
                changed = True
            if pod is not None and self._is_monotonic and not is_healthy(self._item, pod):
                return changed, True
        return changed, False

    def _create(self, after: World, ordinal: int) -> bool:
        """Create a pod and its claims; it waits for a claim that is being deleted, and for its name."""
        if self._has_stale_claim(after, ordinal):
            return False
        has_new_claims = self._create_claims(after, ordinal)
        name = f"{self._item['metadata']['name']}-{ordinal}"
        if after.get("Pod", name, objects.namespace_of(self._item)) is not None:
            return has_new_claims
        return admission.try_create(after, self._pod(name, ordinal)) or has_new_claims

    def _claims(self, ordinal: int) -> list[Plain]:
        name = f"{self._item['metadata']['name']}-{ordinal}"
        known = ((self._item.get("status") or {}).get("claimsOf") or {}).get(name) or []
        return [*known, *(claim_of(self._item, template, ordinal) for template in claim_templates(self._item))]

    def _has_stale_claim(self, after: World, ordinal: int) -> bool:
        """`PodClaimIsStale`: a claim is about to go."""
        for claim in self._claims(ordinal):
            found = after.get("PersistentVolumeClaim", claim["metadata"]["name"], objects.namespace_of(claim))
            if found is not None and (objects.is_terminating(found) or objects.annotations_of(found).get(OWNED_BY)):
                return True
        return False

    def _create_claims(self, after: World, ordinal: int) -> bool:
        """Create the claims that are missing."""
        missing = [
            claim
            for claim in self._claims(ordinal)
            if after.get("PersistentVolumeClaim", claim["metadata"]["name"], objects.namespace_of(claim)) is None
        ]
        for claim in missing:
            admission.create(after, claim)
        return bool(missing)

    def _pod(self, name: str, ordinal: int) -> Plain:
        """`newVersionedStatefulSetPod`."""
        item, revisions = self._item, self._revisions
        is_current = not is_on_delete(item) and ordinal < start_of(item) + partition_of(item)
        revision = revisions.current if is_current else revisions.update
        template = ((item.get("status") or {}).get("templates") or {}).get(revision) or item["spec"]["template"]
        labels = {REVISION: revision, POD_NAME: name, POD_INDEX: str(ordinal)}
        pod = controller_utils.pod_from_template(item, template, labels=labels)
        pod["metadata"]["name"] = name
        del pod["metadata"]["generateName"]
        pod["spec"]["hostname"] = name
        volumes = [volume for volume in pod["spec"].get("volumes") or [] if not self._is_claimed(volume["name"])]
        volumes += ((item.get("status") or {}).get("volumesOf") or {}).get(name) or []
        for claim in claim_templates(item):
            source = {"claimName": f"{claim['metadata']['name']}-{name}"}
            volumes.append({"name": claim["metadata"]["name"], "persistentVolumeClaim": source})
        pod["spec"]["volumes"] = volumes
        return pod

    def _is_claimed(self, name: str) -> bool:
        return any(claim["metadata"]["name"] == name for claim in claim_templates(self._item))

    def _condemned(self, after: World) -> tuple[bool, bool]:
        """Delete pods with ordinals that are too many, from the top."""
        wanted = ordinals_of(self._item)
        condemned = [pod for ordinal, pod in sorted(self._pods.items(), reverse=True) if ordinal not in wanted]
        unhealthy = [pod for pod in self._ordered() if not is_healthy(self._item, pod)]
        changed = False
        for pod in condemned:
            if objects.is_terminating(pod):
                if self._is_monotonic:
                    return changed, True
                continue
            if self._is_monotonic and not is_healthy(self._item, pod) and pod is not unhealthy[0]:
                return changed, True
            self._condemn(after, pod)
            changed = True
            if self._is_monotonic:
                return changed, True
        return changed, False

    def _ordered(self) -> list[Plain]:
        """Pods that are to be, then those that are too many, each upwards."""
        wanted = ordinals_of(self._item)
        return sorted(self._pods.values(), key=lambda pod: (ordinal_of(pod) not in wanted, ordinal_of(pod)))

    def _condemn(self, after: World, pod: Plain) -> None:
        policy = self._item["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
        if policy.get("whenScaled") == "Delete":
            for template in claim_templates(self._item):
                claim = claim_of(self._item, template, ordinal_of(pod))["metadata"]
                found = after.get("PersistentVolumeClaim", claim["name"], claim["namespace"])
                if found is not None:
                    metadata = after.edit(found)["metadata"]
                    metadata["annotations"] = {**(metadata.get("annotations") or {}), OWNED_BY: pod["metadata"]["uid"]}
        delete_pod(after, pod)

    def _update(self) -> Optional[World]:
        """Delete the highest pod of another revision, once those above it are available."""
        if is_on_delete(self._item):
            return None
        lowest = start_of(self._item) + partition_of(self._item)
        for ordinal in reversed(ordinals_of(self._item)):
            pod = self._pods.get(ordinal)
            if ordinal < lowest or pod is None:
                return None
            if revision_of(pod) != self._revisions.update and not objects.is_terminating(pod):
                after = self._world.copy()
                delete_pod(after, pod)
                return after
            if not is_healthy(self._item, pod):
                return None
        return None


def claim_templates(item: Plain) -> list[Plain]:
    return item["spec"].get("volumeClaimTemplates") or []


def claim_of(item: Plain, template: Plain, ordinal: int) -> Plain:
    claim = copy.deepcopy(template)
    metadata = claim["metadata"]
    metadata["name"] = f"{metadata['name']}-{item['metadata']['name']}-{ordinal}"
    metadata["namespace"] = objects.namespace_of(item)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim, "status": {"phase": "Pending"}}


def collect_claims(world: World) -> Iterator[World]:
    """Delete the claims that were to go with a pod, once it is gone."""
    uids = {pod["metadata"]["uid"] for pod in world.pods()}
    for claim in world.list("PersistentVolumeClaim"):
        owner = objects.annotations_of(claim).get(OWNED_BY)
        if owner and owner not in uids:
            after = world.copy()
            persistentvolume.delete_claim(after, claim)
            yield after


def is_complete(world: World, item: Plain) -> bool:
    """What `kubectl rollout status` waits for."""
    if is_on_delete(item):
        return True
    revisions = revisions_of(item)
    pods = [pod for pod in pods_of(world, item).values() if not objects.is_terminating(pod)]
    updated = sum(revision_of(pod) == revisions.update for pod in pods)
    ready = sum(is_available(item, pod) for pod in pods)
    if partition_of(item):
        return updated >= replicas_of(item) - partition_of(item)
    return ready >= replicas_of(item) and (revisions.current == revisions.update)
