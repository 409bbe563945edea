"""Cluster-autoscaler adds one node at a time for a hard zone constraint.

## What it does

Reports a DoNotSchedule constraint over zones with `maxSkew` 1 on a workload with many pods. This rule is an opinion,
on by default if the manifests are for cluster-autoscaler.

## Why it matters

cluster-autoscaler tries one node group at a time, and a second pod on its new node would violate the constraint. It
adds one node, waits for it, and looks again. Many Pending pods need as many rounds.

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
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

## Use instead

If pods must start fast, use ScheduleAnyway for the zone, or raise `maxSkew`.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: web}}
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.selectors.labels import ZONE

_FEW = 3  # pods: a node in each zone, whichever way


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints on the zone that leave no choice."""
    most = project.replicas(subject).likely
    if subject.workload.kind in ("DaemonSet", "Pod") or (most is not None and most <= _FEW):
        return
    for constraint in subject.hard:
        if constraint.topology_key == ZONE and constraint.max_skew == 1:
            route = subject.route(constraint, "maxSkew")
            pods = "the pods" if most is None else f"{most} pods"
            yield RuleFinding(
                f"{pods} may stay Pending for a long time: cluster-autoscaler adds one node at a time, because maxSkew "
                "1 "
                "allows a zone only one pod more than the emptiest zone",
                subject.place(route),
                subject.path(route),
                "use ScheduleAnyway for the zone, or raise maxSkew",
            )
