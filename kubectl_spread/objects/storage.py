"""Volumes of pods, and their storage objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Optional

from kubectl_spread.objects import resources
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.reading.plain import fields, mappings, name_of, Plain, strings
from kubectl_spread.objects.reading.read import driver_and_handle
from kubectl_spread.objects.selectors import compile_selector, LabelRequirement, Labels, NodeSelectorTerm, Selector

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
READ_WRITE_ONCE_POD = "ReadWriteOncePod"
_ON_MANY_NODES = frozenset({"ReadOnlyMany", "ReadWriteMany"})

_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


class Claim(NamedTuple):
    """A PersistentVolumeClaim; `request` in thousandths of a byte. `is_new`: it is from a manifest and not bound.

    `names_class` is False if the claim sets no class, so that the API server adds the default class.
    """

    key: NamespacedName
    uid: str
    volume_name: str
    is_bind_completed: bool
    storage_class: str
    access_modes: frozenset[str]
    request: int
    selector: Optional[Selector]
    volume_mode: str
    selected_node: Optional[str]  # None if no node is chosen
    is_lost: bool
    is_deleted: bool
    owner_uid: str = ""  # of its controller
    names_class: bool = True
    is_new: bool = False

    @property
    def is_bound(self) -> bool:
        return bool(self.volume_name) and self.is_bind_completed


class Volume(NamedTuple):
    """A PersistentVolume; `capacity` in thousandths of a byte, `claim_uid` empty if only the claim's name is set."""

    name: str
    storage_class: str
    capacity: int
    access_modes: frozenset[str]
    volume_mode: str
    terms: Optional[tuple[NodeSelectorTerm, ...]]
    labels: Labels
    is_available: bool
    is_deleted: bool
    claim: Optional[NamespacedName]
    claim_uid: str
    csi: Optional[tuple[str, str]]  # driver, volume handle

    def matches_node(self, labels: Labels) -> bool:
        """Return whether the node affinity of the volume allows a node with these labels.

        Source: staging/src/k8s.io/component-helpers/storage/volume/helpers.go, CheckNodeAffinity (v1.36.2).

        The node's name is not given to the check, so conditions on it hold.
        """
        return self.terms is None or any(term.matches(labels, "") for term in self.terms)


def smallest(claim: Claim, volumes: Iterable[Volume]) -> Optional[Volume]:
    """Return the volume that a controller binds to a claim: a reserved one, else the smallest that fits.

    Source: staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go, FindMatchingVolume (v1.36.2).
    """
    able = [
        volume
        for volume in volumes
        if volume.claim in (None, claim.key)
        and volume.claim_uid in ("", claim.uid)
        and volume.capacity >= claim.request
        and volume.volume_mode == claim.volume_mode
        and not volume.is_deleted
    ]
    free = (
        volume
        for volume in able
        if volume.is_available
        and volume.storage_class == claim.storage_class
        and claim.access_modes <= volume.access_modes
        and (claim.selector is None or claim.selector.matches(volume.labels))
    )
    reserved = next((volume for volume in able if volume.claim is not None), None)
    return reserved or min(free, key=lambda volume: volume.capacity, default=None)


class StorageClass(NamedTuple):
    name: str
    provisioner: str
    waits: bool
    allowed: Optional[tuple[tuple[LabelRequirement, ...], ...]]  # any of the terms, all of its requirements
    is_default: bool = False

    def allowed_values(self, key: str) -> Optional[frozenset[str]]:
        """Return the values of a node label that the class allows; None if it allows any."""
        values: set[str] = set()
        for term in self.allowed or ():
            named = [set(requirement.values) for requirement in term if requirement.key == key]
            if not named:
                return None
            values |= set.intersection(*named)
        return frozenset(values) if self.allowed else None

    def allows(self, labels: Labels) -> bool:
        """Return whether a volume can be created for a node with these labels (MatchTopologySelectorTerms)."""
        if not self.allowed:
            return True
        return any(all(requirement.matches(labels) for requirement in term) for term in self.allowed)


class Capacity(NamedTuple):
    """A CSIStorageCapacity, in bytes; `most` is the largest volume, else the capacity."""

    storage_class: str
    topology: Selector
    most: Optional[int]


