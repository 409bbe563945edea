"""A constraint selects pods that are only in other namespaces.

## What it does

Reports a selector whose only other matches are in another namespace of the input or of the cluster. This rule is an
opinion, and off by default. A workload of the same name in another namespace is treated as the same workload in another
environment.

## Why it matters

The scheduler counts only pods of the pod's own namespace. Workloads in several namespaces are each spread on their
own, so all their pods may share one domain.

## Example

    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web, tier: front}}
        spec:
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {tier: front}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: api, namespace: shop-api}
    spec:
      replicas: 3
      selector: {matchLabels: {app: api}}
      template:
        metadata: {labels: {app: api, tier: front}}
        spec:
          containers: [{name: web, image: web}]

## Use instead

Move the workloads to one namespace, or select only the workload's own pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.wording import workload_name
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import count_noun

_HINT = "move the workloads to one namespace, or select only the workload's own pods"


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find selectors whose only other matches are in another namespace, of the input or of the cluster."""
    found = list(_among_files(subject, project))
    yield from found or _among_pods(subject, project)


def _among_pods(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Yield selectors whose only other matches are pods of other namespaces in the cluster."""
    for constraint in subject.constraints if project.facts is not None and not subject.refusals else ():
        other_namespaces = (
            project.facts.pods_of_other_namespaces(subject.workload, constraint) if project.facts is not None else ()
        )
        if not other_namespaces or (project.facts is not None and project.facts.others(subject.workload, constraint)):
            continue
        route = subject.route(constraint, "labelSelector")
        pods = ", ".join(
            f"{count_noun(number, 'pod')} of namespace `{namespace}`" for namespace, number in other_namespaces
        )
        is_or_are = "is" if sum(number for _, number in other_namespaces) == 1 else "are"
        yield RuleFinding(
            f"{pods} {is_or_are} not counted, although the selector matches: only pods of namespace "
            f"`{subject.workload.namespace}` count",
            subject.place(route, key=True),
            subject.path(route),
            _HINT,
        )


def _among_files(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Yield selectors whose only other matches are in another namespace of the input."""
    own = subject.workload.namespace
    others = [namespace for namespace in project.namespaces if namespace != own]
    for constraint in subject.constraints if others else ():
        selector = subject.selector(constraint)
        if project.matching(selector, own) != [subject]:
            continue
        found = [
            item
            for namespace in others
            for item in project.matching(selector, namespace)
            if (item.workload.kind, item.workload.name) != (subject.workload.kind, subject.workload.name)
        ]
        if found:
            first = found[0].workload
            route = subject.route(constraint, "labelSelector")
            yield RuleFinding(
                f"the pods of {workload_name(first)} are not counted, although the selector matches: they are in "
                f"namespace `{first.namespace}`, and only pods of namespace `{own}` count",
                subject.place(route, key=True),
                subject.path(route),
                _HINT,
                tuple(Label(item.place(("metadata",), key=True), "in another namespace") for item in found),
            )
