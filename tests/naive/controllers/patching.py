"""Patches as the API server applies them: JSON patch, merge patch, strategic merge patch.

Source: staging/src/k8s.io/apimachinery/pkg/util/strategicpatch, jsonmergepatch; the merge keys are those of
staging/src/k8s.io/api (v1.36.2).
"""

from __future__ import annotations

import copy
from typing import Any

Plain = dict[str, Any]

# Lists that are merged, by the field that holds them; every other list is replaced.
MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "env": "name",
    "ports": "containerPort",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "topologySpreadConstraints": "topologyKey",
    "imagePullSecrets": "name",
    "taints": "key",
    "conditions": "type",
    "ownerReferences": "uid",
    "hostAliases": "ip",
}


class PatchError(Exception):
    """A patch that the API server refuses."""


def json_patched(value: Plain, ops: list[Plain]) -> Plain:
    """A copy with an RFC 6902 patch applied.

    Raises:
        PatchError: something is not there, or not as the patch says.
    """
    value = copy.deepcopy(value)
    for op in ops:
        try:
            _operate(value, op)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise PatchError(f"{op['op']} {op['path']}: {error}") from error
    return value


def _operate(value: Any, op: Plain) -> None:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in op["path"].split("/")[1:]]
    for step in steps[:-1]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    last: Any = steps[-1]
    if isinstance(value, list) and last != "-":
        last = int(last)
    if op["op"] == "test":
        if value[last] != op["value"]:
            raise ValueError(value[last])
    elif op["op"] == "remove":
        del value[last]
    elif op["op"] not in ("add", "replace"):
        raise ValueError("unknown operation")
    elif isinstance(value, list) and op["op"] == "add":
        at = len(value) if last == "-" else last
        if at > len(value):
            raise IndexError(last)
        value.insert(at, copy.deepcopy(op["value"]))
    else:
        if op["op"] == "replace":
            value[last]
        value[last] = copy.deepcopy(op["value"])


def merged(value: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(value) if isinstance(value, dict) else {}
    for name, item in patch.items():
        if item is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), item)
    return result


def strategic(value: Any, patch: Any, field: str = "") -> Any:
    """A strategic merge: lists with a merge key are merged item by item."""
    if isinstance(patch, dict):
        if patch.get("$patch") == "replace":
            return {name: item for name, item in patch.items() if name != "$patch"}
        result = dict(value) if isinstance(value, dict) else {}
        for name, item in patch.items():
            if item is None:
                result.pop(name, None)
            elif not name.startswith("$"):
                result[name] = strategic(result.get(name), item, name)
        return result
    if isinstance(patch, list) and field in MERGE_KEYS and all(isinstance(item, dict) for item in patch):
        return _merged_list(value or [], patch, MERGE_KEYS[field])
    return copy.deepcopy(patch)


def _merged_list(items: list[Plain], patch: list[Plain], key: str) -> list[Plain]:
    result = list(items)
    for change in patch:
        if change.get("$patch") == "replace":
            return [item for item in patch if "$patch" not in item]
        found = next((at for at, item in enumerate(result) if item.get(key) == change.get(key)), None)
        if change.get("$patch") == "delete":
            result = [item for item in result if item.get(key) != change.get(key)]
        elif found is None:
            result.append(copy.deepcopy(change))
        else:
            result[found] = strategic(result[found], change)
    return result
