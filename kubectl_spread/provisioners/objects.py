"""NodePools, NodeClaims, node classes and instance types as records, read from plain values.

Objects have the types of their fields, as in cluster facts; `problems` says it of an instance type. What Karpenter
itself refuses of a NodePool is in its `errors`.

Source: sigs.k8s.io/karpenter pkg/apis/v1/nodepool.go, nodeclaim.go, nodeclaim_validation.go, nodepool_validation.go,
labels.go; pkg/cloudprovider/types.go (v1.13.0).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.shapes import PARTS
from kubectl_spread.objects.amounts import quantity, resources
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.node import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, mappings, Plain, strings
from kubectl_spread.objects.selectors import (
    HOSTNAME,
    key_errors,
    LabelRequirement,
    NODE_POOL,
    parse_int64,
    value_errors,
    ZONE,
)
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.requirement import Requirement, Requirements

Amounts = dict[str, int]  # CPU in milli-cores, all else in whole units

_DOMAIN = "karpenter.sh"
_CAPACITY_TYPES = ("on-demand", "reserved", "spot")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")

_INSTANCE_TYPE = decode.types(
    """\
Offering: zone, capacityType string; available bool
InstanceType: name string; capacity, overhead map[string]resource.Quantity;
  requirements []NodeSelectorRequirementWithMinValues; offerings []Offering
""",
    PARTS,
)["InstanceType"]


class ClassRef(NamedTuple):
    """The node class that a pool or a claim names."""

    group: str
    kind: str
    name: str

    @property
    def label(self) -> str:
        return f"{self.group}/{self.kind.lower()}"


class NodePool(NamedTuple):
    """A NodePool. `not_ready` is the reason of its condition Ready; None if there is no such condition."""

    name: str
    labels: dict[str, str]
    requirements: tuple[Requirement, ...]
    taints: tuple[Taint, ...]
    class_ref: ClassRef
    weight: int = 0
    limits: Optional[Amounts] = None
    is_static: bool = False
    is_deleted: bool = False
    ready: Optional[bool] = None
    not_ready: str = ""
    errors: tuple[str, ...] = ()  # of Karpenter's own checks

    @property
    def allowed(self) -> Requirements:
        """Return the pool's requirements with the labels of its template."""
        return algebra.plus(algebra.plus({}, self.requirements), algebra.of_labels(self.labels).values())

    @property
    def template(self) -> Requirements:
        """Return the requirements of a new claim of the pool."""
        labels = {NODE_POOL: self.name, self.class_ref.label: self.class_ref.name}
        return algebra.plus(self.allowed, algebra.of_labels(labels).values())


class NodeClaim(NamedTuple):
    """A NodeClaim; `provider_id` is empty before its machine is launched."""

    name: str
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    startup_taints: tuple[Taint, ...]
    provider_id: str = ""
    node_name: str = ""
    capacity: Amounts = {}  # noqa: RUF012 (never written to)
    allocatable: Amounts = {}  # noqa: RUF012
    is_deleted: bool = False


class NodeFacts(NamedTuple):
    """What Karpenter reads of a Node besides what a scheduler does."""

    provider_id: str = ""
    capacity: Amounts = {}  # noqa: RUF012 (never written to)
    is_deleted: bool = False


class Offering(NamedTuple):
    """A zone and a capacity type in which an instance type is sold."""

    zone: str
    capacity_type: str
    is_available: bool = True


class InstanceType(NamedTuple):
    """A type of machine."""

    name: str
    capacity: Amounts
    allocatable: Amounts
    requirements: Requirements
    offerings: tuple[Offering, ...] = ()


def problems(plain: Plain) -> list[str]:
    """Return what of an instance type does not have the type of its field, in the decoder's words."""
    found = (item for item in decode.problems(plain, _INSTANCE_TYPE) if item.kind is decode.ProblemKind.TYPE)
    return [decode.problem_text(item) for item in found]


def _amounts(plain: Any) -> Amounts:
    return _units(resources.parse_quantities(plain))


def _units(quantities: resources.Quantities) -> Amounts:
    return {
        name: quantity.milli(amount) if name == resources.CPU else quantity.whole_units(amount)
        for name, amount in quantities.items()
    }


def _taints(plain: Any) -> tuple[Taint, ...]:
    return tuple(
        Taint(item.get("key") or "", item.get("value") or "", item.get("effect") or "") for item in mappings(plain)
    )


