"""Claims that StatefulSets create, and future claims. Schedulers and the volume controller bind them.

Source: pkg/controller/volume/persistentvolume/pv_controller.go; pkg/controller/statefulset/stateful_set_utils.go,
getPersistentVolumeClaims (v1.36.2).
Difference: a provisioned volume is reachable from the zone of the chosen node. If the node has no zone, the volume is
reachable from this node only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional, TYPE_CHECKING, Union

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.state import EventKind, Move, P, PENDING, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects import storage
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading.plain import fields, mappings
from kubectl_spread.objects.selectors import HOSTNAME, LabelRequirement, NodeSelectorTerm, ZONE
from kubectl_spread.objects.storage import Claim, NO_PROVISIONER, Storage, StorageClass, Volume
from kubectl_spread.objects.workloads.workload import claim_names, replica_name, Workload

if TYPE_CHECKING:
    from kubectl_spread.engine.draft import Draft


Made = tuple[tuple[str, str, str], ...]

NEW = "new"  # The claim exists, and no volume is known to be bound.
GONE = "gone"
DELETING = "deleting "  # Before the state of a claim that a pod with a node still uses.
RELEASED = "released"  # Replaces the namespace for a volume whose claim was deleted.


def storage_of(world: World, now: Union[State, Draft]) -> Storage:
    """Return the storage objects after claims were created, bound or deleted."""
    base = world.facts[now.facts].cluster.storage
    if not now.claims:
        return base
    found, volumes = dict(base.claims), dict(base.volumes)
    for namespace, name, value in now.claims:
        key = NamespacedName(namespace, name)
        if namespace == RELEASED:
            volumes[name] = volumes[name]._replace(claim=key, claim_uid=RELEASED, is_available=False)
            continue
        if value == GONE:
            found.pop(key, None)
            continue
        is_deleted = value.startswith(DELETING)
        claim = found.get(key)
        if claim is None or value == NEW or (claim.is_deleted and not is_deleted):  # It was created again.
            claim = _claim(world, key)
        if claim is None:
            continue
        claim = claim._replace(is_deleted=is_deleted)
        what, _, text = value.removeprefix(DELETING).partition("/")
        if what == "node":
            volume = _provisioned(world, claim, text)
            volumes[volume.name] = volume
            text = volume.name
        if what in ("node", "volume"):
            claim = claim._replace(volume_name=text, is_bind_completed=True)
            volumes[text] = volumes[text]._replace(claim=key, claim_uid=claim.uid, is_available=False)
        found[key] = claim
    return base._replace(claims=found, volumes=dict(sorted(volumes.items())))


def ensure(draft: Draft, owner: int, ordinal: int) -> None:
    """Create the missing claims of a StatefulSet's pod, and bind each that need not wait for the pod."""
    world = draft.world
    key = world.keys[owner]
    for template in world.claim_templates.get(owner, {}) if world.cluster.storage.has_claims else ():
        claim_key = NamespacedName(key.namespace, f"{template}-{key.name}-{ordinal}")
        known, claim = storage_of(world, draft), _claim(world, claim_key)
        if claim is None or claim_key in known.claims:
            continue
        # The smallest volume that fits is bound without waiting for a pod.
        volume = storage.smallest(claim, known.volumes.values())
        storage_class = known.classes.get(claim.storage_class)
        if volume is not None and volume.claim is None and storage_class is not None and storage_class.waits:
            volume = None
        put(draft, claim_key, NEW if volume is None else f"volume/{volume.name}")


def put(draft: Draft, key: NamespacedName, value: str) -> None:
    """Record the state of a claim."""
    draft.claims = tuple(sorted([*(item for item in draft.claims if item[:2] != key), (*key, value)]))


def is_made_at_once(world: World, key: NamespacedName) -> bool:
    """Return whether a provisioner creates the volume of a new claim without waiting for its pod."""
    claim = _claim(world, key)
    found = None if claim is None else world.cluster.storage.classes.get(claim.storage_class)
    return found is not None and not found.waits and found.provisioner not in ("", NO_PROVISIONER)


def _delete(draft: Draft, key: NamespacedName) -> None:
    """Delete a claim; its volume keeps its data and is not bound again."""
    claim = storage_of(draft.world, draft).claims.get(key)
    if claim is None:
        return
    put(draft, key, GONE)
    if claim.volume_name:
        put(draft, NamespacedName(RELEASED, claim.volume_name), GONE)


def delete_unused(draft: Draft, key: NamespacedName) -> None:
    """Delete a claim as users do: one that a pod with a node uses only is marked."""
    if key not in storage_of(draft.world, draft).claims or not _is_used(draft, key):
        _delete(draft, key)
        return
    value = next((item[2] for item in draft.claims if item[:2] == key), "")
    put(draft, key, f"{DELETING}{value.removeprefix(DELETING)}")


