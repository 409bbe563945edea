"""Claims that StatefulSets create, and their handling by schedulers and the volume controller.

Source: pkg/controller/volume/persistentvolume/pv_controller.go; pkg/controller/statefulset/stateful_set_utils.go,
getPersistentVolumeClaims (v1.36.2).
Difference: a provisioned volume is reachable from the zone of the chosen node. If the node has no zone, the volume is
reachable from this node only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional, TYPE_CHECKING, Union

from kubectl_spread.engine.state import EventKind, Move, P, PENDING, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects import storage as objects
from kubectl_spread.objects.affinity import NodeSelectorTerm
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.selectors import HOSTNAME, LabelRequirement, ZONE
from kubectl_spread.objects.storage import Claim, Storage, Volume

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
        storage, claim = storage_of(world, draft), _claim(world, claim_key)
        if claim is None or claim_key in storage.claims:
            continue
        # The smallest volume that fits is bound without waiting for a pod.
        volume, storage_class = (
            objects.smallest(claim, storage.volumes.values()),
            storage.classes.get(claim.storage_class),
        )
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
    return found is not None and not found.waits and found.provisioner not in ("", objects.NO_PROVISIONER)


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
                return world.cluster.storage.admitted(objects.claim(plain))
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
