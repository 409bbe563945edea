"""A constraint spreads a workload of one replica.

With one pod there is nothing to spread: its domain has one pod more than the others, which no `maxSkew` forbids. What
is left of a DoNotSchedule constraint is a trap: nodes without its topology key are refused, and a rolling update, for
whose sake there are two pods for a while, has to find another domain for the second.

The number is known where the workload names `replicas` and no autoscaler in the input allows more. Where a
kustomization lists the file, the number is the one that the overlays in the input set; without overlays it is unknown,
and nothing is reported. `--fix` never removes the constraints from a file that overlays use.

A constraint that selects less than the workload's own selector may spread several such workloads, one replica each; it
is not reported.

Example:
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

Remove the constraints, or raise the number of replicas.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import fix_builders
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import FIELD
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.workload import POD_TEMPLATE_HASH

_KINDS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find workloads all of whose constraints count a single pod."""
    count = project.replicas(subject)
    if subject.workload.kind not in _KINDS or count.maximum != 1 or not subject.constraints:
        return
    if all(_is_about_it_alone(subject, constraint, project) for constraint in subject.constraints):
        route = (*subject.spec_route, FIELD)
        where = ("spec", "replicas")
        yield Found(
            "there is 1 replica, so there is nothing to spread",
            subject.place(route, key=True),
            subject.path(route),
            f"remove {FIELD}",
            () if count.autoscaler else (Label(subject.place(where), "the number of replicas"),),
            fix=None if count.autoscaler or project.is_overlaid(subject) else fix_builders.without_constraints(subject),
        )


def _is_about_it_alone(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Whether no pod of another workload can be counted: the selector asks for all that tells this one's pods."""
    if not subject.is_in_its_group(constraint) or project.group_size(subject, constraint) != 1:
        return False
    if subject.workload.kind == "Deployment" and POD_TEMPLATE_HASH in constraint.match_label_keys:
        return True
    asked = {item.key for item in subject.selector(constraint).requirements or () if item.operator == "In"}
    return bool(subject.own_labels) and subject.own_labels.keys() <= asked
