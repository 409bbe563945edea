"""An autoscaler's minimum is below `minDomains`.

## What it does

Reports an autoscaler whose minimum, if not 0, is lower than the `minDomains` of its workload. This rule is an opinion,
and off by default.

## Why it matters

`minDomains` says over how many domains to spread the pods. With fewer replicas some of these domains have no pod at
quiet times. If one of the others then fails, a larger share of the pods fails with it.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      serviceName: web
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            minDomains: 3
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            nodeTaintsPolicy: Honor
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}
    ---
    apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata: {name: web}
    spec:
      scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: web}
      minReplicas: 2
      maxReplicas: 9

## Use instead

Raise the autoscaler's minimum to `minDomains`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, Place, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.wording import workload_name
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.wording import count_noun


def check(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find autoscalers whose minimum is less than a constraint's minDomains; once an autoscaler."""
    subject = project.scale_target(manifest)
    replicas = None if subject is None else project.replicas(subject)
    if subject is None or replicas is None or replicas.autoscaler is not manifest or not replicas.minimum:
        return
    most = max(subject.hard, key=lambda constraint: constraint.min_domains or 1, default=None)
    if most is not None and (most.min_domains or 1) > replicas.minimum:
        field = "minReplicas" if manifest.kind == "HorizontalPodAutoscaler" else "minReplicaCount"
        yield RuleFinding(
            f"some of the {most.min_domains} domains have no pod when the autoscaler scales down to "
            f"{count_noun(replicas.minimum, 'replica')}: its minimum is lower than minDomains",
            Place(manifest.document.source, manifest.place(("spec", field))),
            f"spec.{field}",
            f"set {field}: {most.min_domains}",
            (
                Label(
                    subject.place(subject.route(most, "minDomains")),
                    f"minDomains of {workload_name(subject.workload)}",
                ),
            ),
        )
