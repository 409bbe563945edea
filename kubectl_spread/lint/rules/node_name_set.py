"""`nodeName` is set, so no scheduler sees the pod.

A pod with a nodeName is bound when it is created: the kubelet of that node takes it, and no constraint is looked at.
All replicas of a workload go to that one node. A pod read from a cluster has the name because it was scheduled; it is
not reported.

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
          nodeName: worker-1
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

Remove nodeName; use nodeSelector or node affinity to name nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import is_live
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find constraints that nobody reads."""
    is_bound = subject.workload.kind == "Pod" and is_live(subject.manifest)  # the scheduler may have written it
    if subject.constraints and subject.spec.get("nodeName") and not is_bound:
        route = (*subject.spec_route, "nodeName")
        yield Found(
            "nodeName binds the pod without a scheduler, so no constraint is looked at",
            subject.place(route),
            subject.path(route),
            "remove it; nodeSelector or node affinity name nodes to a scheduler",
        )
