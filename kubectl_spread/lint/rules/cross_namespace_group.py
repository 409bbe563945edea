"""A constraint selects pods that are in another namespace only.

The scheduler counts the pods of the pod's own namespace. A selector that is wider than its workload, as one is that is
to spread several workloads together, counts none of those that stand in another namespace: each namespace is
spread by itself, and all their pods may share the domains that come first.

A workload of the same name in another namespace is taken for the same one in another environment.

Example:
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

Bring the workloads into one namespace, or select the own pods only.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.subject import Subject
from kubectl_spread.lint.wording import called


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find selectors whose only other matches are in another namespace of the input."""
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
            yield Found(
                f"{called(first)} is in namespace `{first.namespace}`, and only pods of `{own}` are counted",
                subject.place(route, key=True),
                subject.path(route),
                "bring the workloads into one namespace, or select the own pods only",
                tuple(Label(item.place(("metadata",), key=True), "selected, but elsewhere") for item in found),
            )
