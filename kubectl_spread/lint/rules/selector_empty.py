"""An empty `labelSelector` counts no pods.

Elsewhere in Kubernetes an empty selector matches everything. PodTopologySpread of 1.27 to 1.36 takes it for nothing:
every domain holds 0 pods and the constraint does nothing, without a warning. A scheduler without this defect counts
every pod of the namespace, so that the same manifest changes its meaning with an upgrade. An empty selector with
matchLabelKeys that the pods have is not empty.

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
          containers: [{name: web, image: web}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}

Write the labels of the workload's own pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint import fix_builders
from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.workload import FIELD
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.constraint import TopologySpreadConstraint
from kubectl_spread.objects.decode import LABEL_SELECTOR


def check(subject: Subject, project: Project) -> Iterator[Found]:
    """Find constraints whose effective selector has no requirement."""
    for constraint in subject.constraints:
        if subject.selector(constraint).is_empty and not _is_misspelt(subject, constraint):
            route = subject.route(constraint, "labelSelector")
            yield Found(
                "labelSelector is empty: the scheduler counts no pods with it (1.27 to 1.36), so the constraint does "
                "nothing",
                subject.place(route),
                subject.path(route),
                subject.selector_hint(),
                fix=fix_builders.own_selector(subject, constraint),
            )


def _is_misspelt(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Whether what is meant stands in the selector under a name that SPR114 reports."""
    entry = subject.workload.template["spec"][FIELD][constraint.position] or {}
    written = entry.get("labelSelector") or {}
    return any(name not in LABEL_SELECTOR.fields for name in written)
