"""Fixes that several rules offer."""

from __future__ import annotations

from typing import Optional

from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY, TopologySpreadConstraint
from kubectl_spread.text.edit import Change, Drop, Put


def without_constraints(subject: Subject) -> Optional[Fix]:
    """Remove all constraints; the cluster's soft defaults then apply. None if the pod spec has no other field."""
    if len(subject.spec) == 1:
        return None
    return Fix(f"remove {FIELD}", (Drop((*subject.spec_route, FIELD)),))


def own_selector(subject: Subject, constraint: TopologySpreadConstraint, *, is_safe: bool = False) -> Optional[Fix]:
    """Select the workload's own pods; None if they have no label besides the matchLabelKeys."""
    labels = selectable(subject, constraint)
    if not labels:
        return None
    change = Put(subject.route(constraint, "labelSelector"), {"matchLabels": labels})
    return Fix("select the workload's own pods", (change,), is_safe)


def selectable(subject: Subject, constraint: TopologySpreadConstraint) -> dict[str, str]:
    """Return the labels for a selector of the workload's own pods: the API server refuses those in matchLabelKeys."""
    return {
        key: value
        for key, value in subject.own_labels.items()
        if key not in constraint.match_label_keys and subject.labels.get(key) == value
    }


def soften(subject: Subject, constraint: TopologySpreadConstraint) -> Optional[Fix]:
    """Turn a hard constraint into a soft one; None if the key already has a soft constraint."""
    if any(other.topology_key == constraint.topology_key for other in subject.soft):
        return None
    changes: list[Change] = [Put(subject.route(constraint, "whenUnsatisfiable"), SCHEDULE_ANYWAY)]
    if constraint.min_domains is not None:
        changes.append(Drop(subject.route(constraint, "minDomains")))
    return Fix(f"use {SCHEDULE_ANYWAY}", tuple(changes))


def without_match_key(subject: Subject, constraint: TopologySpreadConstraint, key: str) -> Change:
    """Remove a key from matchLabelKeys, and the list with its last key."""
    field = subject.route(constraint, "matchLabelKeys")
    if len(constraint.match_label_keys) == 1:
        return Drop(field)
    return Drop((*field, constraint.match_label_keys.index(key)))


def with_key(subject: Subject, constraint: TopologySpreadConstraint, key: str) -> Optional[Fix]:
    """Write the intended topologyKey; None if the workload already has a constraint with this key."""
    pairs = {(item.topology_key, item.when_unsatisfiable) for item in subject.constraints}
    if (key, constraint.when_unsatisfiable) in pairs:
        return None
    return Fix(f"write `{key}`", (Put(subject.route(constraint, "topologyKey"), key),), is_safe=True)
