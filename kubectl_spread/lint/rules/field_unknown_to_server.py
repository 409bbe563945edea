"""A field of a constraint is newer than the API server.

An API server drops a field that it does not know, or whose feature gate is off: the object is accepted, and the
constraint works without it. The version is that of the control plane's kubelets; where none is among the nodes, that of
the newest kubelet, and it is a warning, for the server may be up to three minor versions newer.

Example, with --snapshot examples/clusters/control-plane-1.25.yaml:

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

Upgrade the cluster, or do without the field. `--kubernetes-version` says another version.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import new_fields
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.version import FIELD_SINCE


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find fields that the server drops; where a version is named, SPR601 does; each once a workload."""
    server = project.facts.server if project.facts is not None else None
    if server is None or project.target.minor is not None:
        return
    of = "the control plane is" if server.is_certain else "the newest kubelet is"
    for name, places in new_fields.too_new(subject, server.minor):
        since = FIELD_SINCE[name]
        yield Found(
            f"`{name}` counts from Kubernetes 1.{since} on, and {of} 1.{server.minor}: "
            f"{new_fields.fate(name, server.minor)}",
            subject.place(places[0], key=True),
            subject.path(places[0]),
            f"leave it out, or upgrade to 1.{since}",
            new_fields.again(subject, places[1:]),
            severity=None if server.is_certain else Severity.WARNING,
        )
