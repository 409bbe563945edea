"""What a rule cannot fire without, where words do not say it: looked at before the rule's module is loaded.

A gate may let through what the rule then passes over; what it holds back, the rule would have had nothing to say of.
"""

from __future__ import annotations

from collections.abc import Callable

from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import demands
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.workload import RELEASE_LABELS
from kubectl_spread.objects.workload import REVISION_LABELS

Gate = Callable[[Subject, Project], bool]

_USUAL_KEYS = frozenset({"topology.kubernetes.io/region", "topology.kubernetes.io/zone", "kubernetes.io/hostname"})
_VOLATILE = frozenset((*RELEASE_LABELS, *REVISION_LABELS))


def _has_unusual_key(subject: Subject, _: Project) -> bool:
    return any(constraint.topology_key not in _USUAL_KEYS for constraint in subject.constraints)


def _is_among_others(_: Subject, project: Project) -> bool:
    return len(project.subjects) > 1


def _selects_volatile(subject: Subject, _: Project) -> bool:
    return any(not _VOLATILE.isdisjoint(constraint.selected_keys) for constraint in subject.constraints)


# By the code of the rule.
GATES: dict[str, Gate] = {
    "SPR201": lambda subject, _: any(item.label_selector is None for item in subject.constraints),
    "SPR202": lambda subject, _: any(subject.selector(item).is_empty for item in subject.constraints),
    "SPR203": lambda subject, _: (
        not all(subject.selector(item).matches(subject.labels) for item in subject.constraints)
    ),
    "SPR204": lambda subject, _: any(item.max_skew > 1 for item in subject.hard),
    "SPR205": lambda subject, project: project.replicas(subject).maximum == 1,
    "SPR214": lambda subject, _: not subject.constraints,
    "SPR215": _selects_volatile,
    "SPR216": _has_unusual_key,
    "SPR302": lambda subject, project: (
        _has_unusual_key(subject, project)
        or any(term.topology_key not in _USUAL_KEYS for term in demands.terms(subject))
    ),
    "SPR501": _is_among_others,
    "SPR502": _is_among_others,
    "SPR601": lambda _, project: project.target.minor is not None,
    "SPR602": _has_unusual_key,
    "SPR606": lambda subject, _: len({item.topology_key for item in subject.constraints}) < len(subject.constraints),
}
