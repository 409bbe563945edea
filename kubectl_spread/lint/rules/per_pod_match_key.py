"""`matchLabelKeys` contains a label that is different on every pod.

## What it does

Reports `statefulset.kubernetes.io/pod-name`, `apps.kubernetes.io/pod-index` and
`batch.kubernetes.io/job-completion-index` in `matchLabelKeys`, if the pods have them.

## Why it matters

The pod's own value becomes part of the selector, so every pod counts only itself. Every domain holds 0 other pods, and
the constraint has no effect.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 3
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}
            matchLabelKeys: [apps.kubernetes.io/pod-index]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Remove the key.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: db}}

## Fix safety

The fix is unsafe: the constraint takes effect for the first time.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.workloads.workload import PER_POD_LABELS


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find keys that make every pod a group of its own."""
    for constraint in subject.constraints:
        for index, key in enumerate(constraint.match_label_keys):
            if key in PER_POD_LABELS and key in subject.labels:
                route = subject.route(constraint, "matchLabelKeys", index)
                yield RuleFinding(
                    f"the constraint has no effect: every pod has its own `{key}`, so each pod counts only itself",
                    subject.place(route),
                    subject.path(route),
                    "remove the key",
                    fix=Fix(
                        f"remove `{key}` from matchLabelKeys",
                        (fix_builders.without_match_key(subject, constraint, key),),
                    ),
                )
