"""Karpenter adds nodes for a ScheduleAnyway constraint.

## What it does

Reports ScheduleAnyway constraints. This rule is an opinion, on by default if the manifests are for Karpenter.

## Why it matters

Karpenter first treats ScheduleAnyway like DoNotSchedule. It adds a node rather than put two pods in one domain, and
drops the preference only if there is no other way. Consolidation does not undo this, so small workloads keep nodes of
their own.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

## Use instead

Raise `maxSkew` to the largest skew that you accept, or set Karpenter's preference policy to Ignore.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find soft constraints; once a workload."""
    most = project.replicas(subject).likely
    if subject.workload.kind == "DaemonSet" or not subject.soft or (most is not None and most < 2):
        return
    first, *rest = subject.soft
    route = subject.route(first, "whenUnsatisfiable")
    others = (subject.place(subject.route(item, "whenUnsatisfiable")) for item in rest)
    yield RuleFinding(
        "Karpenter adds a node rather than put two pods in one domain, and keeps it: it first treats ScheduleAnyway "
        "like DoNotSchedule",
        subject.place(route),
        subject.path(route),
        "raise maxSkew, or set Karpenter's preference policy to Ignore",
        tuple(Label(place, "also here") for place in others),
    )
