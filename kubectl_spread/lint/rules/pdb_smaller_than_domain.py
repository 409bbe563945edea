"""A PodDisruptionBudget lets fewer pods go than one zone holds.

Pods that are spread over zones are evenly many in each: of 9 replicas in 3 zones each holds 3. With
`maxUnavailable: 1` a zone is drained one pod after the other, each waiting until its successor is ready elsewhere,
where a hard constraint may leave no room for it. A budget as large as a zone's share lets a zone go at once; it also
lets any other so many pods go at once, hence this rule is an opinion.

The zones are those of the nodes in `--snapshot` or `--topology`; the replicas are the fewest that an autoscaler allows.

Example, with --topology zones=3,nodes=4:
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

Let as many pods go as a zone holds, where the others can bear it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Found
from kubectl_spread.lint.finding import Label
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries.budget import budget
from kubectl_spread.objects.labels import ZONE
from kubectl_spread.objects.manifest import Manifest


def check(manifest: Manifest, project: Project) -> Iterator[Found]:
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
        yield Found(
            f"a zone holds {share} of {found.pods} pods, of which {found.disruptions} may be evicted at a time",
            found.place,
            found.path,
            f"write maxUnavailable: {share}, if the other zones can bear it",
            (Label(place, f"the pods are spread over {zones} zones"),),
        )
