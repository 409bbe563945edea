"""A constraint with an empty `labelSelector` counts no pods.

## What it does

Reports a constraint whose selector has no requirement. Keys in `matchLabelKeys` that the pods have are requirements.

## Why it matters

Elsewhere in Kubernetes an empty selector matches everything. The scheduler of 1.27 to 1.36 counts no pods with it:
every domain holds 0 pods, and the constraint has no effect. A scheduler without this bug counts every pod of the
namespace, so an upgrade changes where pods go.

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

## Use instead

Select the labels of the workload's own pods.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: web}}

## Fix safety

The fix is unsafe: the constraint takes effect for the first time.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import FIELD, Subject
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.reading.decode import LABEL_SELECTOR


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find constraints whose effective selector has no requirement."""
    for constraint in subject.constraints:
        if subject.selector(constraint).is_empty and not _is_misspelt(subject, constraint):
            route = subject.route(constraint, "labelSelector")
            yield RuleFinding(
                "the pods are not spread: labelSelector is empty, and the scheduler (1.27 to 1.36) counts no pods with "
                "it",
                subject.place(route),
                subject.path(route),
                subject.selector_hint(),
                fix=fix_builders.own_selector(subject, constraint),
            )


def _is_misspelt(subject: Subject, constraint: TopologySpreadConstraint) -> bool:
    """Return whether the selector has a misspelt field, which SPR114 reports."""
    entry = subject.workload.template["spec"][FIELD][constraint.position] or {}
    written = entry.get("labelSelector") or {}
    return any(name not in LABEL_SELECTOR.fields for name in written)
