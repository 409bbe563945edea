"""Kinds that carry a pod template, and the pods a controller makes of it."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.objects import spread
from kubectl_spread.objects.plain import mappings
from kubectl_spread.text.node import Route

Plain = dict[str, Any]


POD_TEMPLATE_HASH = "pod-template-hash"
ROLLOUT_HASH = "rollouts-pod-template-hash"

# Labels that change with each revision of a template, and with each release of a chart or an application.
REVISION_LABELS = (POD_TEMPLATE_HASH, "controller-revision-hash", ROLLOUT_HASH)
RELEASE_LABELS = ("helm.sh/chart", "app.kubernetes.io/version")

# Labels that controllers give each of their pods with a value of its own.
PER_POD_LABELS = (
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
)


class WorkloadKind(NamedTuple):
    """Where a kind keeps its pod template, and what kubectl calls it.

    `template` leads to the object that has `metadata` and `spec` of the pod; () for a Pod itself.
    """

    groups: frozenset[str]
    template: Route
    names: tuple[str, ...]


_APPS = frozenset({"apps", "extensions"})
_CORE = frozenset({""})
_BATCH = frozenset({"batch"})
_ARGO = frozenset({"argoproj.io"})

KINDS: dict[str, WorkloadKind] = {
    "Pod": WorkloadKind(_CORE, (), ("pod", "pods", "po")),
    "PodTemplate": WorkloadKind(_CORE, ("template",), ("podtemplate", "podtemplates")),
    "ReplicationController": WorkloadKind(
        _CORE, ("spec", "template"), ("replicationcontroller", "replicationcontrollers", "rc")
    ),
    "ReplicaSet": WorkloadKind(_APPS, ("spec", "template"), ("replicaset", "replicasets", "rs")),
    "Deployment": WorkloadKind(_APPS, ("spec", "template"), ("deployment", "deployments", "deploy")),
    "StatefulSet": WorkloadKind(_APPS, ("spec", "template"), ("statefulset", "statefulsets", "sts")),
    "DaemonSet": WorkloadKind(_APPS, ("spec", "template"), ("daemonset", "daemonsets", "ds")),
    "Job": WorkloadKind(_BATCH, ("spec", "template"), ("job", "jobs")),
    "CronJob": WorkloadKind(_BATCH, ("spec", "jobTemplate", "spec", "template"), ("cronjob", "cronjobs", "cj")),
    "Rollout": WorkloadKind(_ARGO, ("spec", "template"), ("rollout", "rollouts", "ro")),
}

# Those whose number of replicas can be set, and asked for (the scale subresource).
SCALED_KINDS = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "Rollout"})


class Workload(NamedTuple):
    """A workload of a manifest; `replicas` is None for a DaemonSet, which has one pod a node."""

    kind: str
    api_version: str
    namespace: str
    name: str
    replicas: Optional[int]
    template: Plain
    first_ordinal: int = 0  # of a StatefulSet
    is_indexed: bool = False  # a Job whose pods know their index
    claim_templates: tuple[str, ...] = ()  # of a StatefulSet
    selector: Optional[Plain] = None  # spec.selector as written
    known_hash: str = ""  # pod-template-hash of the pods that run already

    @property
    def revision_hash(self) -> str:
        """The hash of the template: that of the pods that run already, else a stand-in."""
        return self.known_hash or _template_hash(self.template)

    @property
    def key(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def kind_of(kind: str, api_version: str) -> Optional[WorkloadKind]:
    """The entry of a kind, None for one that has no pod template known here."""
    found = KINDS.get(kind)
    group = api_version.partition("/")[0] if "/" in api_version else ""
    return found if found is not None and group in found.groups else None


def kind_named(name: str) -> Optional[str]:
    """The kind that a kubectl resource argument means: `deploy`, `deployments.apps`, `Deployment`."""
    word = name.partition(".")[0].lower()
    for kind, entry in KINDS.items():
        if word in entry.names:
            return kind
    return None


def workload(plain: Plain, kind: str) -> Workload:
    """A workload from a plain object that decodes."""
    metadata = plain.get("metadata") or {}
    return Workload(
        kind=kind,
        api_version=plain.get("apiVersion") or "",
        namespace=metadata.get("namespace") or "default",
        name=metadata.get("name") or metadata.get("generateName") or "",
        replicas=_replicas(plain.get("spec") or {}, kind),
        template=_template(plain, kind),
        first_ordinal=int(((plain.get("spec") or {}).get("ordinals") or {}).get("start") or 0),
        selector=(plain.get("spec") or {}).get("selector"),
        claim_templates=tuple(
            name
            for item in mappings((plain.get("spec") or {}).get("volumeClaimTemplates"))
            if (name := (item.get("metadata") or {}).get("name"))
        ),
        is_indexed=_job_spec(plain.get("spec") or {}, kind).get("completionMode") == "Indexed",
    )


def replica_name(owner: Workload, ordinal: int) -> str:
    """The name of a pod; for controllers that draw one at random, the owner's name and a number from 1."""
    if owner.kind == "Pod":
        return owner.name
    if owner.kind == "StatefulSet":
        return f"{owner.name}-{owner.first_ordinal + ordinal}"
    return f"{owner.name}-{ordinal + 1}"


