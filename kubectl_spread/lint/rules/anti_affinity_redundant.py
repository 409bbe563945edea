"""A constraint has no effect next to pod anti-affinity over the same key.

## What it does

Reports a constraint over a key for which required anti-affinity keeps the same pods apart. A constraint that counts
pods which the anti-affinity does not name is not reported.

## Why it matters

The anti-affinity allows one of the pods in each domain. Every domain that is left holds 0 of them, so a DoNotSchedule
constraint refuses none, and a ScheduleAnyway constraint finds them equal. A DoNotSchedule constraint still refuses
nodes without the key.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 4
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
              - topologyKey: kubernetes.io/hostname
                labelSelector: {matchLabels: {app: web}}
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

Keep one: the anti-affinity for at most one pod per domain, the constraint for an even spread of any number.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import pod_requirements
from kubectl_spread.lint.wording import domain
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints that count nothing but what anti-affinity keeps at one."""
    if subject.workload.kind == "DaemonSet":
        return  # SPR206
    for constraint in subject.constraints:
        if not subject.is_in_its_group(constraint) or project.likely_group_size(subject, constraint) in (0, 1):
            continue
        term = pod_requirements.keeps_apart(subject, constraint)
        if term is not None:
            route = subject.route(constraint, "topologyKey")
            yield RuleFinding(
                f"required pod anti-affinity already allows only one of the pods in each "
                f"{domain(constraint.topology_key)}, so the constraint has no effect",
                subject.place(route),
                subject.path(route),
                "remove the constraint or the anti-affinity",
                (Label(subject.place(term.route), "the pod anti-affinity"),),
            )
