"""Strings of an object with their roles, for example the name of a node: `replace_strings` gives each a new text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kubectl_spread.cluster.building.shapes import SHAPES
from kubectl_spread.cluster.sharing import kubernetes_words as words
from kubectl_spread.cluster.sharing.prune import fields_of
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.read import normalized_image
from kubectl_spread.objects.selectors import HOSTNAME, NAMESPACE_NAME, REGION, ZONE
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.workload import REVISION_LABEL_OF

Plain = dict[str, Any]
Replace = Callable[[str, str], str]  # from the role of a string and the string to its replacement

_NUMBER = re.compile(r"[+-]?[0-9]+\Z")
_PERCENT = re.compile(r"[0-9]+%\Z")

# The kind of name in a label's value, by the label's key; by default `value`.
ROLE_OF_LABEL = {
    HOSTNAME: "node",
    NAMESPACE_NAME: "namespace",
    **dict.fromkeys((ZONE, "failure-domain.beta.kubernetes.io/zone"), "zone"),
    **dict.fromkeys((REGION, "failure-domain.beta.kubernetes.io/region"), "region"),
    "statefulset.kubernetes.io/pod-name": "pod",
    **dict.fromkeys(REVISION_LABEL_OF.values(), "revision"),
    "controller-revision-hash": "revision",
}
_ZONES = ("zone", "region")
_MAPS_OF_LABELS = ("labels", "matchLabels", "nodeSelector", "annotations", "selector")
_OF_KINDS = {
    "Node": "node",
    "CSINode": "node",
    "Namespace": "namespace",
    "Pod": "pod",
    "PersistentVolumeClaim": "claim",
    "PersistentVolume": "volume",
    "StorageClass": "storage-class",
    "PriorityClass": "priority-class",
    "RuntimeClass": "runtime-class",
    "CSIDriver": "",  # stays
}

# Fields whose strings stay, by Go type: keys, resources, kinds, drivers and schedulers.
_KEPT_FIELDS = frozenset(
    """
    CSINodeDriver.name CSIPersistentVolumeSource.driver CrossVersionObjectReference.apiVersion
    CrossVersionObjectReference.kind DeviceClassSpec.extendedResourceName LabelSelectorRequirement.key
    NodeSelectorRequirement.key NodeStatus.declaredFeatures NodeSystemInfo.kubeletVersion ObjectReference.kind
    OwnerReference.apiVersion OwnerReference.kind PodAffinityTerm.matchLabelKeys PodAffinityTerm.mismatchLabelKeys
    PodAffinityTerm.topologyKey PodSpec.schedulerName StorageClass.provisioner Taint.key Toleration.key
    TopologySelectorLabelRequirement.key TopologySpreadConstraint.matchLabelKeys TopologySpreadConstraint.topologyKey
    """.split()  # noqa: SIM905 (a list that is read as words)
)

# The kind of name in a string, by field; for fields of one Go type only, with the type. A string without a role is a
# `value`, so that it is replaced. Roles in `_KEPT` keep Kubernetes' own words and replace all others.
_ROLES: dict[str, str] = {
    **dict.fromkeys(("message", "note"), "message"),
    **dict.fromkeys(("namespace", "namespaces"), "namespace"),
    **dict.fromkeys(("nodeName", "nominatedNodeName"), "node"),
    "uid": "uid",
    **dict.fromkeys(("volumeName", "persistentVolumeName"), "volume"),
    "storageClassName": "storage-class",
    "priorityClassName": "priority-class",
    "runtimeClassName": "runtime-class",
    "ScopedResourceSelectorRequirement.values": "priority-class",
    "claimName": "claim",
    **dict.fromkeys(("updateRevision", "currentPodHash"), "revision"),
    "hostIP": "address",
    **dict.fromkeys(("image", "reference"), "asked image"),
    "ContainerImage.names": "image",
    "RBDVolumeSource.image": "disk",
    "Volume.name": "mount",
    "Container.name": "container",
    "ContainerStatus.name": "container",
    "PodSchedulingGate.name": "gate",
    **dict.fromkeys(("pdName", "volumeID", "diskURI", "iqn", "volumeHandle", "monitors"), "disk"),
    **dict.fromkeys(("component", "reportingComponent", "reportingController"), "component"),
    "finalizers": "finalizer",
    "reason": "reason",
    **dict.fromkeys(
        ("Condition.type", "PodCondition.type", "PodFailurePolicyOnPodConditionsPattern.type"), "condition"
    ),
    **dict.fromkeys(words.FIELDS_OF_WORDS, "word"),
    **dict.fromkeys(words.FIELDS_OF_TIMES, "time"),
}
# The words that stay, by kind of name.
_KEPT = {
    "component": words.COMPONENTS,
    "condition": words.CONDITION_TYPES,
    "finalizer": words.FINALIZERS,
    "reason": words.REASONS,
    "word": words.WORDS,
}
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z|[0-9]+(?:[-,][0-9]+)*")
_CODES = re.compile(r"SPR[0-9]*(?:,SPR[0-9]*)*")


def replace_strings(plain: Plain, replace: Replace) -> Plain:
    """Return an object of a known kind with its strings replaced."""
    kind = str(plain.get("kind"))
    found = _walk(
        {key: item for key, item in plain.items() if key not in ("kind", "apiVersion")}, SHAPES[kind], kind, replace
    )
    named: Plain = {key: plain[key] for key in ("apiVersion", "kind") if key in plain}
    return {**named, **found}


def _walk(value: Any, shape: decode.Shape, role: str, replace: Replace) -> Any:
    """Return a value with its strings replaced.

    Args:
        value: decodes as `shape`.
        shape: its type.
        role: the kind of name that a string is; for an object, its kind.
        replace: returns the replacement of a string, by its role.
    """
    if value is None:
        return None
    if isinstance(shape, decode.ListOf):
        return [_walk(item, shape.item, role, replace) for item in value]
    if isinstance(shape, decode.Struct):
        return _struct(value, shape, role, replace)
    if isinstance(shape, decode.MapOf):
        return _map(value, shape, role, replace)
    if isinstance(value, str) and shape is not decode.Atom.QUANTITY:
        return _string(value, shape, role, replace)
    if isinstance(value, (dict, list)):  # of any type: it only matters whether it is there
        return {} if isinstance(value, dict) else [{} for _ in value]
    return value


def _string(text: str, shape: decode.Atom, role: str, replace: Replace) -> str:
    if not role:
        replace("key", text)
        return text
    if shape is decode.Atom.ANY and _PERCENT.match(text):
        return text
    if role == "prefix":
        return f"{replace('workload', text[:-1])}-" if text.endswith("-") else replace("workload", text)
    if role == "asked image":
        return replace("image", normalized_image(text))
    if role == "disk" and text.startswith("aws://"):
        text = text.rpartition("/")[2]
    if text in _KEPT.get(role, ()) or (role == "time" and _TIME.fullmatch(text)):
        return text
    return replace("value" if role in ("word", "time") else role, text)


def _map(value: Plain, shape: decode.MapOf, role: str, replace: Replace) -> Plain:
    """Return a mapping; only labels, annotations and amounts of resources keep their keys."""
    if role == "disruptedPods":
        return {replace("pod", key): None for key in value}
    if role not in _MAPS_OF_LABELS and shape.value is not decode.Atom.QUANTITY:
        return {replace("value", key): _walk(item, shape.value, "value", replace) for key, item in value.items()}
    for key in value:
        replace("key", key)
    if shape.value is decode.Atom.QUANTITY:
        return value
    if role == "annotations":
        return {key: _annotation(key, text or "", replace) for key, text in value.items()}
    return {key: _label(key, text or "", replace) for key, text in value.items()}


def _label(key: str, text: str, replace: Replace) -> str:
    """Return the replaced value of a label; a volume's may name several zones."""
    if ROLE_OF_LABEL.get(key) in _ZONES and "__" in text:
        return "__".join(replace(f"label:{key}", part) for part in text.split("__"))
    return replace(f"label:{key}", text)