def made_claims(owner: Workload, pod_name: str) -> tuple[str, ...]:
    """The names of the claims that a StatefulSet makes for a pod, or made for one of that name before."""
    return tuple(f"{template}-{pod_name}" for template in owner.claim_templates)


def created_labels(owner: Workload, ordinal: int = 0) -> dict[str, str]:
    """The labels of a pod of this workload at creation, the controller's included."""
    return {
        **spread.labels(owner.template.get("metadata") or {}),
        **_controller_labels(owner, ordinal, replica_name(owner, ordinal)),
    }


def _template(plain: Plain, kind: str) -> Plain:
    found = plain
    for step in KINDS[kind].template:
        found = found.get(str(step)) or {}
    return found


def _replicas(spec: Plain, kind: str) -> Optional[int]:
    if kind == "DaemonSet":
        return None
    if kind in ("Pod", "PodTemplate"):
        return 1
    if kind == "CronJob":
        if spec.get("suspend"):
            return 0
        spec = _job_spec(spec, kind)
    if kind in ("Job", "CronJob"):
        return _job_pods(spec)
    replicas = spec.get("replicas")
    return 1 if replicas is None else max(0, int(replicas))


def _job_spec(spec: Plain, kind: str) -> Plain:
    return (spec.get("jobTemplate") or {}).get("spec") or {} if kind == "CronJob" else spec


def _job_pods(spec: Plain) -> int:
    """The pods of a Job that run at a time."""
    if spec.get("suspend"):
        return 0
    parallelism, completions = spec.get("parallelism"), spec.get("completions")
    at_once = 1 if parallelism is None else int(parallelism)
    return max(0, at_once if completions is None else min(at_once, int(completions)))


def _controller_labels(owner: Workload, ordinal: int, name: str) -> dict[str, str]:
    """The labels a controller adds; hashes and uids are stand-ins, equal for equal templates."""
    if owner.kind == "Deployment":
        return {POD_TEMPLATE_HASH: owner.revision_hash}
    if owner.kind == "Rollout":
        return {ROLLOUT_HASH: owner.revision_hash}
    if owner.kind == "StatefulSet":
        return {
            "controller-revision-hash": f"{owner.name}-{owner.revision_hash}",
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(owner.first_ordinal + ordinal),
        }
    if owner.kind == "DaemonSet":
        return {"controller-revision-hash": owner.revision_hash, "pod-template-generation": "1"}
    if owner.kind in ("Job", "CronJob"):
        uid = owner.revision_hash
        index = {"batch.kubernetes.io/job-completion-index": str(ordinal)} if owner.is_indexed else {}
        return {
            **index,
            "batch.kubernetes.io/job-name": owner.name,
            "batch.kubernetes.io/controller-uid": uid,
            "job-name": owner.name,
            "controller-uid": uid,
        }
    return {}


def _template_hash(template: Plain) -> str:
    """A label value that changes with the template, in the alphabet of the real hash (rand.SafeEncodeString)."""
    import json  # 5 ms
    import zlib

    number = zlib.crc32(json.dumps(template, sort_keys=True, default=str).encode())
    return "".join("bcdfghjklmnpqrstvwxz2456789"[ord(digit) % 27] for digit in str(number))
