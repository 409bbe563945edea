"""Workloads, and the labels of their pods at creation: those of the template, and those that the controller adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.keys import MOST_PODS
from kubectl_spread.objects.reading.plain import as_text, fields, mappings, Plain, value_at
from kubectl_spread.objects.workloads.kinds import KINDS, PodPlace
from kubectl_spread.text.scalars import natural

DEFAULT_NAMESPACE = "default"  # of objects that name none
POD_TEMPLATE_HASH = "pod-template-hash"
ROLLOUT_HASH = "rollouts-pod-template-hash"

# The label that names a pod's workload, for kinds whose intermediate objects may be missing in the cluster facts.
NAMED_BY_LABEL = {
    "Service": "serving.knative.dev/service",
    "DeploymentConfig": "deploymentconfig",
    "LeaderWorkerSet": "leaderworkerset.sigs.k8s.io/name",
}

# The label whose value changes with each change of the template.
REVISION_LABEL_OF = {
    "Deployment": POD_TEMPLATE_HASH,
    "StatefulSet": "controller-revision-hash",
    "DaemonSet": "controller-revision-hash",
    "Rollout": ROLLOUT_HASH,
    "Service": "serving.knative.dev/revision",
    "DeploymentConfig": "deployment",
    "CloneSet": POD_TEMPLATE_HASH,
    "LeaderWorkerSet": "leaderworkerset.sigs.k8s.io/template-revision-hash",
}

# Labels that change with each revision of a template (`deployment` may be anybody's), and with each release of a chart
# or an application.
REVISION_LABELS = tuple(dict.fromkeys(label for label in REVISION_LABEL_OF.values() if label != "deployment"))
RELEASE_LABELS = ("helm.sh/chart", "app.kubernetes.io/version")

# Labels that controllers give each of their pods with a value of its own.
PER_POD_LABELS = (
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
    "apps.kruise.io/cloneset-instance-id",
)


class PodGroup(NamedTuple):
    """The pods of one template in each group of a LeaderWorkerSet: their number, and the index of the first."""

    size: int = 1
    first: int = 0


# Kinds with replicas that Kubernetes' own controllers keep running, and all with the scale subresource.
REPLICATED_KINDS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
SCALED_KINDS = REPLICATED_KINDS | {"Rollout"}


_CONSTRAINTS = "topologySpreadConstraints"
_WITH_A_SELECTOR = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Rollout", "CloneSet"})


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
    claims: tuple[Plain, ...] = ()  # the volumeClaimTemplates of these names
    selector: Optional[Plain] = None  # spec.selector as written
    known_hash: str = ""  # the value of the revision label of the pods that run already
    is_foreign: bool = False  # the fields that its controller adds to the pods are unknown
    group: PodGroup = PodGroup()  # of a LeaderWorkerSet
    is_ordered: bool = False  # a StatefulSet that creates each pod only once all pods before it are ready
    is_paused: bool = False  # a Deployment that changes only the size of the ReplicaSets that it has

    @property
    def pod_spec(self) -> Plain:
        """Return the spec of the pod template; empty if the facts lack it."""
        return fields(self.template, "spec")

    def with_pod_spec(self, spec: Plain) -> Workload:
        """Return the workload with another spec in its pod template, as a new revision."""
        return self._replace(template={**self.template, "spec": spec}, known_hash="")

    def with_constraint_fields(self, changes: Mapping[int, Plain]) -> Workload:
        """Return the workload with other fields of some constraints, by position; None removes a field."""
        written = [{**item, **changes.get(at, {})} for at, item in enumerate(mappings(self.pod_spec.get(_CONSTRAINTS)))]
        kept = [{name: value for name, value in item.items() if value is not None} for item in written]
        return self.with_pod_spec({**self.pod_spec, _CONSTRAINTS: kept})

    @property
    def has_named_pods(self) -> bool:
        """Return whether the names of its pods are known before the pods exist."""
        return self.kind in ("Pod", "StatefulSet", "LeaderWorkerSet")

    @property
    def is_simulated(self) -> bool:
        """Return whether it has no more pods than are simulated."""
        return (self.replicas or 0) <= MOST_PODS

    @property
    def revision_hash(self) -> str:
        """Return the hash of the template: taken from running pods, else computed here."""
        return self.known_hash or template_hash(self.template)

    @property
    def key(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def workload(
    plain: Plain,
    kind: str,
    *,
    at: Optional[PodPlace] = None,
    namespace: str = DEFAULT_NAMESPACE,
    is_foreign: bool = False,
) -> Workload:
    """Read a workload from a plain object that decodes.

    Args:
        plain: the object.
        kind: its kind.
        at: which of its pods is meant, in an object with several.
        namespace: of an object that names none.
        is_foreign: see `WorkloadKind`.
    """
    metadata, spec = fields(plain, "metadata"), fields(plain, "spec")
    api_version = plain.get("apiVersion")
    place = at or KINDS[kind].usual_place()
    template = fields(value_at(plain, place.template))
    template = {"spec": template} if place.template == place.spec else template
    is_plain = not is_foreign and kind != "LeaderWorkerSet"
    found = Workload(
        kind,
        as_text(api_version),  # it does not decode with the rest
        metadata.get("namespace") or namespace,
        metadata.get("name") or metadata.get("generateName") or "",
        _replicas(spec, kind, template) if is_plain else 1,
        template,
        is_foreign=is_foreign,
        **(_settings(spec, kind) if is_plain else {}),
    )
    if is_foreign:
        sibling = fields(value_at(plain, place.template[:-1])).get("replicas")
        return found._replace(replicas=max(0, sibling) if type(sibling) is int else 1)
    if is_plain:
        return found
    # The leaders or the workers of a LeaderWorkerSet; without a leaderTemplate both are alike.
    both = fields(spec, "leaderWorkerTemplate")
    size = 1 if both.get("size") is None else max(1, int(both["size"]))
    members = PodGroup(size - 1, first=1) if both.get("leaderTemplate") else PodGroup(size)
    if place.template[-1] == "leaderTemplate":
        members = PodGroup()
    replicas = _number(spec, "replicas") * members.size
    return found._replace(replicas=replicas, group=members, known_hash=template_hash(both))


def _settings(spec: Plain, kind: str) -> dict[str, Any]:
    """Return the other fields that a kind reads from `spec`."""
    written = spec.get("volumeClaimTemplates")
    templates = tuple(item for item in mappings(written) if fields(item, "metadata").get("name")) if written else ()
    return {
        "first_ordinal": int(fields(spec, "ordinals").get("start") or 0),
        "selector": None if kind == "Service" else spec.get("selector"),
        "claim_templates": tuple([item["metadata"]["name"] for item in templates]),
        "claims": templates,
        "is_indexed": _job_spec(spec, kind).get("completionMode") == "Indexed",
        "is_ordered": kind == "StatefulSet" and spec.get("podManagementPolicy") != "Parallel",
        "is_paused": kind == "Deployment" and spec.get("paused") is True,
    }


def is_partial(owner: Workload) -> bool:
    """Return whether a manifest is a strategic merge patch, not a whole object.

    A patch has neither labels nor a selector, and no container with an image. The API server requires all of them in a
    Deployment. An explicit null for the labels counts as labels. An object with directives is always a patch.
    """
    spec = owner.pod_spec
    if any("$patch" in entry for entry in mappings(spec.get("topologySpreadConstraints"))):
        return True
    if _labels(owner) is not None or _has_images(owner):
        return False
    return lacks_selector(owner) or owner.kind in ("Job", "CronJob")


def lacks_selector(owner: Workload) -> bool:
    """Return whether an object lacks its required selector, so that something will add it, and labels."""
    return owner.kind in _WITH_A_SELECTOR and owner.selector is None


def awaits_labels(owner: Workload) -> bool:
    """Return whether labels will be added to the pods: to a patch, or to a base that kustomize completes."""
    return is_partial(owner) or (lacks_selector(owner) and (_labels(owner) is None or _has_images(owner)))


def _labels(owner: Workload) -> Optional[Plain]:
    return fields(owner.template, "metadata").get("labels")


def _has_images(owner: Workload) -> bool:
    return any(item.get("image") for item in mappings(owner.pod_spec.get("containers")))


def knative_scale(template: Plain) -> tuple[Optional[int], Optional[int]]:
    """Return the least and most pods of a Knative revision by its annotations; 0 as the most is not a limit."""
    annotations = fields(template, "metadata", "annotations")
    least, most = (
        next((number for name in names if (number := natural(str(annotations.get(name, "")))) is not None), None)
        for names in (_MIN_SCALE, _MAX_SCALE)
    )
    return least, most or None


_MIN_SCALE = ("autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale")
_MAX_SCALE = ("autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale")


def revision_label(owner: Workload) -> str:
    """Return the label that identifies the revision of a workload's pods; empty without one."""
    return "" if owner.is_foreign else REVISION_LABEL_OF.get(owner.kind, "")


