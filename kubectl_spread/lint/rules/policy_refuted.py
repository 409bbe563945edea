"""The constraints do not keep a policy of the configuration.

## What it does

Reports workloads whose constraints do not keep one of the policies that the configuration names under `policies`. It
needs cluster facts. Every order of events is considered; `kubectl spread guarantee` shows the events in full. A group
of workloads is reported once, for its first workload. The search visits a limited number of states. A rule of the
policy that cannot be decided within this limit is not reported. A violation that ends by itself is reported as one
`while pods move`.

## Why it matters

A policy such as "less than half of the pods in one zone" says what a failure may cost. Constraints that keep it while
pods are created can still break it during a rollout or after a restart.

## Example

With `policies: [ha.yaml]` in the configuration, and `--topology zones=3,nodes=2`. A zone can come to hold 3 of these 6
pods, which refutes the policy's rule `maxShare: {zone: <1/2}`:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 6
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 3
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}

## Use instead

`kubectl spread guarantee --policy FILE --recommend` prints constraints that keep the policy on the given nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import FIELD, Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find rules of policies that some order of events violates."""
    if project.facts is None:
        return
    route = (*subject.spec_route, FIELD)
    for found in project.facts.refuted_rules(subject.workload):
        yield RuleFinding(
            f"policy {found.policy}: `{found.rule}` can be violated by {found.regime}"
            f"{'' if found.is_settled else ' while pods move'}: {found.violation}",
            subject.place(route, key=True),
            subject.path(route),
            "`kubectl spread guarantee` with the same policy shows the events, and with --recommend other constraints",
        )
