"""A revision key is used where an update replaces pods in place.

## What it does

Reports the revision key in `matchLabelKeys` of a StatefulSet, and of a Deployment or Argo Rollout with `maxSurge: 0`.
This rule is an opinion, and off by default: the pods are even again when the rollout ends. `--select SPR404` and
`--profile strict` turn it on.

## Why it matters

Such an update deletes a pod before it creates its successor, so there are never more pods than replicas, and the
successor fits into the gap. With the revision key the successor does not count the old pods. The first updated pods
may go where most old ones still run, and with a `partition` they stay there.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 3
      serviceName: web
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [controller-revision-hash]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}

## Use instead

Remove the key.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: web}}

## Fix safety

The fix is unsafe: the constraint counts other pods than before.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Fix, RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.rollout import replaces_in_place
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints that tell revisions apart, where updates replace pods in place."""
    if project.replicas(subject).likely in (0, 1) or not replaces_in_place(subject):
        return
    key, kind = subject.revision_label, subject.workload.kind
    who = "a StatefulSet" if kind == "StatefulSet" else f"a {kind} with maxSurge 0"
    for constraint in subject.constraints:
        if constraint.label_selector is None or key not in constraint.match_label_keys:
            continue
        route = subject.route(constraint, "matchLabelKeys", constraint.match_label_keys.index(key))
        yield RuleFinding(
            f"during an update the first new pods may pile up in one domain: {who} replaces its pods in place, and "
            "with this key new pods do not count old ones",
            subject.place(route),
            subject.path(route),
            f"remove {key}",
            fix=Fix("count the pods of all revisions", (fix_builders.without_match_key(subject, constraint, key),)),
        )
