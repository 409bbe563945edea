"""A rolling update counts the pods of the old revision.

While a Deployment is updated its old pods still run and are counted with the new ones. The new ones are placed so that
old and new together are even; when the old have gone, the new ones may not be, and nothing moves them. On a full
cluster new pods may stay Pending for the sake of pods that are about to go.

`matchLabelKeys: [pod-template-hash]` (from 1.27) makes each revision count its own pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find Deployments whose hard constraints do not tell revisions apart; once a workload."""
    strategy = subject.controller.get("strategy")
    if isinstance(strategy, dict) and strategy.get("type") == "Recreate":
        return
    if project.replicas(subject).maximum in (0, 1):
        return
    blind = [
        constraint
        for constraint in subject.hard
        if subject.revision_label not in constraint.match_label_keys
        and subject.selector(constraint).requirements
        and subject.selector(constraint).matches(subject.labels)
    ]
    if blind:
        first, *rest = blind
        route = subject.route(first, "matchLabelKeys")
        yield Found(
            "a rolling update counts old pods with the new: the new ones can end up uneven",
            subject.place(route),
            subject.path(route),
            f"add matchLabelKeys: [{subject.revision_label}]",
            tuple(Label(subject.place(subject.route(item)), "so does this one") for item in rest),
        )
