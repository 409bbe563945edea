"""A moment of a cluster: objects by kind, which are never changed in place, and what users are still to do."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any, Optional

from tests.naive import objects

Plain = dict[str, Any]

CLUSTER_SCOPED = frozenset(
    {
        "Node",
        "PersistentVolume",
        "StorageClass",
        "PriorityClass",
        "Namespace",
        "CSINode",
        "CSIDriver",
        "RuntimeClass",
        "VolumeAttachment",
    }
)


class Settings:
    """What does not change while time passes, and what was worked out once.

    configuration: a KubeSchedulerConfiguration, as a plain value. patience_s: tolerations of NoExecute taints that
    last longer are not waited for. silent: names of claims whose provisioner does not answer. stuck: UIDs of pods that
    never become ready. old: UIDs of the pods before a step; if known, others run out of their tolerationSeconds only
    once nothing else moves.
    """

    def __init__(self, *, configuration: Optional[Plain] = None, patience_s: int = 60) -> None:
        self.configuration = configuration or {}
        self.patience_s = patience_s
        self.silent: set[str] = set()
        self.stuck: set[str] = set()
        self.old: Optional[set[str]] = None
        self.memory: dict[Any, Any] = {}
        self._identities: dict[int, tuple[int, Plain]] = {}
        self._classes: dict[str, int] = {}
        self._class_of: dict[int, int] = {}

    def identity(self, item: Plain) -> int:
        """A number that no other object gets; the object is kept alive for that."""
        found = self._identities.get(id(item))
        if found is None:
            found = self._identities[id(item)] = (len(self._identities), item)
        return found[0]

    def class_of(self, pod: Plain) -> int:
        """A number that pods share which differ in nothing but their names."""
        identity = self.identity(pod)
        if identity not in self._class_of:
            text = json.dumps(_essence(pod), sort_keys=True)
            self._class_of[identity] = self._classes.setdefault(text, len(self._classes))
        return self._class_of[identity]


def _essence(pod: Plain) -> Plain:
    metadata, owner = pod["metadata"], objects.controller_of(pod)
    has_name = owner.get("kind") in (None, "StatefulSet")
    status = pod.get("status") or {}
    return {
        "name": metadata.get("name") if has_name else "",
        "namespace": metadata.get("namespace"),
        "labels": metadata.get("labels"),
        "annotations": metadata.get("annotations"),
        "owner": [owner.get("kind"), owner.get("name")],
        "finalizers": metadata.get("finalizers") or [],
        "terminating": objects.is_terminating(pod),
        "spec": pod["spec"],
        "status": [status.get("phase"), status.get("conditions"), status.get("nominatedNodeName")],
    }


class World:
    """A moment. Its methods change it; `copy` first.

    script: actions of users that are still to come. drain: a `kubectl drain` that is under way. serial: a counter for
    names and UIDs.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.kinds: dict[str, dict[tuple[str, str], Plain]] = {}
        self.script: tuple[Any, ...] = ()
        self.drain: Any = None
        self.serial = 0
        self._owned: set[str] = set()

    def copy(self) -> World:
        twin = World(self.settings)
        twin.kinds = dict(self.kinds)
        twin.script, twin.drain, twin.serial = self.script, self.drain, self.serial
        self._owned = set()
        return twin

    def list(self, kind: str) -> list[Plain]:
        return list(self.kinds.get(kind, {}).values())

    def get(self, kind: str, name: str, namespace: str = "default") -> Optional[Plain]:
        return self.kinds.get(kind, {}).get(("" if kind in CLUSTER_SCOPED else namespace, name))

    def put(self, item: Plain) -> None:
        """Store an object under its kind and name."""
        self._writable(item["kind"])[_key(item)] = item

    def remove(self, item: Plain) -> None:
        self._writable(item["kind"]).pop(_key(item), None)

    def edit(self, item: Plain) -> Plain:
        """A deep copy of an object, stored in its place, to be changed at once."""
        twin = copy.deepcopy(item)
        self.put(twin)
        return twin

    def next_serial(self) -> int:
        self.serial += 1
        return self.serial

    def pods(self, namespace: str = "") -> Iterator[Plain]:
        for (where, _), pod in self.kinds.get("Pod", {}).items():
            if not namespace or where == namespace:
                yield pod

    def key(self) -> Any:
        """What must be equal for two moments to be the same, whatever their pods are called."""
        settings = self.settings
        marked = set(self.drain[1]) if self.drain else set()
        if self.script and self.script[0][0] == "deleteSet":
            marked |= set(self.script[0][1])
        pods = sorted((settings.class_of(pod), pod["metadata"]["uid"] in marked) for pod in self.list("Pod"))
        others = tuple(
            (kind, tuple(_text(settings, item) for item in items.values()))
            for kind, items in sorted(self.kinds.items())
            if kind != "Pod"
        )
        verbs = tuple(verb for verb, _ in self.script)
        return tuple(pods), others, verbs, self.drain and self.drain[0]

    def _writable(self, kind: str) -> dict[tuple[str, str], Plain]:
        if kind not in self._owned:
            self._owned.add(kind)
            self.kinds[kind] = dict(self.kinds.get(kind, {}))
        return self.kinds[kind]


