"""Conditions without which a rule cannot fire, evaluated before the rule's module is loaded.

A gate may pass a workload that the rule then finds nothing in. It must never hold back one with a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the registry, which `--help` and completion read, loads neither
    from kubectl_spread.lint.grouping.project import Project
    from kubectl_spread.lint.workload import Subject

    Gate = Callable[[Subject, Project], bool]

_USUAL_KEYS = frozenset({"topology.kubernetes.io/region", "topology.kubernetes.io/zone", "kubernetes.io/hostname"})


def has_no_selector(subject: Subject, _: Project) -> bool:
    """Return whether a constraint has no labelSelector."""
    return any(item.label_selector is None for item in subject.constraints)


def selects_everything(subject: Subject, _: Project) -> bool:
    """Return whether a constraint's selector is empty."""
    return any(subject.selector(item).is_empty for item in subject.constraints)


def misses_own_pods(subject: Subject, _: Project) -> bool:
    """Return whether a constraint does not match the workload's own pods."""
    return not all(subject.selector(item).matches(subject.labels) for item in subject.constraints)


def allows_skew(subject: Subject, _: Project) -> bool:
    """Return whether a hard constraint has a maxSkew above 1."""
    return any(item.max_skew > 1 for item in subject.hard)


def is_single(subject: Subject, project: Project) -> bool:
    """Return whether the workload never has more than one replica."""
    return project.replicas(subject).maximum == 1


def has_no_constraints(subject: Subject, _: Project) -> bool:
    """Return whether the list of constraints is empty."""
    return not subject.constraints


def selects_volatile(subject: Subject, _: Project) -> bool:
    """Return whether a selector names a label that changes with each release or revision."""
    from kubectl_spread.objects.workloads.workload import RELEASE_LABELS, REVISION_LABELS

    volatile = {*RELEASE_LABELS, *REVISION_LABELS}
    return any(not volatile.isdisjoint(constraint.selected_keys) for constraint in subject.constraints)


def has_unusual_key(subject: Subject, _: Project) -> bool:
    """Return whether a topologyKey is none of zone, region and hostname."""
    return any(constraint.topology_key not in _USUAL_KEYS for constraint in subject.constraints)


def names_unusual_key(subject: Subject, project: Project) -> bool:
    """Return whether a topologyKey, of pod affinity too, is none of zone, region and hostname."""
    if has_unusual_key(subject, project) or not subject.spec.get("affinity"):
        return has_unusual_key(subject, project)
    from kubectl_spread.lint.queries import pod_requirements

    return any(term.topology_key not in _USUAL_KEYS for term in pod_requirements.terms(subject))


def is_among_others(_: Subject, project: Project) -> bool:
    """Return whether there are other workloads in the input."""
    return len(project.subjects) > 1


def knows_version(_: Subject, project: Project) -> bool:
    """Return whether the target's Kubernetes version is known."""
    return project.target.minor is not None


def repeats_key(subject: Subject, _: Project) -> bool:
    """Return whether two constraints share a topologyKey."""
    return len({item.topology_key for item in subject.constraints}) < len(subject.constraints)
