"""Readers from plain values (parsed YAML or JSON) to objects.

The readers take values that decode: `decode.problems` returns no problem of kind TYPE for them.

Disks of in-tree volume plugins, which CSI drivers attach since their migration.

Only the fields that distinguish two volumes are translated. Source: staging/src/k8s.io/csi-translation-lib/plugins,
aws_ebs.go, gce_pd.go, azure_disk.go, openstack_cinder.go; pkg/scheduler/framework/plugins/nodevolumelimits/utils.go,
isCSIMigrationOn, which names these four (v1.36.2).
"""

from __future__ import annotations

import json
import marshal
import re
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects import resources
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.node import Node, Taint, Toleration
from kubectl_spread.objects.pod import HostPort, Owner, Pod, PodClass, PodVolume
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import as_text, condition, fields, mappings, Plain, strings
from kubectl_spread.objects.selectors import (
    compile_selector,
    LabelRequirement,
    Labels,
    LEGACY,
    NodeAffinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredTerm,
    WeightedTerm,
    ZONE,
)

PREFER_AVOID_PODS = "scheduler.alpha.kubernetes.io/preferAvoidPods"


def node(plain: Plain) -> Node:
    """Read a Node."""
    metadata, spec = fields(plain, "metadata"), fields(plain, "spec")
    status = fields(plain, "status")
    return Node(
        name=metadata.get("name") or "",
        labels=constraint.labels(metadata),
        taints=taints(spec.get("taints")),
        unschedulable=bool(spec.get("unschedulable")),
        allocatable=resources.allocatable(status),
        images=tuple(
            (name, int(image.get("sizeBytes") or 0))
            for image in mappings(status.get("images"))
            for name in strings(image.get("names"))
        ),
        features=strings(status.get("declaredFeatures")),
        kubelet_version=fields(status, "nodeInfo").get("kubeletVersion") or "",
        avoids=_avoided(fields(metadata, "annotations")),
        created=as_text(metadata.get("creationTimestamp")),
    )


def taints(plain: Any) -> tuple[Taint, ...]:
    """Read a list of taints."""
    return tuple(
        Taint(taint.get("key") or "", taint.get("value") or "", taint.get("effect") or "") for taint in mappings(plain)
    )


def _avoided(annotations: Plain) -> tuple[tuple[str, str], ...]:
    """Return kind and UID of each controller whose pods the node asks to avoid.

    Source: pkg/apis/core/v1/helper/helpers.go, GetAvoidPodsFromNodeAnnotations (v1.21.9).
    """
    text = annotations.get(PREFER_AVOID_PODS)
    if not isinstance(text, str):
        return ()
    try:
        written = json.loads(text)
    except ValueError:
        return ()  # upstream takes an annotation that it cannot read for none
    entries = fields(written).get("preferAvoidPods")
    signatures = (fields(item, "podSignature") for item in entries) if isinstance(entries, list) else ()
    controllers = (fields(signature, "podController") for signature in signatures)
    return tuple((str(item.get("kind") or ""), str(item.get("uid") or "")) for item in controllers)


