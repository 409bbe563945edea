"""Preferred node affinity outweighs constraints that are all soft.

Both only score nodes, with the same weight: the nodes that the affinity prefers get its full points, whatever the
`weight` of a single term, as points are scaled to the best node's. The soft constraints share as many points between
them, and a node with pods loses all of these only against one without any. So the preferred nodes may take every pod,
be they one node or one zone.

Example:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          affinity:
            nodeAffinity:
              preferredDuringSchedulingIgnoredDuringExecution:
              - weight: 100
                preference:
                  matchExpressions:
                  - {key: pool, operator: In, values: [spot]}
          topologySpreadConstraints:
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

Make the constraint that matters DoNotSchedule, or do without the preference.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.demands import PREFERRED
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.plain import mappings


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find preferences beside constraints of which none is hard; once a workload."""
    if subject.hard or not subject.soft or project.replicas(subject).likely in (0, 1):
        return
    affinity = (subject.spec.get("affinity") or {}).get("nodeAffinity") or {}
    for index, term in enumerate(mappings(affinity.get(PREFERRED))):
        preference = term.get("preference") or {}
        if not term.get("weight") or not (preference.get("matchExpressions") or preference.get("matchFields")):
            continue
        route = (*subject.spec_route, "affinity", "nodeAffinity", PREFERRED, index)
        soft = subject.place(subject.route(subject.soft[0], "whenUnsatisfiable"))
        yield Found(
            "preferred nodes score as much as all soft constraints together, and may take every pod",
            subject.place((*route, "preference"), key=True),
            subject.path(route),
            "make the constraint that matters DoNotSchedule, or remove the preference",
            (Label(soft, "this is soft" if len(subject.soft) == 1 else "all constraints are soft"),),
        )
        return
