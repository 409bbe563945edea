"""An empty list of constraints does not switch the defaults off.

## What it does

Reports `topologySpreadConstraints: []` in a Deployment, ReplicaSet, ReplicationController or StatefulSet with more
than one replica, for a scheduler of 1.20 or later.

## Why it matters

A pod with an empty list is treated like a pod without the field: kube-scheduler applies its default constraints. The
list looks like a decision against spreading and has no effect.

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
          containers: [{name: web, image: web}]
          topologySpreadConstraints: []

## Use instead

Remove the list. Only a constraint replaces the defaults.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import FIELD, Subject

_KINDS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
_DEFAULTS_SINCE = 20


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find lists that are written, and empty."""
    if subject.workload.kind not in _KINDS or project.replicas(subject).likely in (0, 1):
        return
    minor = project.target.minor
    if subject.spec.get(FIELD) == [] and (minor is None or minor >= _DEFAULTS_SINCE):
        route = (*subject.spec_route, FIELD)
        yield RuleFinding(
            "the scheduler's default constraints still apply to the pods: an empty list does not switch them off",
            subject.place(route),
            subject.path(route),
            "remove the list; only a constraint replaces the defaults",
        )
