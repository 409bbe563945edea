"""One zone or node satisfies a hard constraint, so no autoscaler adds another.

## What it does

Reports a DoNotSchedule constraint over zones or hostnames without `minDomains`. This rule is an opinion, on by default
if the manifests are for cluster-autoscaler or Karpenter.

## Why it matters

A zone is a domain only once it has a node. If all nodes are in one zone, there is one domain and it is compared with
itself. All pods may go there, none stays Pending, and the autoscaler has no reason to add a node in another zone. With
`minDomains: 3` each zone takes at most `maxSkew` pods while there are fewer than three zones. The rest stay Pending
until the autoscaler adds a node in another zone.

## Example

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

## Use instead

Add `minDomains`, at most the number of zones that the pods may use. With more, only `maxSkew` pods start in each zone.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
      minDomains: 3
      nodeTaintsPolicy: Honor

## Fix safety

The fix is unsafe: pods stay Pending while the cluster has nodes in fewer than three zones.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.selectors.labels import HOSTNAME, ZONE
from kubectl_spread.text.edit import Put

_ZONES = 3  # of most regions


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints on zone or hostname that one domain satisfies."""
    most = project.replicas(subject).likely
    if subject.workload.kind in ("DaemonSet", "Pod") or (most is not None and most < 2):
        return
    if not field_versions.stores("minDomains", project.target.minor):
        return
    for constraint in subject.hard:
        if constraint.topology_key in (ZONE, HOSTNAME) and constraint.min_domains is None:
            route = subject.route(constraint)
            is_zone = constraint.topology_key == ZONE
            where = "in one zone" if is_zone else "on one node"
            yield RuleFinding(
                f"all pods may end up {where}: without minDomains the constraint allows it, and no pod stays Pending "
                "to make the autoscaler add another",
                subject.place((*route, "topologyKey")),
                subject.path(route),
                f"add minDomains: {_ZONES}"
                if is_zone
                else "add minDomains with the number of nodes that there should be",
                fix=_fix(subject, constraint) if is_zone else None,
            )


def _fix(subject: Subject, constraint: TopologySpreadConstraint) -> Fix:
    return Fix(f"add minDomains: {_ZONES}", (Put(subject.route(constraint, "minDomains"), _ZONES),))
