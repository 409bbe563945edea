"""The pods end up further apart than a ScheduleAnyway constraint asks for.

A soft constraint is one score among many. Node affinity that is preferred, taints that are to be avoided, free
resources and images that are there already count as well, and together they may count for more; a domain without room
is no choice at all. The pods run, and nothing says that they are not spread. Pods of other workloads that the
constraint counts are reckoned with. Nothing is told of nodes beside another constraint, which may be why, nor of the
kind of capacity, of which halves are seldom meant (SPR313).

What is told is the placement that `check` prints. Where the scheduler has a choice among nodes of equal score, it is
one of several. Nothing is told of workloads with a DoNotSchedule constraint, which comes first, and of pods that run.

Example, with --topology examples/scenarios/soft-constraint-outvoted/cluster.yaml:

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

Take back what speaks against the spreading, or let the constraint be DoNotSchedule, with a larger `maxSkew` perhaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.accounts import accounts
from kubectl_spread.lint.queries.accounts import sized
from kubectl_spread.lint.topology_keys import CAPACITY_TYPES
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.account import Account
from kubectl_spread.objects.account import Spread
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.labels import HOSTNAME


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find soft constraints that the placement does not meet, where there are no hard ones."""
    if project.facts is None or subject.hard:
        return
    for constraint, account in accounts(subject, project):
        if not subject.is_in_its_group(constraint) or _is_told_otherwise(subject, constraint):
            continue
        workload = sized(subject, project)
        spread = project.facts.placed(workload, constraint)
        message = None if spread is None else _message(spread, account, replicas=workload.replicas or 1)
        if message is not None:
            route = subject.route(constraint, "whenUnsatisfiable")
            yield Found(
                message,
                subject.place(route),
                subject.path(route),
                "take back what speaks against it, or let it be DoNotSchedule",
            )


def _is_told_otherwise(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Nodes are not all alike in number where zones are even; and SPR313 wants a preference for the capacity type."""
    is_second = constraint.topology_key == HOSTNAME and len(subject.constraints) > 1
    return is_second or constraint.topology_key in CAPACITY_TYPES


def _message(spread: Spread, account: Account, *, replicas: int) -> Optional[str]:
    """None where no domain that gets pods is then further than maxSkew above another that takes them."""
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
    gets = "gets" if spread.is_certain else "may get"
    pods = f"{counted[fullest]} of the {replicas} pods and `{emptiest}` {counted[emptiest]}"
    if counted != numbers:
        pods = f"to {counted[fullest]} and `{emptiest}` to {counted[emptiest]} with the pods of others that are counted"
    return (
        f"`{fullest}` {gets} {pods}, more than maxSkew {account.max_skew} apart: ScheduleAnyway is a preference, and "
        f"others or a lack of room outweigh it"
    )
