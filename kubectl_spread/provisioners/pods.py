"""Pods as Karpenter sees them: which take part, what they ask for, and what they give up when they fit nowhere.

Source: sigs.k8s.io/karpenter pkg/utils/pod/scheduling.go; pkg/controllers/provisioning/provisioner.go, Validate;
scheduling/preferences.go, volumetopology.go (v1.13.0).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from kubectl_spread.objects import resources
from kubectl_spread.objects.constraints.constraint import SCHEDULE_ANYWAY
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.node import PREFER_NO_SCHEDULE, Toleration
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.read import driver_of
from kubectl_spread.objects.selectors import HOSTNAME, LabelRequirement, NODE_POOL, NodeSelectorTerm
from kubectl_spread.objects.storage import Claim, Storage
from kubectl_spread.provisioners import objects
from kubectl_spread.provisioners import requirement as algebra
from kubectl_spread.provisioners.requirement import of_expressions, of_labels, plus, Requirements

UNSCHEDULABLE = "Unschedulable"
NO_PREFERENCE = Toleration("", "Exists", "", PREFER_NO_SCHEDULE)
_DAEMONS = ("apps/v1", "DaemonSet")
NOT_MOVED = (_DAEMONS, ("v1", "Node"))


def is_of(pod: Pod, *kinds: tuple[str, str]) -> bool:
    """Return whether a pod is controlled by one of some kinds (API version, kind)."""
    return pod.owner is not None and (pod.owner.api_version, pod.owner.kind) in kinds


def is_of_daemon(pod: Pod) -> bool:
    return is_of(pod, _DAEMONS)


def takes_part(pod: Pod) -> bool:
    """Return whether Karpenter looks at a pod that kube-scheduler found unschedulable (IsProvisionable)."""
    return not (pod.node_name or pod.nominated_node or pod.cls.gates or is_of(pod, *NOT_MOVED))


def requests_of(pod: PodClass) -> dict[str, int]:
    """Return the requests of a pod, with one of the node's places for pods."""
    return {**dict(pod.requests), resources.PODS: 1}


def required(pod: PodClass) -> Requirements:
    """Return nodeSelector and the FIRST term of the required node affinity: Karpenter tries one term after another."""
    selected, terms = of_labels(dict(pod.node_selector)), pod.node_affinity.required
    return plus(selected, of_expressions(terms[0].match_expressions)) if terms else selected


def wanted(pod: PodClass) -> Requirements:
    """Return what is required, with the heaviest preferred term as if it were required, too."""
    preferred = pod.node_affinity.preferred
    if not preferred:
        return required(pod)
    heaviest = max(preferred, key=lambda item: item.weight)  # of equal ones the first
    return plus(of_expressions(heaviest.term.match_expressions), required(pod))


def relaxed(pod: PodClass, *, tolerates_preferences: bool) -> Iterator[PodClass]:
    """Yield a pod as it is, and then without one preference after another (Preferences.Relax).

    Args:
        pod: as written.
        tolerates_preferences: at the end, the pod tolerates PreferNoSchedule.
    """
    yield pod
    required = pod.node_affinity.required or ()
    for at in range(1, len(required)):
        pod = pod._replace(node_affinity=pod.node_affinity._replace(required=required[at:]))
        yield pod
    for terms in _lighter(pod.preferred_affinity):
        pod = pod._replace(preferred_affinity=terms)
        yield pod
    for terms in _lighter(pod.preferred_anti_affinity):
        pod = pod._replace(preferred_anti_affinity=terms)
        yield pod
    for terms in _lighter(pod.node_affinity.preferred):
        pod = pod._replace(node_affinity=pod.node_affinity._replace(preferred=terms))
        yield pod
    at, kept = 0, list(pod.constraints)
    while at < len(kept):
        if kept[at].when_unsatisfiable != SCHEDULE_ANYWAY:
            at += 1
            continue
        kept[at] = kept[-1]  # the last constraint takes its place
        kept.pop()
        pod = pod._replace(constraints=tuple(kept))
        yield pod
    if tolerates_preferences and NO_PREFERENCE not in [item._replace(seconds=None) for item in pod.tolerations]:
        yield pod._replace(tolerations=(*pod.tolerations, NO_PREFERENCE))


