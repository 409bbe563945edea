"""A constraint does not select the workload's own pods.

## What it does

Reports a selector that the labels of the workload's own pods do not match. It is only a warning if the template lacks
the label and the workload has no selector: kustomize may add both to a patch or a base.

## Why it matters

A pod that its own constraint does not count changes no number, so all pods may go to one domain. A DoNotSchedule
constraint still refuses domains that hold too many of the pods it does select.

## Example

    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: website}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Select labels that the pod template has.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: web}}

## Fix safety

The fix is unsafe: the constraint counts other pods than before.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding, Severity
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.placeholder import has_placeholder
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.selectors.selector import LabelRequirement
from kubectl_spread.objects.workloads.workload import lacks_selector, REVISION_LABELS


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find selectors that the labels of the workload's own pods do not match."""
    for constraint in subject.constraints:
        selector = subject.selector(constraint)
        missed = [
            item
            for item in selector.requirements or ()
            if not item.matches(subject.labels)
            and (subject.has_known_labels or item.key in subject.labels)
            and not _is_of_a_revision(subject, item)
            and not any(map(has_placeholder, (subject.labels.get(item.key), item.key, *item.values)))
        ]
        if missed:
            route = subject.route(constraint, "labelSelector")
            labels = (*subject.template_route, "metadata", "labels")
            yield RuleFinding(
                "the pods are not spread, because the constraint does not select them: "
                f"{_difference(subject, missed[0])}",
                subject.place(route, key=True),
                subject.path(route),
                subject.selector_hint(),
                (Label(subject.place(labels, key=True), "the labels of the pods"),) if subject.template_labels else (),
                severity=Severity.WARNING if _may_come(subject, missed[0]) else None,
                fix=fix_builders.own_selector(subject, constraint),
            )


def _may_come(subject: Subject, requirement: LabelRequirement) -> bool:
    """Return whether kustomize may still add the label, as the workload has no selector."""
    return requirement.key not in subject.labels and lacks_selector(subject.workload)


def _is_of_a_revision(subject: Subject, requirement: LabelRequirement) -> bool:
    """Return whether a revision label has a fixed value, which SPR215 reports."""
    is_hash = requirement.operator == "In" and requirement.key in REVISION_LABELS
    return is_hash and subject.workload.kind != "Pod"


def _difference(subject: Subject, missed: LabelRequirement) -> str:
    have = subject.labels.get(missed.key)
    theirs = f"they have no label `{missed.key}`" if have is None else f"their label `{missed.key}` is `{have}`"
    if missed.operator not in ("In", "NotIn"):
        return f"{theirs}, and the selector asks for {missed.operator}"
    values = ", ".join(f"`{value}`" for value in missed.values)
    return f"{theirs}, and the selector asks for {'' if missed.operator == 'In' else 'none of '}{values}"
