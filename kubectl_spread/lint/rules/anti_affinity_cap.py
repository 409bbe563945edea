"""Anti-affinity allows fewer pods than an autoscaler may ask for.

## What it does

Reports pods with required anti-affinity to each other, if the known nodes have room for the autoscaler's minimum but
not for its maximum.

## Why it matters

Required anti-affinity allows one pod in each domain. The pods beyond that stay Pending under load, when they are
needed.

## Example

With `--topology zones=3,nodes=1`:

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

## Use instead

Use a spread constraint over the same key with `maxSkew: 1`, or lower the maximum.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, Place, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import anti_affinity
from kubectl_spread.lint.wording import domains, in_each_domain
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find anti-affinity with room for an autoscaler's minimum and not for its maximum."""
    replicas = project.replicas(subject)
    if replicas.autoscaler is None or replicas.minimum is None or replicas.maximum is None:
        return
    bound = anti_affinity.narrowest(subject, project)
    if bound is not None and replicas.minimum <= bound.room < replicas.maximum:
        route = anti_affinity.route_of(subject, bound)
        yield RuleFinding(
            f"{count_noun(replicas.maximum - bound.room, 'replica')} would stay Pending if the "
            f"{replicas.autoscaler.kind} asks for its maximum of {replicas.maximum}. Required pod anti-affinity "
            f"allows one pod {in_each_domain(bound.topology_key)}, and only "
            f"{domains(bound.room, bound.topology_key)} can take one",
            subject.place(route),
            subject.path(route),
            "use a spread constraint over this key with maxSkew 1, which also places the other pods",
            (Label(_maximum(replicas.autoscaler), "the maximum"),),
        )


def _maximum(autoscaler: Manifest) -> Place:
    field = "maxReplicaCount" if autoscaler.kind == "ScaledObject" else "maxReplicas"
    return Place(autoscaler.document.source, autoscaler.place(("spec", field)))
