"""The algebra of requirements: which values of a label a pool, a pod, a type or a node allows.

Source: sigs.k8s.io/karpenter pkg/scheduling/requirement.go, requirements.go (v1.13.0).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, Optional

from kubectl_spread.objects.selectors import LabelRequirement, Labels, NODE_POOL, parse_int64, REGION, ZONE

CAPACITY_TYPE = "karpenter.sh/capacity-type"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"

# Labels that a new node has even if its pool does not name them; a provider adds its own.
WELL_KNOWN = frozenset(
    {
        *(NODE_POOL, ZONE, REGION, INSTANCE_TYPE, ARCH, "kubernetes.io/os", CAPACITY_TYPE),
        "node.kubernetes.io/windows-build",
    }
)
_AWS = (
    "capacity-reservation-id capacity-reservation-type instance-hypervisor instance-encryption-in-transit-supported "
    "instance-category instance-family instance-generation instance-local-nvme instance-size instance-cpu "
    "instance-cpu-manufacturer instance-cpu-sustained-clock-speed-mhz instance-memory instance-ebs-bandwidth "
    "instance-network-bandwidth instance-gpu-name instance-gpu-manufacturer instance-gpu-count instance-gpu-memory "
    "instance-accelerator-name instance-accelerator-manufacturer instance-accelerator-count"
)
_AZURE = (
    "sku-name sku-family sku-series sku-version sku-cpu sku-memory sku-networking-accelerated sku-gpu-name "
    "sku-gpu-manufacturer sku-gpu-count sku-storage-premium-capable sku-storage-ephemeralos-maxsize placement-scope"
)
OF_PROVIDERS = {  # by the group of their node classes
    "karpenter.k8s.aws": {"topology.k8s.aws/zone-id", *(f"karpenter.k8s.aws/{name}" for name in _AWS.split())},
    "karpenter.azure.com": {f"karpenter.azure.com/{name}" for name in _AZURE.split()},
}
NORMALIZED = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
}
_NEGATIVE = ("NotIn", "DoesNotExist")
_MOST_PRINTED = 5


class Requirement(NamedTuple):
    """The values of a label that are allowed: those named, or all but those (`complement`), within bounds."""

    key: str
    complement: bool
    values: frozenset[str] = frozenset()
    gte: Optional[int] = None
    lte: Optional[int] = None
    min_values: Optional[int] = None

    @property
    def operator(self) -> str:
        if self.complement:
            return "NotIn" if self.values else "Exists"
        return "In" if self.values else "DoesNotExist"

    @property
    def only(self) -> Optional[str]:
        """Return the value, if exactly one is allowed."""
        return next(iter(self.values)) if not self.complement and len(self.values) == 1 else None

    def has(self, value: str) -> bool:
        return (value in self.values) != self.complement and _is_within(value, self.gte, self.lte)

    def __str__(self) -> str:
        """Return it as Karpenter prints it."""
        text = f"{self.key} {self.operator}"
        if self.values:  # five at most
            names = sorted(self.values)
            more = [f"and {len(names) - _MOST_PRINTED} others"] if len(names) > _MOST_PRINTED else []
            text += f" [{' '.join((*names[:_MOST_PRINTED], *more))}]"
        for bound, sign in ((self.gte, ">="), (self.lte, "<=")):
            text += "" if bound is None else f" {sign}{bound}"
        return text if self.min_values is None else f"{text} minValues {self.min_values}"


Requirements = dict[str, Requirement]  # by key; never written to once made


def _is_within(value: str, gte: Optional[int], lte: Optional[int]) -> bool:
    if gte is None and lte is None:
        return True
    number = parse_int64(value)  # with bounds, a value that is no number is not allowed
    return number is not None and (gte is None or number >= gte) and (lte is None or number <= lte)


def requirement(key: str, operator: str, values: Iterable[str] = (), min_values: Optional[int] = None) -> Requirement:
    """Return the requirement of an operator; an old name of a label becomes the new one."""
    key, found = NORMALIZED.get(key, key), frozenset(values)
    if operator in ("In", "NotIn"):
        return Requirement(key, operator == "NotIn", found, min_values=min_values)
    if operator in ("Gt", "Lt", "Gte", "Lte"):
        number = parse_int64(next(iter(found), "")) or 0
        if operator in ("Gt", "Gte"):
            return Requirement(key, True, gte=number + (operator == "Gt"), min_values=min_values)
        return Requirement(key, True, lte=number - (operator == "Lt"), min_values=min_values)
    return Requirement(key, operator == "Exists", min_values=min_values)


def get(requirements: Requirements, key: str) -> Requirement:
    """Return what is allowed of a label; without a requirement it is any value (Requirements.Get)."""
    return requirements.get(key) or requirement(key, "Exists")


@functools.lru_cache(maxsize=65536)
def intersection(one: Requirement, other: Requirement) -> Requirement:
    """Return what both allow. If that is nothing, it is `DoesNotExist`."""
    if one == other:
        return one
    gte, lte = _tighter(max, one.gte, other.gte), _tighter(min, one.lte, other.lte)
    min_values = _tighter(max, one.min_values, other.min_values)
    if gte is not None and lte is not None and gte > lte:
        return Requirement(one.key, False, min_values=min_values)
    if one.complement and other.complement:
        values = one.values | other.values
    elif one.complement:
        values = other.values - one.values
    elif other.complement:
        values = one.values - other.values
    else:
        values = one.values & other.values
    if gte is not None or lte is not None:
        values = frozenset(value for value in values if _is_within(value, gte, lte))
    if not (one.complement and other.complement):
        gte = lte = None
    return Requirement(one.key, one.complement and other.complement, values, gte, lte, min_values)


def _tighter(choose: Callable[[int, int], int], one: Optional[int], other: Optional[int]) -> Optional[int]:
    return other if one is None else one if other is None else choose(one, other)


@functools.lru_cache(maxsize=65536)
def agree(one: Requirement, other: Requirement) -> bool:
    """Return whether two requirements of one key share a value; two negative ones always agree."""
    is_negative = one.operator in _NEGATIVE and other.operator in _NEGATIVE
    return is_negative or intersection(one, other).operator != "DoesNotExist"


def of_labels(labels: Labels) -> Requirements:
    """Return the requirements that labels are."""
    return of(requirement(key, "In", (value,)) for key, value in labels.items())


def of_expressions(expressions: Iterable[LabelRequirement]) -> Requirements:
    """Return the requirements of match expressions."""
    return of(requirement(item.key, item.operator, item.values) for item in expressions)


def of(items: Iterable[Requirement], base: Requirements = {}) -> Requirements:  # noqa: B006 (never written to)
    """Add requirements to others, by key. Intersect requirements of one key."""
    found = dict(base)
    for item in items:
        have = found.get(item.key)
        found[item.key] = item if have is None else intersection(item, have)
    return found


def plus(base: Requirements, more: Requirements) -> Requirements:
    """Return requirements with others added."""
    return of(more.values(), base)


class Clash(NamedTuple):
    """Why requirements cannot be met: labels without known values, else pairs (wanted, present) without a common value.

    Karpenter names one of the unknown labels, and any order of the pairs, at random.
    """

    unknown: tuple[str, ...]
    pairs: tuple[tuple[Requirement, Requirement], ...] = ()


def clash(have: Requirements, wanted: Requirements, allowed: Collection[str] = ()) -> Optional[Clash]:
    """Return why a node does not meet what a pod wants; None if it does.

    Args:
        have: of the node.
        wanted: of the pod.
        allowed: labels that the node may lack.
    """
    missing = [key for key in wanted if key not in have and key not in allowed]
    unknown = tuple(sorted(key for key in missing if wanted[key].operator not in _NEGATIVE))
    if unknown:
        return Clash(unknown)
    keys = [key for key, item in wanted.items() if key in have and not agree(have[key], item)]
    return Clash((), tuple([(wanted[key], have[key]) for key in sorted(keys)])) if keys else None
