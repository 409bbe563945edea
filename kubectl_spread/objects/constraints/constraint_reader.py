"""Readers from plain values to spread constraints, for all that a manifest is checked by.

They are separate from `read`, so that checking a manifest does not import the modules for placing pods.
"""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import mappings, strings
from kubectl_spread.objects.selectors.selector import LabelRequirement, LabelSelector

Plain = dict[str, Any]


def labels(metadata: Plain) -> dict[str, str]:
    """Return `metadata.labels`; a null value is the empty string."""
    written = metadata.get("labels")
    return {key: value or "" for key, value in written.items()} if written else {}


def constraints(spec: Plain) -> tuple[TopologySpreadConstraint, ...]:
    """Return `spec.topologySpreadConstraints` in order."""
    entries = mappings(spec.get("topologySpreadConstraints"))
    return tuple([_constraint(index, entry) for index, entry in enumerate(entries)])


def label_selector(plain: Optional[Plain]) -> Optional[LabelSelector]:
    """Read a LabelSelector; None stays None, which selects nothing."""
    if plain is None:
        return None
    equal = plain.get("matchLabels") or {}
    return LabelSelector(
        tuple(sorted([(key, value or "") for key, value in equal.items()])),
        tuple(map(requirement, mappings(plain.get("matchExpressions")))),
    )


def requirement(plain: Plain) -> LabelRequirement:
    """Read one entry of `matchExpressions` or `matchFields`."""
    return LabelRequirement(plain.get("key") or "", plain.get("operator") or "", strings(plain.get("values")))


def _constraint(position: int, plain: Plain) -> TopologySpreadConstraint:
    min_domains = plain.get("minDomains")
    return TopologySpreadConstraint(  # perf: without the names of the fields
        position,
        int(plain.get("maxSkew") or 0),
        plain.get("topologyKey") or "",
        plain.get("whenUnsatisfiable") or "",
        label_selector(plain.get("labelSelector")),
        strings(plain.get("matchLabelKeys")),
        None if min_domains is None else int(min_domains),
        plain.get("nodeAffinityPolicy"),
        plain.get("nodeTaintsPolicy"),
    )
