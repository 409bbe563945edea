"""`minDomains` is more than the number of pods.

The minimum counts as 0 while there are fewer domains than `minDomains`, which makes pods wait until there are enough.
With more domains than pods one of them is empty anyway. So whichever number of domains the cluster has, the minimum
is 0: the constraint does not compare domains, it caps each of them at `maxSkew` pods.

The number of pods is known where the workload names `replicas`, or an autoscaler in the input names a maximum. The pods
of a rolling update beyond that count too, unless `pod-template-hash` is among the matchLabelKeys.

Example:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 3
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
            minDomains: 5
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

Write the number of domains that the pods are to be in; leave it if the cap is what you want, and say so beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects import field_versions


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find hard constraints whose minimum is 0 in every cluster."""
    replicas = project.replicas(subject).maximum
    if replicas is None or replicas < 2 or not field_versions.stores("minDomains", project.target.minor):
        return
    for constraint in subject.hard:
        group = project.group_size(subject, constraint)
        if group is None or constraint.min_domains is None or not subject.is_in_its_group(constraint):
            continue
        pods = group + surge(subject, constraint, replicas)
        if constraint.min_domains > pods:
            route = subject.route(constraint, "minDomains")
            yield Found(
                f"minDomains {constraint.min_domains} is more than the {pods} pods: the minimum is always 0, "
                f"and each domain gets at most {constraint.max_skew}",
                subject.place(route),
                subject.path(route),
                f"write {pods} or less, so that the domains are compared",
            )
