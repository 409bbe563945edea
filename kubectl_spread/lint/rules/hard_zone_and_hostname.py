"""Zone and hostname are both DoNotSchedule with `maxSkew` 1.

## What it does

Reports two DoNotSchedule constraints with `maxSkew` 1, one over zones and one over hostnames, for more than three
pods.

## Why it matters

Each can be satisfied alone and both together may not. Take six pods and two zones with 1 and 3 nodes. The zones need 3
pods each, so one node gets 3 and others get 1: a difference of 2. Pods stay Pending although nodes have room. Up to
three pods always find nodes.

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
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor

## Use instead

Use ScheduleAnyway for one of the two, usually for the hostname.

    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [pod-template-hash]

## Fix safety

The fix is unsafe: it turns the hostname constraint into a preference.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.impossible import find_conflict
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.selectors.labels import HOSTNAME, ZONE

_ALWAYS_FIT = 3  # pods: even two zones, one with a single node, can take them


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find the pair of constraints."""
    by_key = {item.topology_key: item for item in subject.hard if item.max_skew == 1}
    pair = [by_key[key] for key in (ZONE, HOSTNAME) if key in by_key]
    if len(pair) < 2 or not all(_can_stall(subject, constraint, project) for constraint in pair):
        return
    if find_conflict(subject, project) is None:
        route = subject.route(by_key[HOSTNAME], "whenUnsatisfiable")
        other = subject.place(subject.route(by_key[ZONE], "whenUnsatisfiable"))
        yield RuleFinding(
            "pods may stay Pending although nodes have room. Zone and hostname are both DoNotSchedule with maxSkew "
            "1, which cannot be satisfied together if zones have different numbers of nodes",
            subject.place(route),
            subject.path(route),
            "use ScheduleAnyway for this one",
            (Label(other, "the zone's constraint"),),
            fix=fix_builders.soften(subject, by_key[HOSTNAME]),
        )


def _can_stall(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> bool:
    """Return whether a constraint counts enough of the pods to be at odds with another."""
    most, pods = project.replicas(subject).likely, project.likely_group_size(subject, constraint)
    if most is None or pods is None or subject.workload.kind == "Pod":
        return True  # a single Pod may be counted with others that run
    return subject.is_in_its_group(constraint) and pods + surge(subject, constraint, most) > _ALWAYS_FIT
