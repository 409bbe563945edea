"""`nodeName` is set, so the scheduler never sees the pod.

## What it does

Reports `spec.nodeName` in a pod template or a Pod with constraints. A pod read from a cluster has the name because it
was scheduled; it is not reported.

## Why it matters

The pod is bound when it is created, and no constraint is evaluated. All replicas go to that one node.

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

## Use instead

Remove `nodeName`. Name nodes with nodeSelector or node affinity.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import is_live, Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints on pods that bypass the scheduler."""
    is_bound = subject.workload.kind == "Pod" and is_live(subject.manifest)  # the scheduler may have written it
    if subject.constraints and subject.spec.get("nodeName") and not is_bound:
        route = (*subject.spec_route, "nodeName")
        yield RuleFinding(
            f"all pods go to node `{subject.spec['nodeName']}`, whatever the constraints say: nodeName bypasses the "
            "scheduler",
            subject.place(route),
            subject.path(route),
            "remove nodeName; nodeSelector or node affinity lets the scheduler choose",
        )
