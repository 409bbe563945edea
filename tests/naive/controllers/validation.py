"""What the API server refuses of the objects that commands write.

Source: pkg/apis/apps/validation, pkg/apis/batch/validation, pkg/apis/core/validation (v1.36.2): the rules that a patch
of a workload can break.
"""

from __future__ import annotations

from typing import Any

from tests.naive import selectors
from tests.naive.controllers.patching import PatchError

Plain = dict[str, Any]


class InvalidError(PatchError):
    """The object would be wrong, or a field changes that may not."""


# What may not change of a workload; the API server drops fields that the kind does not have.
_IMMUTABLE = {
    "StatefulSet": {"serviceName", "selector", "podManagementPolicy", "volumeClaimTemplates"},
    "Job": {
        "completions",
        "completionMode",
        "selector",
        "template",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    },
}
# What may change of others, beside metadata.
_CHANGEABLE = {
    "Pod": {"activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"},
    "PersistentVolumeClaim": {"resources", "volumeAttributesClassName"},
}
_OF_JOB = ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name")


def update(before: Plain, after: Plain) -> None:
    """Check an update.

    Raises:
        InvalidError: the API server refuses it.
    """
    kind = after["kind"]
    old, new = before.get("spec") or {}, after.get("spec") or {}
    changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    wrong = changed & _IMMUTABLE.get(kind, set())
    if kind == "Job":
        wrong = _of_job(old, new, wrong)
    if kind in _CHANGEABLE:
        wrong = changed - _CHANGEABLE[kind]
    if wrong:
        raise InvalidError(f"{kind} {after['metadata']['name']}: {', '.join(sorted(wrong))} is immutable")
    kept = new.get("tolerations") or []
    if kind == "Pod" and any(item not in kept for item in old.get("tolerations") or []):
        raise InvalidError("a toleration of a pod may only be added")
    if kind in ("Deployment", "ReplicaSet", "DaemonSet") and "selector" in changed:
        raise InvalidError("spec.selector is immutable")
    if kind == "StorageClass" and before != after:
        raise InvalidError("a StorageClass is immutable")
    _template(after)
    _strategy(after)


def _of_job(old: Plain, new: Plain, changed: set[str]) -> set[str]:
    """The changes of a Job but for those that are allowed to some Jobs only."""
    left = set(changed)
    if old.get("completionMode") == "Indexed" and new.get("completions") == new.get("parallelism", 1):
        left.discard("completions")
    if old.get("suspend") and _bare(old) == _bare(new):
        left.discard("template")
    return left


def _bare(spec: Plain) -> Plain:
    """A pod's spec without all that says where it may run."""
    pod = {key: value for key, value in spec["template"]["spec"].items() if value}
    for name in ("nodeSelector", "tolerations", "schedulingGates"):
        pod.pop(name, None)
    affinity = {key: value for key, value in (pod.pop("affinity", None) or {}).items() if key != "nodeAffinity"}
    return {**pod, "affinity": affinity} if affinity else pod


def create(item: Plain) -> None:
    """Check an object that is new.

    Raises:
        InvalidError: the API server refuses it.
    """
    if item["kind"] == "Job" and not item["spec"].get("manualSelector"):
        labels = (item["spec"]["template"].get("metadata") or {}).get("labels") or {}
        left = [name for name in _OF_JOB if name in labels]
        if item["spec"].get("selector") or left:
            raise InvalidError(
                f"Job {item['metadata']['name']}: the selector or the labels {left} are those of another"
            )
    _template(item)


def write_selector(item: Plain) -> None:
    """Write what the API server adds to a Job."""
    uid, name = item["metadata"].get("uid") or "", item["metadata"]["name"]
    item["spec"]["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    labels = item["spec"]["template"].setdefault("metadata", {}).setdefault("labels", {})
    labels.update(dict(zip(_OF_JOB, (uid, uid, name, name), strict=True)))


def _template(item: Plain) -> None:
    """The selector of a workload must match its template."""
    spec = item.get("spec") or {}
    if item["kind"] not in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet") or not spec.get("selector"):
        return
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    if not selectors.label_selector_as_selector(spec["selector"]).matches(labels):
        raise InvalidError(f"{item['kind']} {item['metadata']['name']}: `selector` does not match template `labels`")


def _strategy(item: Plain) -> None:
    """Nothing too many and nothing too few cannot be rolled out; Recreate has no numbers."""
    strategy = (item.get("spec") or {}).get("strategy") or {}
    rolling = strategy.get("rollingUpdate") or {}
    if item["kind"] != "Deployment":
        return
    if strategy.get("type") == "Recreate" and rolling:
        raise InvalidError(
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is Recreate"
        )
    zero = (0, "0%")
    if rolling.get("maxSurge", "25%") in zero and rolling.get("maxUnavailable", "25%") in zero:
        raise InvalidError("spec.strategy.rollingUpdate.maxUnavailable: may not be 0 when `maxSurge` is 0")
