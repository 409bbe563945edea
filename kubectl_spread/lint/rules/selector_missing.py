"""A constraint without `labelSelector` counts no pods.

## What it does

Reports a constraint that has no `labelSelector`.

## Why it matters

The scheduler counts the pods that match the selector, and a missing selector matches none. Every domain always holds 0
pods, so the constraint neither refuses nor prefers a node. The API server accepts it with a warning.

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
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Select the labels of the workload's own pods, those of its `spec.selector`.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [pod-template-hash]
      nodeTaintsPolicy: Honor

## Fix safety

The fix is unsafe in a DoNotSchedule constraint: it takes effect for the first time, so pods may stay Pending. In a
ScheduleAnyway constraint it is safe.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.decode import TOPOLOGY_SPREAD_CONSTRAINT


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints that select nothing; not those refused for their matchLabelKeys (SPR109)."""
    for constraint in subject.constraints:
        if (
            constraint.label_selector is None
            and not constraint.match_label_keys
            and not _is_misspelt(subject, constraint)
        ):
            route = subject.route(constraint, "labelSelector")
            yield RuleFinding(
                "the pods are not spread: labelSelector is missing, so the constraint counts no pods",
                subject.place(route),
                subject.path(route),
                subject.selector_hint(),
                fix=fix_builders.own_selector(subject, constraint, is_safe=not constraint.is_hard),
            )


def _is_misspelt(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether the constraint has a misspelt field, which SPR114 reports and may be the selector."""
    written = subject.spec[FIELD][constraint.position] or {}
    return any(name not in TOPOLOGY_SPREAD_CONSTRAINT.fields for name in written)
