"""Patches of objects: strategic merge, JSON merge (RFC 7386), JSON patch (RFC 6902), and the merge of `kubectl apply`.

`kubectl apply` merges three ways: the live object, the manifest, and the manifest that was applied before. Only fields
that the last manifest had and this one lacks are removed. The fields with the patch strategy `retainKeys` are
`strategy` and the items of `volumes`.

Source: staging/src/k8s.io/apimachinery/pkg/util/strategicpatch/patch.go, mergeMap, mergeSlice,
CreateThreeWayMergePatch; staging/src/k8s.io/kubectl/pkg/cmd/apply/patcher.go; the keys of lists are the `patchMergeKey`
tags of staging/src/k8s.io/api/core/v1/types.go (v1.36.2).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, Optional

from kubectl_spread.cluster.shapes import LAST_APPLIED
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.text.scalars import natural

# List fields whose items are merged, and the key field.
KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "env": "name",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "schedulingGates": "name",
    "resourceClaims": "name",
    "ownerReferences": "uid",
    "conditions": "type",
    "addresses": "type",
}
_SETS = frozenset({"finalizers"})  # Lists of strings that are merged.
_PATCH, _FROM, _ORDER, _RETAIN = "$patch", "$deleteFromPrimitiveList/", "$setElementOrder/", "$retainKeys"


class PatchError(ValueError):
    """Error for a patch that does not fit; `str()` is one line."""


def apply_patch(value: Plain, patch: Any, kind: str) -> Plain:
    """Return an object with a patch applied; `kind` is strategic, merge or json.

    Raises:
        PatchError: it does not fit.
    """
    if kind != "json" and not isinstance(patch, dict):
        raise PatchError("a patch is an object")
    changes: dict[str, Callable[[Any, Any], Any]] = {"json": json_patch, "strategic": strategic}
    found = changes.get(kind, merge)(value, patch)
    if not isinstance(found, dict):
        raise PatchError("the patch leaves no object")
    return found


def strategic(value: Plain, patch: Plain) -> Plain:
    """Return an object with a strategic merge patch applied.

    Raises:
        PatchError: it does not fit.
    """
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {key: copy.deepcopy(item) for key, item in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise PatchError(f"unknown patch type: {directive}")
    found = dict(value)
    if _RETAIN in patch:
        found = {key: item for key, item in found.items() if key in patch[_RETAIN]}
    for key, item in patch.items():
        if key.startswith(_FROM):
            name = key.removeprefix(_FROM)
            if isinstance(found.get(name), list) and isinstance(item, list):
                found[name] = [text for text in found[name] if text not in item]
        if key.startswith((_FROM, _PATCH, _ORDER, _RETAIN)):
            continue
        before = found.get(key)
        if item is None:
            found.pop(key, None)
        elif isinstance(item, dict):
            found[key] = strategic(before if isinstance(before, dict) else {}, item)
        elif isinstance(item, list) and key in KEYS:
            found[key] = _merged_list(before if isinstance(before, list) else [], item, KEYS[key])
        elif isinstance(item, list) and key in _SETS and isinstance(before, list):
            found[key] = [*before, *(text for text in item if text not in before)]
        else:
            found[key] = copy.deepcopy(item)
    return found


def _merged_list(before: list[Any], patch: list[Any], by: str) -> list[Any]:
    """Merge lists of objects by a key field; new ones are appended."""
    if any(_directive(item) == "replace" for item in patch):
        return [copy.deepcopy(item) for item in patch if _directive(item) is None]
    found = list(before)
    for item in patch:
        value = _merge_key(item, by)
        at = next((at for at, known in enumerate(found) if known.get(by) == value), None)
        if _directive(item) == "delete":
            found = [known for known in found if known.get(by) != value]
        elif at is None:
            found.append(strategic({}, item))
        else:
            found[at] = strategic(found[at], item)
    return found


def _directive(item: Any) -> Optional[Any]:
    """Return the `$patch` of an item of a list; None if it has none."""
    return item.get(_PATCH) if isinstance(item, dict) else None


def _merge_key(item: Any, by: str) -> Any:
    """Return the value of an item's key field.

    Raises:
        PatchError: the item is not an object, or it has no such field.
    """
    if not isinstance(item, dict):
        raise PatchError(f"the items of this list are objects, not {item!r}")
    if by not in item:
        raise PatchError(f"map: {_as_go(item)} does not contain declared merge key: {by}")
    return item[by]


def _as_go(value: Any) -> str:
    """Return a JSON value as Go prints it with %v: `map[a:1 b:[x y]]`, with sorted keys."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{_as_go(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_as_go, value))}]"
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else str(value)


