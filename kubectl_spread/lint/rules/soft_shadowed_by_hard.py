"""A ScheduleAnyway constraint prefers among domains that a DoNotSchedule one leaves equal.

A DoNotSchedule constraint with `maxSkew` 1 leaves only the domains with the fewest pods. All of them hold equally many,
so a ScheduleAnyway constraint over the same key, selector and nodes gives every node the same score: it prefers
nothing, and adds a constant that makes other preferences count for less.

With a `maxSkew` of 2 or more in the DoNotSchedule constraint the other one does its work, whatever its own `maxSkew`:
in scoring that is no threshold.

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
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

Remove the ScheduleAnyway constraint, or give the other a larger `maxSkew`: it is the limit, this the wish.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.shadowed import shadowed
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find soft constraints that a hard one with maxSkew 1 says already."""
    for soft, hard in shadowed(subject, project):
        route = subject.route(soft, "whenUnsatisfiable")
        yield Found(
            f"a DoNotSchedule constraint over `{hard.topology_key}` with maxSkew 1 leaves domains that hold "
            "equally many pods, so this one prefers nothing",
            subject.place(route),
            subject.path(route),
            "remove it, or give the other a larger maxSkew",
            (Label(subject.place(subject.route(hard, "maxSkew")), "the DoNotSchedule constraint"),),
        )
