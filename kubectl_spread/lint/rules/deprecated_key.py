"""`topologyKey` is a deprecated label.

`failure-domain.beta.kubernetes.io/zone` and `/region` gave way to `topology.kubernetes.io/zone` and `/region` in 1.17.
Cloud providers stop setting the old ones; a node without the label is refused by DoNotSchedule.

Example:
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

`beta.kubernetes.io/instance-type` (1.17), `/os` and `/arch` (1.14) are deprecated, too, but nodes still have them next
to the new labels. This is an info.

Write the new label.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import fix_builders
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.topology_keys import SUCCESSORS
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.labels import REGION
from kubectl_spread.objects.labels import ZONE

# By the new label; source: pkg/api/node/util.go, deprecatedNodeLabels (v1.36.2).
_SINCE = {"kubernetes.io/arch": "1.14", "kubernetes.io/os": "1.14"}


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find keys that have a successor."""
    for constraint in subject.constraints:
        now = SUCCESSORS.get(constraint.topology_key)
        if now:
            is_set = now not in (ZONE, REGION)
            route = subject.route(constraint, "topologyKey")
            yield Found(
                f"the label `{constraint.topology_key}` is deprecated since {_SINCE.get(now, '1.17')}"
                + (", and nodes still have it" if is_set else ""),
                subject.place(route),
                subject.path(route),
                f"use `{now}`",
                severity=Severity.INFO if is_set else None,
                fix=fix_builders.with_key(subject, constraint, now),
            )
