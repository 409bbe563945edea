"""`nodeAffinityPolicy: Ignore` counts domains that the pod cannot use.

## What it does

Reports a DoNotSchedule constraint with `nodeAffinityPolicy: Ignore` on a pod with nodeSelector or required node
affinity. It is an error if the affinity is about the topology key itself, or if the known nodes show such a domain.
Otherwise it is a warning.

## Why it matters

Domains that the affinity excludes still count, and never get one of the pods. Once each usable domain holds `maxSkew`
pods, the rest stay Pending.

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
          nodeSelector: {disk: ssd}
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
            nodeAffinityPolicy: Ignore
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Remove the field, or write `Honor`, which is the default.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [pod-template-hash]
      nodeTaintsPolicy: Honor

## Fix safety

The fix is safe: it writes the default, so that only domains which the pod can use count.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import pod_requirements
from kubectl_spread.lint.queries.on_cluster import constraint_facts
from kubectl_spread.lint.wording import domain
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.text.edit import Put
from kubectl_spread.text.wording import count_noun

_FIELD = "nodeAffinityPolicy"


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that count domains which the pod's own affinity excludes."""
    affinity = (subject.spec.get("affinity") or {}).get("nodeAffinity") or {}
    if not subject.spec.get("nodeSelector") and not affinity.get(pod_requirements.REQUIRED):
        return
    if not field_versions.stores(_FIELD, project.target.minor):
        return
    known = dict(constraint_facts(subject, project))
    for constraint in subject.hard:
        if constraint.node_affinity_policy != IGNORE or not _can_stall(subject, constraint, project):
            continue
        if constraint not in known or any(not item.chosen for item in known[constraint].counted_domains):
            is_certain = (
                constraint in known or pod_requirements.node_values(subject, constraint.topology_key) is not None
            )
            route = subject.route(constraint, _FIELD)
            yield RuleFinding(
                (_CERTAIN if is_certain else _POSSIBLE).format(
                    domain=domain(constraint.topology_key),
                    domains=domain(constraint.topology_key, plural=True).capitalize(),
                    pods=count_noun(constraint.max_skew, "pod"),
                ),
                subject.place(route),
                subject.path(route),
                "remove nodeAffinityPolicy: the default is Honor",
                severity=None if is_certain else Severity.WARNING,
                fix=Fix(f"write {HONOR}", (Put(route, HONOR),), is_safe=True),
            )


def _can_stall(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Return whether a constraint counts more of the pods than it allows in one domain; fewer are SPR204."""
    if not subject.is_in_its_group(constraint):
        return False
    pods = project.likely_group_size(subject, constraint)
    return pods is None or pods > constraint.max_skew or subject.workload.kind == "Pod"  # others of its group may run


_CERTAIN = (
    "pods stay Pending once each {domain} that they can use has {pods}. {domains} that the pod's node affinity "
    "excludes count too, and always have 0"
)
_POSSIBLE = (
    "pods stay Pending once each {domain} that they can use has {pods}, if the pod's node affinity excludes all "
    "nodes of a {domain}. Such a {domain} counts too, and always has 0"
)
