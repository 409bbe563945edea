"""More replicas than their anti-affinity leaves domains for.

Required anti-affinity of pods to each other is one pod a domain: a node each for `kubernetes.io/hostname`, a zone each
for the zone. Domains where no node takes the pod do not help. What is left over stays Pending until there are more,
and so does the new pod of a rolling update that starts it before an old one stops.

Example, with --topology zones=3,nodes=2:

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

Write a spread constraint over the same key instead, with maxSkew 1: it takes one each first and then goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import anti_affinity
from kubectl_spread.lint.queries.accounts import outcome
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import counted


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find anti-affinity that has no domain for some replica; the narrowest of several."""
    bound = anti_affinity.narrowest(subject, project)
    became = outcome(subject, project) if bound is not None and bound.room else None
    if bound is not None and became is not None and became.falls_short and became.pods > bound.room:
        route = anti_affinity.route_of(subject, bound)
        domains, pods = counted(bound.room, "domain"), counted(became.pods, "pod")
        yield Found(
            f"the pods keep each other out of their `{bound.topology_key}`, and {domains} of it can take one: "
            f"room for {bound.room} of {pods}",
            subject.place(route),
            subject.path(route),
            "use a spread constraint over this key with maxSkew 1: it places the others, too",
        )
