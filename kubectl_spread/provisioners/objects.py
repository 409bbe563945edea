"""NodePools, NodeClaims, node classes and instance types as records, read from plain values.

Objects have the types of their fields, as in cluster facts; `problems` says it of an instance type. What Karpenter
itself refuses of a NodePool is in its `errors`.

Source: sigs.k8s.io/karpenter pkg/apis/v1/nodepool.go, nodeclaim.go, nodeclaim_validation.go, nodepool_validation.go,
labels.go; pkg/cloudprovider/types.go (v1.13.0).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.shapes import PARTS
from kubectl_spread.objects import resources
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.node import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import condition, fields, mappings, Plain, strings
from kubectl_spread.objects.reading.read import taints
from kubectl_spread.objects.selectors import (
    HOSTNAME,
    key_errors,
    LabelRequirement,
    NODE_POOL,
    parse_int64,
    value_errors,
)
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.requirement import Requirements

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


class PoolState(Enum):
    """Whether a pool gives nodes."""

    USED = "used"
    NOT_READY = "notReady"
    INVALID = "invalid"  # Karpenter's own checks refuse it
    DELETED = "deleted"
    STATIC = "static"
    OTHER_PROVIDER = "otherProvider"
    NO_TYPE = "noType"  # none of its instance types fits its own requirements


class NodePool(NamedTuple):
    """A NodePool, and why it gives no nodes.

    allowed: its requirements with the labels of its template.
    zones: of the subnets of its node class; empty if that names none, so that they are not known.
    """

    name: str
    allowed: Requirements
    taints: tuple[Taint, ...]
    class_ref: ClassRef
    weight: int = 0
    limits: Optional[Amounts] = None
    state: PoolState = PoolState.USED
    reason: str = ""
    zones: tuple[str, ...] = ()

    @property
    def template(self) -> Requirements:
        """Return the requirements of a new claim of the pool."""
        labels = {NODE_POOL: self.name, self.class_ref.label: self.class_ref.name}
        return algebra.plus(self.allowed, algebra.of_labels(labels))


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


class InstanceType(NamedTuple):
    """A type of machine; `offerings`: zones and capacity types in which it is available."""

    name: str
    capacity: Amounts
    allocatable: Amounts
    requirements: Requirements
    offerings: tuple[tuple[str, str], ...] = ()


def problems(plain: Plain) -> list[str]:
    """Return what of an instance type does not have the type of its field, in the decoder's words."""
    found = (item for item in decode.problems(plain, _INSTANCE_TYPE) if item.kind is decode.ProblemKind.TYPE)
    return [decode.problem_text(item) for item in found]


def _amounts(plain: Any) -> Amounts:
    return _units(resources.parse_quantities(plain))


def _units(quantities: resources.Quantities) -> Amounts:
    return {
        name: resources.milli(amount) if name == resources.CPU else resources.whole_units(amount)
        for name, amount in quantities.items()
    }


def class_ref(pool: Plain) -> ClassRef:
    """Read the reference of a pool to a node class; v1beta1 names its API version instead of its group."""
    reference = fields(pool, "spec", "template", "spec", "nodeClassRef")
    group = reference.get("group") or (reference.get("apiVersion") or "").partition("/")[0]
    return ClassRef(group, reference.get("kind") or "", reference.get("name") or "")


def _requirements(plain: Any) -> Requirements:
    return algebra.of(
        algebra.requirement(
            item.get("key") or "", item.get("operator") or "", strings(item.get("values")), item.get("minValues")
        )
        for item in mappings(plain)
    )


def node_pool(plain: Plain, well_known: frozenset[str], provider: str) -> NodePool:
    """Read a NodePool of v1 or v1beta1; `provider`: as in `Options`."""
    metadata, spec = fields(plain, "metadata"), fields(plain, "spec")
    template = fields(spec, "template")
    claim, reference = fields(template, "spec"), class_ref(plain)
    ready = condition(fields(plain, "status"), "Ready")
    errors = () if ready else tuple(_pool_errors(template, well_known))
    state, reason = PoolState.USED, ""
    if provider and reference.group != provider:
        state, reason = PoolState.OTHER_PROVIDER, reference.group
    elif spec.get("replicas") is not None:
        state = PoolState.STATIC
    elif ready and ready.get("status") != "True":
        state, reason = PoolState.NOT_READY, ready.get("message") or ready.get("reason") or ""
    elif errors:
        state, reason = PoolState.INVALID, "; ".join(errors)
    elif metadata.get("deletionTimestamp") is not None:
        state = PoolState.DELETED
    limits = spec.get("limits")
    return NodePool(
        name=metadata.get("name") or "",
        allowed=algebra.of(
            algebra.of_labels(constraint.labels(fields(template, "metadata"))).values(),
            _requirements(claim.get("requirements")),
        ),
        taints=taints(claim.get("taints")),
        class_ref=reference,
        weight=spec.get("weight") or 0,
        limits=None if limits is None else _amounts(limits),
        state=state,
        reason=reason,
    )


def node_claim(plain: Plain) -> NodeClaim:
    """Read a NodeClaim."""
    metadata, spec, status = fields(plain, "metadata"), fields(plain, "spec"), fields(plain, "status")
    is_ending = condition(status, "InstanceTerminating").get("status") == "True"
    return NodeClaim(
        name=metadata.get("name") or "",
        labels=constraint.labels(metadata),
        taints=taints(spec.get("taints")),
        startup_taints=taints(spec.get("startupTaints")),
        provider_id=status.get("providerID") or "",
        node_name=status.get("nodeName") or "",
        capacity=_amounts(status.get("capacity")),
        allocatable=_amounts(status.get("allocatable")),
        is_deleted=metadata.get("deletionTimestamp") is not None or is_ending,
    )


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
        (item.get("zone") or "", item.get("capacityType") or "")
        for item in mappings(plain.get("offerings"))
        if item.get("available") is not False
    )
    requirements = _requirements(plain.get("requirements"))
    return InstanceType(plain.get("name") or "", _units(capacity), _units(free), requirements, offerings)


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
        for taint in taints(spec.get(field)):
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
