"""Required pod affinity contradicts a constraint over the same key.

## What it does

Reports a DoNotSchedule constraint and required pod affinity to the workload's own pods over the same topology key.

## Why it matters

The affinity wants all pods in one domain. The constraint allows at most `maxSkew` more pods there than in the emptiest
domain. With two or more domains the first pods start and the rest stay Pending.

## Example

    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          affinity:
            podAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
              - topologyKey: topology.kubernetes.io/zone
                labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: web}}
            matchLabelKeys: [pod-template-hash]
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

## Use instead

Remove one of the two, or use a wider topology key in the affinity than in the constraint.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import pod_requirements
from kubectl_spread.lint.wording import domain
from kubectl_spread.lint.workload import Subject
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find hard constraints against an affinity to the same pods over the same key."""
    most = project.replicas(subject).likely
    for constraint in subject.hard:
        if (most is not None and most <= constraint.max_skew) or not subject.is_in_its_group(constraint):
            continue
        if pod_requirements.has_one_domain(subject, constraint):
            continue  # SPR207
        for term in pod_requirements.own_terms(subject, "podAffinity"):
            if term.topology_key == constraint.topology_key and term.selector.requirements:
                route, key = subject.route(constraint, "topologyKey"), constraint.topology_key
                yield RuleFinding(
                    f"all but {count_noun(constraint.max_skew, 'pod')} stay Pending once there are two "
                    f"{domain(key, plural=True)}. Required pod affinity wants all pods in one {domain(key)}, and "
                    f"maxSkew allows only {constraint.max_skew} more there than in the emptiest one",
                    subject.place(route),
                    subject.path(route),
                    "remove the pod affinity or the constraint",
                    (Label(subject.place(term.route), "the pod affinity"),),
                )