def release(draft: Draft, pod: P) -> None:
    """Delete the claims that go with a pod that is gone: of an ordinal that was scaled down, or marked by a user."""
    own = draft.sets[pod.owner] if pod.owner >= 0 else None
    spec = None if own is None else draft.world.specs[own.spec]
    if spec is not None and getattr(spec, "deletes_claims", False) and pod.ordinal not in spec.ordinals:
        key = draft.world.keys[pod.owner]
        for template in draft.world.claim_templates.get(pod.owner, {}):
            name = f"{template}-{key.name}-{pod.ordinal}"
            _delete(draft, NamespacedName(key.namespace, name))
            draft.moves.append(Move(EventKind.DELETED, owner=pod.owner, text=name))
    for *marked, value in draft.claims:
        if value.startswith(DELETING) and not _is_used(draft, NamespacedName(*marked)):
            _delete(draft, NamespacedName(*marked))


def _is_used(draft: Draft, key: NamespacedName) -> bool:
    return bool(_users(draft.world, (pod for pod in draft.pods if pod.node != PENDING), key))


def _users(world: World, pods: Iterable[P], key: NamespacedName) -> set[str]:
    """Return the nodes on which pods use a claim; pods that no step can change count, too."""
    found = ((world.node_names[pod.node], world.classes[pod.cls]) for pod in pods)
    others = ((pod.node_name, pod.cls) for pod in world.background if pod.cls.volumes)
    return {
        node
        for node, cls in (*found, *others)
        if cls.namespace == key.namespace and any(volume.claim == key.name for volume in cls.volumes)
    }


def note_attachments(world: World, state: State, pod: P, node: int) -> None:
    """Record the claims of a pod on a node whose volumes stay attached to another node, as its pods use them.

    Source: pkg/controller/volume/attachdetach/reconciler/reconciler.go, attachDesiredVolumes (v1.36.2).
    """
    cls, storage = world.classes[pod.cls], storage_of(world, state)
    staying = [other for other in state.pods if other.node != PENDING and not world.ends(state.facts, other)]
    for volume in cls.volumes:
        key = NamespacedName(cls.namespace, volume.claim)
        if storage.is_for_one_node(key) and _users(world, staying, key) - {world.node_names[node]}:
            text = f"claim {key.name} for pods on two nodes, as its volume is attached to one node at a time"
            world.leave_out(text, world.keys[pod.owner] if pod.owner >= 0 else None)


def _claim(world: World, key: NamespacedName) -> Optional[Claim]:
    """Return the claim that a StatefulSet creates; None if no template has its name."""
    for owner, templates in world.claim_templates.items():
        workload = world.keys[owner]
        for name, template in templates.items():
            if key.namespace == workload.namespace and key.name.startswith(f"{name}-{workload.name}-"):
                plain = {**template, "metadata": {"name": key.name, "namespace": key.namespace, "uid": key.name}}
                return world.cluster.storage.admitted(storage.claim(plain))
    return None


def _provisioned(world: World, claim: Claim, node: str) -> Volume:
    """Return a volume that is provisioned for a claim on the node of its first pod."""
    labels = next((item.labels for item in world.facts[0].cluster.nodes if item.name == node), {})
    key = ZONE if ZONE in labels else HOSTNAME
    term = NodeSelectorTerm((LabelRequirement(key, "In", (labels.get(key, node),)),), ())
    return Volume(
        f"provisioned-{claim.key.namespace}-{claim.key.name}",
        claim.storage_class,
        claim.request,
        claim.access_modes,
        claim.volume_mode,
        (term,),
        {},
        False,
        False,
        claim.key,
        claim.uid,
        None,
    )


CLAIM_KIND, VOLUME_KIND = "PersistentVolumeClaim", "PersistentVolume"
_STORAGE_KINDS = frozenset({"StorageClass", VOLUME_KIND})
_DRIVER_KINDS = frozenset({"CSIDriver", "CSINode", VOLUME_KIND})


def with_claims(owners: Iterable[Workload], cluster: Cluster) -> Cluster:
    """Return the cluster with the claims of StatefulSets, and new claims bound as the volume controller does at once.

    Claims that cannot be predicted are left out, or left as they are.
    """
    known = cluster.storage
    claims, volumes = dict(known.claims), dict(known.volumes)
    new = [claim for claim in known.claims.values() if claim.is_new and not claim.is_bound]
    for owner in owners:
        for ordinal in range(owner.replicas or 0 if owner.claims else 0):
            names = claim_names(owner, replica_name(owner, ordinal))
            for name, template in zip(names, owner.claims, strict=True):
                made = storage.claim({**template, "metadata": {"name": name, "namespace": owner.namespace}})
                new += [known.admitted(made)] if made.key not in claims else []
    if not new:
        return cluster
    for claim in new:
        found = _settled(claim, cluster, volumes)
        if found is None:
            continue
        settled, volume = found
        claims[claim.key] = settled
        if volume is not None:
            volumes[volume.name] = volume._replace(claim=claim.key, claim_uid=claim.uid, is_available=False)
    return cluster._replace(storage=known._replace(claims=claims, volumes=volumes))


