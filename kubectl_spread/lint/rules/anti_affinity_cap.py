"""An autoscaler may ask for more replicas than their anti-affinity leaves domains for.

Required anti-affinity of pods to each other is one pod a domain. There is room for the fewest replicas that the
autoscaler keeps, and not for the most: the pods that a peak asks for stay Pending.

Example, with --topology zones=3,nodes=1:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
              - topologyKey: kubernetes.io/hostname
                labelSelector: {matchLabels: {app: db}}
    ---
    apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata: {name: db}
    spec:
      scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}
      minReplicas: 3
      maxReplicas: 9

Write a spread constraint over the same key instead, with maxSkew 1, or a lower maximum.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.finding import Place
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import anti_affinity
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.manifest import Manifest
from kubectl_spread.text.wording import counted


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find anti-affinity with room for an autoscaler's minimum and not for its maximum."""
    replicas = project.replicas(subject)
    if replicas.autoscaler is None or replicas.minimum is None or replicas.maximum is None:
        return
    bound = anti_affinity.narrowest(subject, project)
    if bound is not None and replicas.minimum <= bound.room < replicas.maximum:
        route = anti_affinity.route_of(subject, bound)
        yield Found(
            f"the pods keep each other out of their `{bound.topology_key}`, and "
            f"{counted(bound.room, 'domain')} of it can take one: the {replicas.autoscaler.kind} may ask for "
            f"{replicas.maximum}",
            subject.place(route),
            subject.path(route),
            "use a spread constraint over this key with maxSkew 1: it places the others, too",
            (Label(_maximum(replicas.autoscaler), "the most replicas"),),
        )


def _maximum(autoscaler: Manifest) -> Place:
    field = "maxReplicaCount" if autoscaler.kind == "ScaledObject" else "maxReplicas"
    return Place(autoscaler.document.source, autoscaler.place(("spec", field)))
