"""`topologyKey` cannot be the key of a label.

The API server only asks that it is not empty, so a space, a second slash or a trailing hyphen is accepted. No node can
have such a label: DoNotSchedule refuses every node and all pods stay Pending, ScheduleAnyway scores none.

A key that is nearly a well-known one is SPR302.

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
          - maxSkew: 1
            topologyKey: "rack "
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

Write the key of a label that the nodes have: a name of up to 63 characters, after a prefix and one slash if it has one.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.topology_keys import meant
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.labels import key_errors


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find keys that break the syntax of labels."""
    for constraint in subject.constraints:
        key = constraint.topology_key
        errors = key_errors(key) if key else []
        if errors and not meant(key):
            route = subject.route(constraint, "topologyKey")
            then = "every node is refused" if constraint.is_hard else "no node is scored"
            yield Found(
                f"no node can have a label `{key}`, so {then}: {errors[0]}",
                subject.place(route),
                subject.path(route),
                "write the key of a label that the nodes have",
            )
