"""`minDomains` is more than the number of pods.

## What it does

Reports a DoNotSchedule constraint with a `minDomains` above the number of pods. The number is known if the workload
has `replicas`, or if an autoscaler in the input has a maximum. The extra pods of a rolling update count, unless
`pod-template-hash` is in `matchLabelKeys`.

## Why it matters

With fewer domains than `minDomains`, the emptiest domain counts as 0. With more domains than pods, one domain is empty
anyway. So in every cluster each domain takes at most `maxSkew` pods: the constraint is a limit per domain and does not
compare domains.

## Example

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

## Use instead

Write the number of domains that the pods should be in. If you want the limit, say so in a comment.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.rollout import surge
from kubectl_spread.lint.wording import domain
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.releases import field_versions
from kubectl_spread.text.wording import count_noun


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
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
            route, key = subject.route(constraint, "minDomains"), constraint.topology_key
            yield RuleFinding(
                f"each {domain(key)} takes at most {count_noun(constraint.max_skew, 'pod')} in every cluster: "
                f"minDomains {constraint.min_domains} is more than the {pods} pods, so the emptiest {domain(key)} "
                "always counts as 0",
                subject.place(route),
                subject.path(route),
                f"write {pods} or less, so that {domain(key, plural=True)} are compared with each other",
            )
