"""The zone of a volume is chosen before its pod is scheduled.

## What it does

Reports claims of a StatefulSet and of ephemeral volumes whose StorageClass is in the input, binds immediately, and is
known to create zonal volumes. The rule knows zonal classes by their provisioner, or by zones in `allowedTopologies`.

## Why it matters

With `volumeBindingMode: Immediate`, the default, the volume is created with its claim, in a zone that the provisioner
picks. The pod must follow. A ScheduleAnyway constraint over zones has no effect; a DoNotSchedule one leaves the pod
Pending for good if that zone has too many pods.

## Example

    apiVersion: storage.k8s.io/v1
    kind: StorageClass
    metadata: {name: fast}
    provisioner: ebs.csi.aws.com
    volumeBindingMode: Immediate
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 3
      selector: {matchLabels: {app: db}}
      volumeClaimTemplates:
      - metadata: {name: data}
        spec:
          storageClassName: fast
          accessModes: [ReadWriteOnce]
          resources: {requests: {storage: 1Gi}}
      template:
        metadata: {labels: {app: db}}
        spec:
          containers: [{name: db, image: db}]
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector: {matchLabels: {app: db}}

## Use instead

Use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`. The field of an existing class cannot be changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.lint.finding import Label, Place, RuleFinding
from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.queries import volumes
from kubectl_spread.lint.queries.volumes import ClaimTemplate
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.workloads.manifest import Manifest

_MODE = "volumeBindingMode"


def check(subject: Subject, project: Project) -> Iterator[RuleFinding]:
    """Find claims of zonal classes that do not wait for their pod, in workloads spread over zones."""
    if project.replicas(subject).likely in (0, 1):
        return
    keys = [item.topology_key for item in subject.constraints if subject.is_in_its_group(item)]
    if not any(volumes.is_zone(key) for key in keys):
        return
    for claim in (*volumes.claim_templates(subject), *volumes.ephemeral_claims(subject)):
        storage_class = _immediate(claim, project)
        if storage_class is not None:
            route = (*claim.route, "storageClassName")
            mode = storage_class.place((_MODE,))
            yield RuleFinding(
                f"the pod must go to the zone of its volume, whatever the constraint says: StorageClass "
                f"`{storage_class.name}` creates the volume before the pod is scheduled",
                subject.place(route),
                subject.path(route),
                f"use a class with {_MODE}: WaitForFirstConsumer",
                (Label(Place(storage_class.document.source, mode), "binds immediately"),),
            )


def _immediate(claim: ClaimTemplate, project: Project) -> Optional[Manifest]:
    """Return the class of a claim, if its volumes are made at once and in one zone."""
    found = volumes.class_of(claim, project)
    if found is None or found.plain.get(_MODE) not in (None, "Immediate") or not volumes.is_zonal(found):
        return None
    return found
