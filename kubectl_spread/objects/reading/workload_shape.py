"""The Go types of the kinds with pod templates, limited to what a workload depends on."""

from __future__ import annotations

import functools
from typing import Any

from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.workloads.kinds import EVERY, WorkloadKind
from kubectl_spread.text.node import Route

_TYPES = decode.types(
    """\
StatefulSetOrdinals: start int32
PersistentVolumeClaim: metadata ObjectMeta; spec PersistentVolumeClaimSpec
Counts: replicas, parallelism, completions int32; completionMode string; suspend bool; ordinals StatefulSetOrdinals;
  volumeClaimTemplates []PersistentVolumeClaim
RollingUpdate: partition, maxUnavailable, maxSurge intstr.IntOrString
Strategy: type string; rollingUpdate RollingUpdate
Meta: metadata ObjectMeta
""",
    decode.TYPES,
)
# A misspelt field of the controller's own selector is kubectl's matter; values of the wrong type refuse the object.
_SELECTOR = decode.LABEL_SELECTOR._replace(closed=False)
_MAP_SELECTED = ("ReplicationController", "DeploymentConfig")


def problems(kind: WorkloadKind, plain: dict[str, Any]) -> list[decode.Problem]:
    """Return everything in an object that does not decode. For a kind from the configuration, look only at its pods."""
    if kind.names:
        return decode.problems(plain, type_of_kind(kind))
    found = []
    for place in kind.places(plain):
        pod: Any = plain
        for step in place.template:
            pod = pod[step]
        leaf = decode.POD_SPEC if place.template == place.spec else decode.POD_TEMPLATE_SPEC
        found += [item._replace(route=(*place.template, *item.route)) for item in decode.problems(pod, leaf)]
    return found


@functools.cache
def type_of_kind(kind: WorkloadKind) -> decode.Struct:
    """Return the type of a kind, from the root to its pods."""
    if () in kind.templates:
        return decode.POD
    tree: dict[Any, Any] = {}
    for template in kind.templates:
        branch = tree
        for step in template[:-1]:
            branch = branch.setdefault(step, {})
        branch[template[-1]] = decode.POD_TEMPLATE_SPEC
    if kind.kind == "LeaderWorkerSet" and not kind.is_foreign:
        tree["spec"]["leaderWorkerTemplate"]["size"] = decode.Atom.INT32
    found = _struct(kind, tree, (kind.kind,))
    return found._replace(fields={**_TYPES["Meta"].fields, **found.fields})


def _struct(kind: WorkloadKind, tree: dict[Any, Any], passed: Route) -> decode.Struct:
    fields = {step: _shape(kind, below, (*passed, step)) for step, below in tree.items()}
    counts = passed[1:] in (("spec",), ("jobTemplate", "spec"), ("spec", "jobTemplate", "spec"))
    has_counts = counts and not kind.is_foreign and kind.kind != "Service"
    if not has_counts:
        return decode.Struct(_name(passed), fields)
    selector: decode.Shape = decode.MapOf(decode.Atom.STRING) if kind.kind in _MAP_SELECTED else _SELECTOR
    name = "strategy" if kind.kind == "Deployment" else "updateStrategy"
    strategy = _TYPES["Strategy"]._replace(name=f"{kind.kind}{name[:1].upper()}{name[1:]}")
    return decode.Struct(_name(passed), {**_TYPES["Counts"].fields, name: strategy, "selector": selector, **fields})


def _shape(kind: WorkloadKind, tree: Any, passed: Route) -> decode.Shape:
    if not isinstance(tree, dict):
        leaf: decode.Shape = tree
        return leaf
    if EVERY in tree:
        return decode.ListOf(_shape(kind, tree[EVERY], passed))
    return _struct(kind, tree, passed)


def _name(passed: Route) -> str:
    """Return Go's name of the type: the kind, its spec, and below that by the fields."""
    kind, *steps = map(str, passed)
    if not steps:
        return kind
    if steps == ["spec"]:
        return f"{kind}Spec"
    if kind == "CronJob":
        return "JobTemplateSpec" if steps == ["spec", "jobTemplate"] else "JobSpec"
    return "".join(step[:1].upper() + step[1:] for step in steps if step != "spec")
