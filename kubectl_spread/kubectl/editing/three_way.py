"""The three-way merge of `kubectl apply`: the live object, the manifest, and the manifest that was applied before.

Source: staging/src/k8s.io/apimachinery/pkg/util/strategicpatch/patch.go, CreateThreeWayMergePatch;
staging/src/k8s.io/kubectl/pkg/cmd/apply/patcher.go (v1.36.2). Only fields that the last manifest had and this one lacks
are removed. The fields with the patch strategy `retainKeys` are `strategy` and the items of `volumes`.
"""

from __future__ import annotations

import json
from typing import Any, Optional

from kubectl_spread.cluster.building.shapes import LAST_APPLIED
from kubectl_spread.kubectl.editing import merging

Plain = dict[str, Any]


def last_applied(annotations: dict[str, str]) -> Optional[Plain]:
    """Return the manifest in the annotation of `kubectl apply`; None if there is none."""
    try:
        found = json.loads(annotations.get(LAST_APPLIED, ""))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def three_way_merge(live: Plain, manifest: Plain, before: Optional[Plain]) -> Plain:
    """Return the live object after the manifest is applied.

    Args:
        live: the object as it is.
        manifest: the new manifest.
        before: the manifest that was applied last; None if it is unknown, so that no field is removed.

    Raises:
        PatchError: the manifest does not fit, for example an item of a list lacks its key.
    """
    merged = merging.strategic(live, manifest)
    left = merged if before is None else _without(merged, before, manifest)
    return _retained(_in_order(left, manifest), live, manifest)


def _without(found: Plain, before: Plain, after: Plain) -> Plain:
    """Return an object without the fields that were applied before and are not any more."""
    left = dict(found)
    for field, old in before.items():
        if field not in left:
            continue
        if field not in after:
            del left[field]
        elif isinstance(old, dict) and isinstance(after[field], dict) and isinstance(left[field], dict):
            left[field] = _without(left[field], old, after[field])
        elif isinstance(old, list) and isinstance(after[field], list) and field in merging.KEYS:
            left[field] = _items_without(left[field], old, after[field], key=merging.KEYS[field])
    return left


def _items_without(found: list[Any], before: list[Any], after: list[Any], *, key: str) -> list[Any]:
    """Return a list of objects, without objects that only the earlier manifest has."""
    old, new = _by_key(before, key), _by_key(after, key)
    return [
        _without(item, old[item[key]], new[item[key]]) if item.get(key) in old else item
        for item in found
        if item.get(key) not in old or item[key] in new
    ]


def _in_order(found: Plain, manifest: Plain) -> Plain:
    """Return an object whose lists of objects follow the order of the manifest; other items come last."""
    ordered = dict(found)
    for field, wanted in manifest.items():
        own = ordered.get(field)
        if isinstance(wanted, dict) and isinstance(own, dict):
            ordered[field] = _in_order(own, wanted)
        elif isinstance(wanted, list) and isinstance(own, list) and field in merging.KEYS:
            key = merging.KEYS[field]
            at = {name: place for place, name in enumerate(_by_key(wanted, key))}
            ordered[field] = sorted(own, key=lambda item, at=at, key=key: at.get(item.get(key), len(at)))  # type: ignore[misc]
    return ordered


def _by_key(items: list[Any], key: str) -> dict[Any, Plain]:
    return {item[key]: item for item in items if isinstance(item, dict) and key in item}


def _retained(found: Plain, live: Plain, manifest: Plain) -> Plain:
    """Return a workload whose changed strategy and volumes only have the fields of the manifest."""
    spec, wanted = found.get("spec"), manifest.get("spec")
    if not isinstance(spec, dict) or not isinstance(wanted, dict):
        return found
    strategy = wanted.get("strategy")
    if isinstance(strategy, dict) and spec.get("strategy") != (live.get("spec") or {}).get("strategy"):
        spec = {**spec, "strategy": {field: spec["strategy"][field] for field in strategy}}
    return {**found, "spec": _with_volumes(spec, wanted)}


def _with_volumes(spec: Plain, wanted: Plain) -> Plain:
    """Return a spec whose pod template has the sources of volumes that the manifest names."""
    pod = (spec.get("template") or {}).get("spec") or {}
    named = _by_key(((wanted.get("template") or {}).get("spec") or {}).get("volumes") or [], "name")
    if not named or not isinstance(pod.get("volumes"), list):
        return spec
    volumes = [
        {field: item[field] for field in named[item["name"]] if field in item} if item.get("name") in named else item
        for item in pod["volumes"]
    ]
    return {**spec, "template": {**spec["template"], "spec": {**pod, "volumes": volumes}}}
