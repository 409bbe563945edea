"""Decoding errors of the API server's JSON decoder, in its words.

This is a table of the Go types that a spread constraint can depend on, and one walk over a plain value. Other types are
not checked. Unknown fields are reported only in the structs marked closed.

Source: sigs.k8s.io/json, Go's encoding/json decode.go (UnmarshalTypeError); staging/src/k8s.io/api/core/v1/types.go
(v1.36.2).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.objects import resources
from kubectl_spread.objects.keys import MOST_PODS
from kubectl_spread.objects.reading.plain import rows
from kubectl_spread.objects.workloads.kinds import EVERY, WorkloadKind
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import short


class Atom(Enum):
    """A Go type without fields; the value is its name in messages."""

    STRING = "string"
    BOOL = "bool"
    INT32 = "int32"
    INT64 = "int64"
    PODS = "pods"  # an int32: a number of pods that can be simulated
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


def types(declarations: str, known: Mapping[str, Struct] = MappingProxyType({})) -> dict[str, Struct]:
    """Return the structs in declarations as Go writes them, on top of known ones.

        Name!: field, field type; field type

    `!` marks a closed struct. Two structs of one name differ by what follows a slash. A type is declared before it is
    used. Indented lines continue a declaration.
    """
    found: dict[str, Struct] = {}
    atoms = {"any": Atom.ANY, **{atom.value: atom for atom in Atom}}

    def shape(name: str) -> Shape:
        if name.startswith("[]"):
            return ListOf(shape(name[2:]))
        if name.startswith("map[string]"):
            return MapOf(shape(name[11:]))
        return found.get(name) or known.get(name) or atoms[name]

    for head, body in rows(declarations):
        fields: dict[str, Any] = {}
        for part in filter(None, body.split(";")):
            *names, go_type = part.replace(",", " ").split()
            fields |= dict.fromkeys(names, shape(go_type))
        name = head.rstrip("!")
        found[name] = Struct(name.partition("/")[0], fields, head != name)
    return found


TYPES = types("""\
LabelSelectorRequirement!: key, operator string; values []string
LabelSelector!: matchLabels map[string]string; matchExpressions []LabelSelectorRequirement
TopologySpreadConstraint!: maxSkew int32; topologyKey, whenUnsatisfiable string; labelSelector LabelSelector;
  minDomains int32; nodeAffinityPolicy, nodeTaintsPolicy string; matchLabelKeys []string
OwnerReference: apiVersion, kind, name, uid string; controller bool
ObjectMeta: name, generateName, namespace, uid string; labels, annotations map[string]string;
  ownerReferences []OwnerReference
ResourceRequirements: requests, limits map[string]resource.Quantity
PodSchedulingGate: name string
PodSchedulingGroup: podGroupName string
NodeSelectorRequirement: key, operator string; values []string
NodeSelectorTerm: matchExpressions, matchFields []NodeSelectorRequirement
NodeSelector: nodeSelectorTerms []NodeSelectorTerm
PreferredSchedulingTerm: weight int32; preference NodeSelectorTerm
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution NodeSelector;
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
PodAffinityTerm: labelSelector LabelSelector; namespaces []string; topologyKey string;
  namespaceSelector LabelSelector; matchLabelKeys, mismatchLabelKeys []string
WeightedPodAffinityTerm: weight int32; podAffinityTerm PodAffinityTerm
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm;
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm;
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
Affinity: nodeAffinity NodeAffinity; podAffinity PodAffinity; podAntiAffinity PodAntiAffinity
Toleration: key, operator, value, effect string; tolerationSeconds int64
ContainerRestartRule: action string
ContainerPort: name string; hostPort, containerPort int32; protocol, hostIP string
Container: name, image string; resources ResourceRequirements; restartPolicy string;
  restartPolicyRules []ContainerRestartRule; ports []ContainerPort
PersistentVolumeClaimVolumeSource: claimName string
EphemeralVolumeSource:
GCEPersistentDiskVolumeSource: pdName string; readOnly bool
AWSElasticBlockStoreVolumeSource: volumeID string
AzureDiskVolumeSource: diskURI string
CinderVolumeSource: volumeID string
ISCSIVolumeSource: iqn string; readOnly bool
RBDVolumeSource: monitors []string; pool, image string; readOnly bool
ImageVolumeSource: reference string
EmptyDirVolumeSource: sizeLimit resource.Quantity
Volume: name string; persistentVolumeClaim PersistentVolumeClaimVolumeSource; ephemeral EphemeralVolumeSource;
  gcePersistentDisk GCEPersistentDiskVolumeSource; awsElasticBlockStore AWSElasticBlockStoreVolumeSource;
  azureDisk AzureDiskVolumeSource; cinder CinderVolumeSource; iscsi ISCSIVolumeSource; rbd RBDVolumeSource;
  image ImageVolumeSource; emptyDir EmptyDirVolumeSource
