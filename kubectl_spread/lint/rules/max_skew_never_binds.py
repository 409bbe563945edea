"""`maxSkew` is as large as the number of pods.

A node is refused where the pods in its domain, the new one included, exceed the smallest domain by more than
`maxSkew`. A domain never holds more than all pods, so a `maxSkew` of that number or more never refuses anything. The
pods of a rolling update beyond `replicas` count too, unless `pod-template-hash` is among the matchLabelKeys.

The number is known where the workload names `replicas`, or an autoscaler in the input names a maximum.

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

Write a smaller `maxSkew`; 1 spreads evenest.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
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
            yield Found(
                f"maxSkew {constraint.max_skew} never refuses a node: there are at most {pods} pods",
                subject.place(route),
                subject.path(route),
                f"write 1, which spreads evenest; anything below {pods} has an effect",
            )
