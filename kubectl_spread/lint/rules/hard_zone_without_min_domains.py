"""A hard constraint has no `minDomains` where nodes come and go.

A zone or node is a domain only once a node is there. Without `minDomains` a cluster with nodes in one zone has one
domain, which is its own minimum: all pods may go there, none stays Pending, and the autoscaler has no reason to add a
node in another zone. With `minDomains: 3` pods beyond `maxSkew` in each of fewer zones stay Pending until it does.

An opinion, followed by default where the manifests are for cluster-autoscaler or Karpenter.

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
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

Add `minDomains`, no more than the zones that the pods may use: with more, only `maxSkew` pods start in each.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects import field_versions
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.labels import HOSTNAME
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.text.edit import Put

_ZONES = 3  # of most regions


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints on zone or hostname that one domain satisfies."""
    most = project.replicas(subject).likely
    if subject.workload.kind in ("DaemonSet", "Pod") or (most is not None and most < 2):
        return
    if not field_versions.stores("minDomains", project.target.minor):
        return
    for constraint in subject.hard:
        if constraint.topology_key in (ZONE, HOSTNAME) and constraint.min_domains is None:
            route = subject.route(constraint)
            what = "zone" if constraint.topology_key == ZONE else "node"
            yield Found(
                f"without minDomains one {what} is enough for all pods, and no pod waits for the autoscaler to add "
                "another",
                subject.place((*route, "topologyKey")),
                subject.path(route),
                f"add minDomains: {_ZONES}"
                if what == "zone"
                else "add minDomains: the number of nodes that there should be",
                fix=_fix(subject, constraint) if what == "zone" else None,
            )


def _fix(subject: Subject, constraint: TopologySpreadConstraint) -> Fix:
    return Fix(f"add minDomains: {_ZONES}", (Put(subject.route(constraint, "minDomains"), _ZONES),))
