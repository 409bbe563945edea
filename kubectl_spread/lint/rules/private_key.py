"""`topologyKey` has no prefix.

Label keys without a prefix are private to whoever runs the cluster: Kubernetes and its providers set none on nodes. A
manifest with such a key works only where somebody labels the nodes by hand or by the settings of a node group, and two
teams may mean two things by `rack`. The bare names of known labels, such as `zone`, are SPR302.

This is an opinion, and off by default: select it where manifests go to clusters of others.

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
          - maxSkew: 1
            topologyKey: rack
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Use a label with a prefix of your own, `example.com/rack`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import misspelt_keys
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find keys without a prefix that are not meant to be a label of Kubernetes."""
    for constraint in subject.constraints:
        key = constraint.topology_key
        if not key or "/" in key or misspelt_keys.is_reported(constraint.topology_key, project):
            continue
        route = subject.route(constraint, "topologyKey")
        yield Found(
            f"the label `{key}` has no prefix: only who runs the cluster knows whether nodes have it",
            subject.place(route),
            subject.path(route),
            f"give it a prefix of your own: example.com/{key}",
        )
