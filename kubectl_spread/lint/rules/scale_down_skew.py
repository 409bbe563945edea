"""Scaling down leaves running pods beyond `maxSkew`.

## What it does

Reports a DoNotSchedule constraint that running pods satisfy now, and would not after scaling down at once to the
fewest replicas that the files allow: `replicas`, or an autoscaler's minimum. The best possible result is reported.
Unready pods and deletion costs are considered.

## Why it matters

A ReplicaSet ignores constraints when it removes pods. Among ready pods, it first removes those on the nodes with the
most of them, and counts these only once, at the start. Suppose two zones have three pods each on a single node, and a
third has its pods on two nodes. The two zones then lose all pods before the third loses any. Nothing moves the pods
that are left.

## Example

With `--snapshot examples/scenarios/scale-down-empties-zones/snapshot.yaml`:

    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Also spread over nodes, so that each has the same number, or restart the workload after scaling down.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.on_cluster import hard_constraint_facts
from kubectl_spread.lint.wording import has_or_have, list_names
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that running pods meet now, and do not once there are as few as the files allow."""
    fewest = project.replicas(subject).minimum
    if project.facts is None or not fewest:
        return
    for constraint, account in hard_constraint_facts(subject, project):
        now = project.facts.live(subject.workload, constraint)
        then = project.facts.scale_down(subject.workload, constraint, fewest)
        if now is None or then is None or now.skew is None or then.skew is None:
            continue
        if now.skew > account.max_skew or then.skew <= account.max_skew:
            continue
        route = subject.route(constraint, "maxSkew")
        yield RuleFinding(
            f"after scaling down to {fewest} at once, the pods are unevenly spread: at best `{then.fullest}` has "
            f"{then.most}, and {list_names(then.minimum_in)} {has_or_have(then.minimum_in)} {then.minimum}. That is a "
            f"skew of {then.skew}, and maxSkew is {account.max_skew}: a ReplicaSet removes pods by node, not by "
            "constraint",
            subject.place(route),
            subject.path(route),
            "also spread over nodes, or restart the workload after scaling down",
        )
