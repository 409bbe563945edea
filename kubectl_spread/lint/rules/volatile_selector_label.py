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
from typing import NamedTuple
from typing import Optional

from kubectl_spread.lint import fix_builders
from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects import field_versions
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.selector import LabelRequirement
from kubectl_spread.objects.workload import RELEASE_LABELS
from kubectl_spread.objects.workload import REVISION_LABELS
from kubectl_spread.text.edit import Append
from kubectl_spread.text.edit import Change
from kubectl_spread.text.edit import Drop
from kubectl_spread.text.edit import Put
from kubectl_spread.text.node import Route


class _Written(NamedTuple):
    """A requirement, and where it stands."""

    route: Route
    requirement: LabelRequirement


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find labels of a revision or a release; those of a release that the pods do not have are SPR203's."""
    if subject.workload.kind == "Pod":
        return
    for constraint in subject.constraints:
        volatile = [item for item in _written(subject, constraint) if _is_volatile(subject, item.requirement)]
        if not volatile:
            continue
        first, *rest = sorted(volatile, key=lambda item: item.requirement.matches(subject.labels))
        is_own = first.requirement.matches(subject.labels)
        key = first.requirement.key
        yield Found(
            _message(first.requirement, is_own=is_own),
            subject.place(first.route, key=True),
            subject.path(first.route),
            f"use matchLabelKeys: [{key}], or leave it out" if key in subject.labels else "leave it out",
            tuple(Label(subject.place(item.route, key=True), "so does this one") for item in rest),
            severity=None if is_own else Severity.ERROR,
            fix=_fix(subject, constraint, volatile, minor=project.target.minor),
        )


def _is_volatile(subject: Subject, requirement: LabelRequirement) -> bool:
    if requirement.operator != "In":
        return False
    is_of_a_release = requirement.key in RELEASE_LABELS and requirement.matches(subject.labels)
    return is_of_a_release or requirement.key in REVISION_LABELS


def _message(requirement: LabelRequirement, *, is_own: bool) -> str:
    values = ", ".join(f"`{value}`" for value in requirement.values)
    if not is_own:
        return f"`{requirement.key}` changes with the pod template, so {values} selects none of its pods"
    return f"`{requirement.key}` changes with the next release, and pods of another than {values} are not counted"


def _written(subject: Subject, constraint: TopologySpreadConstraint) -> Iterator[_Written]:
    """The requirements as they stand in the manifest."""
    selector = constraint.label_selector
    if selector is None:
        return
    field = subject.route(constraint, "labelSelector")
    for key, value in selector.match_labels:
        yield _Written((*field, "matchLabels", key), LabelRequirement(key, "In", (value,)))
    for index, expression in enumerate(selector.match_expressions):
        yield _Written((*field, "matchExpressions", index), expression)


def _fix(
    subject: Subject, constraint: TopologySpreadConstraint, volatile: list[_Written], *, minor: Optional[int]
) -> Optional[Fix]:
    """Remove the labels from the selector, and let matchLabelKeys take their values from each pod that has them."""
    removed = _removal(subject, constraint, volatile)
    if not removed:
        return None
    keys = list(dict.fromkeys(item.requirement.key for item in volatile if item.requirement.key in subject.labels))
    if not keys or not field_versions.stores("matchLabelKeys", minor):
        return Fix("leave what changes out of the selector", removed)
    route = subject.route(constraint, "matchLabelKeys")
    if constraint.match_label_keys:
        return Fix("move what changes to matchLabelKeys", (*removed, *(Append(route, key) for key in keys)))
    return Fix("move what changes to matchLabelKeys", (*removed, Put(route, keys)))


def _removal(subject: Subject, constraint: TopologySpreadConstraint, volatile: list[_Written]) -> tuple[Change, ...]:
    """Without the labels; where the selector has no others, the workload's own take their place."""
    gone = {item.route for item in volatile}
    kept = [item for item in _written(subject, constraint) if item.route not in gone]
    if not kept:
        labels = fix_builders.selectable(subject, constraint)
        return (Put(subject.route(constraint, "labelSelector"), {"matchLabels": labels}),) if labels else ()
    fields = {item.route[:-1] for item in kept}
    dropped = [item.route if item.route[:-1] in fields else item.route[:-1] for item in volatile]
    return tuple(Drop(route) for route in dict.fromkeys(dropped))
