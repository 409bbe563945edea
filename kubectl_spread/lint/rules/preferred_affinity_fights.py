"""Preferred node affinity may outweigh constraints that are all ScheduleAnyway.

## What it does

Reports preferred node affinity on a pod whose constraints are all ScheduleAnyway. This rule is an opinion, and off by
default.

## Why it matters

Both only score nodes, and with equal weight. The preferred nodes get the full score of node affinity, whatever the
`weight` of a single term, because scores are scaled to the best node. All constraints together give at most that
score, and a node gets 0 of it only while another domain is empty. So the preferred nodes may take every pod, even if
they are one node or one zone.

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
          affinity:
            nodeAffinity:
              preferredDuringSchedulingIgnoredDuringExecution:
              - weight: 100
                preference:
                  matchExpressions:
                  - {key: pool, operator: In, values: [spot]}
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}

## Use instead

Use DoNotSchedule for the constraint that matters, or remove the preference.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [pod-template-hash]
      nodeTaintsPolicy: Honor
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.pod_requirements import PREFERRED
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.reading.plain import mappings


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find preferences on pods whose constraints are all soft; once a workload."""
    if subject.hard or not subject.soft or project.replicas(subject).likely in (0, 1):
        return
    affinity = (subject.spec.get("affinity") or {}).get("nodeAffinity") or {}
    for index, term in enumerate(mappings(affinity.get(PREFERRED))):
        preference = term.get("preference") or {}
        if not term.get("weight") or not (preference.get("matchExpressions") or preference.get("matchFields")):
            continue
        route = (*subject.spec_route, "affinity", "nodeAffinity", PREFERRED, index)
        soft = subject.place(subject.route(subject.soft[0], "whenUnsatisfiable"))
        yield RuleFinding(
            "all pods may go to the preferred nodes: node affinity scores as much as all ScheduleAnyway constraints "
            "together",
            subject.place((*route, "preference"), key=True),
            subject.path(route),
            "use DoNotSchedule for the constraint that matters, or remove the preference",
            (
                Label(
                    soft,
                    "the constraint is ScheduleAnyway"
                    if len(subject.soft) == 1
                    else "all constraints are ScheduleAnyway",
                ),
            ),
        )
        return
