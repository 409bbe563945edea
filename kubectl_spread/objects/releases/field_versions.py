"""Fields of a pod that older API servers do not store: their gate was off, or they did not exist.

A field's release is the first in which its feature gate is on by default (pkg/features/kube_features.go and release
notes).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint
from kubectl_spread.objects.releases.version import FIELD_SINCE

Plain = dict[str, Any]


class _Field(NamedTuple):
    """A field, the lists and objects that lead to it, and the minor version from which on it counts."""

    path: tuple[str, ...]
    since: int
    name: str


# The first release whose API server knows a field. It drops the field if the gate is off.
KNOWN_SINCE = {"minDomains": 24, "nodeAffinityPolicy": 25, "nodeTaintsPolicy": 25, "matchLabelKeys": 25}
_DEFAULTS = {"minDomains": 1, "nodeAffinityPolicy": HONOR, "nodeTaintsPolicy": IGNORE}
_TERM_FIELDS = {"matchLabelKeys": 31, "mismatchLabelKeys": 31, "namespaceSelector": 22}
_TERMS = (
    ("requiredDuringSchedulingIgnoredDuringExecution",),
    ("preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm"),
)
_FIELDS = (
    *(_Field(("topologySpreadConstraints", name), since, name) for name, since in FIELD_SINCE.items()),
    *(
        _Field(("affinity", kind, *steps, name), since, f"{name} of {kind}")
        for kind in ("podAffinity", "podAntiAffinity")
        for steps in _TERMS
        for name, since in _TERM_FIELDS.items()
    ),
    _Field(("schedulingGates",), 27, "schedulingGates"),
    _Field(("initContainers", "restartPolicy"), 29, "restartPolicy of init containers"),
    _Field(("resources",), 34, "resources of the pod"),
    _Field(("resourceClaims",), 34, "resourceClaims"),
)


class StoredSpec(NamedTuple):
    """A pod spec as an API server keeps it, and the names of the fields that it dropped."""

    spec: Plain
    ignored: tuple[str, ...]


def stored_spec(spec: Plain, minor: int) -> StoredSpec:
    """Return the spec that an API server 1.`minor` with the default feature gates keeps."""
    ignored: dict[str, None] = {}
    for field in _FIELDS:
        if field.since > minor and _has(spec, field.path):
            spec = _without(spec, field.path)
            ignored[field.name] = None
    return StoredSpec(spec, tuple(ignored))


def stores(field: str, minor: Optional[int]) -> bool:
    """Return whether an API server 1.`minor` keeps a field of constraints; an unknown version keeps it."""
    return minor is None or FIELD_SINCE[field] <= minor


def ignored_fields(constraints: Iterable[TopologySpreadConstraint], minor: int) -> tuple[str, ...]:
    """Return the fields of stored constraints that a scheduler 1.`minor` ignores."""
    written = (_written(constraint) for constraint in constraints)
    found = (name for fields in written for name in fields if FIELD_SINCE[name] > minor)
    return tuple(dict.fromkeys(found))


def lost_fields(constraint: TopologySpreadConstraint, minor: int) -> tuple[str, ...]:
    """Return the fields of a constraint that an API server 1.`minor` reads differently or refuses."""
    return tuple(
        name
        for name, value in _written(constraint).items()
        if minor < FIELD_SINCE[name] and (minor < KNOWN_SINCE[name] or value != _DEFAULTS.get(name))
    )


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
