"""Constraints on a DaemonSet spread nothing.

## What it does

Reports constraints in the pod template of a DaemonSet.

## Why it matters

The DaemonSet controller creates one pod for each node and ties it to that node. By default only that node's domain
counts, so the constraint refuses nothing. With `nodeAffinityPolicy: Ignore` it can keep the pod Pending, because the
pod can run on no other node.

## Example

    apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: agent}
    spec:
      selector: {matchLabels: {app: agent}}
      template:
        metadata: {labels: {app: agent}}
        spec:
          containers: [{name: agent, image: agent}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: agent}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: agent}}

## Use instead

Remove the constraints.

## Fix safety

The fix is unsafe: it removes the constraints.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import FIELD, Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints whose pods are tied to a node each."""
    if subject.constraints:
        route = (*subject.spec_route, FIELD)
        yield RuleFinding(
            "each pod of a DaemonSet is tied to one node, so the constraints have no effect",
            subject.place(route, key=True),
            subject.path(route),
            f"remove {FIELD}",
            fix=fix_builders.without_constraints(subject),
        )
