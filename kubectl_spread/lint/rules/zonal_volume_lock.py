"""Pods with zonal volumes may not come back under a hard zone constraint.

## What it does

Reports a StatefulSet with more than three replicas, volumes that may be tied to a zone, and a DoNotSchedule constraint
over zones with `maxSkew` 1. Volumes that many nodes can use at a time (`ReadWriteMany`), and StorageClasses in the
input that are not known to be zonal, are not reported.

## Why it matters

A pod of a StatefulSet can only return to the zone of its volume. Suppose `db-0` to `db-4` run in the zones a, b, c, a
and b, and `db-0` and `db-2` fail. Zone c now has 0 pods and zone a has `db-3`, so `db-0` would be the second in a and
is refused. `db-2` would fill zone c, but is not created before `db-0` is ready. Neither comes back on its own. With
`podManagementPolicy: Parallel`, `db-0` only waits for `db-2`.

## Example

    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 5
      selector: {matchLabels: {app: db}}
      volumeClaimTemplates:
      - metadata: {name: data}
        spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchLabels: {app: db}}
            nodeTaintsPolicy: Honor
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Use ScheduleAnyway, which spreads the volumes when they are created, or a larger `maxSkew`.

    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchLabels: {app: db}}

## Fix safety

The fix is unsafe: it turns the constraint into a preference.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.lint.finding import Label, RuleFinding
from kubectl_spread.lint.fixing import fix_builders
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import volumes
from kubectl_spread.lint.queries.volumes import ClaimTemplate
from kubectl_spread.lint.workload import Subject

_ZONES = 3  # of a region, as a rule


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find StatefulSets with more pods than zones, volumes of one zone, and an even spread demanded."""
    replicas = project.replicas(subject).maximum
    claims = [claim for claim in volumes.claim_templates(subject) if _is_tied(claim, project)]
    if replicas is None or replicas <= _ZONES or not claims:
        return
    for constraint in subject.hard:
        is_strict = constraint.max_skew == 1 and (constraint.min_domains or 1) < replicas
        if is_strict and volumes.is_zone(constraint.topology_key) and subject.is_in_its_group(constraint):
            route = subject.route(constraint, "whenUnsatisfiable")
            yield RuleFinding(
                f"a pod that fails may stay Pending for good. Its volume ties it to its zone, and with {replicas} "
                "pods it cannot return there while another zone has none",
                subject.place(route),
                subject.path(route),
                "use ScheduleAnyway, or maxSkew: 2",
                (Label(subject.place(claims[0].route[:3], key=True), "the volumes"),),
                fix=fix_builders.soften(subject, constraint),
            )


def _is_tied(claim: ClaimTemplate, project: Project) -> bool:
    """Return whether a volume may be usable in one zone only, according to the input."""
    if claim.is_shared:
        return False
    known = volumes.class_of(claim, project)
    return known is None or volumes.is_zonal(known)
