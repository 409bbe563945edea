"""A revision key lets the updated pods of a StatefulSet pile up midway.

A Deployment makes new pods beside the old ones. A StatefulSet deletes a pod and makes its successor, and so does a
Deployment or Argo Rollout with `maxSurge: 0`: there are never more pods than replicas, and the successor fits into the
gap that the old pod leaves. With `controller-revision-hash` (of a Deployment `pod-template-hash`) among the
matchLabelKeys the successor does not see the old pods: the first ones updated may go where most of the old ones still
are, and with a `partition` it stays so.

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

from kubectl_spread.lint import fix_builders
from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.rollout import replaces_in_place
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find constraints that tell revisions apart, where updates replace pods in place."""
    if project.replicas(subject).likely in (0, 1) or not replaces_in_place(subject):
        return
    key, kind = subject.revision_label, subject.workload.kind
    who = "a StatefulSet" if kind == "StatefulSet" else f"with maxSurge 0 a {kind}"
    for constraint in subject.constraints:
        if constraint.label_selector is None or key not in constraint.match_label_keys:
            continue
        route = subject.route(constraint, "matchLabelKeys", constraint.match_label_keys.index(key))
        yield Found(
            f"{who} replaces its pods in place: with this key the first updated ones do not see the others",
            subject.place(route),
            subject.path(route),
            f"remove {key}",
            fix=Fix("count the pods of all revisions", (fix_builders.without_match_key(subject, constraint, key),)),
        )
