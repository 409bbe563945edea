"""An empty list of constraints does not switch the defaults off.

kube-scheduler gives pods without constraints its default ones, which prefer nodes and zones with fewer pods of the same
Service, ReplicaSet or StatefulSet. Whether a pod has none or an empty list makes no difference to it.
`topologySpreadConstraints: []` thus says nothing, though it looks like a decision against spreading.

Reported are Deployments, ReplicaSets, ReplicationControllers and StatefulSets of more than one replica, for a scheduler
of 1.20 or later.

Example:
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
          topologySpreadConstraints: []

Leave the list out. Only a constraint of its own replaces the defaults.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import FIELD
from kubectl_spread.lint.workload import Subject

_KINDS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
_DEFAULTS_SINCE = 20


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find lists that are written, and empty."""
    if subject.workload.kind not in _KINDS or project.replicas(subject).likely in (0, 1):
        return
    minor = project.target.minor
    if subject.spec.get(FIELD) == [] and (minor is None or minor >= _DEFAULTS_SINCE):
        route = (*subject.spec_route, FIELD)
        yield Found(
            "an empty list does not switch the scheduler's default constraints off",
            subject.place(route),
            subject.path(route),
            "leave it out; only a constraint of its own replaces the defaults",
        )
