"""A constraint counts the pods of other workloads.

## What it does

Reports a selector that matches the pods of other workloads in the input. In a directory that is searched, workloads in
unrelated directories do not count, unless both name the same namespace.

## Why it matters

The other pods count in this workload's domains. A domain with many of them is refused or avoided, although this
workload has no pod there.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 3
      serviceName: web
      selector: {matchLabels: {app: shop, component: web}}
      template:
        metadata: {labels: {app: shop, component: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: shop}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: shop}}
          containers:
          - {name: web, image: registry.example/web:1.25}
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: cache}
    spec:
      replicas: 3
      serviceName: cache
      selector: {matchLabels: {app: shop, component: cache}}
      template:
        metadata: {labels: {app: shop, component: cache}}
        spec:
          containers:
          - {name: cache, image: registry.example/cache:7}

## Use instead

Add a label that only this workload's pods have, often `app.kubernetes.io/instance` or `component`. If the workloads
should be spread as one, ignore the rule.

## Fix safety

The fix is unsafe: the constraint counts fewer pods than before.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Optional, Union

from kubectl_spread.lint.finding import Fix, Label, RuleFinding
from kubectl_spread.lint.grouping.group import JoinedGroup, SelectorGroup
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.wording import workload_name
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.text.edit import Change, Put

Group = Union[SelectorGroup, JoinedGroup]
_NAMED = 3  # other workloads that a finding names


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find selectors that also match other workloads' pods; once a workload."""
    if subject.workload.kind == "Pod":
        return  # pods written one by one are spread as a group, if at all
    broad = [(item, group) for item in subject.constraints if (group := _group(subject, item, project)) is not None]
    telling = _all_telling(subject, broad)
    for constraint, group in broad[:1]:
        others = list(itertools.islice(group.others(subject), _NAMED))
        names = ", ".join(workload_name(item.workload) for item in others)
        count = group.count_others(subject)
        more = f" and {count - _NAMED} more" if count > _NAMED else ""
        route = subject.route(constraint, "labelSelector")
        yield RuleFinding(
            f"pods of other workloads decide where these pods go: the constraint also counts those of {names}{more}",
            subject.place(route, key=True),
            subject.path(route),
            _hint(telling[0][1]),
            tuple(Label(other.name_place, "its pods are counted") for other in others),
            fix=_fix(subject, telling),
        )


def _all_telling(
    subject: Subject, broad: list[tuple[TopologySpreadConstraint, Group]]
) -> list[tuple[TopologySpreadConstraint, dict[str, str]]]:
    """Return the constraints with their telling labels; constraints that count the same pods have the same labels."""
    known: dict[tuple[object, ...], dict[str, str]] = {}
    found = []
    for item, group in broad:
        key = id(group), item.label_selector, item.match_label_keys
        if key not in known:
            known[key] = _telling(subject, item, group)
        found.append((item, known[key]))
    return found


def _group(subject: Subject, constraint: TopologySpreadConstraint, project: Project) -> Optional[Group]:
    """Return the workloads whose pods a constraint counts, if there are others than the subject."""
    if not subject.is_in_its_group(constraint):
        return None
    group = project.group_around(subject, subject.selector(constraint))
    return group if group.count_others(subject) else None


def _telling(subject: Subject, constraint: TopologySpreadConstraint, group: Group) -> dict[str, str]:
    """Return labels of the controller's selector that no other workload has all of; empty if there are none.

    Labels that the constraint has already are left out, and labels that all other workloads share.
    """
    own = fields(fields(subject.controller.get("selector")).get("matchLabels"))
    known = {*constraint.match_label_keys, *constraint.selected_keys}
    labels = {
        key: value
        for key, value in own.items()
        if key not in known and subject.template_labels.get(key) == value and group.tells_apart(subject, (key, value))
    }
    return {} if group.has_another(subject, labels) else labels


def _hint(labels: dict[str, str]) -> str:
    if not labels:
        return "add a label that only this workload's pods have"
    written = ", ".join(f"{key}: {value}" for key, value in labels.items())
    return f"add to matchLabels a label that only this workload's pods have: {written}"


def _fix(subject: Subject, telling: list[tuple[TopologySpreadConstraint, dict[str, str]]]) -> Optional[Fix]:
    """Return a fix that narrows every selector; None if one of them would stay too broad."""
    if not all(labels for _, labels in telling):
        return None
    narrowed = (_narrowed(subject, constraint, labels) for constraint, labels in telling)
    return Fix("select only this workload's pods", tuple(itertools.chain.from_iterable(narrowed)))


def _narrowed(subject: Subject, constraint: TopologySpreadConstraint, labels: dict[str, Any]) -> list[Change]:
    route = subject.route(constraint, "labelSelector", "matchLabels")
    if constraint.label_selector is None or not constraint.label_selector.match_labels:
        return [Put(route, labels)]
    return [Put((*route, key), value) for key, value in labels.items()]
