"""A field has its default value.

## What it does

Reports `nodeAffinityPolicy: Honor`, `nodeTaintsPolicy: Ignore` and, with DoNotSchedule, `minDomains: 1`. This rule is
an opinion, and off by default: a written default can show that it was chosen.

## Why it matters

The fields make manifests longer, and API servers before 1.24 or 1.25 do not know them.

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
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
            nodeAffinityPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

## Use instead

Remove the field.

## Fix safety

The fix is safe: the field has the same value without being written.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import HONOR, IGNORE, TopologySpreadConstraint
from kubectl_spread.text.edit import Drop


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find fields whose value is their default, except refused fields (SPR107)."""
    for constraint in subject.constraints:
        for name in _redundant(constraint):
            route = subject.route(constraint, name)
            yield RuleFinding(
                f"`{name}: {_value(constraint, name)}` is the default",
                subject.place(route, key=True),
                subject.path(route),
                f"remove {name}",
                fix=Fix(f"remove {name}", (Drop(route),), is_safe=True),
            )


def _redundant(constraint: TopologySpreadConstraint) -> Iterator[str]:
    if constraint.min_domains == 1 and constraint.is_hard:
        yield "minDomains"
    if constraint.node_affinity_policy == HONOR:
        yield "nodeAffinityPolicy"
    if constraint.node_taints_policy == IGNORE:
        yield "nodeTaintsPolicy"


def _value(constraint: TopologySpreadConstraint, name: str) -> str:
    if name == "minDomains":
        return str(constraint.min_domains)
    return HONOR if name == "nodeAffinityPolicy" else IGNORE