def _lighter(terms: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield preferred terms without the heaviest, then without the two heaviest, until none is left."""
    ordered = sorted(terms, key=lambda term: -term.weight)
    return (tuple(ordered[at:]) for at in range(1, len(ordered) + 1))


def refusal_reasons(pod: PodClass, storage: Storage, well_known: frozenset[str], *, refuses_claims: bool) -> list[str]:
    """Return why Karpenter ignores a pod before it solves anything, in its words (Provisioner.Validate)."""
    pool, never = wanted(pod).get(NODE_POOL), "configured to not run on a Karpenter provisioned node"
    is_never = pool is not None and pool.operator == "DoesNotExist"
    found = [f"{never} (requirement={NODE_POOL} DoesNotExist)"] if is_never else []
    selected = NodeSelectorTerm(tuple(LabelRequirement(key, "In", (value,)) for key, value in pod.node_selector))
    for term in (selected, *(pod.node_affinity.required or ())):
        if term.match_fields:
            found.append("node selector term with matchFields is not supported")
        for item in term.match_expressions:
            found += objects.requirement_errors(item, well_known)
    reason = _volume_reason(pod, storage) if refuses_claims else ""
    return [*found, reason] if reason else found


def _volume_reason(pod: PodClass, storage: Storage) -> str:
    """Return why the volumes of a pod cannot be placed; empty if they can (ValidatePersistentVolumeClaims)."""
    for key in pod.claims():
        claim, name = storage.claims.get(key), f"PersistentVolumeClaim={key.namespace}/{key.name}"
        if claim is None:
            missing = f'persistentvolumeclaims "{key.name}" not found (PersistentVolumeClaim={key.name})'
            return f"getting persistent volume claim, {missing}"
        if claim.is_deleted:
            return f"persistentvolumeclaim is being deleted ({name})"
        volume = f"PersistentVolume={claim.volume_name}"
        if claim.is_lost:
            return f"persistentvolumeclaim bound to non-existent persistentvolume ({name}, {volume})"
        storage_class = f"StorageClass={claim.storage_class}"
        if claim.volume_name:
            found = storage.volumes.get(claim.volume_name)
            if found is None or found.is_deleted:
                missing = f'persistentvolumes "{claim.volume_name}" not found'
                why = "persistentvolume is being deleted" if found else missing
                return f"failed to validate pvc, {why} ({name}, {volume}, {storage_class})"
            if not claim.is_bind_completed:
                lacks = f"annotation=pv.kubernetes.io/bind-completed, PersistentVolumeClaim={key.name}, {volume}"
                return f"pvc is considered unbound because it does not contain annotation ({lacks})"
            continue
        if not claim.storage_class:
            return f"unbound pvc must define a storage class ({name}, {storage_class})"
        known = storage.classes.get(claim.storage_class)
        if known is None:
            missing = f'storageclasses.storage.k8s.io "{claim.storage_class}" not found'
            return f"failed to validate pvc, failed to get storage class, {missing} ({name}, {storage_class})"
        if not known.waits:
            text = "failed to validate pvc, pvc with immediate volume binding mode must be bound"
            return f"{text} ({name}, {storage_class})"
    return ""


def _claims(pod: PodClass, storage: Storage) -> list[Claim]:
    """Return the claims of a pod that exist."""
    return [storage.claims[key] for key in pod.claims() if key in storage.claims]


def volume_alternatives(pod: PodClass, storage: Storage, *, all_terms: bool = True) -> tuple[Requirements, ...]:
    """Return what the volumes of a pod ask of its node, any of which will do (VolumeTopology.GetRequirements).

    Terms on the host's name of a volume that is no CSI disk are dropped. `all_terms` is False before 1.13.
    """
    found: list[Requirements] = [{}]
    for claim in _claims(pod, storage):
        volume, terms = storage.volumes.get(claim.volume_name), []
        if volume is not None:
            for term in volume.terms or ():
                kept = [item for item in term.match_expressions if volume.csi is not None or item.key != HOSTNAME]
                terms += [of_expressions(kept)] if term.match_expressions else []
        elif not claim.volume_name and claim.storage_class in storage.classes:
            terms = [of_expressions(term) for term in storage.classes[claim.storage_class].allowed or () if term]
        pairs = list(itertools.product(found, terms if all_terms else terms[:1]))
        fitting = [(one, other) for one, other in pairs if not algebra.clash(one, other, other)]
        found = [plus(one, other) for one, other in fitting or pairs] or found
    return tuple(found)


def attached(pod: PodClass, storage: Storage) -> frozenset[tuple[str, NamespacedName]]:
    """Return the disks of a pod that count for the limits of a node: driver and claim (GetVolumes)."""
    found = set()
    for claim in _claims(pod, storage):
        volume, driver = storage.volumes.get(claim.volume_name), ""
        if volume is not None and volume.csi is not None:
            driver = volume.csi[0]
        elif not claim.volume_name and claim.storage_class in storage.classes:
            driver = driver_of(storage.classes[claim.storage_class].provisioner)
        found |= {(driver, claim.key)} if driver else set()
    return frozenset(found)
