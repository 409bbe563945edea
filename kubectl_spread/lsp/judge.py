"""From what the open documents hold to what is told of them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Container

from kubectl_spread.lint import suppress
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.run import Result
from kubectl_spread.lint.workloads import check_workloads
from kubectl_spread.lint.workloads import in_order

Judge = Callable[[list[Result]], list[Finding]]


def judged(results: list[Result], codes: Container[str]) -> list[Finding]:
    """The findings of a project by place, as `check` has them: without those that its text suppresses."""
    project = Project(
        [subject for result in results for subject in result.subjects],
        [manifest for result in results for manifest in result.others],
    )
    found = [*(finding for result in results for finding in result.findings), *check_workloads(project, codes)]
    chosen = [finding for finding in found if finding.is_unreadable or finding.rule.code in codes]
    wishes = [
        *(wish for result in results for wish in suppress.commented(result.source)),
        *(wish for subject in project.subjects for wish in suppress.annotated(subject)),
    ]
    return in_order(suppress.sift(chosen, wishes, codes).findings, [result.source for result in results])
