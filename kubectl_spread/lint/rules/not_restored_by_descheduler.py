"""The descheduler does not restore the spread that a constraint asks for.

## What it does

Reports `minDomains` and ScheduleAnyway constraints. This rule is an opinion, and off by default: select it if you run
a descheduler.

## Why it matters

Nothing moves running pods, so pods stay uneven after nodes were lost or replicas removed. The descheduler's
`RemovePodsViolatingTopologySpreadConstraint` evicts surplus pods, but ignores `minDomains`, and ScheduleAnyway unless
its `constraints` argument names it.

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

Name ScheduleAnyway in the descheduler's arguments, or restart the rollout when the pods must be even again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.node import Route


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find fields and constraints that the descheduler ignores; each kind once a workload."""
    counted = [item for item in subject.hard if item.min_domains is not None and item.min_domains > 1]
    if counted:
        hint = "restart the rollout to fill new domains"
        routes = [subject.route(item, "minDomains") for item in counted]
        yield _found(
            subject,
            routes,
            message="pods stay unevenly spread when a domain comes back: the descheduler ignores minDomains",
            hint=hint,
        )
    if subject.soft:
        message = "pods stay unevenly spread: the descheduler ignores ScheduleAnyway unless its arguments name it"
        hint = "add ScheduleAnyway to `constraints` of RemovePodsViolatingTopologySpreadConstraint"
        routes = [subject.route(item, "whenUnsatisfiable") for item in subject.soft]
        yield _found(subject, routes, message=message, hint=hint)


def _found(subject: Subject, routes: Sequence[Route], *, message: str, hint: str) -> RuleFinding:
    first, *rest = routes
    related = tuple(Label(subject.place(route), "also here") for route in rest)
    return RuleFinding(message, subject.place(first), subject.path(first), hint, related)
