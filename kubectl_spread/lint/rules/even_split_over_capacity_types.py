"""A hard constraint over the kind of capacity asks for as many pods on demand as on spot.

`karpenter.sh/capacity-type` and `eks.amazonaws.com/capacityType` have two values on most clusters, which makes two
domains. With DoNotSchedule neither gets more than `maxSkew` pods beyond the other: it is a rule of halves, not a share
of spot capacity. Where the nodes on demand are full, pods stay Pending beside free spot nodes, and the other way round.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 8
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: karpenter.sh/capacity-type
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}

Let it be ScheduleAnyway; for a share other than half, give nodes a label of their own with as many values as it takes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import demands
from kubectl_spread.lint.topology_keys import CAPACITY_TYPES
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraint import IGNORE


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints over labels that say how a node is paid for."""
    if subject.workload.kind == "DaemonSet":
        return
    for constraint in subject.hard:
        if constraint.topology_key not in CAPACITY_TYPES or not subject.is_in_its_group(constraint):
            continue
        values = demands.node_values(subject, constraint.topology_key)
        pods = project.likely_group_size(subject, constraint)
        is_pinned = constraint.node_affinity_policy != IGNORE and values is not None and len(values) < 2
        if is_pinned or (pods is not None and pods <= constraint.max_skew):
            continue
        route = subject.route(constraint, "topologyKey")
        yield Found(
            f"no value of `{constraint.topology_key}` gets more than {constraint.max_skew} beyond the smallest, "
            f"whatever room it has: the pods are shared out evenly",
            subject.place(route),
            subject.path(route),
            "let it be ScheduleAnyway, or spread over a label with as many values as the share takes",
        )
