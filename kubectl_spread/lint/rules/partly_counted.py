"""A constraint's selector matches only some of the workload's running pods.

A label that is added to the template and to the selector at once is missing on the pods that run already. Until each
of them is replaced, the scheduler counts only the new ones: it can put them beside the old ones, and the last of them
may find no domain that the constraint allows and its volume can reach.

Example, with --snapshot examples/scenarios/selector-counts-only-some-pods/snapshot.yaml:

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: etcd}
    spec:
      replicas: 3
      selector: {matchLabels: {app: etcd}}
      template:
        metadata: {labels: {app: etcd, release: blue}}
        spec:
          containers: [{name: etcd, image: etcd}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: etcd, release: blue}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: etcd}}

Select by labels that all pods of the workload have and keep. To count one revision only, use `matchLabelKeys`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import Subject


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find constraints that leave running pods of their own workload out."""
    if project.facts is None:
        return
    for constraint in subject.constraints:
        found = project.facts.uncounted(subject.workload, constraint)
        if found is None:
            continue
        route = subject.route(constraint, "labelSelector")
        yield Found(
            found.sentence,
            subject.place(route),
            subject.path(route),
            "select by labels that all pods of the workload have and keep; until the others are replaced, "
            "new pods are placed as if they did not exist",
        )
