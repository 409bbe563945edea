"""A hard constraint asks for as many on-demand as spot pods.

## What it does

Reports a DoNotSchedule constraint over `karpenter.sh/capacity-type` or `eks.amazonaws.com/capacityType`. This rule is
an opinion, and off by default.

## Why it matters

Most clusters have two values of this label, so there are two domains. Neither can exceed the other by more than
`maxSkew` pods, so the constraint splits the pods in half and cannot ask for another share. If the on-demand nodes are
full, pods stay Pending next to free spot nodes.

## Example

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

## Use instead

Use ScheduleAnyway. For another share than half, give the nodes a label of your own with as many values as the share
needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import pod_requirements
from kubectl_spread.lint.topology_keys import CAPACITY_TYPES
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import IGNORE
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints over labels that say how a node is paid for."""
    if subject.workload.kind == "DaemonSet":
        return
    for constraint in subject.hard:
        if constraint.topology_key not in CAPACITY_TYPES or not subject.is_in_its_group(constraint):
            continue
        values = pod_requirements.node_values(subject, constraint.topology_key)
        pods = project.likely_group_size(subject, constraint)
        is_pinned = constraint.node_affinity_policy != IGNORE and values is not None and len(values) < 2
        if is_pinned or (pods is not None and pods <= constraint.max_skew):
            continue
        route = subject.route(constraint, "topologyKey")
        yield RuleFinding(
            f"pods stay Pending if the nodes of one `{constraint.topology_key}` are full, even if others have room. No "
            f"value can have over {count_noun(constraint.max_skew, 'pod')} more than the emptiest one, so the pods are "
            "split evenly",
            subject.place(route),
            subject.path(route),
            "use ScheduleAnyway, or spread over a label with as many values as the share needs",
        )
