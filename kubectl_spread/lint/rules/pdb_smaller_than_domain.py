"""A PodDisruptionBudget allows fewer evictions than a zone has pods.

## What it does

Reports a PodDisruptionBudget of one workload that is spread over the zones of the known cluster. If an autoscaler sets
the replicas, its minimum counts. This rule is an opinion, and off by default.

## Why it matters

Spread over 3 zones, 9 replicas are 3 in each. With `maxUnavailable: 1` a zone is drained one pod at a time. Each
eviction waits until the previous pod is ready elsewhere, where a hard constraint may leave no room for it.

## Example

With `--topology zones=3,nodes=4`:

    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata: {name: web}
    spec:
      maxUnavailable: 1
      selector: {matchLabels: {app: web}}
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: web}
    spec:
      replicas: 9
      serviceName: web
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: web}}
          containers:
          - {name: web, image: registry.example/web:1.25}

## Use instead

Allow as many evictions as a zone has pods, if the other zones can take the load. The budget then allows as many
evictions at a time anywhere, not only in one zone.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries.budget import budget
from kubectl_spread.objects.selectors.labels import ZONE
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.wording import count_noun


def check(manifest: Manifest, project: Project) -> Iterator[RuleFinding]:
    """Find budgets of one workload, spread over the zones of the cluster, that let some of a zone's pods go only."""
    found = budget(manifest, project)
    if found is None or len(found.covered) != 1 or project.facts is None or not found.disruptions or not found.pods:
        return
    (subject,) = found.covered
    zones = project.facts.domain_count(ZONE)
    spread = [item for item in subject.constraints if item.topology_key == ZONE]
    if zones < 2 or not spread:
        return
    share = -(-found.pods // zones)
    if found.disruptions < share:
        place = subject.place(subject.route(spread[0], "topologyKey"))
        yield RuleFinding(
            f"draining a zone takes several rounds: it has {share} of {count_noun(found.pods, 'pod')}, and only "
            f"{found.disruptions} can be evicted at a time",
            found.place,
            found.path,
            f"write maxUnavailable: {share}, if the other zones can take the load",
            (Label(place, f"the pods are spread over {zones} zones"),),
        )