def merge(value: Any, patch: Any) -> Any:
    """Return a value with a JSON merge patch applied."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    found = dict(value) if isinstance(value, dict) else {}
    for key, item in patch.items():
        if item is None:
            found.pop(key, None)
        else:
            found[key] = merge(found.get(key), item)
    return found


def json_patch(value: Plain, operations: Any) -> Plain:
    """Return an object with the operations of a JSON patch applied, one after the other.

    Raises:
        PatchError: one does not fit.
    """
    if not isinstance(operations, list):
        raise PatchError("a JSON patch is a list of operations")
    found = copy.deepcopy(value)
    for operation in operations:
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise PatchError(f"an operation has `op` and `path`, and this one has not: {operation}")
        found = _operated(found, operation)
    return found


def _operated(found: Any, operation: Plain) -> Any:
    op, path = operation.get("op"), operation["path"]
    if op in ("add", "replace", "test") and "value" not in operation:
        raise PatchError(f"{op} operation at {path} has no value")
    if op == "add":
        return _put(found, path, copy.deepcopy(operation["value"]), is_new=True)
    if op == "replace":
        _get(found, _steps(path), path)
        return _put(found, path, copy.deepcopy(operation["value"]), is_new=False)
    if op == "remove":
        return _removed(found, path)
    if op == "test":
        if _get(found, _steps(path), path) != operation["value"]:
            raise PatchError(f"testing value {path} failed")
        return found
    if op in ("copy", "move"):
        origin = str(operation.get("from"))
        taken = copy.deepcopy(_get(found, _steps(origin), origin))
        return _put(_removed(found, origin) if op == "move" else found, path, taken, is_new=True)
    raise PatchError(f"unexpected kind of operation: {op}")


def _steps(path: str) -> list[str]:
    if path and not path.startswith("/"):
        raise PatchError(f"a path begins with a slash: {path}")
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _get(found: Any, steps: list[str], path: str) -> Any:
    """Return the value to which the steps lead; `path` is for the message."""
    for step in steps:
        at = natural(step)
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and at is not None and at < len(found):
            found = found[at]
        else:
            raise PatchError(f"the path {path} does not exist")
    return found


def _put(found: Any, path: str, value: Any, *, is_new: bool) -> Any:
    steps = _steps(path)
    if not steps:
        return value
    parent, last = _get(found, steps[:-1], path), steps[-1]
    at = len(parent) if isinstance(parent, list) and is_new and last == "-" else natural(last)
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list) and at is not None and is_new and at <= len(parent):
        parent.insert(at, value)
    elif isinstance(parent, list) and at is not None and at < len(parent):
        parent[at] = value
    else:
        raise PatchError(f"the path {path} does not exist")
    return found


def _removed(found: Any, path: str) -> Any:
    steps = _steps(path)
    _get(found, steps, path)
    if not steps:
        raise PatchError("the whole object cannot be removed")
    parent = _get(found, steps[:-1], path)
    del parent[int(steps[-1]) if isinstance(parent, list) else steps[-1]]
    return found


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
    merged = strategic(live, _changes(live, manifest, before or {}))
    return _retained(_in_order(merged, manifest), live, manifest)


def _changes(live: Plain, manifest: Plain, before: Plain) -> Plain:
    """Return the patch that kubectl sends: fields that differ, and null for fields that only the last manifest had.

    Of two constraints of one topologyKey, the API server changes the first, whichever of them differs (SPR606).
    """
    left: Plain = {field: None for field in before if field not in manifest}
    for field, item in manifest.items():
        own, old = live.get(field), before.get(field)
        if isinstance(item, dict) and isinstance(own, dict):
            left[field] = _changes(own, item, old if isinstance(old, dict) else {})
        elif isinstance(item, list) and isinstance(own, list) and field in KEYS:
            left[field] = _changed_items(own, item, old if isinstance(old, list) else [], KEYS[field])
        elif own != item:
            left[field] = item
    return left


def _changed_items(own: list[Any], items: list[Any], before: list[Any], by: str) -> list[Plain]:
    """Return the objects of a list that change something; those of one key are compared in order."""
    rest = [item for item in own if isinstance(item, dict)]
    old = _by_key(before, by)
    found: list[Plain] = [{by: value, _PATCH: "delete"} for value in old.keys() - _by_key(items, by).keys()]
    for item in items:
        value = _merge_key(item, by)
        at = next((at for at, known in enumerate(rest) if known.get(by) == value), None)
        changed = item if at is None else _changes(rest.pop(at), item, old.get(value, {}))
        found += [{**changed, by: value}] if changed else []
    return found


def _in_order(found: Plain, manifest: Plain) -> Plain:
    """Return an object whose lists of objects follow the order of the manifest; other items come last."""
    ordered = dict(found)
    for field, wanted in manifest.items():
        own = ordered.get(field)
        if isinstance(wanted, dict) and isinstance(own, dict):
            ordered[field] = _in_order(own, wanted)
        elif isinstance(wanted, list) and isinstance(own, list) and field in KEYS:
            key = KEYS[field]
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
    if isinstance(strategy, dict) and spec.get("strategy") != fields(live, "spec").get("strategy"):
        spec = {**spec, "strategy": {field: spec["strategy"][field] for field in strategy}}
    pod = fields(spec, "template", "spec")
    named = _by_key(fields(wanted, "template", "spec").get("volumes") or [], "name")
    if named and isinstance(pod.get("volumes"), list):
        volumes = [
            {name: item[name] for name in named[item["name"]] if name in item} if item.get("name") in named else item
            for item in pod["volumes"]
        ]
        spec = {**spec, "template": {**spec["template"], "spec": {**pod, "volumes": volumes}}}
    return {**found, "spec": spec}
