"""A constraint selects by other labels than its workload.

## What it does

Reports a selector that differs from the workload's `spec.selector`. Keys in `matchLabelKeys` are not compared. A
selector that misses the workload's own pods is SPR203, one that counts pods of other workloads SPR502. This rule is an
opinion, and off by default.

## Why it matters

With fewer labels the constraint may count pods of other workloads. With more, it counts only some of the workload's
pods once these labels change. The counts then look wrong, and the cause is hard to see.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web, tier: front}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web, tier: front}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

## Use instead

Select the labels of `spec.selector`, or ignore the rule and give the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints import constraint_reader
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.selectors.selector import LabelRequirement, Selector

_Requirements = frozenset[LabelRequirement]


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find selectors that match only the workload's own pods, and differ from the workload's selector."""
    own = _own(subject)
    if not own:
        return
    for constraint in subject.constraints:
        written = _required(constraint)
        if written and written != own and _is_sound(subject, project, constraint):
            route = subject.route(constraint, "labelSelector")
            yield RuleFinding(
                f"the constraint may count other pods than the workload has: its selector {_difference(written, own)}",
                subject.place(route, key=True),
                subject.path(route),
                subject.selector_hint(),
                (Label(subject.place(("spec", "selector"), key=True), "the workload's selector"),),
            )


def _own(subject: Subject) -> _Requirements:
    """Return the requirements of spec.selector; none where it is of another form, as a ReplicationController's is."""
    plain = subject.workload.selector
    if subject.workload.kind not in _WITH_SELECTOR or not decode.decodes(plain, decode.LABEL_SELECTOR):
        return frozenset()
    selector = constraint_reader.label_selector(plain)
    return frozenset(selector.requirements()) if selector else frozenset()


_WITH_SELECTOR = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")


def _required(constraint: TopologySpreadConstraint) -> _Requirements:
    return frozenset(constraint.label_selector.requirements()) if constraint.label_selector else frozenset()


def _is_sound(subject: Subject, project: Project, constraint: TopologySpreadConstraint) -> bool:
    """Return whether no other rule reports the selector."""
    selector = Selector(tuple(_required(constraint)))
    return selector.matches(subject.labels) and project.matching(selector, subject.workload.namespace) == [subject]


def _difference(written: _Requirements, own: _Requirements) -> str:
    parts = [
        f"{what} {', '.join(f'`{key}`' for key in sorted({item.key for item in items}))}"
        for what, items in (("lacks", own - written), ("adds", written - own))
        if items
    ]
    return " and ".join(parts)