def replica_name(owner: Workload, ordinal: int) -> str:
    """Return the name of a pod; for random names, the owner's name and a number from 1."""
    if owner.kind == "Pod":
        return owner.name
    if owner.kind == "StatefulSet":
        return f"{owner.name}-{owner.first_ordinal + ordinal}"
    if owner.kind == "LeaderWorkerSet":
        group, member = group_member(owner, ordinal)
        return f"{owner.name}-{group}-{member}" if member else f"{owner.name}-{group}"
    return f"{owner.name}-{ordinal + 1}"


def claim_names(owner: Workload, pod_name: str) -> tuple[str, ...]:
    """Return the names of the claims that a StatefulSet creates for a pod of this name."""
    return tuple(f"{template}-{pod_name}" for template in owner.claim_templates)


def group_member(owner: Workload, ordinal: int) -> tuple[int, int]:
    """Return the group of a pod, and its index in it."""
    group, at = divmod(ordinal, max(1, owner.group.size))
    return group, owner.group.first + at


def _replicas(spec: Plain, kind: str, template: Plain) -> Optional[int]:
    if kind == "DaemonSet":
        return None
    if kind in ("Pod", "PodTemplate"):
        return 1
    if kind == "Service":
        return knative_scale(template)[0] or 1
    if kind in ("Job", "CronJob"):
        job = _job_spec(spec, kind)
        if spec.get("suspend") or job.get("suspend"):
            return 0
        at_once, completions = _number(job, "parallelism"), job.get("completions")
        return at_once if completions is None else max(0, min(at_once, int(completions)))
    return _number(spec, "replicas")


