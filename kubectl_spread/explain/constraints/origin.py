"""Origins of constraints and of their selectors."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.ownership import owner_of
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import selecting_owner, selecting_services

# Fields of a constraint that are compared with the template's, and their defaults.
_FIELDS = {"maxSkew": None, "minDomains": None, "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"}

Plain = dict[str, Any]


class OriginKind(Enum):
    """The place where a constraint is written."""

    UNKNOWN = "unknown"
    BUILT_IN_DEFAULT = "builtInDefault"
    CONFIGURED_DEFAULT = "configuredDefault"
    POD = "pod"
    POD_OF_OWNER = "podOfOwner"  # the template of its owner is not known
    FORMER_TEMPLATE = "formerTemplate"  # the owner's template has no constraint of this key any more
    CHANGED_TEMPLATE = "changedTemplate"  # the owner's template has other values now
    TEMPLATE = "template"


class Origin(NamedTuple):
    """The origin of a constraint.

    owner: of the pod.
    changed: fields with other values in the owner's present template; None for a field it does not set.
    selector_from: the objects whose selectors a default constraint uses.
    merged: labels that matchLabelKeys adds to the selector.
    absent: keys of matchLabelKeys that the pod lacks as labels.
    """

    kind: OriginKind = OriginKind.UNKNOWN
    owner: Optional[OwnerKey] = None
    changed: tuple[tuple[str, Any], ...] = ()
    selector_from: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def origin_of(
    constraint: TopologySpreadConstraint, cls: PodClass, columns: Columns, *, is_built_in: bool = False
) -> Origin:
    """Return the origin of a pod's constraint, or of a default constraint if the pod has none.

    `is_built_in`: the default constraints are the scheduler's own, not configured.
    """
    if not cls.constraints:
        services = [f"Service {service.name}" for service in selecting_services(cls, columns)]
        owner = selecting_owner(cls)
        is_known = owner is not None and owner in columns.cluster.owner_selectors
        sources = (*services, *([f"{owner.kind} {owner.name}"] if owner is not None and is_known else []))
        kind = OriginKind.BUILT_IN_DEFAULT if is_built_in else OriginKind.CONFIGURED_DEFAULT
        return Origin(kind, selector_from=sources)
    labels = dict(cls.labels)
    merged = tuple(f"{key}={labels[key]}" for key in constraint.match_label_keys if key in labels)
    absent = tuple(key for key in constraint.match_label_keys if key not in labels)
    return _of_pod(constraint, cls, columns)._replace(merged=merged, absent=absent)


def _of_pod(constraint: TopologySpreadConstraint, cls: PodClass, columns: Columns) -> Origin:
    owner = owner_of(cls, columns.cluster)
    if owner is None:
        return Origin(OriginKind.POD)
    template = _template(cls, columns)
    if template is None:
        return Origin(OriginKind.POD_OF_OWNER, owner)
    key = (constraint.topology_key, constraint.when_unsatisfiable)
    items = mappings((template.get("spec") or {}).get("topologySpreadConstraints"))
    written = next((item for item in items if (item.get("topologyKey"), item.get("whenUnsatisfiable")) == key), None)
    if written is None:
        return Origin(OriginKind.FORMER_TEMPLATE, owner)
    changed = _changed(constraint, written)
    return Origin(OriginKind.CHANGED_TEMPLATE if changed else OriginKind.TEMPLATE, owner, changed)


def _template(cls: PodClass, columns: Columns) -> Optional[Plain]:
    """Return the pod template of the owner, if the cluster facts have it."""
    owner = owner_of(cls, columns.cluster)
    controller = None if owner is None else columns.cluster.controllers.get(owner)
    return None if controller is None else controller.workload.template


def _changed(constraint: TopologySpreadConstraint, written: Plain) -> tuple[tuple[str, Any], ...]:
    own = {
        "maxSkew": constraint.max_skew,
        "minDomains": constraint.min_domains,
        "nodeAffinityPolicy": constraint.node_affinity_policy,
        "nodeTaintsPolicy": constraint.node_taints_policy,
    }
    return tuple(
        (field, written.get(field) or default)
        for field, default in _FIELDS.items()
        if (written.get(field) or default) != (own[field] or default)
    )
