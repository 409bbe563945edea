"""The selector matches only some of the workload's running pods.

## What it does

Reports a selector that matches some of the running pods and not others.

## Why it matters

A label that was added to the pod template and to the selector is missing on pods that already run. Until they are
replaced, the scheduler counts only the new pods. It can put them next to old ones, and the last one may find no domain
that both the constraint and its volume allow.

## Example

With `--snapshot examples/scenarios/selector-counts-only-some-pods/snapshot.yaml`:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: etcd}
    spec:
      replicas: 3
      selector: {matchLabels: {app: etcd}}
      template:
        metadata: {labels: {app: etcd, release: blue}}
        spec:
          containers: [{name: etcd, image: etcd}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: etcd, release: blue}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: etcd}}

## Use instead

Select labels that all pods of the workload have and keep. To count only one revision, use `matchLabelKeys`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints that leave running pods of their own workload out."""
    if project.facts is None:
        return
    for constraint in subject.constraints:
        found = project.facts.uncounted_pods(subject.workload, constraint)
        if found is None:
            continue
        route = subject.route(constraint, "labelSelector")
        yield RuleFinding(
            f"new pods are placed as if {count_noun(len(found.pods), 'running pod')} did not exist, because "
            f"{found.sentence}",
            subject.place(route),
            subject.path(route),
            "select labels that all pods of the workload have and keep",
        )
