"""A field is newer than the API server, which drops it.

## What it does

Reports a field that the cluster's API server does not keep. The server's version is taken from the control-plane
kubelets. Without them, it is taken from the newest kubelet, and the finding is a warning: the server may be up to three
minor versions newer.

## Why it matters

An API server drops a field that it does not know, or whose feature gate is off. The object is accepted, and the
constraint works without the field.

## Example

With `--snapshot examples/clusters/control-plane-1.25.yaml`:

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
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
            nodeTaintsPolicy: Honor

## Use instead

Upgrade the cluster, or remove the field. `--kubernetes-version` overrides the version.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import new_fields
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.releases.version import FIELD_SINCE


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find fields that the server drops; where a version is named, SPR601 does; each once a workload."""
    server = project.facts.server if project.facts is not None else None
    if server is None or project.target.minor is not None:
        return
    minor = f"1.{server.minor}"
    api_server = f"the API server ({minor})" if server.is_certain else f"an API server as old as its kubelets ({minor})"
    for name, places in new_fields.unknown_fields(subject, server.minor):
        yield RuleFinding(
            new_fields.effect(name, server.minor, server=api_server),
            subject.place(places[0], key=True),
            subject.path(places[0]),
            f"remove the field, or upgrade to 1.{FIELD_SINCE[name]}",
            new_fields.labels_of_others(subject, places[1:]),
            severity=None if server.is_certain else Severity.WARNING,
        )
