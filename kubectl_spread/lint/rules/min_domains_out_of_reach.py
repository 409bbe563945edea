"""`minDomains` is more than the domains that node affinity allows.

Only nodes that the pod's nodeSelector and required node affinity allow make domains (`nodeAffinityPolicy` is `Honor` by
default). Where these name two zones and `minDomains` is 3, there are never enough: the minimum is 0 in every cluster,
each zone gets at most `maxSkew` pods, and the rest stays Pending however many nodes are added.

It is an error where the workload has more pods than that, and a warning where a rolling update or an autoscaler may
have, or nobody says how many there are. A single value is SPR207's. The pods of a Job end and make room, and another
scheduler may have other rules: there it is a warning, too.

Example:
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

Lower `minDomains` to the number of values, or allow more of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import min_domains
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints that wait for a domain which no node may be in."""
    for constraint in subject.hard:
        values = min_domains.allowed(subject, constraint, project)
        if not values or len(values) < 2:
            continue
        replicas = project.replicas(subject)
        least, most = replicas.minimum, replicas.maximum
        room = len(values) * constraint.max_skew
        if most is not None and most + surge(subject, constraint, most) <= room:
            continue
        route = subject.route(constraint, "minDomains")
        yield Found(
            f"node affinity allows {len(values)} values of `{constraint.topology_key}`, minDomains is "
            f"{constraint.min_domains}: each gets at most {constraint.max_skew} in any cluster, room for {room} pods",
            subject.place(route),
            subject.path(route),
            f"write minDomains: {len(values)}, or allow more values",
            severity=None
            if least is not None and least > room and min_domains.stays_pending(subject)
            else Severity.WARNING,
        )
