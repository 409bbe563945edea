"""Required pod anti-affinity over the same key leaves a constraint nothing to do.

Anti-affinity to the workload's own pods admits one of them to a domain. Every domain that it leaves holds 0 of them,
so a DoNotSchedule constraint never refuses one of these, and a ScheduleAnyway constraint finds them equal. The two read
as if each added something; what counts is the anti-affinity, which never allows a second pod in a domain.

What a DoNotSchedule constraint still does is to refuse nodes without the key, where anti-affinity admits any number. A
constraint that counts pods which the anti-affinity does not name is not reported.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 4
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
              - topologyKey: kubernetes.io/hostname
                labelSelector: {matchLabels: {app: web}}
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

Keep one: the anti-affinity for one pod a domain and no more, the constraint for an even spread of any number.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import demands
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find constraints that count nothing but what anti-affinity keeps at one."""
    if subject.workload.kind == "DaemonSet":
        return  # SPR206
    for constraint in subject.constraints:
        if not subject.is_in_its_group(constraint) or project.likely_group_size(subject, constraint) in (0, 1):
            continue
        term = demands.keeps_apart(subject, constraint)
        if term is not None:
            route = subject.route(constraint, "topologyKey")
            yield Found(
                f"pod anti-affinity admits 1 of the pods to each `{constraint.topology_key}`, "
                "so the constraint changes nothing",
                subject.place(route),
                subject.path(route),
                "keep one of the two",
                (Label(subject.place(term.route), "the pod anti-affinity"),),
            )
