"""Labels of a workload's pods at creation: the labels of the template, and the labels that the controller adds."""

from __future__ import annotations

from collections.abc import Callable

from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.workloads.workload import (
    group_member,
    POD_TEMPLATE_HASH,
    replica_name,
    REVISION_LABEL_OF,
    template_hash,
    Workload,
)


def created_labels(owner: Workload, ordinal: int = 0) -> dict[str, str]:
    """Return the labels of a pod of this workload at creation, the controller's included."""
    return {
        **constraint.labels(owner.template.get("metadata") or {}),
        **_controller_labels(owner, ordinal, replica_name(owner, ordinal)),
    }


def _controller_labels(owner: Workload, ordinal: int, name: str) -> dict[str, str]:
    """Return the labels a controller adds. Hashes and uids are invented, and equal for equal templates."""
    if owner.is_foreign:
        return {}
    kind = owner.kind
    if kind in ("Deployment", "Rollout"):
        return {REVISION_LABEL_OF[kind]: owner.revision_hash}
    if kind in ("Job", "CronJob"):
        uid = owner.revision_hash
        index = {"batch.kubernetes.io/job-completion-index": str(ordinal)} if owner.is_indexed else {}
        return {
            **index,
            "batch.kubernetes.io/job-name": owner.name,
            "batch.kubernetes.io/controller-uid": uid,
            "job-name": owner.name,
            "controller-uid": uid,
        }
    if kind == "StatefulSet":
        return _ordinal_labels(owner, owner.first_ordinal + ordinal, name)
    if kind == "LeaderWorkerSet":
        group, member = group_member(owner, ordinal)
        prefix = "leaderworkerset.sigs.k8s.io"
        return {
            **_ordinal_labels(owner, member or group, name),
            f"{prefix}/name": owner.name,
            f"{prefix}/group-index": str(group),
            f"{prefix}/group-key": template_hash({"group": f"{owner.namespace}/{owner.name}-{group}"}),
            f"{prefix}/worker-index": str(member),
            f"{prefix}/template-revision-hash": owner.revision_hash,
        }
    added = _LABELS.get(kind)
    return {} if added is None else added(owner)


def _ordinal_labels(owner: Workload, index: int, name: str) -> dict[str, str]:
    return {
        "controller-revision-hash": f"{owner.name}-{owner.revision_hash}",
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(index),
    }


def _daemon_labels(owner: Workload) -> dict[str, str]:
    return {"controller-revision-hash": owner.revision_hash, "pod-template-generation": "1"}


def _clone_labels(owner: Workload) -> dict[str, str]:
    """Return the labels that the CloneSet controller adds to pods.

    Source: openkruise/kruise pkg/controller/cloneset/utils, WriteRevisionHash.
    """
    return {
        "controller-revision-hash": f"{owner.name}-{owner.revision_hash}",
        POD_TEMPLATE_HASH: owner.revision_hash,
        "apps.kruise.io/cloneset-instance-id": owner.revision_hash,
    }


def _config_labels(owner: Workload) -> dict[str, str]:
    return {"deploymentconfig": owner.name, "deployment": deployer_name(owner)}


def _knative_labels(owner: Workload) -> dict[str, str]:
    """Return the labels of a revision's Deployment; `app` is the template's if it has one."""
    revision = knative_revision(owner)
    own = constraint.labels(owner.template.get("metadata") or {})
    prefix = "serving.knative.dev"
    return {
        "app": own.get("app", revision),
        POD_TEMPLATE_HASH: template_hash(owner.template),
        f"{prefix}/service": owner.name,
        f"{prefix}/configuration": owner.name,
        f"{prefix}/configurationGeneration": "1",
        f"{prefix}/revision": revision,
        f"{prefix}/revisionUID": revision,
        f"{prefix}/configurationUID": owner.name,
        f"{prefix}/serviceUID": owner.name,
    }


_LABELS: dict[str, Callable[[Workload], dict[str, str]]] = {
    "DaemonSet": _daemon_labels,
    "CloneSet": _clone_labels,
    "DeploymentConfig": _config_labels,
    "Service": _knative_labels,
}


def knative_revision(owner: Workload) -> str:
    """Return the name of a Knative Service's revision: the template's own, or a counted one."""
    return owner.known_hash or (owner.template.get("metadata") or {}).get("name") or f"{owner.name}-00001"


def deployer_name(owner: Workload) -> str:
    """Return the ReplicationController that a DeploymentConfig makes for its template."""
    return owner.known_hash or f"{owner.name}-1"
