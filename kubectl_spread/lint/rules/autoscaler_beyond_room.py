"""An autoscaler may ask for more pods than the constraints allow.

## What it does

Reports a HorizontalPodAutoscaler or ScaledObject whose maximum does not fit, although its minimum does. The maximum is
placed as `check` places replicas. Nothing is reported if the config or `--autoscaler` names a node autoscaler, or if
pods are Pending already.

## Why it matters

No domain takes more than `maxSkew` pods more than the emptiest one, so a full domain limits all others. The pods stay
Pending under load, when they are needed.

## Example

With `--topology examples/scenarios/smallest-zone-limits-all-zones/cluster.yaml`:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}
    ---
    apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata: {name: db}
    spec:
      scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}
      minReplicas: 3
      maxReplicas: 12

## Use instead

Make room in the domain that is full, raise `maxSkew`, or lower the maximum.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.on_cluster import hard_constraint_facts, outcome
from kubectl_spread.lint.queries.unreachable import unreachable_domains
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.text.wording import count_noun, join_with_and

_MOST = 10_000  # replicas that are placed, as a maximum may be any number


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find workloads whose fewest replicas are placed, and whose most are not because of a hard constraint."""
    replicas = project.replicas(subject)
    least, most = replicas.minimum, replicas.maximum
    if project.facts is None or project.target.autoscaler or replicas.autoscaler is None:
        return
    if least is None or most is None or least >= most or not _is_placed(subject, project):
        return
    if not any(hard_constraint_facts(subject, project)) or any(unreachable_domains(subject, project)):
        return
    then = project.facts.outcome(subject.workload._replace(replicas=min(most, _MOST)))
    if then is None or not then.falls_short or not then.is_spread_conflict:
        return
    route = (*subject.spec_route, FIELD)
    yield RuleFinding(
        f"only {then.placed} of {count_noun(most, 'pod')} find a node if {replicas.autoscaler.kind} "
        f"{replicas.autoscaler.name} asks for its maximum. The rest stay Pending because of "
        f"{join_with_and(then.conflict)}",
        subject.place(route, key=True),
        subject.path(route),
        "make room in the domain that is full, raise maxSkew, or lower the maximum",
    )


def _is_placed(subject: Subject, project: Project) -> bool:
    """Return whether all pods find a node, both with the fewest replicas and with the number in the manifest."""
    now = outcome(subject, project)
    written = None if project.facts is None else project.facts.outcome(subject.workload)
    return now is not None and not now.pending and written is not None and not written.pending
