"""The claims that come with a workload's pods, and whether a volume of theirs is tied to a zone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.lint.grouping.project import Project
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.node import Route

Plain = dict[str, Any]

# Their disks can be attached in one zone.
_ZONAL = frozenset(
    (
        "cinder.csi.openstack.org",
        "disk.csi.azure.com",
        "diskplugin.csi.alibabacloud.com",
        "ebs.csi.aws.com",
        "ebs.csi.eks.amazonaws.com",
        "kubernetes.io/aws-ebs",
        "kubernetes.io/azure-disk",
        "kubernetes.io/cinder",
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
    )
)
_REDUNDANT = "_zrs"  # the end of the kind of an Azure disk that all zones share


class ClaimTemplate(NamedTuple):
    """The spec of a claim that is made for each pod, and its route."""

    spec: Plain
    route: Route

    @property
    def is_shared(self) -> bool:
        """Return whether many nodes may use the volume at a time, as network file systems allow and disks do not."""
        modes = self.spec.get("accessModes")
        return isinstance(modes, list) and bool(modes) and set(map(str, modes)) <= {"ReadWriteMany", "ReadOnlyMany"}


def claim_templates(subject: Subject) -> Iterator[ClaimTemplate]:
    """Yield the claims of a StatefulSet."""
    if subject.workload.kind == "StatefulSet":
        for index, item in enumerate(subject.controller.get("volumeClaimTemplates") or ()):
            spec = fields(fields(item).get("spec"))
            yield ClaimTemplate(spec, ("spec", "volumeClaimTemplates", index, "spec"))


def ephemeral_claims(subject: Subject) -> Iterator[ClaimTemplate]:
    """Yield the claims of generic ephemeral volumes."""
    for index, volume in enumerate(subject.spec.get("volumes") or ()):
        template = fields(fields(fields(volume).get("ephemeral")).get("volumeClaimTemplate"))
        if template:
            route = (*subject.spec_route, "volumes", index, "ephemeral", "volumeClaimTemplate", "spec")
            yield ClaimTemplate(fields(template.get("spec")), route)


def class_of(claim: ClaimTemplate, project: Project) -> Optional[Manifest]:
    """Return the StorageClass of a claim, None where the input does not have it."""
    classes = project.of_kind("StorageClass")
    name = claim.spec.get("storageClassName")
    found = [item for item in classes if (_is_default(item) if name is None else item.name == name)]
    return found[0] if len(found) == 1 else None


def is_zonal(storage_class: Manifest) -> bool:
    """Return whether volumes of a class are usable in one zone only."""
    parameters = fields(storage_class.plain.get("parameters"))
    if any(str(value).lower().endswith(_REDUNDANT) for value in parameters.values()):
        return False
    if storage_class.plain.get("provisioner") in _ZONAL:
        return True
    terms = storage_class.plain.get("allowedTopologies")
    entries = [entry for term in (terms if isinstance(terms, list) else ()) for entry in _entries(term)]
    return any(is_zone(str(fields(entry).get("key"))) for entry in entries)


def is_zone(key: str) -> bool:
    """Return whether a label is the zone, also under the name of a storage driver."""
    return key.endswith("/zone")


def _entries(term: Any) -> list[Any]:
    found = fields(term).get("matchLabelExpressions")
    return found if isinstance(found, list) else []


def _is_default(storage_class: Manifest) -> bool:
    annotations = fields(fields(storage_class.plain.get("metadata")).get("annotations"))
    return annotations.get("storageclass.kubernetes.io/is-default-class") == "true"