PodSpec: topologySpreadConstraints []TopologySpreadConstraint; nodeSelector map[string]string;
  nodeName, schedulerName string; hostNetwork, hostUsers bool; priority int32;
  priorityClassName, preemptionPolicy, runtimeClassName string; activeDeadlineSeconds int64;
  overhead map[string]resource.Quantity; resources ResourceRequirements; schedulingGates []PodSchedulingGate;
  schedulingGroup PodSchedulingGroup; affinity Affinity; tolerations []Toleration;
  containers, initContainers []Container; resourceClaims []any; volumes []Volume
ContainerStatus: name string; resources ResourceRequirements; allocatedResources map[string]resource.Quantity
PodCondition: type, status, reason, message string
PodStatus: phase, nominatedNodeName, startTime string; containerStatuses, initContainerStatuses []ContainerStatus;
  conditions []PodCondition
Pod: metadata ObjectMeta; spec PodSpec; status PodStatus
PodTemplateSpec: metadata ObjectMeta; spec PodSpec
Taint: key, value, effect string
NodeSpec: unschedulable bool; taints []Taint
ContainerImage: names []string; sizeBytes int64
NodeSystemInfo: kubeletVersion string
NodeStatus: allocatable, capacity map[string]resource.Quantity; images []ContainerImage; declaredFeatures []string;
  nodeInfo NodeSystemInfo
Node: metadata ObjectMeta; spec NodeSpec; status NodeStatus
PersistentVolumeClaimSpec: volumeName, storageClassName, volumeMode string; accessModes []string;
  selector LabelSelector; resources ResourceRequirements
""")
LABEL_SELECTOR = TYPES["LabelSelector"]
TOPOLOGY_SPREAD_CONSTRAINT = TYPES["TopologySpreadConstraint"]
POD_SPEC = TYPES["PodSpec"]
POD_TEMPLATE_SPEC = TYPES["PodTemplateSpec"]
POD = TYPES["Pod"]
NODE = TYPES["Node"]

# perf: to name a member of an Enum takes as long as all else that `decodes` does.
_ANY, _STRING, _INT32, _INT64 = Atom.ANY, Atom.STRING, Atom.INT32, Atom.INT64


def problems(value: Any, shape: Shape) -> list[Problem]:
    """Return everything in a plain value that does not decode, in document order; null fits every type."""
    return [] if _fits(value, shape, strict=True) else list(_walk(value, shape, (), ""))


def type_problems(value: Any, shape: Shape) -> list[Problem]:
    """Return the problems for which the decoder refuses the object."""
    return [problem for problem in problems(value, shape) if problem.kind is ProblemKind.TYPE]


def decodes(value: Any, shape: Shape) -> bool:
    """Return whether a plain value has no problem of kind TYPE; several times faster than listing them."""
    return _fits(value, shape, strict=False)


def _fits(value: Any, shape: Shape, *, strict: bool) -> bool:
    """Return whether a plain value has no problem; if not `strict`, an unknown field of a closed struct is none."""
    # perf: frequent types come first, a field with a string needs no call, and lists are faster than generators.
    if value is None or shape is _ANY:
        return True
    if shape is _STRING:
        return isinstance(value, str)
    if isinstance(shape, Struct):
        if not isinstance(value, dict) or (strict and shape.closed and not value.keys() <= shape.fields.keys()):
            return False
        get = shape.fields.get
        for key, item in value.items():
            field = get(key)
            if field is _STRING:
                if not (item is None or isinstance(item, str)):
                    return False
            elif field is not None and not _fits(item, field, strict=strict):
                return False
        return True
    if isinstance(shape, ListOf):
        of = shape.item
        return isinstance(value, list) and all([_fits(one, of, strict=strict) for one in value])  # noqa: C419
    if isinstance(shape, MapOf):
        of = shape.value
        return isinstance(value, dict) and all([_fits(one, of, strict=strict) for one in value.values()])  # noqa: C419
    if shape is _INT32 or shape is _INT64:
        return _fits_integer(value, 31 if shape is _INT32 else 63)
    return not _atom_error(value, shape, (), "")


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
        for key, item in value.items():
            at = (*route, key)
            if key in shape.fields:
                yield from _walk(item, shape.fields[key], at, shape.name)
            elif shape.closed:
                yield Problem(ProblemKind.UNKNOWN, at, f'strict decoding error: unknown field "{short_path(at)}"')


def _mismatch(value: Any, shape: Shape, route: Route, owner: str) -> Problem:
    given = _json_type(value)
    message = _cannot(given, f"{owner}.{_fields(route)}", _go_type(shape))
    return Problem(ProblemKind.TYPE, route, message, given, shape)


def _atom_error(value: Any, atom: Atom, route: Route, owner: str) -> str:
    if atom is Atom.QUANTITY:
        try:
            resources.parse(value)
        except resources.QuantityError as error:
            return str(error)
        return ""
    if atom is Atom.INT_OR_STRING:
        if isinstance(value, str) or _fits_integer(value, 31):
            return ""
        what = f"number {value}" if _json_type(value) == "number" else _json_type(value)
        return f"json: cannot unmarshal {what} into Go value of type int32"
    if atom is Atom.PODS:
        if _fits_integer(value, 31) and value > MOST_PODS:
            return too_many(value)
        atom = Atom.INT32
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


def too_many(pods: int) -> str:
    """Return the words for a number of pods that is not simulated."""
    return f"{pods:,} pods of one workload; at most {MOST_PODS:,} are simulated"


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


_TYPES = types(
    """\
