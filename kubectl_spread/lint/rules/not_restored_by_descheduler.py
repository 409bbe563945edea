"""The descheduler does not restore what the constraint asks for.

Nothing moves a running pod, so that after nodes are lost or replicas removed the pods stay as uneven as they are. The
descheduler's RemovePodsViolatingTopologySpreadConstraint evicts pods that are too many, but it knows no `minDomains`,
and looks at ScheduleAnyway only where its `constraints` argument names it.

This is an opinion, and off by default: select it where a descheduler runs.

Example:
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

Name ScheduleAnyway in the arguments of the descheduler, or restart the rollout where the pods must be even again.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.node import Route


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find what the descheduler passes over; each kind once a workload."""
    counted = [item for item in subject.hard if item.min_domains is not None and item.min_domains > 1]
    if counted:
        hint = "do not count on it for new domains: a restarted rollout fills them"
        routes = [subject.route(item, "minDomains") for item in counted]
        yield _found(subject, routes, message="the descheduler does not know minDomains", hint=hint)
    if subject.soft:
        message = "the descheduler passes over ScheduleAnyway unless its arguments name it"
        hint = "add ScheduleAnyway to `constraints` of RemovePodsViolatingTopologySpreadConstraint"
        routes = [subject.route(item, "whenUnsatisfiable") for item in subject.soft]
        yield _found(subject, routes, message=message, hint=hint)


def _found(subject: Subject, routes: Sequence[Route], *, message: str, hint: str) -> Found:
    first, *rest = routes
    related = tuple(Label(subject.place(route), "this one, too") for route in rest)
    return Found(message, subject.place(first), subject.path(first), hint, related)
