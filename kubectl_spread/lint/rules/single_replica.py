"""Constraints on a workload with one replica spread nothing.

## What it does

Reports constraints on a workload that never has more than one replica. An autoscaler in the input, and the overlays of
a kustomization, count. A constraint with a wider selector than the workload's own is not reported: it may spread
several such workloads.

## Why it matters

One pod cannot be spread. But a DoNotSchedule constraint still refuses nodes without its topology key, and during a
rolling update the second pod has to find another domain.

## Example

    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 1
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Remove the constraints, or raise the number of replicas.

## Fix safety

The fix is unsafe: it removes the constraints, which may be meant for a later scale-up. It is not offered if an
autoscaler or an overlay sets the replicas.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH

_KINDS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find workloads all of whose constraints count a single pod."""
    count = project.replicas(subject)
    if subject.workload.kind not in _KINDS or count.maximum != 1 or not subject.constraints:
        return
    if all(_is_about_it_alone(subject, constraint, project) for constraint in subject.constraints):
        route = (*subject.spec_route, FIELD)
        where = [origin.place for origin in count.origins] or [subject.place(("spec", "replicas"))]
        yield RuleFinding(
            "there is only 1 replica, so the constraints spread nothing",
            subject.place(route, key=True),
            subject.path(route),
            f"remove {FIELD}",
            () if count.autoscaler else tuple(Label(place, "the number of replicas") for place in where),
            fix=None if count.autoscaler or project.is_overlaid(subject) else fix_builders.without_constraints(subject),
        )


def _is_about_it_alone(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Return whether no pod of another workload can be counted."""
    if not subject.is_in_its_group(constraint) or project.group_size(subject, constraint) != 1:
        return False
    if subject.workload.kind == "Deployment" and POD_TEMPLATE_HASH in constraint.match_label_keys:
        return True
    asked = {item.key for item in subject.selector(constraint).requirements or () if item.operator == "In"}
    return bool(subject.own_labels) and subject.own_labels.keys() <= asked
