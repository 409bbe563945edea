"""A hard constraint has only one domain, so it refuses nothing.

## What it does

Reports a DoNotSchedule constraint with a single domain. Nodes outside the pod's node affinity do not count, nor do
tainted nodes under `nodeTaintsPolicy: Honor`.

## Why it matters

A domain is compared with the emptiest one. The only domain is compared with itself, so all pods may go there.

## Example

With `--topology zones=1,nodes=3`:

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
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Write `minDomains: 2`, so that pods beyond `maxSkew` wait for a second domain, or remove the constraint.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.on_cluster import hard_constraint_facts
from kubectl_spread.lint.queries.pod_requirements import has_one_domain
from kubectl_spread.lint.wording import domain, domains
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that compare one domain with itself."""
    most = project.replicas(subject).maximum
    for constraint, account in hard_constraint_facts(subject, project):
        if (
            len(account.counted_domains) != 1
            or account.is_below_min_domains
            or (most is not None and most <= account.max_skew)
        ):
            continue
        (only,) = account.counted_domains
        if not only.usable or has_one_domain(subject, constraint):
            continue  # SPR207 says the latter
        number, key = len(account.domains), constraint.topology_key
        alone = f"the only {domain(key)}" if number == 1 else f"the only one of {domains(number, key)} that counts"
        route = subject.route(constraint, "topologyKey")
        yield RuleFinding(
            f"all pods may go to `{only.value}`: it is {alone}, so the constraint refuses nothing",
            subject.place(route),
            subject.path(route),
            "write minDomains: 2, so that pods beyond maxSkew wait for a second one",
        )
