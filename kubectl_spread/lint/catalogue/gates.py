"""Conditions without which a rule cannot fire, evaluated before the rule's module is loaded.

A gate may pass a workload that the rule then finds nothing in. It must never hold back one with a finding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the registry, which `--help` and completion read, loads neither
    from kubectl_spread.lint.grouping.project import Project
    from kubectl_spread.lint.workload import Subject

    Gate = Callable[[Subject, Project], bool]

_USUAL_KEYS = frozenset({"topology.kubernetes.io/region", "topology.kubernetes.io/zone", "kubernetes.io/hostname"})


def has_no_selector(subject: Subject, _: Project) -> bool:
    """Return whether a constraint has no labelSelector."""
    for item in subject.constraints:  # perf: loops take half as long as any()  # noqa: SIM110
        if item.label_selector is None:
            return True
    return False


def selects_everything(subject: Subject, _: Project) -> bool:
    """Return whether a constraint's selector is empty."""
    for item in subject.constraints:  # noqa: SIM110
        if subject.selector(item).is_empty:
            return True
    return False


def misses_own_pods(subject: Subject, _: Project) -> bool:
    """Return whether a constraint does not match the workload's own pods."""
    labels = subject.labels
    for item in subject.constraints:  # noqa: SIM110
        if not subject.selector(item).matches(labels):
            return True
    return False


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
    volatile = _volatile()
    for item in subject.constraints:  # noqa: SIM110
        if not volatile.isdisjoint(item.selected_keys):
            return True
    return False


@functools.cache
def _volatile() -> frozenset[str]:
    from kubectl_spread.objects.workloads.workload import RELEASE_LABELS, REVISION_LABELS

    return frozenset((*RELEASE_LABELS, *REVISION_LABELS))


def has_unusual_key(subject: Subject, _: Project) -> bool:
    """Return whether a topologyKey is none of zone, region and hostname."""
    for item in subject.constraints:  # noqa: SIM110
        if item.topology_key not in _USUAL_KEYS:
            return True
    return False


def names_unusual_key(subject: Subject, project: Project) -> bool:
    """Return whether a topologyKey, of pod affinity too, is none of zone, region and hostname."""
    if not subject.spec.get("affinity"):
        return has_unusual_key(subject, project)
    from kubectl_spread.lint.queries import pod_requirements

    terms = pod_requirements.terms(subject)
    return has_unusual_key(subject, project) or any(term.topology_key not in _USUAL_KEYS for term in terms)


def is_among_others(_: Subject, project: Project) -> bool:
    """Return whether there are other workloads in the input."""
    return len(project.subjects) > 1


def knows_version(_: Subject, project: Project) -> bool:
    """Return whether the target's Kubernetes version is known."""
    return project.target.minor is not None


def repeats_key(subject: Subject, _: Project) -> bool:
    """Return whether two constraints share a topologyKey."""
    return len({item.topology_key for item in subject.constraints}) < len(subject.constraints)
