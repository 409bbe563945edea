"""Karpenter takes a preference for a rule.

When Karpenter looks for nodes for a Pending pod it first takes ScheduleAnyway for DoNotSchedule, and adds a node rather
than put two pods in one domain; only where that cannot be does it let the preference go. Consolidation does not undo
it, so that small workloads keep nodes of their own.

An opinion, followed by default where the manifests are for Karpenter.

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
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Raise `maxSkew` as far as the preference allows, or run Karpenter with the preference policy Ignore.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find soft constraints; once a workload."""
    most = project.replicas(subject).likely
    if subject.workload.kind == "DaemonSet" or not subject.soft or (most is not None and most < 2):
        return
    first, *rest = subject.soft
    route = subject.route(first, "whenUnsatisfiable")
    others = (subject.place(subject.route(item, "whenUnsatisfiable")) for item in rest)
    yield Found(
        "Karpenter first takes ScheduleAnyway for DoNotSchedule: it adds nodes for it, and keeps them",
        subject.place(route),
        subject.path(route),
        "raise maxSkew, or run Karpenter with the preference policy Ignore",
        tuple(Label(place, "this one, too") for place in others),
    )