def pod(plain: Plain, cls: Optional[PodClass] = None) -> Pod:
    """Read a Pod with the defaults of the API server; `cls`: its class, if it is known."""
    metadata, spec = fields(plain, "metadata"), fields(plain, "spec")
    status = fields(plain, "status")
    bound_to = spec.get("nodeName") or ""
    namespace = metadata.get("namespace") or "default"
    scheduled = {} if bound_to else condition(status, "PodScheduled")
    refused = scheduled if scheduled.get("status") == "False" else {}  # why it has no node
    disrupted = condition(status, "DisruptionTarget")
    ready = condition(status, "Ready") if bound_to else {}
    finalizers = metadata.get("finalizers")
    return Pod(
        name=_pod_name(metadata),
        uid=_uid(namespace, metadata),
        cls=cls or pod_class(namespace, metadata, spec, status if bound_to else {}),
        node_name=bound_to,
        phase=as_text(status.get("phase")),
        terminating=metadata.get("deletionTimestamp") is not None,
        nominated_node=status.get("nominatedNodeName") or "",
        start_time=status.get("startTime") or "",
        message=refused.get("message") or "",
        is_preempted=(disrupted.get("status"), disrupted.get("reason")) == ("True", "PreemptionByScheduler"),
        reason=refused.get("reason") or "",
        created=as_text(metadata.get("creationTimestamp")),
        refused_since=as_text(refused.get("lastTransitionTime")),
        deleted=as_text(metadata.get("deletionTimestamp")),
        finalizers=tuple(filter(None, map(as_text, finalizers))) if isinstance(finalizers, list) else (),
        is_ready=ready.get("status") == "True" if ready else None,
        ready_since=as_text(ready.get("lastTransitionTime")),
        deletion_cost=_deletion_cost(metadata),
        has_local_storage=any("emptyDir" in volume for volume in mappings(spec.get("volumes"))),
    )


def _deletion_cost(metadata: Plain) -> int:
    """Return a pod's deletion cost for its ReplicaSet; 0 if the annotation is missing or not a 32-bit number.

    Source: pkg/apis/core/helper/helpers.go, GetDeletionCostFromPodAnnotations (v1.36.2).
    """
    text = fields(metadata, "annotations").get(DELETION_COST)
    if not isinstance(text, str) or not _COST.fullmatch(text):
        return 0
    cost = int(text)
    return cost if -(2**31) <= cost < 2**31 else 0


DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_COST = re.compile(r"-?(0|[1-9][0-9]{0,9})")


def _uid(namespace: str, metadata: Plain) -> str:
    """Return the uid of a pod; its key if the API server has not seen it."""
    return metadata.get("uid") or f"{namespace}/{_pod_name(metadata)}"


def _pod_name(metadata: Plain) -> str:
    return metadata.get("name") or metadata.get("generateName") or ""


def pod_class(namespace: str, metadata: Plain, spec: Plain, status: Plain) -> PodClass:
    """Return all fields that plugins may read of a pod."""
    pod_labels = constraint.labels(metadata)
    requests = resources.pod_requests(spec, status)
    affinity = fields(spec, "affinity")
    required, preferred = _pod_affinity(fields(affinity, "podAffinity"), namespace, pod_labels)
    required_anti, preferred_anti = _pod_affinity(fields(affinity, "podAntiAffinity"), namespace, pod_labels)
    volumes = mappings(spec.get("volumes"))
    first, usual = mappings(spec.get("initContainers")), mappings(spec.get("containers"))
    containers = (*first, *usual)
    sidecars = (item for item in first if item.get("restartPolicy") == "Always")
    found = []
    for container in (*usual, *sidecars):
        for port in mappings(container.get("ports")):
            number = port.get("hostPort") or (port.get("containerPort") if spec.get("hostNetwork") else 0)
            if number:
                ip = port.get("hostIP") or "0.0.0.0"  # noqa: S104 (the API's meaning of no IP)
                found.append(HostPort(ip, port.get("protocol") or "TCP", int(number)))
    return PodClass(
        namespace=namespace,
        labels=tuple(sorted(pod_labels.items())),
        requests=requests.requests,
        nonzero=requests.nonzero,
        scored=requests.scored,
        node_selector=tuple(sorted((key, value or "") for key, value in fields(spec, "nodeSelector").items())),
        node_affinity=node_affinity(fields(affinity, "nodeAffinity")),
        pod_affinity=required,
        pod_anti_affinity=required_anti,
        preferred_affinity=preferred,
        preferred_anti_affinity=preferred_anti,
        tolerations=tuple(map(toleration, mappings(spec.get("tolerations")))),
        constraints=constraint.constraints(spec),
        host_ports=tuple(found),
        priority=int(spec.get("priority") or 0),
        preemption_policy=spec.get("preemptionPolicy") or "",
        scheduler_name=spec.get("schedulerName") or "default-scheduler",
        gates=tuple(gate.get("name") or "" for gate in mappings(spec.get("schedulingGates"))),
        pod_group=fields(spec, "schedulingGroup").get("podGroupName") or "",
        owner=controller(metadata),
        owner_uid=controller_uid(metadata),
        images=tuple(normalized_image(container.get("image") or "") for container in containers),
        init_images=len(first),
        image_volumes=tuple(
            normalized_image(item["image"].get("reference") or "") for item in volumes if item.get("image")
        ),
        volumes=_volumes(spec, _pod_name(metadata), _uid(namespace, metadata)),
        features=_features(spec),
        beyond=("resource claims",) if spec.get("resourceClaims") else (),
        older=resources.older_requests(spec, status, requests),
    )


