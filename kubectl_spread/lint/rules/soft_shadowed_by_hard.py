"""A ScheduleAnyway constraint has no effect next to a DoNotSchedule one.

## What it does

Reports a ScheduleAnyway constraint with the topology key, selector and node policies of a DoNotSchedule constraint
whose `maxSkew` is 1.

## Why it matters

The DoNotSchedule constraint leaves only the domains with the fewest pods. All of them hold the same number, so the
ScheduleAnyway constraint gives every node the same score. It only makes other preferences count for less. With a
`maxSkew` of 2 or more in the DoNotSchedule constraint the other one has an effect, whatever its own `maxSkew`.

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
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Remove the ScheduleAnyway constraint, or give the DoNotSchedule one a larger `maxSkew`: then one is the limit and the
other the preference.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.shadowed import shadowed_constraints
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find soft constraints that a hard one with maxSkew 1 says already."""
    for soft, hard in shadowed_constraints(subject, project):
        route = subject.route(soft, "whenUnsatisfiable")
        yield RuleFinding(
            f"this constraint has no effect: the DoNotSchedule constraint over `{hard.topology_key}` with maxSkew 1 "
            "leaves only domains with equally many pods",
            subject.place(route),
            subject.path(route),
            "remove it, or give the other constraint a larger maxSkew",
            (Label(subject.place(subject.route(hard, "maxSkew")), "the DoNotSchedule constraint"),),
        )
