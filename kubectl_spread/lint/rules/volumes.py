"""Volumes that tie pods to domains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from kubectl_spread.cluster.facts import ConstraintFacts, DomainFacts
from kubectl_spread.lint import corrections
from kubectl_spread.lint.finding import Label, rule, RuleFinding, Severity, UNSAFE
from kubectl_spread.lint.project import Project
from kubectl_spread.lint.queries import hard_constraint_facts
from kubectl_spread.lint.wording import domain, list_names
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.reading.plain import fields, numbered_mappings, Plain
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import count_noun

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


ClaimTemplate = tuple[Plain, Route]  # the spec of a claim that is made for each pod, and its route


def claim_templates(subject: Subject) -> Iterator[ClaimTemplate]:
    """Yield the claims of a StatefulSet."""
    if subject.kind == "StatefulSet":
        for index, item in enumerate(subject.controller.get("volumeClaimTemplates") or ()):
            yield fields(item, "spec"), ("spec", "volumeClaimTemplates", index, "spec")


def ephemeral_claims(subject: Subject) -> Iterator[ClaimTemplate]:
    """Yield the claims of generic ephemeral volumes."""
    for index, volume in enumerate(subject.spec.get("volumes") or ()):
        template = fields(volume, "ephemeral", "volumeClaimTemplate")
        if template:
            route = (*subject.spec_route, "volumes", index, "ephemeral", "volumeClaimTemplate", "spec")
            yield fields(template, "spec"), route


_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def class_of(claim: Plain, project: Project) -> Optional[Manifest]:
    """Return the StorageClass of a claim, None where the input does not have it."""
    name, found = claim.get("storageClassName"), []
    for item in project.of_kind("StorageClass"):
        annotations = fields(item.plain, "metadata", "annotations")
        if item.name == name or (name is None and annotations.get(_DEFAULT) == "true"):
            found.append(item)
    return found[0] if len(found) == 1 else None


def is_zonal(storage_class: Manifest) -> bool:
    """Return whether volumes of a class are usable in one zone only."""
    parameters = fields(storage_class.plain, "parameters")
    if any(str(value).lower().endswith(_REDUNDANT) for value in parameters.values()):
        return False
    if storage_class.plain.get("provisioner") in _ZONAL:
        return True
    return any(
        is_zone(str(entry.get("key")))
        for _, term in numbered_mappings(storage_class.plain.get("allowedTopologies"))
        for _, entry in numbered_mappings(term.get("matchLabelExpressions"))
    )


def is_zone(key: str) -> bool:
    """Return whether a label is the zone, also under the name of a storage driver."""
    return key.endswith("/zone")


_ZONES = 3  # of a region, as a rule


@rule(
    "SPR308",
    "pods with zonal volumes may not come back under a hard zone constraint",
    Severity.WARNING,
    needs=("StatefulSet", "volumeClaimTemplates"),
    around=("StorageClass",),
    fixes=UNSAFE,
    threshold=_ZONES,
)
def zonal_volume_lock(subject: Subject) -> Iterator[RuleFinding]:
    """Find StatefulSets with more pods than zones, volumes of one zone, and an even spread demanded."""
    replicas = subject.replicas.maximum
    tied = []  # routes of claims whose volumes may be usable in one zone only, according to the input
    for claim, route in claim_templates(subject):
        # Many nodes may use a shared volume at a time, as network file systems allow and disks do not.
        modes, known = claim.get("accessModes"), class_of(claim, subject.project)
        is_shared = (
            isinstance(modes, list) and bool(modes) and set(map(str, modes)) <= {"ReadWriteMany", "ReadOnlyMany"}
        )
        if not is_shared and (known is None or is_zonal(known)):
            tied.append(route)
    if replicas is None or replicas <= subject.target.threshold("SPR308", _ZONES) or not tied:
        return
    for constraint in subject.hard_in_group:
        is_strict = constraint.max_skew == 1 and (constraint.min_domains or 1) < replicas
        if is_strict and is_zone(constraint.topology_key):
            yield RuleFinding(
                "each pod is tied to the zone of its volume. If a pod fails while another zone is empty, the "
                f"constraint refuses its own zone, as there are {replicas} pods, and the pod may stay Pending for good",
                subject.route(constraint, "whenUnsatisfiable"),
                "use ScheduleAnyway, or maxSkew: 2",
                subject.related("the volumes", tied[0][:3], key=True),
                fix=corrections.soften(subject, constraint),
            )


_MODE = "volumeBindingMode"


@rule(
    "SPR309",
    "the zone of a volume is chosen before its pod is scheduled",
    Severity.WARNING,
    one_of=("volumes", "volumeClaimTemplates"),
    around=("StorageClass",),
)
def immediate_binding(subject: Subject) -> Iterator[RuleFinding]:
    """Find claims of zonal classes that do not wait for their pod, in workloads spread over zones."""
    if subject.is_single:
        return
    if not any(is_zone(item.topology_key) for item in subject.in_group):
        return
    for claim, route in (*claim_templates(subject), *ephemeral_claims(subject)):
        storage_class = class_of(claim, subject.project)
        is_zonal_class = storage_class is not None and is_zonal(storage_class)
        if storage_class is not None and is_zonal_class and storage_class.plain.get(_MODE) in (None, "Immediate"):
            yield RuleFinding(
                f"StorageClass `{storage_class.name}` creates the volume before the pod is scheduled, so the pod must "
                "go to the zone of its volume, whatever the constraint says",
                (*route, "storageClassName"),
                f"use a class with {_MODE}: WaitForFirstConsumer",
                (Label(storage_class.place((_MODE,)), "binds immediately"),),
            )


@rule(
    "SPR916",
    "a hard constraint counts domains in which a volume cannot be created",
    Severity.WARNING,
    needs_facts=True,
    around=("StorageClass",),
)
def volumes_exclude_domain(subject: Subject) -> Iterator[RuleFinding]:
    """Find claims whose class keeps pods out of counted domains."""
    claims = [*claim_templates(subject), *ephemeral_claims(subject)]
    if not claims or subject.cluster.has_claims(subject.workload):
        return
    most = subject.replicas.maximum
    for constraint, account in hard_constraint_facts(subject):
        for claim, route in claims:
            excluded = _excluded(claim, account, subject, key=constraint.topology_key)
            runs = subject.cluster.live(subject.workload, constraint) is not None
            if not excluded or account.is_below_min_domains or runs:
                continue
            most_in_a_domain = account.max_skew + min(item.matching for item in (*excluded, *account.unreachable))
            left = [domain for domain in account.counted_domains if domain.usable and domain not in excluded]
            room = sum(max(0, most_in_a_domain - domain.matching) for domain in left)
            if most is not None and most <= room:
                continue
            it = "it" if len(excluded) == 1 else "them"
            became = subject.cluster.outcome(subject.workload)
            shown = ""
            if became is not None and became.placed > room:
                placed = count_noun(became.placed, "pod")
                shown = f". The placement shows {placed}, as it ignores volumes that do not exist yet"
            yield RuleFinding(
                f"the StorageClass allows no volume in {list_names(item.value for item in excluded)}, but the "
                f"constraint counts {it}, so no other {domain(constraint.topology_key)} takes more than "
                f"{count_noun(most_in_a_domain, 'pod')}. At most {count_noun(room, 'pod')} can run, and further pods "
                f"stay Pending{shown}",
                (*route, "storageClassName"),
                "allow the class in every domain, or restrict the pods to its domains with node affinity",
            )
            break  # the other claims are likely of the same class


def _excluded(claim: Plain, account: ConstraintFacts, subject: Subject, *, key: str) -> list[DomainFacts]:
    """Return the counted domains where a class makes no volume; none where that leaves no other."""
    name = claim.get("storageClassName")
    values = subject.cluster.volume_values(name, key) if name is None or isinstance(name, str) else None
    if values is None:
        return []
    excluded = [domain for domain in account.counted_domains if domain.value not in values]
    return excluded if len(excluded) < len(account.counted_domains) else []
