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
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.int_or_percent import scaled
from kubectl_spread.objects.plain import fields
from kubectl_spread.objects.workload import POD_TEMPLATE_HASH


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


# A rollout may run a whole revision beside the old one.
_UP_TO_TWICE = frozenset({"Rollout", "Service", "DeploymentConfig", "CloneSet", "LeaderWorkerSet"})


def surge(subject: Subject, constraint: TopologySpreadConstraint, replicas: int) -> int:
    """The pods of a rolling update beyond the replicas, as far as the constraint counts them.

    Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (v1.36.2).
    """
    kind = subject.workload.kind
    if {POD_TEMPLATE_HASH, subject.revision_label} & {*constraint.match_label_keys} & {*subject.labels}:
        return 0
    if kind in _UP_TO_TWICE:
        return replicas
    if kind != "Deployment" or subject.is_recreated:
        return 0
    surge = scaled(
        fields(fields(subject.controller.get("strategy")).get("rollingUpdate")).get("maxSurge"), replicas, round_up=True
    )
    return scaled("25%", replicas, round_up=True) or 0 if surge is None else surge