StatefulSetOrdinals: start int32
PersistentVolumeClaim: metadata ObjectMeta; spec PersistentVolumeClaimSpec
Counts: replicas, parallelism, completions int32; completionMode string; suspend bool; ordinals StatefulSetOrdinals;
  volumeClaimTemplates []PersistentVolumeClaim
RollingUpdate: partition, maxUnavailable, maxSurge intstr.IntOrString
Strategy: type string; rollingUpdate RollingUpdate
Meta: metadata ObjectMeta
""",
    TYPES,
)
# A misspelt field of the controller's own selector is kubectl's matter; values of the wrong type refuse the object.
_SELECTOR = LABEL_SELECTOR._replace(closed=False)
_MAP_SELECTED = ("ReplicationController", "DeploymentConfig")


def workload_problems(kind: WorkloadKind, plain: dict[str, Any]) -> list[Problem]:
    """Return everything in an object that does not decode. For a kind from the configuration, look only at its pods."""
    if kind.names:
        return problems(plain, type_of_kind(kind))
    found = []
    for place in kind.places(plain):
        pod: Any = plain
        for step in place.template:
            pod = pod[step]
        leaf = POD_SPEC if place.template == place.spec else POD_TEMPLATE_SPEC
        found += [item._replace(route=(*place.template, *item.route)) for item in problems(pod, leaf)]
    return found


@functools.cache
def type_of_kind(kind: WorkloadKind) -> Struct:
    """Return the type of a kind, from the root to its pods."""
    if () in kind.templates:
        return POD
    tree: dict[Any, Any] = {}
    for template in kind.templates:
        branch = tree
        for step in template[:-1]:
            branch = branch.setdefault(step, {})
        branch[template[-1]] = POD_TEMPLATE_SPEC
    if kind.kind == "LeaderWorkerSet" and not kind.is_foreign:
        tree["spec"]["leaderWorkerTemplate"]["size"] = Atom.INT32
    found = _struct(kind, tree, (kind.kind,))
    return found._replace(fields={**_TYPES["Meta"].fields, **found.fields})


def _struct(kind: WorkloadKind, tree: dict[Any, Any], passed: Route) -> Struct:
    fields = {step: _shape(kind, below, (*passed, step)) for step, below in tree.items()}
    counts = passed[1:] in (("spec",), ("jobTemplate", "spec"), ("spec", "jobTemplate", "spec"))
    has_counts = counts and not kind.is_foreign and kind.kind != "Service"
    if not has_counts:
        return Struct(_name(passed), fields)
    selector: Shape = MapOf(Atom.STRING) if kind.kind in _MAP_SELECTED else _SELECTOR
    name = "strategy" if kind.kind == "Deployment" else "updateStrategy"
    strategy = _TYPES["Strategy"]._replace(name=f"{kind.kind}{name[:1].upper()}{name[1:]}")
    return Struct(_name(passed), {**_TYPES["Counts"].fields, name: strategy, "selector": selector, **fields})


def _shape(kind: WorkloadKind, tree: Any, passed: Route) -> Shape:
    if not isinstance(tree, dict):
        leaf: Shape = tree
        return leaf
    if EVERY in tree:
        return ListOf(_shape(kind, tree[EVERY], passed))
    return _struct(kind, tree, passed)


def _name(passed: Route) -> str:
    """Return Go's name of the type: the kind, its spec, and below that by the fields."""
    kind, *steps = map(str, passed)
    if not steps:
        return kind
    if steps == ["spec"]:
        return f"{kind}Spec"
    if kind == "CronJob":
        return "JobTemplateSpec" if steps == ["spec", "jobTemplate"] else "JobSpec"
    return "".join(step[:1].upper() + step[1:] for step in steps if step != "spec")
