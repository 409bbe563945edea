"""Decoding errors of the API server's JSON decoder, in its words.

This is a table of the Go types that a spread constraint can depend on, and one walk over a plain value. Other types are
not checked. Unknown fields are reported only in the structs marked closed.

Source: sigs.k8s.io/json, Go's encoding/json decode.go (UnmarshalTypeError); staging/src/k8s.io/api/core/v1/types.go
(v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.objects.amounts import quantity
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import short


class Atom(Enum):
    """A Go type without fields; the value is its name in messages."""

    STRING = "string"
    BOOL = "bool"
    INT32 = "int32"
    INT64 = "int64"
    QUANTITY = "resource.Quantity"
    INT_OR_STRING = "intstr.IntOrString"
    ANY = "interface {}"


class Struct(NamedTuple):
    """A Go struct; `closed` when `fields` names all it has."""

    name: str
    fields: dict[str, Any]
    closed: bool = False


class ListOf(NamedTuple):
    item: Any


class MapOf(NamedTuple):
    value: Any


Shape = Union[Atom, Struct, ListOf, MapOf]


class ProblemKind(Enum):
    """The effect of a problem on its object."""

    TYPE = "type"  # the decoder refuses the object
    UNKNOWN = "unknown"  # refused by a strict decoder, dropped in silence by others


class Problem(NamedTuple):
    """A value that does not fit its Go type.

    Attributes:
        message: the message of the API server's decoder.
        given: the JSON type of the value; empty for an unknown field.
        expected: the type of the field; None for an unknown field.
    """

    kind: ProblemKind
    route: Route
    message: str
    given: str = ""
    expected: Optional[Shape] = None


_STRINGS = ListOf(Atom.STRING)
_STRING_MAP = MapOf(Atom.STRING)
_RESOURCES = MapOf(Atom.QUANTITY)

_SELECTOR_REQUIREMENT = Struct(
    "LabelSelectorRequirement",
    {"key": Atom.STRING, "operator": Atom.STRING, "values": _STRINGS},
    closed=True,
)
LABEL_SELECTOR = Struct(
    "LabelSelector",
    {"matchLabels": _STRING_MAP, "matchExpressions": ListOf(_SELECTOR_REQUIREMENT)},
    closed=True,
)
TOPOLOGY_SPREAD_CONSTRAINT = Struct(
    "TopologySpreadConstraint",
    {
        "maxSkew": Atom.INT32,
        "topologyKey": Atom.STRING,
        "whenUnsatisfiable": Atom.STRING,
        "labelSelector": LABEL_SELECTOR,
        "minDomains": Atom.INT32,
        "nodeAffinityPolicy": Atom.STRING,
        "nodeTaintsPolicy": Atom.STRING,
        "matchLabelKeys": _STRINGS,
    },
    closed=True,
)
_NODE_SELECTOR_TERM = Struct(
    "NodeSelectorTerm",
    {
        field: ListOf(
            Struct(
                "NodeSelectorRequirement",
                {"key": Atom.STRING, "operator": Atom.STRING, "values": _STRINGS},
            )
        )
        for field in ("matchExpressions", "matchFields")
    },
)
NODE_SELECTOR = Struct("NodeSelector", {"nodeSelectorTerms": ListOf(_NODE_SELECTOR_TERM)})
_NODE_AFFINITY = Struct(
    "NodeAffinity",
    {
        "requiredDuringSchedulingIgnoredDuringExecution": NODE_SELECTOR,
        "preferredDuringSchedulingIgnoredDuringExecution": ListOf(
            Struct("PreferredSchedulingTerm", {"weight": Atom.INT32, "preference": _NODE_SELECTOR_TERM})
        ),
    },
)
_POD_AFFINITY_TERM = Struct(
    "PodAffinityTerm",
    {
        "labelSelector": LABEL_SELECTOR,
        "namespaces": _STRINGS,
        "topologyKey": Atom.STRING,
        "namespaceSelector": LABEL_SELECTOR,
        "matchLabelKeys": _STRINGS,
        "mismatchLabelKeys": _STRINGS,
    },
)


def _pod_affinity(name: str) -> Struct:
    return Struct(
        name,
        {
            "requiredDuringSchedulingIgnoredDuringExecution": ListOf(_POD_AFFINITY_TERM),
            "preferredDuringSchedulingIgnoredDuringExecution": ListOf(
                Struct(
                    "WeightedPodAffinityTerm",
                    {"weight": Atom.INT32, "podAffinityTerm": _POD_AFFINITY_TERM},
                )
            ),
        },
    )


RESOURCE_REQUIREMENTS = Struct("ResourceRequirements", {"requests": _RESOURCES, "limits": _RESOURCES})
_CONTAINER = Struct(
    "Container",
    {
        "name": Atom.STRING,
        "image": Atom.STRING,
        "resources": RESOURCE_REQUIREMENTS,
        "restartPolicy": Atom.STRING,
        "restartPolicyRules": ListOf(Struct("ContainerRestartRule", {"action": Atom.STRING})),
        "ports": ListOf(
            Struct(
                "ContainerPort",
                {
                    "name": Atom.STRING,
                    "hostPort": Atom.INT32,
                    "containerPort": Atom.INT32,
                    "protocol": Atom.STRING,
                    "hostIP": Atom.STRING,
                },
            )
        ),
    },
)
IN_TREE_DISKS = {
    "gcePersistentDisk": Struct("GCEPersistentDiskVolumeSource", {"pdName": Atom.STRING, "readOnly": Atom.BOOL}),
    "awsElasticBlockStore": Struct("AWSElasticBlockStoreVolumeSource", {"volumeID": Atom.STRING}),
    "azureDisk": Struct("AzureDiskVolumeSource", {"diskURI": Atom.STRING}),
    "cinder": Struct("CinderVolumeSource", {"volumeID": Atom.STRING}),
}
TOLERATIONS = ListOf(
    Struct(
        "Toleration",
        {**dict.fromkeys(("key", "operator", "value", "effect"), Atom.STRING), "tolerationSeconds": Atom.INT64},
    )
)
POD_SPEC = Struct(
    "PodSpec",
    {
        "topologySpreadConstraints": ListOf(TOPOLOGY_SPREAD_CONSTRAINT),
        "nodeSelector": _STRING_MAP,
        "nodeName": Atom.STRING,
        "schedulerName": Atom.STRING,
        "hostNetwork": Atom.BOOL,
        "hostUsers": Atom.BOOL,
        "priority": Atom.INT32,
        "priorityClassName": Atom.STRING,
        "preemptionPolicy": Atom.STRING,
        "runtimeClassName": Atom.STRING,
        "activeDeadlineSeconds": Atom.INT64,
        "overhead": _RESOURCES,
        "resources": RESOURCE_REQUIREMENTS,
        "schedulingGates": ListOf(Struct("PodSchedulingGate", {"name": Atom.STRING})),
        "schedulingGroup": Struct("PodSchedulingGroup", {"podGroupName": Atom.STRING}),
        "affinity": Struct(
            "Affinity",
            {
                "nodeAffinity": _NODE_AFFINITY,
                "podAffinity": _pod_affinity("PodAffinity"),
                "podAntiAffinity": _pod_affinity("PodAntiAffinity"),
            },
        ),
        "tolerations": TOLERATIONS,
        "containers": ListOf(_CONTAINER),
        "initContainers": ListOf(_CONTAINER),
        "resourceClaims": ListOf(Atom.ANY),
        "volumes": ListOf(
            Struct(
                "Volume",
                {
                    "name": Atom.STRING,
                    "persistentVolumeClaim": Struct("PersistentVolumeClaimVolumeSource", {"claimName": Atom.STRING}),
                    "ephemeral": Struct("EphemeralVolumeSource", {}),
                    **IN_TREE_DISKS,
                    "iscsi": Struct("ISCSIVolumeSource", {"iqn": Atom.STRING, "readOnly": Atom.BOOL}),
                    "rbd": Struct(
                        "RBDVolumeSource",
                        {
                            "monitors": _STRINGS,
                            "pool": Atom.STRING,
                            "image": Atom.STRING,
                            "readOnly": Atom.BOOL,
                        },
                    ),
                    "image": Struct("ImageVolumeSource", {"reference": Atom.STRING}),
                },
            )
        ),
    },
)
CLAIM_SPEC = Struct(
    "PersistentVolumeClaimSpec",
    {
        **dict.fromkeys(("volumeName", "storageClassName", "volumeMode"), Atom.STRING),
        "accessModes": ListOf(Atom.STRING),
        "selector": LABEL_SELECTOR,
        "resources": RESOURCE_REQUIREMENTS,
    },
)

OBJECT_META = Struct(
    "ObjectMeta",
    {
        "name": Atom.STRING,
        "generateName": Atom.STRING,
        "namespace": Atom.STRING,
        "uid": Atom.STRING,
        "labels": _STRING_MAP,
        "annotations": _STRING_MAP,
        "ownerReferences": ListOf(
            Struct(
                "OwnerReference",
                {
                    "apiVersion": Atom.STRING,
                    "kind": Atom.STRING,
                    "name": Atom.STRING,
                    "uid": Atom.STRING,
                    "controller": Atom.BOOL,
                },
            )
        ),
    },
)
POD_TEMPLATE_SPEC = Struct("PodTemplateSpec", {"metadata": OBJECT_META, "spec": POD_SPEC})
_CONTAINER_STATUSES = ListOf(
    Struct(
        "ContainerStatus",
        {"name": Atom.STRING, "resources": RESOURCE_REQUIREMENTS, "allocatedResources": _RESOURCES},
    )
)
POD = Struct(
    "Pod",
    {
        "metadata": OBJECT_META,
        "spec": POD_SPEC,
        "status": Struct(
            "PodStatus",
            {
                "phase": Atom.STRING,
                "nominatedNodeName": Atom.STRING,
                "startTime": Atom.STRING,
                "containerStatuses": _CONTAINER_STATUSES,
                "initContainerStatuses": _CONTAINER_STATUSES,
                "conditions": ListOf(
                    Struct(
                        "PodCondition",
                        {"type": Atom.STRING, "status": Atom.STRING, "reason": Atom.STRING, "message": Atom.STRING},
                    )
                ),
            },
        ),
    },
)
NODE = Struct(
    "Node",
    {
        "metadata": OBJECT_META,
        "spec": Struct(
            "NodeSpec",
            {
                "unschedulable": Atom.BOOL,
                "taints": ListOf(Struct("Taint", {"key": Atom.STRING, "value": Atom.STRING, "effect": Atom.STRING})),
            },
        ),
        "status": Struct(
            "NodeStatus",
            {
                "allocatable": _RESOURCES,
                "capacity": _RESOURCES,
                "images": ListOf(Struct("ContainerImage", {"names": _STRINGS, "sizeBytes": Atom.INT64})),
                "declaredFeatures": _STRINGS,
                "nodeInfo": Struct("NodeSystemInfo", {"kubeletVersion": Atom.STRING}),
            },
        ),
    },
)

# perf: to name a member of an Enum takes as long as all else that `decodes` does.
_ANY, _STRING, _INT32, _INT64 = Atom.ANY, Atom.STRING, Atom.INT32, Atom.INT64


def problems(value: Any, shape: Shape) -> list[Problem]:
    """Yield everything in a plain value that does not decode, in document order; null fits every type."""
    return [] if _is_clean(value, shape) else list(_walk(value, shape, (), ""))


def type_problems(value: Any, shape: Shape) -> list[Problem]:
    """Return the problems for which the decoder refuses the object."""
    return [problem for problem in problems(value, shape) if problem.kind is ProblemKind.TYPE]


def decodes(value: Any, shape: Shape) -> bool:
    """Return whether a plain value has no problem of kind TYPE; several times faster than listing them."""
    # perf: the most frequent types come first, and a list comprehension is faster than a generator.
    if value is None or shape is _ANY:
        return True
    if shape is _STRING:
        return isinstance(value, str)
    if isinstance(shape, Struct):
        fields = shape.fields
        return isinstance(value, dict) and all([decodes(value[key], fields[key]) for key in value if key in fields])  # noqa: C419
    if isinstance(shape, ListOf):
        item = shape.item
        return isinstance(value, list) and all([decodes(one, item) for one in value])  # noqa: C419
    if isinstance(shape, MapOf):
        return isinstance(value, dict) and all([decodes(one, shape.value) for one in value.values()])  # noqa: C419
    if shape is _INT64:
        return _fits_integer(value, 63)
    return not _atom_error(value, shape, (), "")


def _is_clean(value: Any, shape: Shape) -> bool:
    """Return whether a plain value has no problem; unlike `decodes`, an unknown field of a closed struct is one."""
    if value is None:
        return True
    if isinstance(shape, Struct):
        return isinstance(value, dict) and _is_clean_struct(value, shape)
    if isinstance(shape, ListOf):
        item, clean = shape.item, _is_clean
        return isinstance(value, list) and all([clean(one, item) for one in value])  # noqa: C419
    if isinstance(shape, MapOf):
        return isinstance(value, dict) and _is_clean_map(value, shape.value)
    if shape is _INT32:
        return _fits_integer(value, 31)
    return decodes(value, shape)


def _is_clean_map(value: dict[str, Any], shape: Shape) -> bool:
    """Return whether all values of a mapping have a type. For speed, check strings without a call."""
    if shape is _STRING:
        return all([one is None or isinstance(one, str) for one in value.values()])  # noqa: C419
    return all([_is_clean(one, shape) for one in value.values()])  # noqa: C419


def _is_clean_struct(value: dict[str, Any], shape: Struct) -> bool:
    """Return whether a mapping decodes as a struct. For speed, check strings and structs without a detour."""
    fields = shape.fields
    for key, item in value.items():
        field = fields.get(key)
        if field is None:
            if shape.closed:
                return False
        elif field is _STRING:
            if not (item is None or isinstance(item, str)):
                return False
        elif field.__class__ is Struct and item.__class__ is dict:
            if not _is_clean_struct(item, field):
                return False
        elif not _is_clean(item, field):
            return False
    return True


def path_text(route: Route) -> str:
    """Return a route as the API server prints paths: `spec.containers[0].name`."""
    text = ""
    for step in route:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def short_path(route: Route) -> str:
    """Return a route as errors about an input quote it: at most 40 characters of each key."""
    return path_text(tuple(short(step) if isinstance(step, str) else step for step in route))


def problem_text(problem: Problem) -> str:
    """Return a problem of an input with its path."""
    return f"{short_path(problem.route)}: {problem.message}"


def _walk(value: Any, shape: Shape, route: Route, owner: str) -> Iterator[Problem]:
    if value is None or shape is Atom.ANY:
        return
    if isinstance(shape, Atom):
        message = _atom_error(value, shape, route, owner)
        if message:
            yield Problem(ProblemKind.TYPE, route, message, _json_type(value), shape)
    elif isinstance(shape, ListOf):
        if not isinstance(value, list):
            yield _mismatch(value, shape, route, owner)
            return
        for index, item in enumerate(value):
            yield from _walk(item, shape.item, (*route, index), owner)
    elif not isinstance(value, dict):
        yield _mismatch(value, shape, route, owner)
    elif isinstance(shape, MapOf):
        for key, item in value.items():
            yield from _walk(item, shape.value, (*route, key), owner)
    else:
        yield from _walk_struct(value, shape, route)


def _walk_struct(value: dict[str, Any], shape: Struct, route: Route) -> Iterator[Problem]:
    for key, item in value.items():
        if key in shape.fields:
            if item is not None:
                yield from _walk(item, shape.fields[key], (*route, key), shape.name)
        elif shape.closed:
            at = (*route, key)
            yield Problem(ProblemKind.UNKNOWN, at, f'strict decoding error: unknown field "{short_path(at)}"')


def _mismatch(value: Any, shape: Shape, route: Route, owner: str) -> Problem:
    given = _json_type(value)
    message = _cannot(given, f"{owner}.{_fields(route)}", _go_type(shape))
    return Problem(ProblemKind.TYPE, route, message, given, shape)


def _atom_error(value: Any, atom: Atom, route: Route, owner: str) -> str:
    if atom is Atom.QUANTITY:
        try:
            quantity.parse(value)
        except quantity.QuantityError as error:
            return str(error)
        return ""
    if atom is Atom.INT_OR_STRING:
        if isinstance(value, str) or _fits_integer(value, 31):
            return ""
        what = f"number {value}" if _json_type(value) == "number" else _json_type(value)
        return f"json: cannot unmarshal {what} into Go value of type int32"
    if atom is Atom.STRING:
        fits = isinstance(value, str)
    elif atom is Atom.BOOL:
        fits = isinstance(value, bool)
    else:
        fits = _fits_integer(value, 31 if atom is Atom.INT32 else 63)
    if fits:
        return ""
    what = _json_type(value)
    if what == "number" and atom is not Atom.STRING and atom is not Atom.BOOL:
        what = f"number {value}"
    return _cannot(what, f"{owner}.{_fields(route)}", atom.value)


def _fits_integer(value: Any, bits: int) -> bool:
    """Return whether a number is whole and in range; kubectl turns 1.0 into 1 before it sends it."""
    if value.__class__ is not int and (isinstance(value, bool) or not isinstance(value, (int, float))):
        return False
    return -(2**bits) <= value < 2**bits and value == int(value)


def _cannot(what: str, field: str, go_type: str) -> str:
    return f"json: cannot unmarshal {what} into Go struct field {field} of type {go_type}"


def _fields(route: Route) -> str:
    """Return the field stack of Go's decoder: no indices, no keys of maps."""
    names = [step for step in route if isinstance(step, str)]
    for parent in ("labels", "annotations", "matchLabels", "nodeSelector", "requests", "limits", "overhead"):
        if len(names) > 1 and names[-2] == parent:
            return ".".join(names[:-1])
    if names[-2:-1] == ["selector"] and names[-1] not in LABEL_SELECTOR.fields:
        return ".".join(names[:-1])  # a ReplicationController's selector is a map
    return ".".join(names)


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _go_type(shape: Shape) -> str:
    if isinstance(shape, Atom):
        return shape.value
    if isinstance(shape, ListOf):
        return f"[]{_go_type(shape.item)}"
    if isinstance(shape, MapOf):
        return f"map[string]{_go_type(shape.value)}"
    return f"v1.{shape.name}"


_ESCAPES = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    '"': '\\"', "\\": "\\\\",
}  # fmt: skip


def go_quote(text: str) -> str:
    """Return a string in double quotes, as `%q` prints it (Go strconv.Quote)."""
    return '"' + "".join(_quoted(char) for char in text) + '"'


def go_value(item: Any) -> str:
    """Return the bad value of a field error: strings quoted, numbers and booleans bare, the rest as JSON.

    Source: staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go, ErrorBody (v1.36.2).
    """
    if isinstance(item, str):
        return go_quote(item)
    if item is None:
        return '"null"'
    import json  # 5 ms

    return json.dumps(item, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char == " " or char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
