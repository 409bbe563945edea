"""A PodDisruptionBudget allows no eviction.

## What it does

Reports a PodDisruptionBudget that asks for all pods of its workloads in the input. If an autoscaler sets the replicas,
its minimum counts.

## Why it matters

An eviction is refused if it would leave fewer healthy pods than the budget asks for. Percentages are rounded up:
`minAvailable: 67%` of 3 pods asks for all 3. Then `kubectl drain` never ends, node upgrades stop, and the descheduler
cannot restore an even spread.

## Example

    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata: {name: web}
    spec:
      minAvailable: 67%
      selector: {matchLabels: {app: web}}
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 3
      serviceName: web
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: web, image: registry.example/web:1.25}

## Use instead

Write `maxUnavailable: 1`, which works for any number of replicas.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, Place, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.budget import budget, SimpleBudget
from kubectl_spread.lint.wording import workload_name
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.amounts.int_or_percent import percentage
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.wording import count_noun

_NAMED = 3  # workloads that a finding shows


def check(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find budgets that allow 0 disruptions of the workloads in the input when all their pods are healthy."""
    found = budget(manifest, project)
    if found is None or found.disruptions != 0:
        return
    if all(project.replicas(item).maximum == 0 for item in found.covered):
        return  # there are no pods to evict
    hint = "write maxUnavailable: 1" + (" instead" if found.field == "minAvailable" else "")
    related = tuple(_count(item, project) for item in found.covered[:_NAMED])
    yield RuleFinding(
        f"no pod can be evicted, so kubectl drain never ends: {_reason(found)}", found.place, found.path, hint, related
    )


def _reason(found: SimpleBudget) -> str:
    percent = percentage(found.value)
    if found.field == "maxUnavailable" or (percent is not None and percent >= 100):
        return f"{found.field} is {found.value}"
    pods = count_noun(found.pods or 0, "pod")
    if percent is None:
        return f"minAvailable asks for {found.resolved_value} of {pods}"
    return f"minAvailable {found.value} of {pods}, rounded up, is {found.resolved_value}"


def _count(subject: Subject, project: Project) -> Label:
    """Return where the number of a workload's pods is written."""
    replicas = project.replicas(subject)
    if replicas.autoscaler is not None:
        field = "minReplicas" if replicas.autoscaler.kind == "HorizontalPodAutoscaler" else "minReplicaCount"
        place = Place(replicas.autoscaler.document.source, replicas.autoscaler.place(("spec", field)))
        return Label(
            place, f"{workload_name(subject.workload)} can have as few as {count_noun(replicas.minimum or 0, 'pod')}"
        )
    written = subject.node(("spec", "replicas")) is not None
    place = subject.place(("spec", "replicas") if written else ("metadata", "name"))
    place = replicas.origins[0].place if replicas.origins else place
    return Label(place, f"the pods of {workload_name(subject.workload)}")