def _annotation(key: str, text: str, replace: Replace) -> str:
    if key.endswith("/selected-node"):
        return replace("node", text)
    if key.endswith("/storage-class"):
        return replace("storage-class", text)
    if key.endswith("/ignore"):
        codes = _CODES.match(text)
        return " ".join(filter(None, (codes[0] if codes else "", "redacted" if " " in text else "")))
    return text if text in words.VALUES or _NUMBER.match(text) else replace("value", text)


def _struct(value: Plain, shape: decode.Struct, role: str, replace: Replace) -> Plain:
    fields = fields_of(shape)
    found: Plain = {}
    key = value.get("key") if isinstance(value.get("key"), str) else None
    if value.get("operator") in ("Gt", "Lt"):
        replace(f"compared:{key}", "")
    for field, item in value.items():
        if field == "values" and isinstance(item, list):
            is_field = key == "metadata.name" and shape.name == "NodeSelectorRequirement"
            found[field] = [replace("node", text) if is_field else _label(key or "", text, replace) for text in item]
        elif field in (*_MAPS_OF_LABELS, "disruptedPods"):
            found[field] = _walk(item, fields[field], field, replace)
        else:
            found[field] = _walk(item, fields[field], _role(shape.name, field, role, value), replace)
    return found


def _role(struct: str, field: str, role: str, value: Plain) -> str:
    name = f"{struct}.{field}"
    if name == "ObjectMeta.generateName":
        return "prefix"
    if name == "ObjectMeta.name":
        return _of_kind(role)
    if struct in ("OwnerReference", "ObjectReference", "CrossVersionObjectReference") and field == "name":
        return _of_kind(str(value.get("kind") or "PersistentVolumeClaim"))
    if field in ("metadata", "spec", "template", "jobTemplate"):
        return "Pod" if field == "template" else role  # of templates, which may name their pods
    return "" if name in _KEPT_FIELDS else _ROLES.get(name, _ROLES.get(field, "value"))


def _of_kind(kind: str) -> str:
    if kind in _OF_KINDS:
        return _OF_KINDS[kind]
    return "workload" if kind in KINDS else re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower() or "value"
