"""A field is newer than the target version of Kubernetes.

## What it does

Reports a field that an API server of `--kubernetes-version` does not keep. A value that means the older behavior is
not reported.

## Why it matters

An API server drops a field whose feature gate is off. An older one does not know the field, and refuses it under
strict decoding. Either way the constraint works without it. `minDomains` came in 1.24 and is on by default from 1.27,
`matchLabelKeys` in 1.25 (on from 1.27), `nodeAffinityPolicy` and `nodeTaintsPolicy` in 1.25 (on from 1.26).

## Example

With `--kubernetes-version 1.26`:

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
            minDomains: 3
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

## Use instead

Leave the field out for such clusters, or upgrade them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import new_fields
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find fields that the target's API server does not keep; each once a workload."""
    minor = project.target.minor
    if minor is None:
        return
    for name, places in new_fields.unknown_fields(subject, minor):
        yield RuleFinding(
            new_fields.effect(name, minor, server=f"Kubernetes 1.{minor}"),
            subject.place(places[0], key=True),
            subject.path(places[0]),
            "remove the field, or use this manifest only for newer clusters",
            new_fields.labels_of_others(subject, places[1:]),
        )
