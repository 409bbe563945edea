"""An autoscaler goes below the domains that a constraint asks for.

`minDomains` says over how many domains the pods are to be spread. An autoscaler that goes down to fewer replicas
leaves some of these domains without a pod in quiet hours, which is when a zone's failure is noticed last. Scaling to
zero is not meant.

Example:
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

Raise the autoscaler's minimum to `minDomains`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.finding import Place
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.wording import called
from kubectl_spread.objects.manifest import Manifest


def check(manifest: Manifest, project: Project) -> Iterator[Found]:
    """Find autoscalers whose minimum is less than a constraint's minDomains; once an autoscaler."""
    subject = project.scaled(manifest)
    replicas = None if subject is None else project.replicas(subject)
    if subject is None or replicas is None or replicas.autoscaler is not manifest or not replicas.minimum:
        return
    most = max(subject.hard, key=lambda constraint: constraint.min_domains or 1, default=None)
    if most is not None and (most.min_domains or 1) > replicas.minimum:
        field = "minReplicas" if manifest.kind == "HorizontalPodAutoscaler" else "minReplicaCount"
        yield Found(
            f"{replicas.minimum} replicas are fewer than the {most.min_domains} domains to spread over",
            Place(manifest.document.source, manifest.place(("spec", field))),
            f"spec.{field}",
            f"write {field}: {most.min_domains}",
            (
                Label(
                    subject.place(subject.route(most, "minDomains")),
                    f"of {called(subject.workload)}",
                ),
            ),
        )
