"""Required pod affinity pulls together what a constraint holds apart.

The affinity wants every pod in the domain where the others are, the constraint no more than `maxSkew` more there than
elsewhere. The first pods start, the rest stay Pending as soon as there are two domains.

Example:
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

Remove one of the two, or give the affinity a wider topology key than the constraint's.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import demands
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints against an affinity to the same pods over the same key."""
    most = project.replicas(subject).likely
    for constraint in subject.hard:
        if (most is not None and most <= constraint.max_skew) or not subject.is_in_its_group(constraint):
            continue
        if demands.has_one_domain(subject, constraint):
            continue  # SPR207
        for term in demands.own_terms(subject, "podAffinity"):
            if term.topology_key == constraint.topology_key and term.selector.requirements:
                route = subject.route(constraint, "topologyKey")
                yield Found(
                    f"required pod affinity wants all pods in one `{constraint.topology_key}`, the constraint at most "
                    f"{constraint.max_skew} more in one than in another",
                    subject.place(route),
                    subject.path(route),
                    "remove one of the two",
                    (Label(subject.place(term.route), "the pod affinity"),),
                )
