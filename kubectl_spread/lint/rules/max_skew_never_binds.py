"""`maxSkew` is so large that the constraint never refuses a node.

## What it does

Reports a DoNotSchedule constraint whose `maxSkew` is at least the number of pods. The number is known if the workload
has `replicas`, or if an autoscaler in the input has a maximum. The extra pods of a rolling update count, unless
`pod-template-hash` is in `matchLabelKeys`.

## Why it matters

A node is refused if its domain would then hold more than `maxSkew` pods more than the emptiest domain. If there are
only `maxSkew` pods in all, this never happens.

## Example

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
          - maxSkew: 3
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Write a smaller `maxSkew`. 1 spreads most evenly.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [pod-template-hash]
      nodeTaintsPolicy: Honor
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.wording import in_one_domain
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that no number of the workload's pods can violate."""
    most = project.replicas(subject).maximum
    if most is None or most < 2:
        return
    for constraint in subject.hard:
        pods = most + surge(subject, constraint, most)
        selector = subject.selector(constraint)
        if constraint.max_skew < pods or not selector.matches(subject.labels):
            continue
        if project.matching(selector, subject.workload.namespace) == [subject]:
            route = subject.route(constraint, "maxSkew")
            yield RuleFinding(
                f"all pods may end up {in_one_domain(constraint.topology_key)}: maxSkew {constraint.max_skew} never "
                f"refuses a node, as there are at most {pods} pods",
                subject.place(route),
                subject.path(route),
                f"write 1, which spreads most evenly; any value below {pods} has an effect",
            )
