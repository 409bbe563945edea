"""`nodeAffinityPolicy: Ignore` counts domains that the pod may not use.

The pod's nodeSelector or required node affinity may keep it out of some domains. With `Ignore` these count all the
same, and as none of its pods ever runs there, the smallest domain stays at 0. Once each usable domain holds `maxSkew`
pods, the rest stay Pending.

If the affinity is about the topology key itself, it names the domains that the pod may use, and this is an error. If it
is about another label, it depends on the cluster whether a domain has no node with that label: this is a warning. With
cluster facts the nodes decide.

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

Leave the field out, or write `Honor`, which is the default.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import demands
from kubectl_spread.lint.queries.accounts import accounts
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects import field_versions
from kubectl_spread.objects.constraint import HONOR
from kubectl_spread.objects.constraint import IGNORE
from kubectl_spread.text.edit import Put

_FIELD = "nodeAffinityPolicy"


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints that count what the pod's own affinity excludes."""
    affinity = (subject.spec.get("affinity") or {}).get("nodeAffinity") or {}
    if not subject.spec.get("nodeSelector") and not affinity.get(demands.REQUIRED):
        return
    if not field_versions.stores(_FIELD, project.target.minor):
        return
    known = dict(accounts(subject, project))
    for constraint in subject.hard:
        pods = project.likely_group_size(subject, constraint)
        if constraint.node_affinity_policy != IGNORE or not subject.is_in_its_group(constraint):
            continue
        if pods is not None and pods <= constraint.max_skew and subject.workload.kind != "Pod":
            continue  # SPR204; a single Pod may be counted with others that run
        if constraint not in known or any(not domain.chosen for domain in known[constraint].counted):
            is_certain = constraint in known or demands.node_values(subject, constraint.topology_key) is not None
            route = subject.route(constraint, _FIELD)
            yield Found(
                (_CERTAIN if is_certain else _POSSIBLE).format(constraint.max_skew),
                subject.place(route),
                subject.path(route),
                "remove it: Honor is the default",
                severity=None if is_certain else Severity.WARNING,
                fix=Fix(f"write {HONOR}", (Put(route, HONOR),), is_safe=True),
            )


_CERTAIN = (
    "domains where the pod's node affinity admits no node are counted, and hold the minimum at 0: "
    "every other domain gets at most {}"
)
_POSSIBLE = (
    "a domain where the pod's node affinity admits no node would be counted, and would hold the minimum at 0: "
    "every other domain would then get at most {}"
)
