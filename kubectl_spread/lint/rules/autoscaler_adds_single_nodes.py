"""cluster-autoscaler adds one node at a time.

With a hard constraint on the zone and maxSkew 1, no zone may be more than one pod ahead. cluster-autoscaler tries one
node group at a time, and a second pod on its new node would break the rule: it adds one node, waits until it is there,
and looks again. Many Pending pods take as many rounds.

An opinion, followed by default where the manifests are for cluster-autoscaler.

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
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Let the zone be ScheduleAnyway, or raise `maxSkew`, where pods must start fast.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.labels import ZONE

_FEW = 3  # pods: a node in each zone, whichever way


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints on the zone that leave no choice."""
    most = project.replicas(subject).likely
    if subject.workload.kind in ("DaemonSet", "Pod") or (most is not None and most <= _FEW):
        return
    for constraint in subject.hard:
        if constraint.topology_key == ZONE and constraint.max_skew == 1:
            route = subject.route(constraint, "maxSkew")
            pods = "its pods" if most is None else f"{most} pods"
            yield Found(
                f"between zones that differ by 1 at most cluster-autoscaler adds nodes one after another: {pods} may "
                "wait long",
                subject.place(route),
                subject.path(route),
                "let the zone be ScheduleAnyway, or raise maxSkew",
            )
