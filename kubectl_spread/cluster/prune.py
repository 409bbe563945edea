"""Pruning of snapshots: an object keeps the fields that this program reads, and no others.

A table of fields to keep, on top of the tables of fields that must decode (`shapes.SHAPES`). Environment, arguments,
commands, mounts and images' contents are in neither. Only the annotations named there are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from kubectl_spread.cluster.shapes import ANNOTATIONS, CONTROLLERS, is_of_another_group, LAST_APPLIED, SHAPES
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, name_of, Plain

# Fields that are ignored if they do not decode, or whose presence alone matters, by Go type.
_EXTRA = decode.types(
    """\
ObjectMeta: creationTimestamp, deletionTimestamp string; finalizers []string
PodCondition: lastTransitionTime string
PodSpec: terminationGracePeriodSeconds int64
ObjectReference: uid string
VolumeStatus: phase string
PersistentVolumeClaim: status VolumeStatus
PodDisruptionBudgetSpec: minAvailable, maxUnavailable, unhealthyPodEvictionPolicy any
RollingUpdate: maxSurge, maxUnavailable, partition any
Strategy: type string; rollingUpdate RollingUpdate
Controller: strategy, updateStrategy Strategy; podManagementPolicy string; paused bool;
  minReadySeconds, revisionHistoryLimit int32
PodFailurePolicyOnPodConditionsPattern: type, status string
PodFailurePolicyRule: action string; onPodConditions []PodFailurePolicyOnPodConditionsPattern
PodFailurePolicy: rules []PodFailurePolicyRule
JobSpec: backoffLimit, backoffLimitPerIndex int32; podReplacementPolicy string; podFailurePolicy PodFailurePolicy
"""
)
_SPECS = tuple(f"{kind}Spec" for kind in CONTROLLERS)
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
    annotations = fields(plain, "metadata", "annotations")
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
    extra = _EXTRA[struct.name].fields if struct.name in _EXTRA else {}
    return {**(_EXTRA["Controller"].fields if struct.name in _SPECS else {}), **extra, **struct.fields}


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
    awaited = {"Pod": "nodeName", "PersistentVolumeClaim": "volumeName"}  # by kind
    waiting = {
        (kind, *name_of(plain))
        for plain in every
        if (kind := plain.get("kind")) in awaited and not fields(plain, "spec").get(awaited[kind])
    }
    for plain in every:
        about = plain.get("involvedObject") or fields(plain, "regarding")
        if plain.get("kind") != "Event":
            yield plain
        elif about.get("kind") in awaited:
            if (about["kind"], about.get("namespace") or "default", about.get("name") or "") in waiting:
                yield plain
        elif str(plain.get("reason") or "").startswith("Failed"):
            yield plain
