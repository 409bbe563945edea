"""Anti-affinity allows fewer pods than there are replicas.

## What it does

Reports required anti-affinity of the pods to each other that leaves replicas Pending on the known nodes.

## Why it matters

Required anti-affinity allows one pod in each domain: in each node for `kubernetes.io/hostname`, in each zone for the
zone. Domains in which no node can run the pod do not help. The other pods stay Pending, and so does the new pod of a
rolling update.

## Example

With `--topology zones=3,nodes=2`:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 5
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
              - topologyKey: topology.kubernetes.io/zone
                labelSelector: {matchLabels: {app: db}}

## Use instead

Use a spread constraint over the same key with `maxSkew: 1`. It allows one pod in each domain first, then a second one.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import anti_affinity
from kubectl_spread.lint.queries.on_cluster import outcome
from kubectl_spread.lint.wording import domains, in_each_domain, stays_or_stay
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find anti-affinity that has no domain for some replica; the narrowest of several."""
    bound = anti_affinity.narrowest(subject, project)
    became = outcome(subject, project) if bound is not None and bound.room else None
    if bound is not None and became is not None and became.falls_short and became.pods > bound.room:
        route = anti_affinity.route_of(subject, bound)
        left = became.pods - bound.room
        yield RuleFinding(
            f"{left} of {count_noun(became.pods, 'pod')} {stays_or_stay(left)} Pending. Required pod anti-affinity "
            f"allows one pod {in_each_domain(bound.topology_key)}, and only {domains(bound.room, bound.topology_key)} "
            "can take one",
            subject.place(route),
            subject.path(route),
            "use a spread constraint over this key with maxSkew 1, which also places the other pods",
        )
