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
    return {key: value or "" for key, value in (metadata.get("labels") or {}).items()}


def constraints(spec: Plain) -> tuple[TopologySpreadConstraint, ...]:
    """Return `spec.topologySpreadConstraints` in order."""
    return tuple(
        _constraint(index, entry) for index, entry in enumerate(mappings(spec.get("topologySpreadConstraints")))
    )


def label_selector(plain: Optional[Plain]) -> Optional[LabelSelector]:
    """Read a LabelSelector; None stays None, which selects nothing."""
    if plain is None:
        return None
    equal = plain.get("matchLabels") or {}
    return LabelSelector(
        tuple(sorted((key, value or "") for key, value in equal.items())),
        tuple(map(requirement, mappings(plain.get("matchExpressions")))),
    )


def requirement(plain: Plain) -> LabelRequirement:
    """Read one entry of `matchExpressions` or `matchFields`."""
    return LabelRequirement(plain.get("key") or "", plain.get("operator") or "", strings(plain.get("values")))


def _constraint(position: int, plain: Plain) -> TopologySpreadConstraint:
    min_domains = plain.get("minDomains")
    return TopologySpreadConstraint(
        position=position,
        max_skew=int(plain.get("maxSkew") or 0),
        topology_key=plain.get("topologyKey") or "",
        when_unsatisfiable=plain.get("whenUnsatisfiable") or "",
        label_selector=label_selector(plain.get("labelSelector")),
        match_label_keys=strings(plain.get("matchLabelKeys")),
        min_domains=None if min_domains is None else int(min_domains),
        node_affinity_policy=plain.get("nodeAffinityPolicy"),
        node_taints_policy=plain.get("nodeTaintsPolicy"),
    )
