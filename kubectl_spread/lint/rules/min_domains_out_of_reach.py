"""Node affinity allows fewer domains than `minDomains`.

## What it does

Reports a `minDomains` above the number of values that nodeSelector and required node affinity allow for the topology
key. It is an error if some pods of the workload then stay Pending. It is a warning if only a rolling update or an
autoscaler may add such pods, if their number is unknown, for Jobs, and for other schedulers. A single allowed value is
SPR207.

## Why it matters

Only nodes that the pod may use form domains (`nodeAffinityPolicy` is Honor by default). With two allowed zones and
`minDomains: 3` each zone takes at most `maxSkew` pods in any cluster. The rest stay Pending, however many nodes are
added.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 5
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [eu-1a, eu-1b]}]
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            minDomains: 3
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Lower `minDomains` to the number of values, or allow more values.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import min_domains
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that wait for a domain which no node may be in."""
    for constraint in subject.hard:
        values = min_domains.allowed_values(subject, constraint, project)
        if not values or len(values) < 2:
            continue
        replicas = project.replicas(subject)
        least, most = replicas.minimum, replicas.maximum
        room = len(values) * constraint.max_skew
        if most is not None and most + surge(subject, constraint, most) <= room:
            continue
        route = subject.route(constraint, "minDomains")
        yield RuleFinding(
            f"at most {count_noun(room, 'pod')} can run in any cluster, and further pods stay Pending. Node affinity "
            f"allows {len(values)} values of `{constraint.topology_key}`, fewer than minDomains "
            f"{constraint.min_domains}, so each takes at most {count_noun(constraint.max_skew, 'pod')}",
            subject.place(route),
            subject.path(route),
            f"write minDomains: {len(values)}, or allow more values",
            severity=None
            if least is not None and least > room and min_domains.stays_pending(subject)
            else Severity.WARNING,
        )