def _key(item: Plain) -> tuple[str, str]:
    metadata = item["metadata"]
    return ("" if item["kind"] in CLUSTER_SCOPED else metadata.get("namespace") or "default", metadata["name"])


def _text(settings: Settings, item: Plain) -> str:
    memory = settings.memory
    place = ("text", settings.identity(item))
    if place not in memory:
        memory[place] = hashlib.sha1(json.dumps(item, sort_keys=True).encode()).hexdigest()
    text: str = memory[place]
    return text


def hashed(value: Any) -> str:
    """A short name for a value: what stands in for `pod-template-hash`."""
    return hashlib.sha1(json.dumps(value, sort_keys=True).encode()).hexdigest()[:10]


def is_owned_by(item: Plain, owner: Plain) -> bool:
    return bool(objects.controller_of(item).get("uid") == owner["metadata"]["uid"])


def owner_reference(owner: Plain) -> Plain:
    metadata = owner["metadata"]
    reference = {"apiVersion": owner.get("apiVersion", "apps/v1"), "kind": owner["kind"], "name": metadata["name"]}
    return {**reference, "uid": metadata["uid"], "controller": True, "blockOwnerDeletion": True}


def condition(item: Plain, kind: str) -> Optional[Plain]:
    for found in (item.get("status") or {}).get("conditions") or []:
        if found.get("type") == kind:
            return dict(found)
    return None


def with_condition(item: Plain, **wanted: str) -> Plain:
    """A copy with one condition replaced."""
    status = item.get("status") or {}
    others = [found for found in status.get("conditions") or [] if found.get("type") != wanted["type"]]
    return {**item, "status": {**status, "conditions": [*others, wanted]}}


def is_ready(pod: Plain) -> bool:
    return (condition(pod, "Ready") or {}).get("status") == "True"


def is_active(pod: Plain) -> bool:
    """`IsPodActive`: neither finished nor being deleted."""
    return not objects.is_terminated(pod) and not objects.is_terminating(pod)


def terminated(pod: Plain, **status: Any) -> Plain:
    """A copy of a pod whose deletion has begun."""
    metadata = {**pod["metadata"], "deletionTimestamp": "2900-01-01T00:00:00Z"}
    return {**pod, "metadata": metadata, "status": {**(pod.get("status") or {}), **status}}


def delete_pod(world: World, pod: Plain) -> None:
    """Begin to delete a pod; one without a node, finished, or with no time to end is gone with its last finalizer."""
    at_once = not pod["spec"].get("nodeName") or objects.is_terminated(pod)
    at_once = at_once or pod["spec"].get("terminationGracePeriodSeconds") == 0
    if at_once and not pod["metadata"].get("finalizers"):
        world.remove(pod)
    elif not objects.is_terminating(pod):
        world.put(terminated(pod))
