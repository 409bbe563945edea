"""A field of a constraint is newer than the cluster.

An API server whose feature gate is off drops the field in silence; an older one does not know it, and refuses it under
strict decoding. Either way the constraint works without it. `minDomains` is known since 1.24 and on since 1.27,
`matchLabelKeys` since 1.25 and 1.27, `nodeAffinityPolicy` and `nodeTaintsPolicy` since 1.25 and 1.26. A value that is
the older behaviour anyway is not reported where it is dropped, nor anything where no `--kubernetes-version` is named.

Example, with --kubernetes-version 1.26:
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

Leave the field out for such clusters, or upgrade them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import new_fields
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.version import FIELD_SINCE


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find fields that the target's API server does not keep; each once a workload."""
    minor = project.target.minor
    if minor is None:
        return
    for name, places in new_fields.too_new(subject, minor):
        yield Found(
            f"`{name}` counts from Kubernetes 1.{FIELD_SINCE[name]} on; {new_fields.fate(name, minor)}",
            subject.place(places[0], key=True),
            subject.path(places[0]),
            "leave it out, or keep the manifest for newer clusters",
            new_fields.again(subject, places[1:]),
        )
