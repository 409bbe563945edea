"""The pods end up further apart than a ScheduleAnyway constraint asks for.

A soft constraint is one score among many. Node affinity that is preferred, taints that are to be avoided, free
resources and images that are there already count as well, and together they may count for more; a domain without room
is no choice at all. The pods run, and nothing says that they are not spread. Pods of other workloads that the
constraint counts are reckoned with.

What is told is the placement that `check` prints. Where the scheduler has a choice among nodes of equal score, it is
one of several. Nothing is told of workloads with a DoNotSchedule constraint, which comes first, and of pods that run.

Example, with --topology examples/pains/60-soft-rule-loses/cluster.yaml:

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

from kubectl_spread.lint.accounts import accounts
from kubectl_spread.lint.accounts import sized
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.objects.account import Account
from kubectl_spread.objects.account import Spread


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find soft constraints that the placement does not meet, where there are no hard ones."""
    if project.facts is None or subject.hard:
        return
    for constraint, account in accounts(subject, project):
        if constraint.is_hard or not subject.is_in_its_group(constraint):
            continue
        spread = project.facts.placed(sized(subject, project), constraint)
        message = None if spread is None else _message(spread, account)
        if message is not None:
            route = subject.route(constraint, "whenUnsatisfiable")
            yield Found(
                message,
                subject.place(route),
                subject.path(route),
                "take back what speaks against it, or let it be DoNotSchedule",
            )


def _message(spread: Spread, account: Account) -> Optional[str]:
    """None where the pods are no further apart than maxSkew in the domains that take them."""
    usable = {domain.value for domain in account.domains if domain.usable}
    numbers = {value: number for value, number in spread.domains if value in usable}
    if len(numbers) < 2:
        return None
    counted = {domain.value: numbers[domain.value] + domain.matching for domain in account.domains if domain.usable}
    fullest = max(counted, key=lambda value: counted[value])
    emptiest = min(counted, key=lambda value: counted[value])
    if counted[fullest] - counted[emptiest] <= account.max_skew:
        return None
    gets = "gets" if spread.is_certain else "may get"
    pods = f"{counted[fullest]} of the pods and `{emptiest}` {counted[emptiest]}"
    if counted != numbers:
        pods = f"to {counted[fullest]} and `{emptiest}` to {counted[emptiest]} with the pods of others that are counted"
    return (
        f"`{fullest}` {gets} {pods}, more than maxSkew {account.max_skew} apart: ScheduleAnyway is a preference, and "
        f"others or a lack of room outweigh it"
    )
