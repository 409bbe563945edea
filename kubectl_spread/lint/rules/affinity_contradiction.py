"""Required pod affinity pulls together what a constraint holds apart.

The affinity wants every pod in the domain where the others are, the constraint no more than `maxSkew` more there than
elsewhere. The first pods start, the rest stay Pending as soon as there are two domains.

Remove one of the two, or give the affinity a wider topology key than the constraint's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects import spread
from kubectl_spread.objects.plain import mappings
from kubectl_spread.objects.selector import compiled

_REQUIRED = ("affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution")


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints against an affinity to the same pods over the same key."""
    most = project.replicas(subject).maximum
    for constraint in subject.hard:
        if (most is not None and most <= constraint.max_skew) or not _selects_itself(subject, constraint):
            continue
        for index, term in enumerate(_terms(subject)):
            if term.get("topologyKey") == constraint.topology_key and _is_own(subject, term):
                route = subject.route(constraint, "topologyKey")
                against = (*subject.spec_route, *_REQUIRED, index)
                yield Found(
                    f"required pod affinity wants all pods in one `{constraint.topology_key}`, the constraint at most "
                    f"{constraint.max_skew} more in one than in another",
                    subject.place(route),
                    subject.path(route),
                    "remove one of the two",
                    (Label(subject.place(against), "the pod affinity"),),
                )


def _selects_itself(subject: Subject, constraint: Any) -> bool:
    return subject.selector(constraint).matches(subject.labels)


def _terms(subject: Subject) -> list[dict[str, Any]]:
    found: Any = subject.spec
    for step in _REQUIRED:
        found = (found or {}).get(step)
    return mappings(found)


def _is_own(subject: Subject, term: dict[str, Any]) -> bool:
    """Whether a term is about the workload's own pods; one about named namespaces may be about others."""
    namespaces = term.get("namespaces")
    if namespaces and subject.workload.namespace not in namespaces:
        return False
    selector = compiled(spread.label_selector(term.get("labelSelector")))
    return bool(selector.requirements) and selector.matches(subject.template_labels)