def _settled(claim: Claim, cluster: Cluster, volumes: dict[str, Volume]) -> Optional[tuple[Claim, Optional[Volume]]]:
    """Return a new claim at the time its pod is scheduled, with its volume; None if that is unknown.

    Source: pkg/controller/volume/persistentvolume/pv_controller.go, syncUnboundClaim (v1.36.2).
    """
    found = cluster.storage.classes.get(claim.storage_class)
    if found is not None and found.waits:
        return claim._replace(is_new=False), None
    if not cluster.complete >= _STORAGE_KINDS:
        return None
    volume = storage.smallest(claim, volumes.values())
    if volume is not None:
        return claim._replace(is_new=False, volume_name=volume.name, is_bind_completed=True), volume
    makes_none = found is None or found.provisioner == NO_PROVISIONER or lacks_provisioner(found, cluster)
    return (claim._replace(is_new=False), None) if makes_none else None


def lacks_provisioner(storage_class: StorageClass, cluster: Cluster) -> bool:
    """Return whether no component in the cluster provisions a class: its CSI driver is not installed.

    By convention the names of CSI drivers have a part `csi`. Other provisioners cannot be detected by an object.
    """
    name = storage_class.provisioner
    is_csi = "csi" in name.replace("/", ".").replace("-", ".").split(".")
    return is_csi and cluster.complete >= _DRIVER_KINDS and not cluster.storage.has_driver(name)


class NewClaims:
    """The claims of one cluster whose volumes cannot be predicted."""

    def __init__(self, cluster: Cluster) -> None:
        self._storage = cluster.storage
        self._is_blind = cluster.storage == Storage() and CLAIM_KIND not in cluster.complete
        # A new claim is predictable if it has a volume, or gets one when its pod is scheduled.
        self._unbound = {
            key
            for key, claim in cluster.storage.claims.items()
            if claim.is_new and not claim.is_bound
            if (found := cluster.storage.classes.get(claim.storage_class)) is None or not found.waits
        }

    def without(self, pod: Pod, owner: Workload) -> Pod:
        """Return the pod without volumes whose claims do not exist yet, because their nodes are unknown.

        This includes all missing claims if the cluster facts lack storage. It also includes a manifest's claim that is
        bound before its pod is scheduled, or whose class is unknown. The pod itself is returned if it has no such
        volume.
        """
        claims = self._storage.claims
        made = claim_names(owner, pod.name)
        new = []
        for volume in pod.cls.volumes:
            key = NamespacedName(pod.namespace, volume.claim)
            claim = claims.get(key)
            if volume.is_ephemeral:
                # The claim belongs to another pod, which must be deleted first.
                if claim is None or claim.owner_uid != volume.pod_uid:
                    new.append(volume)
            elif key in self._unbound or (volume.claim and claim is None and (self._is_blind or volume.claim in made)):
                new.append(volume)
        if not new:
            return pod
        kept = tuple(volume for volume in pod.cls.volumes if volume not in new)
        return pod._replace(cls=pod.cls._replace(volumes=kept))

    def workload_without(self, owner: Workload, pods: Iterable[Pod]) -> Workload:
        """Return a workload without the volumes that `without` takes away from these pods of it."""
        names = {
            (volume.claim, pod.name)
            for pod in pods
            for volume in {*pod.cls.volumes} - {*self.without(pod, owner).cls.volumes}
        }
        if not names:
            return owner
        gone = {claim for claim, _ in names} | {claim.removesuffix(f"-{name}") for claim, name in names}
        gone |= {claim.removeprefix(f"{name}-") for claim, name in names}  # of an ephemeral volume
        kept = [
            volume
            for volume in mappings(owner.pod_spec.get("volumes"))
            if fields(volume, "persistentVolumeClaim").get("claimName") not in gone
            if not (volume.get("ephemeral") and volume.get("name") in gone)
        ]
        return owner._replace(
            template={**owner.template, "spec": {**owner.pod_spec, "volumes": kept}},
            claim_templates=tuple(name for name in owner.claim_templates if name not in gone),
            claims=tuple(item for item in owner.claims if item["metadata"]["name"] not in gone),
            known_hash=owner.revision_hash,
        )
