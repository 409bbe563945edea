"""Cordoned and tainted nodes count as domains without pods.

A DoNotSchedule constraint compares each domain with the emptiest one, and by default the taints of nodes play no part
in which domains there are (`nodeTaintsPolicy: Ignore`). The control plane, a node set apart for others and a node
cordoned for a drain are domains that hold 0 of these pods and can take none. While there is one, the minimum stays 0:
every other node gets at most `maxSkew` pods, and the rest stay Pending beside free nodes. During a drain it is the
evicted pods that find no place.

Over `kubernetes.io/hostname` one such node is enough. Over the zone it takes a zone without any other node, which is
rarer, and told as info. With `Honor` (from 1.26) nodes whose taints the pod does not tolerate are left out.

Nothing is said where the pods tolerate every NoSchedule taint, where they are too few to exceed `maxSkew`, where an
older API server does not have the field, and where anti-affinity or a port of the node admits one pod to a domain
anyway. Nor where `Ignore` is written out: that is a decision, and the right one where new nodes start with a taint
that is taken off when they are ready, as pods would pile up elsewhere before that. Where the nodes with a constraint's
label are known, these decide (SPR903), and this rule keeps silent about it. It is info as well where the pods are not
known: in values of a chart, in a patch, in a custom resource.

Example:
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

Add `nodeTaintsPolicy: Honor`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import demands
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects import field_versions
from kubectl_spread.objects.constraint import HONOR
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.labels import HOSTNAME
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.text.edit import Put

_FIELD = "nodeTaintsPolicy"


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints that leave nodeTaintsPolicy to its default."""
    if not field_versions.stores(_FIELD, project.target.minor) or _is_never_kept_off(subject):
        return
    for constraint in subject.hard:
        if _is_known(subject, constraint, project):
            continue
        if constraint.node_taints_policy is None and _can_stall(subject, constraint, project):
            route = subject.route(constraint, _FIELD)
            is_zone = constraint.topology_key == ZONE
            yield Found(
                (_ZONES if is_zone else _NODES).format(constraint.max_skew),
                subject.place(route),
                subject.path(route),
                f"add {_FIELD}: {HONOR}",
                severity=Severity.INFO if is_zone or not subject.has_pod else None,
                fix=Fix("leave out nodes whose taints the pod does not tolerate", (Put(route, HONOR),)),
            )


_NODES = (
    "cordoned and tainted nodes count as domains with 0 pods: while there is one the minimum stays 0, "
    "and every other node gets at most {}"
)
_ZONES = (
    "a zone of cordoned and tainted nodes counts with 0 pods: while there is one the minimum stays 0, "
    "and every other zone gets at most {}"
)


def _is_known(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Whether the cluster facts have the nodes that a constraint counts: they may be about other labels only."""
    if project.facts is None:
        return False
    if not subject.has_pod:
        return True
    return bool(subject.refusals) or project.facts.account(subject.workload, constraint) is not None


def _is_never_kept_off(subject: Subject) -> bool:
    """Whether no taint keeps the pods off a node that they are to be spread over."""
    is_tied = subject.workload.kind == "DaemonSet" or bool(subject.spec.get("nodeName"))  # SPR206, SPR210
    return is_tied or demands.tolerates_all(subject)


def _can_stall(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Whether a domain that stays at 0 can keep a pod Pending."""
    key = constraint.topology_key
    if key not in (HOSTNAME, ZONE) or constraint.max_skew < 1:
        return False
    if not subject.has_pod:
        return constraint.label_selector is not None or not subject.is_final  # else SPR201
    if not subject.is_in_its_group(constraint):
        return False
    if demands.has_one_domain(subject, constraint):
        return False  # it is its own minimum
    if demands.keeps_apart(subject, constraint) or (key == HOSTNAME and any(demands.host_ports(subject))):
        return False  # a domain with one of the pods is refused anyway, and any other has room
    pods = project.likely_group_size(subject, constraint)
    return pods is None or constraint.max_skew < pods
