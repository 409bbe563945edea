"""Two constraints share `topologyKey`.

With different `whenUnsatisfiable` the API server takes both. But strategic merge, which `kubectl apply` without
`--server-side`, `kubectl patch` and kustomize use, tells the constraints of a list apart by `topologyKey` alone: a
patch for one of the two changes the first that it finds, or both become one. Server-side apply goes by both fields.

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

Keep one of the two, or let only server-side apply touch the object.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.shadowed import shadowed
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraint import TopologySpreadConstraint


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find keys that stand in a hard and in a soft constraint; twice the same is refused (SPR105).

    Not where one of the two is to be removed anyway (SPR211).
    """
    first: dict[str, TopologySpreadConstraint] = {}
    idle = {soft.position for soft, _ in shadowed(subject, project)}
    for constraint in subject.constraints:
        if constraint.position in idle:
            continue
        earlier = first.setdefault(constraint.topology_key, constraint)
        if earlier is constraint or not constraint.topology_key:
            continue
        if earlier.when_unsatisfiable != constraint.when_unsatisfiable:
            route = subject.route(constraint, "topologyKey")
            yield Found(
                f"two constraints have the topologyKey `{constraint.topology_key}`: kubectl apply, kubectl patch and "
                "kustomize take them for one",
                subject.place(route),
                subject.path(route),
                "keep one of the two, or apply with --server-side",
                (Label(subject.place(subject.route(earlier, "topologyKey")), "the first of them"),),
            )
