"""A revision key lets a StatefulSet's updated pods pile up midway.

A Deployment makes new pods beside the old ones; a StatefulSet deletes a pod and makes its successor, so the old and
the new are never more than the replicas, and the gap left by the old pod is where its successor fits. With
`controller-revision-hash` among the matchLabelKeys the successor does not see the old pods: the first ones updated may
go where most of the old ones still are, and with a `partition` it stays so.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 3
      serviceName: web
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [controller-revision-hash]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}

Remove the key.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import remedies
from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject

_KEY = "controller-revision-hash"


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find constraints that tell the revisions of a StatefulSet apart."""
    if project.replicas(subject).likely in (0, 1):
        return
    for constraint in subject.constraints:
        keys = constraint.match_label_keys
        if constraint.label_selector is None or _KEY not in keys:
            continue
        route = subject.route(constraint, "matchLabelKeys", keys.index(_KEY))
        yield Found(
            "a StatefulSet replaces its pods in place: with this key the first updated ones do not see the others",
            subject.place(route),
            subject.path(route),
            f"remove {_KEY}",
            fix=Fix("count the pods of all revisions", (remedies.without_match_key(subject, constraint, _KEY),)),
        )
