"""`topologyKey` has no prefix.

## What it does

Reports a key without a prefix. Bare names of well-known labels, such as `zone`, are SPR302. This rule is an opinion,
and off by default: select it if other people's clusters use your manifests.

## Why it matters

Neither Kubernetes nor its providers set labels without a prefix on nodes. The manifest works only where someone has
set the label, and two teams may mean different things by `rack`.

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
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: rack
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]

## Use instead

Use a label with a prefix of your own.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import misspelt_keys
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find keys without a prefix that are not meant to be a label of Kubernetes."""
    for constraint in subject.constraints:
        key = constraint.topology_key
        if not key or "/" in key or misspelt_keys.is_reported(constraint.topology_key, project):
            continue
        route = subject.route(constraint, "topologyKey")
        then = "cannot run on" if constraint.is_hard else "are not spread over"
        yield RuleFinding(
            f"the pods {then} nodes without the label `{key}`: it has no prefix, so neither Kubernetes nor its "
            "providers set it",
            subject.place(route),
            subject.path(route),
            f"use a prefix of your own: example.com/{key}",
        )
