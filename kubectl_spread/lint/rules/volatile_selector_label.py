"""A selector contains a label value that changes with the next release.

## What it does

Reports `pod-template-hash` and similar labels, `app.kubernetes.io/version` and `helm.sh/chart` with a fixed value in a
selector. Pods read from a cluster are not reported: their API server wrote the values.

## Why it matters

`pod-template-hash` is computed from the pod template, selector included, so a written value never matches: this is an
error. The other labels match until the next release. Then the pods of the previous version do not count, and if the
selector is not updated, none do.

## Example

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

## Use instead

Remove the label from the selector. To spread each version on its own, name the label in `matchLabelKeys` (from 1.27).

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [app.kubernetes.io/version]

## Fix safety

The fix is unsafe: the constraint counts other pods than before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Optional

from kubectl_spread.lint.finding import Fix, Label, RuleFinding, Severity
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.selectors.selector import LabelRequirement
from kubectl_spread.objects.workloads.workload import RELEASE_LABELS, REVISION_LABELS
from kubectl_spread.text.edit import Append, Change, Drop, Put
from kubectl_spread.text.node import Route


class _Written(NamedTuple):
    """A requirement and its route."""

    route: Route
    requirement: LabelRequirement


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
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
        yield RuleFinding(
            _message(first.requirement, is_own=is_own),
            subject.place(first.route, key=True),
            subject.path(first.route),
            f"use matchLabelKeys: [{key}], or remove the label" if key in subject.labels else "remove the label",
            tuple(Label(subject.place(item.route, key=True), "also here") for item in rest),
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
        return f"the pods are not spread: `{requirement.key}` changes with the pod template, so {values} matches none"
    return (
        f"after the next release only pods with `{requirement.key}` {values} count, and the new ones have another value"
    )


def _written(subject: Subject, constraint: TopologySpreadConstraint) -> Iterator[_Written]:
    """Yield the requirements as they are written."""
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
        return Fix("remove changing labels from the selector", removed)
    route = subject.route(constraint, "matchLabelKeys")
    if constraint.match_label_keys:
        return Fix("move changing labels to matchLabelKeys", (*removed, *(Append(route, key) for key in keys)))
    return Fix("move changing labels to matchLabelKeys", (*removed, Put(route, keys)))


def _removal(subject: Subject, constraint: TopologySpreadConstraint, volatile: list[_Written]) -> tuple[Change, ...]:
    """Return the changes that remove the labels; the workload's own replace them in an empty selector."""
    removed = {item.route for item in volatile}
    kept = [item for item in _written(subject, constraint) if item.route not in removed]
    if not kept:
        labels = fix_builders.selectable(subject, constraint)
        return (Put(subject.route(constraint, "labelSelector"), {"matchLabels": labels}),) if labels else ()
    fields = {item.route[:-1] for item in kept}
    dropped = [item.route if item.route[:-1] in fields else item.route[:-1] for item in volatile]
    return tuple(Drop(route) for route in dict.fromkeys(dropped))