def controller(metadata: Plain) -> Optional[Owner]:
    """Return the owner that controls an object; the API server takes no reference without a kind and a name."""
    for reference in mappings(metadata.get("ownerReferences")):
        kind, name = reference.get("kind"), reference.get("name")
        if reference.get("controller") and kind and name:
            return Owner(reference.get("apiVersion") or "", kind, name)
    return None


def controller_uid(metadata: Plain) -> str:
    """Return the uid of the owner that controls an object."""
    return next(
        (item.get("uid") or "" for item in mappings(metadata.get("ownerReferences")) if item.get("controller")), ""
    )


def node_affinity(plain: Plain) -> NodeAffinity:
    """Read `spec.affinity.nodeAffinity`."""
    required = plain.get("requiredDuringSchedulingIgnoredDuringExecution")
    preferred = mappings(plain.get("preferredDuringSchedulingIgnoredDuringExecution"))
    return NodeAffinity(
        None if required is None else tuple(map(_term, mappings(required.get("nodeSelectorTerms")))),
        tuple(PreferredTerm(int(item.get("weight") or 0), _term(fields(item, "preference"))) for item in preferred),
    )


def _pod_affinity(
    plain: Plain, namespace: str, pod_labels: dict[str, str]
) -> tuple[tuple[PodAffinityTerm, ...], tuple[WeightedTerm, ...]]:
    """Return the required and the preferred terms."""
    required = mappings(plain.get("requiredDuringSchedulingIgnoredDuringExecution"))
    preferred = mappings(plain.get("preferredDuringSchedulingIgnoredDuringExecution"))
    return tuple(_pod_affinity_term(item, namespace, pod_labels) for item in required), tuple(
        WeightedTerm(
            int(item.get("weight") or 0), _pod_affinity_term(fields(item, "podAffinityTerm"), namespace, pod_labels)
        )
        for item in preferred
    )


def _pod_affinity_term(plain: Plain, namespace: str, pod_labels: dict[str, str]) -> PodAffinityTerm:
    """Read a term, and merge its matchLabelKeys and mismatchLabelKeys into the selector.

    Source: pkg/registry/core/pod/strategy.go, applyMatchLabelKeysAndMismatchLabelKeys (v1.36.2).
    """
    selector = compile_selector(constraint.label_selector(plain.get("labelSelector")))
    named = {requirement.key for requirement in selector.requirements or ()}
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in strings(plain.get(field)):
            if key in pod_labels and key not in named:  # a stored pod has it merged already
                selector = selector.plus(LabelRequirement(key, operator, (pod_labels[key],)))
    namespaces, namespace_selector = strings(plain.get("namespaces")), plain.get("namespaceSelector")
    if not namespaces and namespace_selector is None:
        namespaces = (namespace,)
    return PodAffinityTerm(
        plain.get("topologyKey") or "",
        selector,
        namespaces,
        None if namespace_selector is None else compile_selector(constraint.label_selector(namespace_selector)),
    )


def toleration(plain: Plain) -> Toleration:
    """Read one entry of `spec.tolerations`."""
    return Toleration(
        plain.get("key") or "",
        plain.get("operator") or "",
        plain.get("value") or "",
        plain.get("effect") or "",
        None if plain.get("tolerationSeconds") is None else max(0, int(plain["tolerationSeconds"])),
    )


