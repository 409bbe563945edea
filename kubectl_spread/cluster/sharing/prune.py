"""Pruning of snapshots: an object keeps the fields that this program reads, and no others.

A table of fields to keep, on top of the tables of fields that must decode (`shapes.SHAPES`). Environment, arguments,
commands, mounts and images' contents are in neither. Only the annotations named there are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from kubectl_spread.cluster.building.shapes import ANNOTATIONS, CONTROLLERS, is_of_another_group, LAST_APPLIED, SHAPES
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.workloads.kinds import KINDS

Plain = dict[str, Any]

# Fields that are ignored if they do not decode, or whose presence alone matters.
_STRINGS = decode.ListOf(decode.Atom.STRING)
_ROLLING = decode.Struct("RollingUpdate", dict.fromkeys(("maxSurge", "maxUnavailable", "partition"), decode.Atom.ANY))
_STRATEGY = decode.Struct("Strategy", {"type": decode.Atom.STRING, "rollingUpdate": _ROLLING})
_CONTROLLER_EXTRA: dict[str, Any] = {
    **dict.fromkeys(("strategy", "updateStrategy"), _STRATEGY),
    **dict.fromkeys(("podManagementPolicy",), decode.Atom.STRING),
    "paused": decode.Atom.BOOL,
    **dict.fromkeys(("minReadySeconds", "revisionHistoryLimit"), decode.Atom.INT32),
}
_ON_CONDITION = decode.Struct(
    "PodFailurePolicyOnPodConditionsPattern", dict.fromkeys(("type", "status"), decode.Atom.STRING)
)
_FAILURE_RULE = decode.Struct(
    "PodFailurePolicyRule", {"action": decode.Atom.STRING, "onPodConditions": decode.ListOf(_ON_CONDITION)}
)
_JOB_EXTRA: dict[str, Any] = {
    **dict.fromkeys(("backoffLimit", "backoffLimitPerIndex"), decode.Atom.INT32),
    "podReplacementPolicy": decode.Atom.STRING,
    "podFailurePolicy": decode.Struct("PodFailurePolicy", {"rules": decode.ListOf(_FAILURE_RULE)}),
}
_CLAIM_SPEC = decode.Struct(
    "PersistentVolumeClaimSpec", {"storageClassName": decode.Atom.STRING, "accessModes": _STRINGS}
)
_PHASE = decode.Struct("VolumeStatus", {"phase": decode.Atom.STRING})
# By Go type.
_EXTRA: dict[str, dict[str, Any]] = {
    "ObjectMeta": {
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), decode.Atom.STRING),
        "finalizers": _STRINGS,
    },
    "PodCondition": {"lastTransitionTime": decode.Atom.STRING},
    "ObjectReference": {"uid": decode.Atom.STRING},
    "PersistentVolumeClaim": {"spec": _CLAIM_SPEC, "status": _PHASE},
    "PersistentVolume": {"status": _PHASE},
    "PodDisruptionBudgetSpec": dict.fromkeys(
        ("minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy"), decode.Atom.ANY
    ),
    "JobSpec": _CONTROLLER_EXTRA | _JOB_EXTRA,
    **{f"{kind}Spec": _CONTROLLER_EXTRA for kind in KINDS if kind not in ("Pod", "PodTemplate", "Service", "Job")},
}
# Looked at only for being there.
_THERE = {("PodDisruptionBudgetStatus", "disruptedPods"), ("PodSpec", "resourceClaims")}


def prune_object(plain: Plain) -> Optional[Plain]:
    """Return an object without the fields that are not read; None for a kind that is not read. It must decode."""
    shape = SHAPES.get(str(plain.get("kind")))
    if shape is None or is_of_another_group(plain):
        return None
    found = _kept(plain, shape)
    if isinstance(found, dict) and plain["kind"] in CONTROLLERS:
        _add_last_applied(found, plain)
    named: Plain = {field: plain[field] for field in ("apiVersion", "kind") if isinstance(plain.get(field), str)}
    return {**named, **found} if isinstance(found, dict) else None


def _add_last_applied(found: Plain, plain: Plain) -> None:
    """Add the manifest that was applied last, without the fields that are not read."""
    annotations = (plain.get("metadata") or {}).get("annotations") or {}
    try:
        applied = json.loads(annotations.get(LAST_APPLIED) or "null")
    except ValueError:
        return
    if (
        isinstance(applied, dict)
        and applied.get("kind") == plain["kind"]
        and decode.decodes(applied, SHAPES[plain["kind"]])
    ):
        text = json.dumps(prune_object(applied), separators=(",", ":"), sort_keys=True)
        found["metadata"].setdefault("annotations", {})[LAST_APPLIED] = text


def fields_of(struct: decode.Struct) -> dict[str, decode.Shape]:
    """Return the fields that are kept of a Go type."""
    return {**_EXTRA.get(struct.name, {}), **struct.fields}


def _kept(value: Any, shape: decode.Shape) -> Any:
    if isinstance(shape, decode.ListOf):
        return [_kept(item, shape.item) for item in value] if isinstance(value, list) else None
    if not isinstance(shape, decode.Struct):
        return value
    if not isinstance(value, dict):
        return None
    fields = fields_of(shape)
    found: Plain = {}
    for key, item in value.items():
        if key in fields and item is not None:
            found[key] = _there(item) if (shape.name, key) in _THERE else _kept(item, fields[key])
    if shape.name == "ObjectMeta" and "annotations" in found:
        found["annotations"] = {key: text for key, text in found["annotations"].items() if key in ANNOTATIONS}
        if not found["annotations"]:
            del found["annotations"]
    return found


def _there(value: Any) -> Any:
    """Return the keys of a mapping without their values, or an empty mapping for each item of a list."""
    if isinstance(value, dict):
        return dict.fromkeys(value)
    return [{} for _ in value] if isinstance(value, list) else None


def drop_idle_events(objects: Iterable[Plain]) -> Iterator[Plain]:
    """Keep only the events of pods without a node, of unbound claims, and of pods that were not created."""
    every = list(objects)
    waiting = {
        (plain["kind"], _namespace(plain), (plain.get("metadata") or {}).get("name"))
        for plain in every
        if _waits(plain)
    }
    for plain in every:
        if plain.get("kind") != "Event" or _is_relevant(plain, waiting):
            yield plain


def _waits(plain: Plain) -> bool:
    """Return whether an object is a pod without a node, or a claim without a volume."""
    spec = plain.get("spec") or {}
    if plain.get("kind") == "Pod":
        return not spec.get("nodeName")
    return plain.get("kind") == "PersistentVolumeClaim" and not spec.get("volumeName")


def _is_relevant(event: Plain, waiting: set[tuple[str, str, Any]]) -> bool:
    about = event.get("involvedObject") or event.get("regarding") or {}
    kind = about.get("kind")
    if kind in ("Pod", "PersistentVolumeClaim"):
        return (kind, about.get("namespace") or "default", about.get("name")) in waiting
    return str(event.get("reason") or "").startswith("Failed")


def _namespace(plain: Plain) -> str:
    return (plain.get("metadata") or {}).get("namespace") or "default"
