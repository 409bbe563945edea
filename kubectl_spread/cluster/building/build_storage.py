"""Claims, volumes and their drivers, collected from plain objects."""

from __future__ import annotations

from typing import Any

from kubectl_spread.objects import storage
from kubectl_spread.objects.reading.plain import mappings

Plain = dict[str, Any]


class StorageBuilder:
    """A collector of storage objects; of two with one name, the later wins."""

    def __init__(self) -> None:
        self._claims: dict[storage.ObjectKey, storage.Claim] = {}
        self._volumes: dict[str, storage.Volume] = {}
        self._classes: dict[str, storage.StorageClass] = {}
        self._limits: dict[str, dict[str, int]] = {}
        self._tracking: set[str] = set()
        self._drivers: set[str] = set()
        self._capacities: dict[storage.ObjectKey, storage.Capacity] = {}
        self._attachments: dict[str, tuple[str, str]] = {}

    def add(self, kind: str, name: str, plain: Plain) -> None:
        """Add an object that decodes; objects of other kinds are ignored."""
        if kind == "PersistentVolumeClaim":
            claim = storage.claim(plain)
            self._claims[claim.key] = claim
        elif kind == "PersistentVolume":
            self._volumes[name] = storage.volume(plain)
        elif kind == "StorageClass":
            self._classes[name] = storage.storage_class(plain)
        else:
            self._add_of_driver(kind, name, plain)

    def _add_of_driver(self, kind: str, name: str, plain: Plain) -> None:
        spec = plain.get("spec") or {}
        if kind == "CSINode":
            self._limits[name] = storage.csi_limits(plain)
            self._drivers.update(driver.get("name") or "" for driver in mappings(spec.get("drivers")))
        elif kind == "CSIDriver":
            self._drivers.add(name)
            self._tracking.update((name,) if spec.get("storageCapacity") else ())
        elif kind == "CSIStorageCapacity":
            namespace = (plain.get("metadata") or {}).get("namespace") or "default"
            self._capacities[storage.ObjectKey(namespace, name)] = storage.capacity(plain)
        elif kind == "VolumeAttachment":
            volume = (spec.get("source") or {}).get("persistentVolumeName") or ""
            self._attachments[name] = (spec.get("nodeName") or "", volume)

    def update(self, other: StorageBuilder) -> None:
        """Add everything that another builder collected."""
        self._claims.update(other._claims)
        self._volumes.update(other._volumes)
        self._classes.update(other._classes)
        self._limits.update(other._limits)
        self._tracking.update(other._tracking)
        self._drivers.update(other._drivers)
        self._capacities.update(other._capacities)
        self._attachments.update(other._attachments)

    def storage(self) -> storage.Storage:
        """Return everything collected, volumes in the order of their names."""
        return storage.Storage(
            self._claims,
            dict(sorted(self._volumes.items())),
            self._classes,
            self._limits,
            frozenset(self._tracking),
            tuple(self._capacities.values()),
            tuple(self._attachments.values()),
            frozenset(self._drivers),
        )
