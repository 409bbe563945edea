"""Suggestions done to plain objects as their documents say, by nothing of the program.

A change of a template is what its controller makes of it: the pods that wait are deleted, and created from the new
template, of a new revision; those that run stay.
"""

from __future__ import annotations

import copy
from typing import Any

Plain = dict[str, Any]

NEW_REVISION = "changed"
_REVISION_LABELS = {"Deployment": "pod-template-hash", "StatefulSet": "controller-revision-hash"}
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def applied(objects: list[Plain], waiting: list[Plain], changes: list[Plain]) -> tuple[list[Plain], list[Plain]]:
    """The objects and the pods that wait, once all changes are done.

    Args:
        objects: of the cluster, the pods that wait left out.
        waiting: the workload's pods that wait.
        changes: of a suggestion.
    """
    objects, waiting = _apart(objects), _apart(waiting)
    for change in changes:
        if change["kind"] == "Node":
            objects = _of_node(objects, change)
        elif change["kind"] == "PersistentVolumeClaim" and "added" in change:
            objects = [*objects, *copy.deepcopy(change["added"])]
        elif change["kind"] == "PersistentVolumeClaim":
            names = change.get("deleted") or [change["name"]]
            objects = [_unbound(item) if _is(item, change, names) else item for item in objects]
        elif change["kind"] == "StorageClass":
            found = next(item for item in objects if _is(item, change, [change["name"]]))
            patched(found, change["patch"])
        elif "patch" in change and change["patch"][0]["path"].startswith("/spec/strategy"):
            objects = [item for item in objects if not _is_pod(item, change["deletesFirst"])]
        elif "patch" in change:
            _template(waiting, change)
        elif "replaced" in change:
            continue  # The pod waits again.
        else:
            gone = [item for item in objects if _is_pod(item, change["deleted"])]
            objects = [item for item in objects if item not in gone]
            waiting += [_anew(item) for item in gone if "replicas" not in change and not _is_terminating(item)]
    return objects, waiting


def _apart(items: list[Plain]) -> list[Plain]:
    """Copies that share nothing, not even with each other."""
    return [copy.deepcopy(item) for item in items]


def patched(value: Any, ops: list[Plain]) -> None:
    """Apply an RFC 6902 patch in place."""
    for op in ops:
        steps = [step.replace("~1", "/").replace("~0", "~") for step in op["path"].split("/")[1:]]
        at = value
        for step in steps[:-1]:
            at = at[int(step)] if isinstance(at, list) else at[step]
        last: Any = steps[-1]
        if isinstance(at, list) and last != "-":
            last = int(last)
        if op["op"] == "test":
            assert at[last] == op["value"]
        elif op["op"] == "remove":
            del at[last]
        elif isinstance(at, list):
            at.insert(len(at) if last == "-" else last, copy.deepcopy(op["value"]))
        else:
            at[last] = copy.deepcopy(op["value"])


def _template(waiting: list[Plain], change: Plain) -> None:
    """The pods that wait are made of the changed template."""
    prefix = "/spec" if change["kind"] == "Pod" else "/spec/template/spec"
    ops = [{**op, "path": op["path"].removeprefix(prefix)} for op in change["patch"]]
    label = _REVISION_LABELS.get(change["kind"], "")
    for item in waiting:
        patched(item["spec"], ops)
        if label in item["metadata"]["labels"]:
            item["metadata"]["labels"][label] = NEW_REVISION
        item["status"] = {}


def _of_node(objects: list[Plain], change: Plain) -> list[Plain]:
    if "deleted" in change:
        return [item for item in objects if not _is(item, change, change["deleted"])]
    for item in objects:
        if _is(item, change, [change["name"]]):
            _node(item, change)
    return objects + copy.deepcopy(change.get("added") or [])


def _node(item: Plain, change: Plain) -> None:
    labels, spec = item["metadata"]["labels"], item["spec"]
    for key, value in (change.get("labels") or {}).items():
        labels.pop(key, None)
        if value is not None:
            labels[key] = value
    taints = spec.get("taints") or []
    if "unschedulable" in change:
        spec["unschedulable"] = False
        taints = [taint for taint in taints if taint["key"] != CORDON["key"]]
    if "taintAdded" in change:
        taints = [*taints, CORDON]
    removed = change.get("taintsRemoved") or [change.get("taintRemoved")]
    spec["taints"] = [taint for taint in taints if _text(taint) not in removed]


def _text(taint: Plain) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def _is(item: Plain, change: Plain, names: list[str]) -> bool:
    return item["kind"] == change["kind"] and item["metadata"]["name"] in names


def _is_pod(item: Plain, names: list[str]) -> bool:
    return item["kind"] == "Pod" and item["metadata"]["name"] in names


def _is_terminating(item: Plain) -> bool:
    return "deletionTimestamp" in item["metadata"]


def _anew(item: Plain) -> Plain:
    """The pod that a controller creates in the place of another."""
    item = copy.deepcopy(item)
    item["spec"].pop("nodeName", None)
    item["status"] = {}
    return item


def _unbound(item: Plain) -> Plain:
    """A claim made anew."""
    spec = {name: value for name, value in item["spec"].items() if name != "volumeName"}
    metadata = {"name": item["metadata"]["name"], "namespace": item["metadata"]["namespace"], "uid": "anew"}
    return {**item, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
