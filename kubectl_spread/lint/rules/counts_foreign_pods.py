"""A hard constraint counts running pods of other workloads, which are unevenly spread.

## What it does

Reports a DoNotSchedule constraint that counts running pods of other workloads. It is a warning if these alone differ
by more than `maxSkew`, otherwise info. Workloads in the files are SPR502. Pods that are even, and pods without a
controller, are not reported.

## Why it matters

A selector with few labels, such as `app.kubernetes.io/instance` alone, also matches the DaemonSet, canary or cache of
a Helm release. Their pods count like the workload's own. The workload's own pods go where the others are not, however
uneven that makes them, and stay Pending if there is no room.

## Example

With `--snapshot examples/scenarios/selector-counts-a-daemonset/snapshot.yaml`:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {instance: foo, component: web}}
      template:
        metadata: {labels: {instance: foo, component: web}}
        spec:
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {instance: foo}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {instance: foo}}

## Use instead

Add a label that only this workload's pods have, often `app.kubernetes.io/component`. If the workloads should be spread
as one, ignore the rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kubectl_spread.cluster.facts import ConstraintFacts, ForeignPods
from kubectl_spread.lint.finding import RuleFinding, Severity
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.on_cluster import hard_constraint_facts
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import count_noun

_NAMED = 3


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints that start from a skew which is not the workload's own."""
    if subject.workload.kind == "Pod" or project.facts is None:
        return  # pods written one by one are spread as a group, if at all
    for constraint, account in hard_constraint_facts(subject, project):
        found = project.facts.others(subject.workload, constraint)
        read = {(item.workload.kind, item.workload.name) for item in project.subjects} if found else set()
        others = [item for item in found if (item.kind, item.name) not in read]
        numbers = _numbers(others, account)
        apart = max(numbers.values(), default=0) - min(numbers.values(), default=0)
        if apart:
            route = subject.route(constraint, "labelSelector")
            yield RuleFinding(
                _message(others, numbers),
                subject.place(route, key=True),
                subject.path(route),
                "add a label that only this workload's pods have",
                severity=None if apart > account.max_skew else Severity.INFO,
            )


def _numbers(others: list[ForeignPods], account: ConstraintFacts) -> Counter[str]:
    """Return how many of their pods each domain has that is counted."""
    numbers = Counter({domain.value: 0 for domain in account.counted_domains})
    for item in others:
        numbers.update(value for value in item.domains if value in numbers)
    return numbers


def _message(others: list[ForeignPods], numbers: Counter[str]) -> str:
    names = ", ".join(f"{item.kind} {item.name}" for item in others[:_NAMED])
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    fullest = max(numbers, key=lambda value: numbers[value])
    emptiest = min(numbers, key=lambda value: numbers[value])
    pods = count_noun(numbers.total(), "pod")
    return (
        f"pods of other workloads keep these pods out of `{fullest}`. The constraint also counts {pods} of "
        f"{names}{more}: "
        f"`{fullest}` has {numbers[fullest]} of them and `{emptiest}` {numbers[emptiest]}"
    )