def _class_ref(plain: Any) -> ClassRef:
    """Read a reference to a node class; v1beta1 names its API version instead of its group."""
    reference = plain or {}
    group = reference.get("group") or (reference.get("apiVersion") or "").partition("/")[0]
    return ClassRef(group, reference.get("kind") or "", reference.get("name") or "")


def _requirement(plain: Plain) -> Requirement:
    return algebra.requirement(
        plain.get("key") or "", plain.get("operator") or "", strings(plain.get("values")), plain.get("minValues")
    )


def node_pool(plain: Plain, well_known: frozenset[str] = algebra.WELL_KNOWN) -> NodePool:
    """Read a NodePool of v1 or v1beta1."""
    metadata, spec = fields(plain, "metadata"), fields(plain, "spec")
    template = fields(spec, "template")
    claim = fields(template, "spec")
    conditions = mappings(fields(plain, "status").get("conditions"))
    ready = next((item for item in conditions if item.get("type") == "Ready"), None)
    limits = spec.get("limits")
    return NodePool(
        name=metadata.get("name") or "",
        labels=constraint.labels(fields(template, "metadata")),
        requirements=tuple(map(_requirement, mappings(claim.get("requirements")))),
        taints=_taints(claim.get("taints")),
        class_ref=_class_ref(claim.get("nodeClassRef")),
        weight=spec.get("weight") or 0,
        limits=None if limits is None else _amounts(limits),
        is_static=spec.get("replicas") is not None,
        is_deleted=metadata.get("deletionTimestamp") is not None,
        ready=None if ready is None else ready.get("status") == "True",
        not_ready="" if ready is None else ready.get("message") or ready.get("reason") or "",
        errors=tuple(_pool_errors(template, well_known)),
    )


def node_claim(plain: Plain) -> NodeClaim:
    """Read a NodeClaim."""
    metadata, spec, status = fields(plain, "metadata"), fields(plain, "spec"), fields(plain, "status")
    ending = any(
        item.get("type") == "InstanceTerminating" and item.get("status") == "True"
        for item in mappings(status.get("conditions"))
    )
    return NodeClaim(
        name=metadata.get("name") or "",
        labels=constraint.labels(metadata),
        taints=_taints(spec.get("taints")),
        startup_taints=_taints(spec.get("startupTaints")),
        provider_id=status.get("providerID") or "",
        node_name=status.get("nodeName") or "",
        capacity=_amounts(status.get("capacity")),
        allocatable=_amounts(status.get("allocatable")),
        is_deleted=metadata.get("deletionTimestamp") is not None or ending,
    )


def class_zones(plain: Plain) -> tuple[str, ...]:
    """Return the zones of the subnets of a provider's class of nodes."""
    subnets = mappings(fields(plain, "status").get("subnets"))
    return tuple(sorted({item["zone"] for item in subnets if item.get("zone")}))


def node_facts(plain: Plain) -> NodeFacts:
    """Read what only Karpenter needs of a Node."""
    provider_id = fields(plain, "spec").get("providerID") or ""
    capacity = _amounts(fields(plain, "status").get("capacity"))
    return NodeFacts(provider_id, capacity, fields(plain, "metadata").get("deletionTimestamp") is not None)


def instance_type(plain: Plain) -> InstanceType:
    """Read an instance type of a table."""
    capacity, overhead = (resources.parse_quantities(plain.get(field)) for field in ("capacity", "overhead"))
    free = {name: amount - overhead.get(name, 0) for name, amount in capacity.items()}
    for name, amount in capacity.items():
        if name.startswith("hugepages-") and resources.MEMORY in free:
            free[resources.MEMORY] = max(0, free[resources.MEMORY] - amount)
    offerings = tuple(
        Offering(item.get("zone") or "", item.get("capacityType") or "", item.get("available") is not False)
        for item in mappings(plain.get("offerings"))
    )
    requirements = algebra.plus({}, map(_requirement, mappings(plain.get("requirements"))))
    return InstanceType(plain.get("name") or "", _units(capacity), _units(free), requirements, offerings)


