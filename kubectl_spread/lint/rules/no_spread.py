"""Nothing spreads the replicas behind a Service.

## What it does

Reports a workload with two or more replicas behind a Service of the input that has neither constraints nor pod
anti-affinity. This rule is an opinion, and off by default.

## Why it matters

Only the scheduler's built-in defaults apply: two preferences, with `maxSkew` 3 over nodes and 5 over zones, that other
scores easily outweigh. That is enough for many workloads.

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
          containers:
          - {name: web, image: registry.example/web:1.25}
    ---
    apiVersion: v1
    kind: Service
    metadata: {name: web}
    spec:
      selector: {app: web}
      ports: [{port: 80}]

## Use instead

Add constraints over zones and nodes, with ScheduleAnyway to begin with.

## Fix safety

The fix is unsafe: it adds constraints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from kubectl_spread.lint.finding import Fix, Label, Place, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors.labels import HOSTNAME, ZONE
from kubectl_spread.objects.workloads.workload import SCALED_KINDS
from kubectl_spread.text.edit import Put


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find workloads of two or more replicas behind a Service without any spreading."""
    if subject.workload.kind not in SCALED_KINDS or subject.constraints or subject.spec.get("nodeName"):
        return
    if (subject.spec.get("affinity") or {}).get("podAntiAffinity"):
        return
    most = project.replicas(subject).maximum
    services = project.services(subject)
    if not services or most is None or most < 2:
        return
    first = services[0]
    route = (*subject.spec_route, FIELD)
    yield RuleFinding(
        f"the {most} replicas behind Service `{first.name}` may all run on one node or in one zone: they have neither "
        "constraints nor pod anti-affinity",
        subject.place(route),
        subject.path(route),
        "add constraints over zones and nodes",
        (Label(Place(first.document.source, first.place(("metadata", "name"))), "sends traffic to them"),),
        fix=_fix(subject),
    )


def _fix(subject: Subject) -> Optional[Fix]:
    """Return soft constraints over zones and nodes, with the controller's own selector."""
    labels = fields(fields(subject.controller.get("selector")).get("matchLabels"))
    if not labels:
        return None
    constraints: list[Any] = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": SCHEDULE_ANYWAY,
            "labelSelector": {"matchLabels": dict(labels)},
        }
        for key in (ZONE, HOSTNAME)
    ]
    return Fix("add ScheduleAnyway constraints over zones and nodes", (Put((*subject.spec_route, FIELD), constraints),))
