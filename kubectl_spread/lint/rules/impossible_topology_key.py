"""`topologyKey` cannot be a label key.

## What it does

Reports a `topologyKey` with a space, a second slash, a trailing hyphen or the like. A key that is nearly a well-known
one is SPR302.

## Why it matters

The API server only asks that the key is not empty. No node can have such a label: DoNotSchedule refuses every node, so
all pods stay Pending, and ScheduleAnyway has no effect.

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
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: "rack "
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Write the key of a label that the nodes have: a name of up to 63 characters, with an optional prefix and a slash before
it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.topology_keys import intended_key
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.selectors.labels import key_errors


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find keys that break the syntax of labels."""
    for constraint in subject.constraints:
        key = constraint.topology_key
        errors = key_errors(key) if key else []
        if errors and not intended_key(key):
            route = subject.route(constraint, "topologyKey")
            then = "all pods stay Pending" if constraint.is_hard else "the constraint has no effect"
            yield RuleFinding(
                f"{then}: no node can have a label `{key}` ({errors[0]})",
                subject.place(route),
                subject.path(route),
                "write the key of a label that the nodes have",
            )