def _term(plain: Plain) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        tuple(map(constraint.requirement, mappings(plain.get("matchExpressions")))),
        tuple(map(constraint.requirement, mappings(plain.get("matchFields")))),
    )


def normalized_image(name: str) -> str:
    """Return an image name with its tag, `latest` by default.

    Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go, normalizedImageName (v1.36.2).
    """
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


def _features(spec: Plain) -> tuple[str, ...]:
    """Return the features that a node must declare to run the pod.

    Source: staging/src/k8s.io/component-helpers/nodedeclaredfeatures/features (v1.36.2).
    """
    found = []
    containers = (*mappings(spec.get("initContainers")), *mappings(spec.get("containers")))
    rules = (rule for container in containers for rule in mappings(container.get("restartPolicyRules")))
    if any(rule.get("action") == "RestartAllContainers" for rule in rules):
        found.append("RestartAllContainersOnContainerExits")
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        found.append("UserNamespacesHostNetworkSupport")
    return tuple(found)


def _volumes(spec: Plain, pod_name: str, pod_uid: str) -> tuple[PodVolume, ...]:
    """Return the volumes with a claim or an inline disk; an ephemeral volume's claim is named after the pod."""
    found = []
    for volume in mappings(spec.get("volumes")):
        if volume.get("persistentVolumeClaim") is not None:
            found.append(PodVolume(claim=volume["persistentVolumeClaim"].get("claimName") or ""))
        elif volume.get("ephemeral") is not None:
            claim = f"{pod_name}-{volume.get('name') or ''}"
            found.append(PodVolume(claim, is_ephemeral=True, pod=pod_name, pod_uid=pod_uid))
        else:
            attached = driver_and_handle(volume, {})
            found += [PodVolume(csi=attached)] if attached is not None else []
            found += _disks(volume)
    return tuple(found)


def _disks(volume: Plain) -> list[PodVolume]:
    """Return the inline disks that a node can mount once.

    Source: pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go, isVolumeConflict (v1.36.2).
    """
    found: list[tuple[Plain, tuple[str, ...]]] = [
        (volume[field], (kind, volume[field].get(name) or ""))
        for field, kind, name in _DISKS
        if volume.get(field) is not None
    ]
    rbd = volume.get("rbd")
    if rbd is not None:
        place = (rbd.get("pool") or "rbd", rbd.get("image") or "", *strings(rbd.get("monitors")))
        found.append((rbd, ("rbd", *place)))
    return [PodVolume(disk=identity, read_only=bool(disk.get("readOnly"))) for disk, identity in found]


# Fields of a volume, kinds of disks, and the inner fields with their names.
_DISKS = (
    ("gcePersistentDisk", "gce", "pdName"),
    ("awsElasticBlockStore", "ebs", "volumeID"),
    ("iscsi", "iscsi", "iqn"),
)


_UNSPECIFIED = "UNSPECIFIED"


