"""A constraint does not select the pods it stands in.

A pod that its own constraint does not count adds nothing to its domain, so the workload's pods are not spread: all of
them may go to one domain. A DoNotSchedule constraint then only waits for others: it refuses a domain that has too
many of the pods it does select.

Select labels that the pod template has.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects.selector import Requirement


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find selectors that the labels of the workload's own pods do not match."""
    if subject.refusals & {"SPR110", "SPR112"}:
        return
    for constraint in subject.constraints:
        selector = subject.selector(constraint)
        missed = [
            item
            for item in selector.requirements or ()
            if not item.matches(subject.labels) and (subject.has_known_labels or item.key in subject.labels)
        ]
        if missed:
            route = subject.route(constraint, "labelSelector")
            labels = (*subject.template_route, "metadata", "labels")
            yield Found(
                f"the constraint does not select its own pods: {_difference(subject, missed[0])}",
                subject.place(route, key=True),
                subject.path(route),
                subject.selector_hint(),
                (Label(subject.place(labels, key=True), "the labels of the pods"),) if subject.template_labels else (),
            )


def _difference(subject: Subject, missed: Requirement) -> str:
    have = subject.labels.get(missed.key)
    theirs = f"they have no label `{missed.key}`" if have is None else f"their label `{missed.key}` is `{have}`"
    if missed.operator not in ("In", "NotIn"):
        return f"{theirs}, the selector wants {missed.operator}"
    values = ", ".join(f"`{value}`" for value in missed.values)
    return f"{theirs}, the selector wants {'' if missed.operator == 'In' else 'none of '}{values}"
