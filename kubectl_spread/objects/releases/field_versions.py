"""Fields of a pod that older API servers do not store: their gate was off, or they did not exist.

A field's release is the first in which its feature gate is on by default (pkg/features/kube_features.go and release
notes); `behaviours` has it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import Plain
from kubectl_spread.objects.releases.version import default_release, Release

if TYPE_CHECKING:
    from kubectl_spread.objects.releases.behaviours import Behaviour


class _Field(NamedTuple):
    """A field, the lists and objects that lead to it, and the row of the table that says where it counts."""

    path: tuple[str, ...]
    row: Behaviour[Any]
    name: str


_DEFAULTS = {"minDomains": 1, "nodeAffinityPolicy": HONOR, "nodeTaintsPolicy": IGNORE}
_TERMS = (
    ("requiredDuringSchedulingIgnoredDuringExecution",),
    ("preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm"),
)


@functools.cache
def constraint_rows() -> dict[str, Behaviour[Optional[bool]]]:
    """Return the row of each newer field of constraints."""
    from kubectl_spread.objects.releases import behaviours as table  # 4 ms; most runs need no pod spec of a release

    return {
        "minDomains": table.MIN_DOMAINS,
        "nodeAffinityPolicy": table.INCLUSION_POLICIES,
        "nodeTaintsPolicy": table.INCLUSION_POLICIES,
        "matchLabelKeys": table.MATCH_LABEL_KEYS,
    }


@functools.cache
def _fields() -> tuple[_Field, ...]:
    from kubectl_spread.objects.releases import behaviours as table

    of_terms = {
        "matchLabelKeys": table.AFFINITY_MATCH_LABEL_KEYS,
        "mismatchLabelKeys": table.AFFINITY_MATCH_LABEL_KEYS,
        "namespaceSelector": table.NAMESPACE_SELECTOR,
    }
    return (
        *(_Field(("topologySpreadConstraints", name), row, name) for name, row in constraint_rows().items()),
        *(
            _Field(("affinity", kind, *steps, name), row, f"{name} of {kind}")
            for kind in ("podAffinity", "podAntiAffinity")
            for steps in _TERMS
            for name, row in of_terms.items()
        ),
        _Field(("schedulingGates",), table.SCHEDULING_GATES, "schedulingGates"),
        _Field(("initContainers", "restartPolicy"), table.SIDECARS, "restartPolicy of init containers"),
        _Field(("resources",), table.POD_RESOURCES, "resources of the pod"),
        _Field(("resourceClaims",), table.CLAIMS, "resourceClaims"),
    )


class StoredSpec(NamedTuple):
    """A pod spec as an API server keeps it, and the names of the fields that it dropped."""

    spec: Plain
    ignored: tuple[str, ...]


def stored_spec(spec: Plain, minor: int) -> StoredSpec:
    """Return the spec that an API server 1.`minor` with the default feature gates keeps."""
    ignored: dict[str, None] = {}
    release = default_release(minor)
    for field in _fields():
        if not field.row.of(release) and _has(spec, field.path):
            spec = _without(spec, field.path)
            ignored[field.name] = None
    return StoredSpec(spec, tuple(ignored))


def stores(field: str, minor: Optional[int]) -> bool:
    """Return whether an API server 1.`minor` keeps a field of constraints; an unknown version keeps it."""
    return minor is None or bool(constraint_rows()[field].of(default_release(minor)))


def known_fields(constraint: TopologySpreadConstraint, release: Release) -> TopologySpreadConstraint:
    """Return a constraint as a release sees it, without the fields that the release silently drops."""
    rows = constraint_rows()
    if not rows["minDomains"].of(release):
        constraint = constraint._replace(min_domains=None)
    if not rows["nodeTaintsPolicy"].of(release):
        constraint = constraint._replace(node_affinity_policy=None, node_taints_policy=None)
    return constraint if rows["matchLabelKeys"].of(release) else constraint._replace(match_label_keys=())


def ignored_fields(constraints: Iterable[TopologySpreadConstraint], minor: int) -> tuple[str, ...]:
    """Return the fields of stored constraints that a scheduler 1.`minor` ignores."""
    found = (name for item in constraints for name in _written(item) if not stores(name, minor))
    return tuple(dict.fromkeys(found))


def lost_fields(constraint: TopologySpreadConstraint, minor: int) -> tuple[str, ...]:
    """Return the fields of a constraint that an API server 1.`minor` reads differently or refuses."""
    return tuple(
        name
        for name, value in _written(constraint).items()
        if not stores(name, minor) and (not is_known(name, minor) or value != _DEFAULTS.get(name))
    )


def is_known(field: str, minor: int) -> bool:
    """Return whether an API server 1.`minor` knows a field of constraints; it drops the field if the gate is off."""
    return constraint_rows()[field].of(default_release(minor)) is not None


def _written(constraint: TopologySpreadConstraint) -> Plain:
    """Return the newer fields that a constraint has."""
    values = {
        "minDomains": constraint.min_domains,
        "nodeAffinityPolicy": constraint.node_affinity_policy,
        "nodeTaintsPolicy": constraint.node_taints_policy,
        "matchLabelKeys": constraint.match_label_keys or None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _has(plain: Any, path: tuple[str, ...]) -> bool:
    if isinstance(plain, list):
        return any(_has(item, path) for item in plain)
    if not isinstance(plain, dict) or plain.get(path[0]) is None:
        return False
    return len(path) == 1 or _has(plain[path[0]], path[1:])


def _without(plain: Any, path: tuple[str, ...]) -> Any:
    if isinstance(plain, list):
        return [_without(item, path) for item in plain]
    if not isinstance(plain, dict) or path[0] not in plain:
        return plain
    if len(path) == 1:
        return {key: value for key, value in plain.items() if key != path[0]}
    return {**plain, path[0]: _without(plain[path[0]], path[1:])}
