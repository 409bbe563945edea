"""`topologyKey` is a deprecated label.

## What it does

Reports `failure-domain.beta.kubernetes.io/zone` and `/region`, deprecated since 1.17.
`beta.kubernetes.io/instance-type` (1.17), `/os` and `/arch` (1.14) are info, as nodes still have them.

## Why it matters

Cloud providers stop setting the old labels. DoNotSchedule refuses a node without the label.

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
            topologyKey: failure-domain.beta.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

## Use instead

Write the new label.

## Fix safety

The fix is safe: nodes with the old label have the new one as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding, Severity
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.topology_keys import SUCCESSORS
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.selectors.labels import REGION, ZONE

# By the new label; source: pkg/api/node/util.go, deprecatedNodeLabels (v1.36.2).
_SINCE = {"kubernetes.io/arch": "1.14", "kubernetes.io/os": "1.14"}


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find keys that have a successor."""
    for constraint in subject.constraints:
        now = SUCCESSORS.get(constraint.topology_key)
        if now:
            is_set = now not in (ZONE, REGION)
            route = subject.route(constraint, "topologyKey")
            yield RuleFinding(
                _message(constraint, since=_SINCE.get(now, "1.17"), is_set=is_set),
                subject.place(route),
                subject.path(route),
                f"use `{now}`",
                severity=Severity.INFO if is_set else None,
                fix=fix_builders.with_key(subject, constraint, now),
            )


def _message(constraint: TopologySpreadConstraint, *, since: str, is_set: bool) -> str:
    if is_set:
        return f"the label `{constraint.topology_key}` is deprecated since {since}; nodes still have it"
    then = "cannot run on" if constraint.is_hard else "are not spread over"
    return f"the pods {then} nodes without the label `{constraint.topology_key}`, which is deprecated since {since}"