class Storage(NamedTuple):
    """Every storage object of a cluster."""

    claims: dict[NamespacedName, Claim] = {}  # noqa: RUF012 (never written to)
    volumes: dict[str, Volume] = {}  # noqa: RUF012
    classes: dict[str, StorageClass] = {}  # noqa: RUF012
    limits: dict[str, dict[str, int]] = {}  # noqa: RUF012  # node -> driver -> count
    tracks_capacity: frozenset[str] = frozenset()  # drivers
    capacities: tuple[Capacity, ...] = ()
    attachments: tuple[tuple[str, str], ...] = ()  # node, volume
    drivers: frozenset[str] = frozenset()  # named by a CSIDriver or a CSINode
    unattached: frozenset[str] = frozenset()  # drivers whose volumes need no attachment
    has_claims: bool = True  # False: the facts lack claims that running pods use

    def admitted(self, claim: Claim) -> Claim:
        """Return a new claim as the API server stores it: with the default class, unless it sets one."""
        default = next((item.name for item in self.classes.values() if item.is_default), "")
        return claim if claim.names_class else claim._replace(storage_class=default)

    def is_for_one_node(self, key: NamespacedName) -> bool:
        """Return whether the volume of a claim is attached to one node at a time.

        Source: pkg/volume/util/util.go, IsMultiAttachAllowed (v1.36.2).
        """
        claim = self.claims.get(key)
        volume = None if claim is None else self.volumes.get(claim.volume_name)
        if volume is None or volume.csi is None:
            return False
        return volume.csi[0] not in self.unattached and volume.access_modes.isdisjoint(_ON_MANY_NODES)

    def has_driver(self, name: str) -> bool:
        """Return whether anything in the cluster shows that a CSI driver is installed."""
        return name in self.drivers or any(
            item.csi is not None and item.csi[0] == name for item in self.volumes.values()
        )


def claim(plain: Plain) -> Claim:
    """Read a PersistentVolumeClaim."""
    metadata, spec = fields(plain, "metadata"), fields(plain, "spec")
    annotations = fields(metadata, "annotations")
    selector = spec.get("selector")
    requests = fields(spec, "resources", "requests")
    return Claim(
        name_of(plain),
        metadata.get("uid") or "",
        spec.get("volumeName") or "",
        _BIND_COMPLETED in annotations,
        _class_name(metadata, spec),
        frozenset(strings(spec.get("accessModes"))),
        resources.parse(requests.get("storage") or 0),
        None if selector is None else compile_selector(constraint.label_selector(selector)),
        spec.get("volumeMode") or "Filesystem",
        annotations.get(_SELECTED_NODE),
        fields(plain, "status").get("phase") == "Lost",
        metadata.get("deletionTimestamp") is not None,
        read.controller_uid(metadata),
        names_class=spec.get("storageClassName") is not None or _CLASS_ANNOTATION in annotations,
    )


def volume(plain: Plain) -> Volume:
    """Read a PersistentVolume."""
    metadata, spec = fields(plain, "metadata"), fields(plain, "spec")
    required = fields(spec, "nodeAffinity").get("required")
    reference = spec.get("claimRef")
    labels = constraint.labels(metadata)
    affinity = read.node_affinity({"requiredDuringSchedulingIgnoredDuringExecution": required})
    csi = spec.get("csi")
    return Volume(
        metadata.get("name") or "",
        _class_name(metadata, spec),
        resources.parse(fields(spec, "capacity").get("storage") or 0),
        frozenset(strings(spec.get("accessModes"))),
        spec.get("volumeMode") or "Filesystem",
        affinity.required,
        labels,
        fields(plain, "status").get("phase") == "Available",
        metadata.get("deletionTimestamp") is not None,
        None if reference is None else NamespacedName(reference.get("namespace") or "", reference.get("name") or ""),
        (reference or {}).get("uid") or "",
        driver_and_handle(spec, labels) if csi is None else (csi.get("driver") or "", csi.get("volumeHandle") or ""),
    )


def _class_name(metadata: Plain, spec: Plain) -> str:
    """Return the class of a claim or a volume; the annotation wins, even if it is empty."""
    annotations = fields(metadata, "annotations")
    return (annotations[_CLASS_ANNOTATION] if _CLASS_ANNOTATION in annotations else spec.get("storageClassName")) or ""


def storage_class(plain: Plain) -> StorageClass:
    """Read a StorageClass."""
    topologies = plain.get("allowedTopologies")
    annotations = fields(plain, "metadata", "annotations")
    return StorageClass(
        fields(plain, "metadata").get("name") or "",
        plain.get("provisioner") or "",
        plain.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER,
        None
        if topologies is None
        else tuple(
            tuple(
                LabelRequirement(item.get("key") or "", "In", strings(item.get("values")))
                for item in mappings(term.get("matchLabelExpressions"))
            )
            for term in mappings(topologies)
        ),
        is_default=annotations.get(_DEFAULT_CLASS) == "true",
    )


def csi_drivers(plain: Plain) -> dict[str, Optional[int]]:
    """Return the drivers of a CSINode, with the limits of their volumes."""
    drivers = mappings(fields(plain, "spec").get("drivers"))
    limits = {item.get("name") or "": fields(item, "allocatable").get("count") for item in drivers}
    return {name: None if count is None else int(count) for name, count in limits.items()}


def capacity(plain: Plain) -> Capacity:
    """Read a CSIStorageCapacity."""
    most = plain.get("maximumVolumeSize")
    most = plain.get("capacity") if most is None else most
    return Capacity(
        plain.get("storageClassName") or "",
        compile_selector(constraint.label_selector(plain.get("nodeTopology"))),
        None if most is None else resources.whole_units(resources.parse(most)),
    )