def _number(spec: Plain, field: str) -> int:
    return 1 if spec.get(field) is None else max(0, int(spec[field]))


def _job_spec(spec: Plain, kind: str) -> Plain:
    return fields(spec, "jobTemplate", "spec") if kind == "CronJob" else spec


_SAFE_DIGITS = {ord(digit): "bcdfghjklmnpqrstvwxz2456789"[ord(digit) % 27] for digit in "0123456789"}


def template_hash(template: Plain) -> str:
    """Return a label value that changes with the template, in the alphabet of the real hash (rand.SafeEncodeString)."""
    import marshal  # json takes 3 ms to load, and every check needs this
    import zlib

    number = zlib.crc32(marshal.dumps(template, 2))  # a version without references, which depend on identity
    return str(number).translate(_SAFE_DIGITS)


def created_labels(owner: Workload, ordinal: int = 0) -> dict[str, str]:
    """Return the labels of a pod of this workload at creation, the controller's included."""
    return {
        **constraint.labels(fields(owner.template, "metadata")),
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
    if kind == "DaemonSet":
        return {"controller-revision-hash": owner.revision_hash, "pod-template-generation": "1"}
    if kind == "CloneSet":  # openkruise/kruise pkg/controller/cloneset/utils, WriteRevisionHash
        return {
            "controller-revision-hash": f"{owner.name}-{owner.revision_hash}",
            POD_TEMPLATE_HASH: owner.revision_hash,
            "apps.kruise.io/cloneset-instance-id": owner.revision_hash,
        }
    if kind == "DeploymentConfig":
        return {"deploymentconfig": owner.name, "deployment": deployer_name(owner)}
    if kind == "Service":  # of Knative: the labels of a revision's Deployment; `app` is the template's if it has one
        prefix, revision = "serving.knative.dev", knative_revision(owner)
        return {
            "app": constraint.labels(fields(owner.template, "metadata")).get("app", revision),
            POD_TEMPLATE_HASH: template_hash(owner.template),
            f"{prefix}/service": owner.name,
            f"{prefix}/configuration": owner.name,
            f"{prefix}/configurationGeneration": "1",
            f"{prefix}/revision": revision,
            f"{prefix}/revisionUID": revision,
            f"{prefix}/configurationUID": owner.name,
            f"{prefix}/serviceUID": owner.name,
        }
    return {}


def _ordinal_labels(owner: Workload, index: int, name: str) -> dict[str, str]:
    return {
        "controller-revision-hash": f"{owner.name}-{owner.revision_hash}",
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(index),
    }


def knative_revision(owner: Workload) -> str:
    """Return the name of a Knative Service's revision: the template's own, or a counted one."""
    return owner.known_hash or fields(owner.template, "metadata").get("name") or f"{owner.name}-00001"


def deployer_name(owner: Workload) -> str:
    """Return the ReplicationController that a DeploymentConfig makes for its template."""
    return owner.known_hash or f"{owner.name}-1"
