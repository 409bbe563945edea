"""Workloads that are counted together have different constraints.

## What it does

Reports workloads whose constraints count the same pods and differ in `maxSkew` or another field. In a directory that
is searched, workloads in unrelated directories are not compared, unless both name the same namespace.

## Why it matters

Each pod is placed by its own constraints. A pod of one workload can violate the constraint of the other, so the group
as a whole may satisfy neither.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: stable}
    spec:
      replicas: 6
      serviceName: web
      selector: {matchLabels: {app: web, track: stable}}
      template:
        metadata: {labels: {app: web, track: stable}}
        spec:
          topologySpreadConstraints:  # spread: ignore[SPR502] both tracks are one group
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: canary}
    spec:
      replicas: 2
      serviceName: web
      selector: {matchLabels: {app: web, track: canary}}
      template:
        metadata: {labels: {app: web, track: canary}}
        spec:
          topologySpreadConstraints:  # spread: ignore[SPR502] both tracks are one group
          - maxSkew: 2
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.26}

## Use instead

Give the workloads the same constraints, or give each a selector of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.group import fields_to_compare, first_difference, Twin
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.wording import workload_name
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find the first constraint that differs from an earlier workload's constraint over the same pods."""
    for constraint in subject.constraints:
        if not subject.is_in_its_group(constraint):
            continue
        group = project.group_around(subject, subject.selector(constraint))
        for other in group.twins(subject, constraint):
            twin = _counterpart(constraint, subject, other)
            found = None if twin is None else first_difference(constraint, twin)
            if found is not None and twin is not None:
                there = _there(other.subject, twin, name=found[0])
                yield _found(subject, constraint, here=found, there=there)
                return


def _found(
    subject: Subject, constraint: TopologySpreadConstraint, *, here: tuple[str, object], there: Label
) -> RuleFinding:
    name, value = here
    route = subject.route(constraint, name)
    return RuleFinding(
        f"the same pods are counted with {there.text}, here with {name} {value}",
        subject.place(route),
        subject.path(route),
        "give all workloads of a group the same constraints, or each a selector of its own",
        (there,),
    )


def _there(other: Subject, twin: TopologySpreadConstraint, *, name: str) -> Label:
    value = dict(fields_to_compare(twin))[name]
    place = other.place(other.route(twin, name))
    return Label(place, f"{name} {value} in {workload_name(other.workload)}")


def _counterpart(
    constraint: TopologySpreadConstraint, subject: Subject, other: Twin
) -> Optional[TopologySpreadConstraint]:
    """Return the other workload's constraint over the same key and pods, with the same action if there is one."""
    theirs = other.constraints
    if constraint.when_unsatisfiable in theirs:
        return theirs[constraint.when_unsatisfiable]
    ours = [item for item in subject.constraints if item.topology_key == constraint.topology_key]
    return next(iter(theirs.values())) if len(theirs) == len(ours) == 1 else None