def sample(labels: dict[str, str], capacity: Amounts, allocatable: Amounts, well_known: Iterable[str]) -> InstanceType:
    """Return the instance type that a running node shows: its well-known labels, in its zone."""
    shown = {key: labels[key] for key in well_known if key in labels and key != NODE_POOL}
    offering = Offering(labels.get(ZONE, ""), labels.get(algebra.CAPACITY_TYPE, "on-demand"))
    name = labels.get(algebra.INSTANCE_TYPE, "")
    return InstanceType(name, capacity, allocatable, algebra.of_labels(shown), (offering,))


def _pool_errors(template: Plain, well_known: frozenset[str]) -> Iterable[str]:
    """Yield why Karpenter refuses a NodePool, so that it is not ready (RuntimeValidate)."""
    for key, value in constraint.labels(fields(template, "metadata")).items():
        if key == NODE_POOL:
            yield f'invalid key name "{key}" in labels, restricted'
        for error in key_errors(key):
            yield f'invalid key name "{key}" in labels, "{error}"'
        for error in value_errors(value):
            yield f"invalid value: {value} for label[{key}], {error}"
        restricted = restriction(key, well_known)
        if restricted:
            yield f'invalid key name "{key}" in labels, {restricted}'
    spec = fields(template, "spec")
    seen: set[tuple[str, str]] = set()
    for field in ("taints", "startupTaints"):
        for taint in _taints(spec.get(field)):
            for error in (*key_errors(taint.key), *(key_errors(taint.value) if taint.value else ())):
                yield f"invalid value: {error} in {field}"
            if taint.effect not in (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE, ""):
                yield f'invalid value: "{taint.effect}" in {field}'
            if (taint.key, taint.effect) in seen:
                yield f"duplicate taint Key/Effect pair {taint.key}={taint.effect}"
            seen.add((taint.key, taint.effect))
    for item in mappings(spec.get("requirements")):
        for error in requirement_errors(constraint.requirement(item), well_known, item.get("minValues")):
            yield f"invalid value: {error} in requirements, restricted"
        if item.get("key") == NODE_POOL:
            yield f'invalid key: "{NODE_POOL}" in requirements, restricted'


def restriction(key: str, well_known: frozenset[str]) -> str:
    """Return why a label may not be selected or set; empty if it may (IsRestrictedLabel)."""
    domain = key.partition("/")[0] if "/" in key else ""
    if key in well_known or not (domain == _DOMAIN or domain.endswith(f".{_DOMAIN}") or key == HOSTNAME):
        return ""
    return (
        f"using label {key} is not allowed as it might interfere with the internal provisioning logic; specify a well "
        f"known label: [{' '.join(sorted(well_known))}], or a custom label that does not use a restricted domain: "
        f"[{_DOMAIN}]"
    )


def requirement_errors(
    item: LabelRequirement, well_known: frozenset[str], min_values: Optional[int] = None
) -> Iterable[str]:
    """Yield why Karpenter refuses a requirement of a pool or of a pod (ValidateRequirement)."""
    key, operator, values = algebra.NORMALIZED.get(item.key, item.key), item.operator, item.values
    if operator not in _OPERATORS:
        yield f"key {key} has an unsupported operator {operator} not in [{' '.join(_OPERATORS)}]"
    restricted = restriction(key, well_known)
    if restricted:
        yield restricted
    if key == algebra.CAPACITY_TYPE and operator == "In":
        known = [value for value in values if value in _CAPACITY_TYPES]
        expected = f"expected one of: [{' '.join(_CAPACITY_TYPES)}]"
        if not known:
            yield f"no valid values found in [{' '.join(values)}] for {key}, {expected}"
        elif min_values is not None and len(known) < min_values:
            yield f"not enough valid values found in [{' '.join(values)}] for {key}, at least {min_values}, {expected}"
    for error in key_errors(key):
        yield f"key {key} is not a qualified name, {error}"
    for value in values:
        for error in value_errors(value):
            yield f"invalid value {value} for key {key}, {error}"
    if operator == "In" and not values:
        yield f"key {key} with operator {operator} must have a value defined"
    if operator == "In" and min_values is not None and len(values) < min_values:
        yield (
            f"key {key} with operator {operator} must have at least minimum number of values defined in 'values' field"
        )
    if operator in ("Gt", "Lt", "Gte", "Lte"):
        number = parse_int64(values[0]) if len(values) == 1 else None
        if number is None or number < 0:
            yield f"key {key} with operator {operator} must have a single positive integer value"
