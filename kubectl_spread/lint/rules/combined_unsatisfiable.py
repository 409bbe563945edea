"""No placement of the replicas satisfies all constraints together.

## What it does

Reports DoNotSchedule constraints that can each be satisfied alone, but not together. Every way in which the scheduler
could place the pods was tried. If there are too many ways, nothing is reported.

## Why it matters

Some pods stay Pending, whatever the scheduler does.

## Example

With `--topology examples/scenarios/even-zones-and-even-nodes-conflict/cluster.yaml`:

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
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            nodeTaintsPolicy: Honor
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: DoNotSchedule
            nodeTaintsPolicy: Honor
            labelSelector: {matchLabels: {app: db}}

## Use instead

Use ScheduleAnyway for the constraint that the hint names, or raise its `maxSkew`. Otherwise change the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.impossible import find_conflict
from kubectl_spread.lint.wording import stays_or_stay
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.text.wording import count_noun, join_with_and


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints without which all pods find nodes, and with which no order of placing them does."""
    found = find_conflict(subject, project)
    if found is None:
        return
    became, hard = found.outcome, subject.hard
    helping = [subject.constraints[position] for position in found.best.helping]
    blamed = helping[-1] if helping else hard[-1]
    route = subject.route(blamed, "topologyKey")
    others = [item for item in hard if item is not blamed]
    yield RuleFinding(
        _message(became.pods, found.best.most, conflict=became.conflict),
        subject.place(route),
        subject.path(route),
        _hint(helping),
        tuple(Label(subject.place(subject.route(item, "topologyKey")), "conflicts with this one") for item in others),
    )


def _message(pods: int, most: int, *, conflict: tuple[str, ...]) -> str:
    because = f" (conflict: {join_with_and(conflict)})" if conflict else ""
    if not most:
        return f"all pods stay Pending: no node satisfies all constraints together{because}"
    left = pods - most
    return (
        f"{left} of {count_noun(pods, 'pod')} {stays_or_stay(left)} Pending however the pods are placed: the "
        f"constraints cannot be satisfied together{because}"
    )


def _hint(helping: list[TopologySpreadConstraint]) -> str:
    keys = list(dict.fromkeys(f"`{item.topology_key}`" for item in helping))
    if keys:
        return f"use ScheduleAnyway for {' or '.join(keys)}: then all pods find a node"
    return "use ScheduleAnyway for every constraint: then all pods find a node"
