"""An Argo Rollout's pods do not have the label `pod-template-hash`.

## What it does

Reports `pod-template-hash` in the `matchLabelKeys` of an Argo Rollout whose template does not set it.

## Why it matters

Argo Rollouts labels the pods of a revision with `rollouts-pod-template-hash`. The scheduler silently leaves out a key
that the pod lacks, so the pods of all revisions count together.

## Example

    apiVersion: argoproj.io/v1alpha1
    kind: Rollout
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}

## Use instead

Write `rollouts-pod-template-hash`.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: web}}
      matchLabelKeys: [rollouts-pod-template-hash]

## Fix safety

The fix is safe: the key that it replaces has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.workloads.workload import POD_TEMPLATE_HASH, ROLLOUT_HASH
from kubectl_spread.text.edit import Put


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find a Deployment's key in a Rollout whose template does not set it."""
    if POD_TEMPLATE_HASH in subject.labels:
        return
    for constraint in subject.constraints:
        keys = constraint.match_label_keys
        if constraint.label_selector is None or POD_TEMPLATE_HASH not in keys:
            continue
        route = subject.route(constraint, "matchLabelKeys", keys.index(POD_TEMPLATE_HASH))
        removal = fix_builders.without_match_key(subject, constraint, POD_TEMPLATE_HASH)
        change = removal if ROLLOUT_HASH in keys else Put(route, ROLLOUT_HASH)
        yield RuleFinding(
            f"pods of all revisions count together: a Rollout's pods have no label `{POD_TEMPLATE_HASH}`, so the key "
            "has no "
            "effect",
            subject.place(route),
            subject.path(route),
            f"write {ROLLOUT_HASH}",
            fix=Fix(f"tell revisions apart by `{ROLLOUT_HASH}`", (change,), is_safe=True),
        )
