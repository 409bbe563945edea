"""Pods end up less even than a ScheduleAnyway constraint asks for.

## What it does

Reports a ScheduleAnyway constraint that the placement shown by `check` does not satisfy. If nodes have equal scores,
this placement is only one of several possible ones.

Nothing is reported for workloads with a DoNotSchedule constraint or with running pods, for a constraint over nodes
next to another one, and for the capacity type (SPR313). Counted pods of other workloads are taken into account.

## Why it matters

A ScheduleAnyway constraint is one score among several. Preferred node affinity, PreferNoSchedule taints, free
resources and images that a node has already also count and may outweigh it, and a full domain cannot take a pod. The
pods run, and nothing shows that they are uneven.

## Example

With `--topology examples/scenarios/soft-constraint-outvoted/cluster.yaml`:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 4
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          affinity:
            nodeAffinity:
              preferredDuringSchedulingIgnoredDuringExecution:
              - weight: 100
                preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Remove what outweighs the constraint, or use DoNotSchedule, perhaps with a larger `maxSkew`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.cluster.facts import ConstraintFacts, PodsPerDomain
from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.on_cluster import constraint_facts, with_fewest_replicas
from kubectl_spread.lint.topology_keys import CAPACITY_TYPES
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.selectors.labels import HOSTNAME


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find soft constraints that the placement does not meet, where there are no hard ones."""
    if project.facts is None or subject.hard:
        return
    for constraint, account in constraint_facts(subject, project):
        if not subject.is_in_its_group(constraint) or _is_reported_otherwise(subject, constraint):
            continue
        workload = with_fewest_replicas(subject, project)
        spread = project.facts.place(workload, constraint)
        message = None if spread is None else _message(spread, account, replicas=workload.replicas or 1)
        if message is not None:
            route = subject.route(constraint, "whenUnsatisfiable")
            yield RuleFinding(
                message,
                subject.place(route),
                subject.path(route),
                "remove what outweighs it, or use DoNotSchedule",
            )


def _is_reported_otherwise(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether nodes are the second key, as even zones make them uneven, or SPR313 is about the key."""
    is_second = constraint.topology_key == HOSTNAME and len(subject.constraints) > 1
    return is_second or constraint.topology_key in CAPACITY_TYPES


def _message(spread: PodsPerDomain, account: ConstraintFacts, *, replicas: int) -> Optional[str]:
    """Return the message; None if no domain ends up more than maxSkew above another."""
    usable = {domain.value for domain in account.domains if domain.usable}
    numbers = {value: number for value, number in spread.domains if value in usable}
    filled = [value for value, number in numbers.items() if number]
    if len(numbers) < 2 or not filled:
        return None
    counted = {domain.value: numbers[domain.value] + domain.matching for domain in account.domains if domain.usable}
    fullest = max(filled, key=lambda value: counted[value])
    emptiest = min(counted, key=lambda value: counted[value])
    if counted[fullest] - counted[emptiest] <= account.max_skew:
        return None
    ends = "ends" if spread.is_certain else "may end"
    pods = f"{counted[fullest]} of the {replicas} pods and `{emptiest}` with {counted[emptiest]}"
    if counted != numbers:
        pods = (
            f"{counted[fullest]} pods and `{emptiest}` with {counted[emptiest]}, including counted pods of "
            "other workloads"
        )
    return (
        f"`{fullest}` {ends} up with {pods}. That is a skew of {counted[fullest] - counted[emptiest]}, and maxSkew is "
        f"{account.max_skew}. ScheduleAnyway is only a preference, and other scores or a lack of room outweigh it"
    )
