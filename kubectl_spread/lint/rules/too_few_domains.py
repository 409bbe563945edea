"""There are fewer domains than `minDomains`, and too few for the replicas.

## What it does

Reports a DoNotSchedule constraint with `minDomains` above the number of domains, if pods stay Pending because of it.
Node affinity that allows too few values is SPR207 or SPR312.

## Why it matters

While the cluster has fewer domains than `minDomains`, no domain takes more than `maxSkew` pods. The rest wait for
nodes in another domain, even if there is room.

## Example

With `--topology zones=2,nodes=2`:

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
          - maxSkew: 2
            minDomains: 3
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Add nodes in another domain, or lower `minDomains`. If a node autoscaler can add the domain, this is the purpose of
`minDomains`: ignore the rule there.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import min_domains
from kubectl_spread.lint.queries.on_cluster import hard_constraint_facts, outcome
from kubectl_spread.lint.wording import domain, domains, stays_or_stay
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that wait for a domain which the cluster does not have."""
    for constraint, account in hard_constraint_facts(subject, project):
        number, key = len(account.counted_domains), constraint.topology_key
        if not account.is_below_min_domains or not number or min_domains.allowed_values(subject, constraint, project):
            continue
        became = outcome(subject, project)
        if became is None or not became.falls_short or became.pods <= account.room:
            continue
        route = subject.route(constraint, "minDomains")
        left = became.pods - account.room
        there_are = "is" if number == 1 else "are"
        yield RuleFinding(
            f"{left} of {count_noun(became.pods, 'pod')} {stays_or_stay(left)} Pending: there {there_are} "
            f"{domains(number, key)}, fewer than minDomains {account.min_domains}, so each takes at most "
            f"{count_noun(account.max_skew, 'pod')}",
            subject.place(route),
            subject.path(route),
            f"add nodes in another {domain(key)}, or write minDomains: {number}",
        )
