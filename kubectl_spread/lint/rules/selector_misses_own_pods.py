"""A constraint does not select the pods it stands in.

A pod that its own constraint does not count adds nothing to its domain, so the workload's pods are not spread: all of
them may go to one domain. A DoNotSchedule constraint then only waits for others: it refuses a domain that has too
many of the pods it does select.

Example:
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

It is a warning where the label is not written and the workload has no selector either: a patch, or a base, may get
both from kustomize. Of a base with containers and no selector nothing is said.

Select labels that the pod template has.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import fix_builders
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.placeholder import has_placeholder
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.selector import LabelRequirement
from kubectl_spread.objects.workload import lacks_selector
from kubectl_spread.objects.workload import REVISION_LABELS


def check(subject: Subject, project: Project) -> Iterator[Found]:
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
            yield Found(
                f"the constraint does not select its own pods: {_difference(subject, missed[0])}",
                subject.place(route, key=True),
                subject.path(route),
                subject.selector_hint(),
                (Label(subject.place(labels, key=True), "the labels of the pods"),) if subject.template_labels else (),
                severity=Severity.WARNING if _may_come(subject, missed[0]) else None,
                fix=fix_builders.own_selector(subject, constraint),
            )


def _may_come(subject: Subject, requirement: LabelRequirement) -> bool:
    """Whether a label that is not written may still be added: to a piece of a workload, which has no selector."""
    return requirement.key not in subject.labels and lacks_selector(subject.workload)


def _is_of_a_revision(subject: Subject, requirement: LabelRequirement) -> bool:
    """Whether a template's hash is spelt out, which is SPR215's to say."""
    is_hash = requirement.operator == "In" and requirement.key in REVISION_LABELS
    return is_hash and subject.workload.kind != "Pod"


def _difference(subject: Subject, missed: LabelRequirement) -> str:
    have = subject.labels.get(missed.key)
    theirs = f"they have no label `{missed.key}`" if have is None else f"their label `{missed.key}` is `{have}`"
    if missed.operator not in ("In", "NotIn"):
        return f"{theirs}, the selector wants {missed.operator}"
    values = ", ".join(f"`{value}`" for value in missed.values)
    return f"{theirs}, the selector wants {'' if missed.operator == 'In' else 'none of '}{values}"
