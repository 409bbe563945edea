"""Soft constraints that a hard one over the same pods and key leaves without effect."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint


def shadowed_constraints(
    subject: Subject, project: Project
) -> Iterator[tuple[TopologySpreadConstraint, TopologySpreadConstraint]]:
    """Yield the soft constraints that have no effect, each with the hard one that determines the placement."""
    strict = [item for item in subject.hard if item.max_skew == 1 and subject.is_in_its_group(item)]
    for soft in subject.soft:
        for hard in strict:
            if _counts(subject, soft) == _counts(subject, hard) and project.likely_group_size(subject, hard) not in (
                0,
                1,
            ):
                yield soft, hard


def _counts(subject: Subject, constraint: TopologySpreadConstraint) -> tuple[object, ...]:
    """Return which pods a constraint counts, and in which domains."""
    return (
        constraint.topology_key,
        frozenset(subject.selector(constraint).requirements or ()),
        constraint.node_affinity_policy or HONOR,
        constraint.node_taints_policy or IGNORE,
    )
