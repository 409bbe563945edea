"""Cordoned and tainted nodes count as empty domains.

## What it does

Reports a DoNotSchedule constraint over zones or hostnames that leaves `nodeTaintsPolicy` to its default, `Ignore`. Over
zones it is info, because a zone is affected only if all its nodes are tainted. It is also info if the pods are unknown,
as in values of a chart.

Nothing is reported if the pods tolerate every NoSchedule taint, if there are at most `maxSkew` of them, if
anti-affinity or a host port allows only one pod in a domain, or if the API server is too old for the field. If the
nodes are known, SPR903 reports the real ones instead. An explicit `Ignore` is not reported either: it is right if new
nodes start with a taint that is removed once they are ready.

## Why it matters

The scheduler allows at most `maxSkew` more pods in a domain than in the emptiest one. Control-plane nodes, dedicated
nodes and nodes cordoned for a drain count as domains that always hold 0 of these pods. While one exists, every other
domain takes at most `maxSkew` pods and the rest stay Pending, although nodes have room. During a drain, evicted pods
can stay Pending.

## Example

    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 6
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Add `nodeTaintsPolicy: Honor` (from 1.26). Nodes with taints that the pod does not tolerate then do not count.

    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [pod-template-hash]
      nodeTaintsPolicy: Honor

## Fix safety

The fix is unsafe: with fewer domains counted, pods may go where they were refused before.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import pod_requirements
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import HONOR, TopologySpreadConstraint
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.objects.selectors.labels import HOSTNAME, ZONE
from kubectl_spread.text.edit import Put
from kubectl_spread.text.wording import count_noun

_FIELD = "nodeTaintsPolicy"


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that leave nodeTaintsPolicy to its default."""
    if not field_versions.stores(_FIELD, project.target.minor) or _is_never_kept_off(subject):
        return
    for constraint in subject.hard:
        if _is_known(subject, constraint, project):
            continue
        if constraint.node_taints_policy is None and _can_stall(subject, constraint, project):
            route = subject.route(constraint, _FIELD)
            is_zone = constraint.topology_key == ZONE
            yield RuleFinding(
                (_ZONES if is_zone else _NODES).format(count_noun(constraint.max_skew, "pod")),
                subject.place(route),
                subject.path(route),
                f"add {_FIELD}: {HONOR}",
                severity=Severity.INFO if is_zone or not subject.has_pod else None,
                fix=Fix("leave out nodes whose taints the pod does not tolerate", (Put(route, HONOR),)),
            )


_NODES = (
    "pods stay Pending once every other node has {0}, as long as a node is cordoned or tainted. Such a node still "
    "counts as an empty domain, and maxSkew allows other nodes only {0} more"
)
_ZONES = (
    "pods stay Pending once every other zone has {0}, as long as all nodes of a zone are cordoned or tainted. Such "
    "a zone still counts as an empty domain, and maxSkew allows other zones only {0} more"
)


def _is_known(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Return whether the cluster facts have the nodes that a constraint counts: they may be about other labels only."""
    if project.facts is None:
        return False
    if not subject.has_pod:
        return True
    return bool(subject.refusals) or project.facts.constraint_facts(subject.workload, constraint) is not None


def _is_never_kept_off(subject: Subject) -> bool:
    """Return whether no taint keeps the pods away from a node."""
    is_tied = subject.workload.kind == "DaemonSet" or bool(subject.spec.get("nodeName"))  # SPR206, SPR210
    return is_tied or pod_requirements.tolerates_all(subject)


def _can_stall(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Return whether a domain that stays at 0 can keep a pod Pending."""
    key = constraint.topology_key
    if key not in (HOSTNAME, ZONE) or constraint.max_skew < 1:
        return False
    if not subject.has_pod:
        return constraint.label_selector is not None or not subject.is_final  # else SPR201
    if not subject.is_in_its_group(constraint):
        return False
    if pod_requirements.has_one_domain(subject, constraint):
        return False  # it is its own minimum
    if pod_requirements.keeps_apart(subject, constraint) or (
        key == HOSTNAME and any(pod_requirements.host_ports(subject))
    ):
        return False  # a domain with one of the pods is refused anyway, and any other has room
    pods = project.likely_group_size(subject, constraint)
    return pods is None or constraint.max_skew < pods
