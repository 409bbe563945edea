"""A constraint counts the pods of other workloads.

The selector matches other workloads in the input too, so that their pods fill this one's domains: a domain with many
of them is refused or avoided although this workload has none there.

Add a label that only this workload's pods have, often `app.kubernetes.io/instance` or `component`. Where workloads are
meant to be spread as one, ignore the rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject

_NAMED = 3  # other workloads that a finding names


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find selectors that match other workloads' pods beside the own; once a workload."""
    if subject.workload.kind == "Pod":
        return  # pods written one by one are spread as a group, if at all
    for constraint in subject.constraints:
        selector = subject.selector(constraint)
        if not selector.requirements or not selector.matches(subject.labels):
            continue
        matching = project.matching(selector, subject.workload.namespace)
        others = [other for other in matching if _is_another(other, subject)]
        if others:
            names = ", ".join(f"{item.workload.kind} {item.workload.name}" for item in others[:_NAMED])
            more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
            route = subject.route(constraint, "labelSelector")
            yield Found(
                f"the constraint also counts the pods of {names}{more}",
                subject.place(route, key=True),
                subject.path(route),
                "add a label that only this workload's pods have",
                tuple(Label(other.place(("metadata", "name")), "its pods match") for other in others[:_NAMED]),
            )
            return


def _is_another(other: Subject, subject: Subject) -> bool:
    """Whether it is another workload, not the same one again, nor a pod or ReplicaSet that this one owns."""
    if other.workload.key == subject.workload.key or not other.workload.name:
        return False
    return not (other.manifest.plain.get("metadata") or {}).get("ownerReferences")
