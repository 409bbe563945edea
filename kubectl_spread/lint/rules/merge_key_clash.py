"""Two constraints have the same `topologyKey`, and tools may merge them into one.

## What it does

Reports a DoNotSchedule and a ScheduleAnyway constraint with the same `topologyKey`.

## Why it matters

The API server accepts both. But the strategic merge of `kubectl apply`, `kubectl patch` and kustomize identifies
constraints by `topologyKey` alone. A patch for one of them changes the first one, or both become one. Server-side
apply uses both fields.

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
          - maxSkew: 2
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

## Use instead

Keep one of the two, or use only `kubectl apply --server-side` for this object.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.shadowed import shadowed_constraints
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find keys of both a hard and a soft constraint; twice the same is refused (SPR105).

    Not where one of the two is to be removed anyway (SPR211).
    """
    first: dict[str, TopologySpreadConstraint] = {}
    idle = {soft.position for soft, _ in shadowed_constraints(subject, project)}
    for constraint in subject.constraints:
        if constraint.position in idle:
            continue
        earlier = first.setdefault(constraint.topology_key, constraint)
        if earlier is constraint or not constraint.topology_key:
            continue
        if earlier.when_unsatisfiable != constraint.when_unsatisfiable:
            route = subject.route(constraint, "topologyKey")
            yield RuleFinding(
                f"one of the two constraints over `{constraint.topology_key}` may get lost: kubectl apply, kubectl "
                "patch and "
                "kustomize take them for one",
                subject.place(route),
                subject.path(route),
                "keep one of the two, or use kubectl apply --server-side",
                (Label(subject.place(subject.route(earlier, "topologyKey")), "the other constraint"),),
            )