# The field of a volume, the inner field with the disk's name, the provisioner, and the CSI driver.
_PLUGINS = (
    ("awsElasticBlockStore", "volumeID", "kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("gcePersistentDisk", "pdName", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("azureDisk", "diskURI", "kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("cinder", "volumeID", "kubernetes.io/cinder", "cinder.csi.openstack.org"),
)
_DRIVERS = {provisioner: driver for _, _, provisioner, driver in _PLUGINS}


def driver_of(provisioner: str) -> str:
    """Return the CSI driver that creates the volumes of a class."""
    return _DRIVERS.get(provisioner, provisioner)


def driver_and_handle(source: Plain, labels: Labels) -> Optional[tuple[str, str]]:
    """Return the driver and the handle of a disk; None for other volumes.

    Args:
        source: the spec of a PersistentVolume, or a pod's volume.
        labels: of the PersistentVolume; a GCE disk's name is unique within one zone.
    """
    for field, disk, _, driver in _PLUGINS:
        if source.get(field) is not None:
            name = source[field].get(disk) or ""
            if field == "gcePersistentDisk":
                name = f"{labels.get(ZONE) or labels.get(LEGACY[ZONE]) or _UNSPECIFIED}/{name}"
            elif name.startswith("aws://"):
                name = name.rpartition("/")[2]
            return driver, name
    return None


# By Go type: what no PodClass is made of, so that each pod may have its own. (The claim of an ephemeral volume is named
# for the pod and the volume, so `PodReader` shares no class that has one.)
_OWN = {
    "Pod": (),
    "ObjectMeta": ("name", "uid", "annotations"),
    "PodSpec": ("nodeName",),
    "PodStatus": ("phase", "nominatedNodeName", "startTime"),
    "Volume": ("name",),
    # Types with per-pod fields that the program never reads: mounts, times.
    "Container": (),
    "ContainerStatus": (),
    "PodCondition": (),
}


class _Plan(NamedTuple):
    """The steps to separate the per-pod fields of a struct from its shared fields."""

    own: tuple[tuple[str, decode.Shape], ...]
    whole: tuple[str, ...]  # shared as they are
    apart: tuple[tuple[str, _Plan], ...]


def _plan(struct: decode.Struct) -> _Plan:
    names = _OWN[struct.name]
    apart = {
        key: item
        for key, shape in struct.fields.items()
        if isinstance(item := shape.item if isinstance(shape, decode.ListOf) else shape, decode.Struct)
        and item.name in _OWN
    }
    return _Plan(
        own=tuple((key, struct.fields[key]) for key in names),
        whole=tuple(key for key in struct.fields if key not in names and key not in apart),
        apart=tuple((key, _plan(item)) for key, item in apart.items()),
    )


_POD = _plan(decode.POD)


class PodReader:
    """Reads many pods: replicas that differ only in per-pod fields are checked and read once.

    Replicas have one template, and a cluster has a thousand times fewer templates than pods. The shared part of a pod
    is the pod without its per-pod fields, which `_OWN` names. Fields that the program never reads are not in
    `decode.POD`.
    """

    def __init__(self) -> None:
        self._classes: dict[bytes, PodClass] = {}

    def pod(self, plain: Plain) -> Optional[Pod]:
        """Return the pod as `pod` reads it; None if it does not decode."""
        template = _template(plain)
        cls = None if template is None else self._classes.get(template)
        if cls is not None:
            return pod(plain, cls)
        if not decode.decodes(plain, decode.POD):
            return None
        read = pod(plain)
        if template is not None and not any(volume.is_ephemeral for volume in read.cls.volumes):
            self._classes[template] = read.cls
        return read


def _template(plain: Plain) -> Optional[bytes]:
    """Return the shared part of replicas, as a key; None if a per-pod field does not decode, or the rest is too deep.

    Two pods with one key decode alike and have the same PodClass: besides the shared fields it depends only on whether
    the pod is bound.
    """
    wrong: list[str] = []
    shared = _shared(plain, _POD, wrong)
    if wrong:
        return None
    spec = plain.get("spec")
    is_bound = isinstance(spec, dict) and bool(spec.get("nodeName"))
    try:
        # Of version 2, which writes equal values alike; from 3 on it depends on how often they are referred to.
        # Other than `==`, it tells 1 from 1.0 and True.
        return marshal.dumps((is_bound, shared), 2)
    except ValueError:
        return None


def _shared(value: Any, plan: _Plan, wrong: list[str]) -> Any:
    """Remove per-pod fields, so that replicas compare equal; `wrong` collects fields that do not decode.

    A struct becomes a tuple, which no JSON value is; something else than a struct is left as it is.
    """
    if isinstance(value, dict):
        get = value.get
        for key, shape in plan.own:
            if not decode.decodes(get(key), shape):
                wrong.append(key)
        shared = tuple(map(get, plan.whole))
        return (shared, *[_shared(get(key), inner, wrong) for key, inner in plan.apart]) if plan.apart else shared
    if isinstance(value, list):
        return [_shared(item, plan, wrong) for item in value]
    return value
