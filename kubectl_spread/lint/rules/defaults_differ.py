"""Constraints switch off defaults that the scheduler is configured with.

## What it does

Reports constraints that leave out a key of the `defaultConstraints` in the given scheduler configuration.

## Why it matters

A pod with a constraint of its own gets none of the defaults. Nothing spreads its pods over that key any more.

## Example

With `--topology zones=3,nodes=2 --scheduler-config examples/scheduler-configs/zone-by-default.yaml`:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 3
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Add a constraint over that key, if the pods should be spread over it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import FIELD, Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find workloads whose constraints leave out a key of the configured defaults."""
    if project.facts is None or not subject.constraints or subject.workload.kind == "DaemonSet":
        return
    own = {constraint.topology_key for constraint in subject.constraints}
    defaults = project.facts.configured_defaults(subject.workload) or ()
    lost = [item for item in defaults if item.topology_key not in own]
    if lost:
        route = (*subject.spec_route, FIELD)
        listed = ", ".join(
            f"`{item.topology_key}` (maxSkew {item.max_skew}, {item.when_unsatisfiable})" for item in lost
        )
        yield RuleFinding(
            f"the pods are no longer spread by these defaults of the scheduler, because they have constraints of their "
            f"own: {listed}",
            subject.place(route, key=True),
            subject.path(route),
            "add a constraint over the key, if the pods should be spread over it",
        )
