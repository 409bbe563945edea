"""A selector spells out a label that changes with the next release.

`pod-template-hash` is worked out from the pod template, the selector included, so the value that is written is never
that of the pods: the constraint selects none of them, which is an error. `app.kubernetes.io/version` and
`helm.sh/chart` are right until the next release: then the pods of the version before are not counted, and where the
selector is not changed along with the labels it counts none at all.

`matchLabelKeys` (from 1.27) takes the value from each pod. Pods out of a cluster are not reported: their
API server wrote the values there.

Example:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web, app.kubernetes.io/version: "1.4"}}
        spec:
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web, app.kubernetes.io/version: "1.4"}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

Remove the label from the selector; where each version is to be spread by itself, name it in `matchLabelKeys`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.lint import remedies
from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects import history
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.selector import Requirement
from kubectl_spread.objects.workload import RELEASE_LABELS
from kubectl_spread.objects.workload import REVISION_LABELS
from kubectl_spread.text.edit import Append
from kubectl_spread.text.edit import Change
from kubectl_spread.text.edit import Drop
from kubectl_spread.text.edit import Put
from kubectl_spread.text.node import Route


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find labels of a revision or a release; those of a release that the pods do not have are SPR203's."""
    if subject.workload.kind == "Pod" or "SPR110" in subject.refusals:
        return
    for constraint in subject.constraints:
        for route, requirement in _written(subject, constraint):
            is_own = requirement.matches(subject.labels)
            if requirement.operator != "In" or not _is_volatile(requirement.key, is_own=is_own):
                continue
            yield Found(
                _message(requirement, is_own=is_own),
                subject.place(route, key=True),
                subject.path(route),
                f"use matchLabelKeys: [{requirement.key}], or leave it out",
                severity=None if is_own else Severity.ERROR,
                fix=_fix(subject, constraint, route, minor=project.target.minor),
            )


def _is_volatile(key: str, *, is_own: bool) -> bool:
    return key in REVISION_LABELS or (is_own and key in RELEASE_LABELS)


def _message(requirement: Requirement, *, is_own: bool) -> str:
    values = ", ".join(f"`{value}`" for value in requirement.values)
    if not is_own:
        return f"`{requirement.key}` changes with the pod template, so {values} selects none of its pods"
    return f"`{requirement.key}` changes with the next release, and pods of another than {values} are not counted"


def _written(subject: Subject, constraint: TopologySpreadConstraint) -> Iterator[tuple[Route, Requirement]]:
    """The requirements as they stand in the manifest."""
    selector = constraint.label_selector
    if selector is None:
        return
    field = subject.route(constraint, "labelSelector")
    for key, value in selector.match_labels:
        yield (*field, "matchLabels", key), Requirement(key, "In", (value,))
    for index, expression in enumerate(selector.match_expressions):
        yield (*field, "matchExpressions", index), expression


def _fix(
    subject: Subject, constraint: TopologySpreadConstraint, route: Route, *, minor: Optional[int]
) -> Optional[Fix]:
    """Remove the label from the selector, and let matchLabelKeys take its value from each pod that has it."""
    removed = _removal(subject, constraint, route)
    if removed is None:
        return None
    key = next(item.key for at, item in _written(subject, constraint) if at == route)
    if key not in subject.labels or not history.stores("matchLabelKeys", minor):
        return Fix(f"leave `{key}` out of the selector", (removed,))
    keys = subject.route(constraint, "matchLabelKeys")
    added: Change = Append(keys, key) if constraint.match_label_keys else Put(keys, [key])
    return Fix(f"move `{key}` to matchLabelKeys", (removed, added))


def _removal(subject: Subject, constraint: TopologySpreadConstraint, route: Route) -> Optional[Change]:
    """Without the label; where the selector has no other one, the workload's own labels take its place."""
    selector = constraint.label_selector
    assert selector is not None  # noqa: S101 (the route leads into it)
    if len(selector.requirements()) == 1:
        labels = remedies.selectable(subject, constraint)
        return Put(subject.route(constraint, "labelSelector"), {"matchLabels": labels}) if labels else None
    siblings = selector.match_labels if "matchLabels" in route else selector.match_expressions
    return Drop(route if len(siblings) > 1 else route[:-1])
