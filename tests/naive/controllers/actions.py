"""What users do: the steps of recordings, and what kubectl does to objects.

A script is a sequence of actions, each a verb with its argument. The next one is done whenever its turn comes, so that
controllers may act in between. Source of `drain`: staging/src/k8s.io/kubectl/pkg/drain (v1.36.2).
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

from tests.naive import objects
from tests.naive.controllers import admission, disruption, job, nodes, patching, persistentvolume
from tests.naive.controllers.world import delete_pod, is_active, World

Plain = dict[str, Any]
Action = tuple[str, Any]

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"


def script_of(step: Plain, number: int) -> tuple[Action, ...]:
    """The actions of one step of a recording, in their order."""
    found: list[Action] = []
    for verb, argument in step.items():
        if verb == "after":
            continue
        if verb == "drain":
            found.append((verb, _listed(argument)))
        elif verb == "restart":
            found += [(verb, {**item, "value": str(number)}) for item in _listed(argument)]
        else:
            found += [(verb, item) for item in _listed(argument)]
    return tuple(found)


def _listed(argument: Any) -> list[Any]:
    return argument if isinstance(argument, list) else [argument]


def sync(world: World) -> Iterator[World]:
    """Do the next action; a drain that is under way goes on first."""
    if world.drain is not None:
        yield from _drain_on(world)
        return
    if not world.script:
        return
    verb, argument = world.script[0]
    if verb == "wait":
        waited = [*world.pods(), *world.list("PersistentVolumeClaim")]
        if not any(argument == item["metadata"]["uid"] for item in waited):
            yield _next(world)
        return
    if verb == "deleteSet":
        yield from _one_of(world, argument)
        return
    if verb.startswith("kubectl"):
        yield from _kubectl(verb)(_next(world), argument)
        return
    yield from _VERBS[verb](_next(world), argument)


def _kubectl(verb: str) -> Any:
    from tests.naive.controllers import kubectl  # which imports this module

    return {"kubectl": kubectl.run, "kubectl-delete": kubectl.delete_one, "kubectl-create": kubectl.create_again}[verb]


def _next(world: World, *before: Action) -> World:
    after = world.copy()
    after.script = (*before, *world.script[1:])
    return after


def _apply(world: World, manifest: Plain) -> Iterator[World]:
    apply(world, manifest)
    yield world


def apply(world: World, manifest: Plain, *, namespace: str = "default") -> None:
    """Server-side apply: what the manifest says replaces what it said before; `restartedAt` is another's."""
    where = manifest["metadata"].get("namespace") or namespace
    found = world.get(manifest["kind"], manifest["metadata"]["name"], where)
    said = [name for name in _KEPT if name in (manifest.get("spec") or {})]
    if found is None:
        metadata = {**manifest["metadata"], **({"applied": said} if said else {})}
        admission.create(world, {**manifest, "metadata": metadata}, namespace=namespace)
        return
    spec = copy.deepcopy(manifest.get("spec") or {})
    restarted = _template_annotations(found).get(RESTARTED_AT)
    if restarted is not None and "template" in spec:
        metadata = spec["template"].setdefault("metadata", {})
        metadata["annotations"] = {**(metadata.get("annotations") or {}), RESTARTED_AT: restarted}
    for name in _KEPT:  # unless the last manifest said it, and this one does not
        if name in found["spec"] and name not in spec and name not in found["metadata"].get("applied", ()):
            spec[name] = found["spec"][name]
    labels = {**objects.labels_of(found), **(manifest["metadata"].get("labels") or {})}
    world.put({**found, "metadata": {**found["metadata"], "labels": labels, "applied": said}, "spec": spec})


_KEPT = ("paused", "replicas")


def _template_annotations(item: Plain) -> Plain:
    found: Plain = ((item["spec"].get("template") or {}).get("metadata") or {}).get("annotations") or {}
    return found


def _find(world: World, reference: Plain) -> Plain:
    namespace = reference.get("namespace") or "default"
    found = world.get(reference["kind"], reference["name"], namespace)
    if found is None:
        raise patching.PatchError(f"{reference['kind']} {reference['name']} not found")
    return found


def _scale(world: World, wanted: Plain) -> Iterator[World]:
    found = _find(world, wanted)
    world.put({**found, "spec": {**found["spec"], "replicas": wanted["replicas"]}})
    yield world


def _restart(world: World, reference: Plain) -> Iterator[World]:
    found = world.edit(_find(world, reference))
    metadata = found["spec"]["template"].setdefault("metadata", {})
    metadata["annotations"] = {**(metadata.get("annotations") or {}), RESTARTED_AT: reference["value"]}
    yield world


def _patch(world: World, change: Plain) -> Iterator[World]:
    found = _find(world, change)
    after = patched(found, change["patch"], kind=change.get("type") or "strategic")
    world.put(after)
    yield world


def patched(item: Plain, patch: Any, *, kind: str) -> Plain:
    """An object with a patch of one of the three kinds applied."""
    if kind == "json":
        return patching.json_patched(item, patch)
    result: Plain = patching.merged(item, patch) if kind == "merge" else patching.strategic(item, patch)
    return result


def _cordon(world: World, name: str) -> Iterator[World]:
    nodes.cordon(world, name, unschedulable=True)
    yield world


def _uncordon(world: World, name: str) -> Iterator[World]:
    nodes.cordon(world, name, unschedulable=False)
    yield world


def _taint(world: World, wanted: Plain) -> Iterator[World]:
    world.put(nodes.with_taint(_find(world, {"kind": "Node", "name": wanted["node"]}), wanted["taint"]))
    yield world


def _untaint(world: World, wanted: Plain) -> Iterator[World]:
    node = _find(world, {"kind": "Node", "name": wanted["node"]})
    taint = wanted["taint"]
    world.put(nodes.without_taint(node, taint["key"], taint.get("effect") or ""))
    yield world


def _delete_node(world: World, name: str) -> Iterator[World]:
    found = world.get("Node", name)
    if found is not None:
        world.remove(found)
    yield world


def _add_node(world: World, node: Plain) -> Iterator[World]:
    admission.create(world, {"kind": "Node", **node})
    yield world


def _node_down(world: World, name: str) -> Iterator[World]:
    nodes.go_down(world, name)
    yield world


def _node_up(world: World, name: str) -> Iterator[World]:
    nodes.come_up(world, name)
    yield world


def owner_of(world: World, pod: Plain) -> tuple[str, str]:
    """The workload of a pod: the Deployment rather than its ReplicaSet; the pod itself where there is none."""
    reference = objects.controller_of(pod)
    if not reference:
        return "Pod", pod["metadata"]["name"]
    owner = world.get(reference["kind"], reference["name"], objects.namespace_of(pod))
    above = objects.controller_of(owner) if owner is not None else {}
    found = above or reference
    return found["kind"], found["name"]


def chosen_pods(world: World, wanted: Plain) -> list[Plain]:
    """The pods that a step speaks of; with `count`, any of them."""
    kind, _, name = wanted["owner"].partition("/")
    pods = [pod for pod in world.pods() if owner_of(world, pod) == (kind, name) and is_active(pod)]
    if "ordinals" in wanted:
        pods = [pod for pod in pods if int(pod["metadata"]["name"].rpartition("-")[2]) in wanted["ordinals"]]
    if "node" in wanted:
        pods = [pod for pod in pods if pod["spec"].get("nodeName") == wanted["node"]]
    if wanted.get("pending"):
        pods = [pod for pod in pods if not pod["spec"].get("nodeName")]
    return pods


def _choices(world: World, wanted: Plain) -> Iterator[list[Plain]]:
    pods = chosen_pods(world, wanted)
    if "count" not in wanted:
        yield pods
        return
    for some in itertools.combinations(pods, min(wanted["count"], len(pods))):
        yield list(some)


def _delete_pods(world: World, wanted: Plain) -> Iterator[World]:
    for pods in _choices(world, wanted):
        after = world.copy()
        after.script = (("deleteSet", tuple(pod["metadata"]["uid"] for pod in pods)), *world.script)
        yield after


def _one_of(world: World, uids: tuple[str, ...]) -> Iterator[World]:
    """Delete one of several pods; which one comes first is open."""
    pods = [pod for pod in world.pods() if pod["metadata"]["uid"] in uids]
    if not pods:
        yield _next(world)
    for pod in pods:
        left = tuple(uid for uid in uids if uid != pod["metadata"]["uid"])
        after = _next(world, ("deleteSet", left)) if left else _next(world)
        delete_pod(after, pod)
        yield after


def _patch_pods(world: World, wanted: Plain) -> Iterator[World]:
    for pods in _choices(world, wanted):
        after = world.copy()
        for pod in pods:
            after.put(patching.strategic(pod, wanted["patch"]))
        yield after


def _delete(world: World, reference: Plain) -> Iterator[World]:
    delete(world, _find(world, reference))
    yield world


def delete(world: World, item: Plain) -> None:
    """Delete an object, and what it owns with it (background cascade, done at once)."""
    if item["kind"] == "Pod":
        delete_pod(world, item)
        return
    if item["kind"] == "PersistentVolumeClaim":
        persistentvolume.delete_claim(world, item)
        return
    world.remove(item)
    uid = item["metadata"]["uid"]
    for kind in ("ReplicaSet", "Job", "Pod"):
        for other in world.list(kind):
            if objects.controller_of(other).get("uid") == uid:
                delete(world, job.without_finalizer(other) if kind == "Pod" else other)


def _drain(world: World, names: list[str]) -> Iterator[World]:
    for name in names:
        nodes.cordon(world, name, unschedulable=True)
    world.drain = (tuple(names), ())
    yield world


def _drain_on(world: World) -> Iterator[World]:
    """List the pods of the next node, or evict one of those listed, or wait for them to go."""
    names, uids = world.drain
    there = [pod for pod in world.pods() if pod["metadata"]["uid"] in uids]
    if not there:
        after = world.copy()
        after.drain = None
        if names:
            after.drain = (names[1:], tuple(pod["metadata"]["uid"] for pod in _drained(world, names[0])))
        yield after
        return
    for pod in there:
        if disruption.fails(world, pod):
            after_failure = world.copy()
            after_failure.drain = (names, tuple(uid for uid in uids if uid != pod["metadata"]["uid"]))
            yield after_failure
        elif not objects.is_terminating(pod):
            after_eviction = disruption.evict(world, pod)
            if after_eviction is not None:
                yield after_eviction


def _drained(world: World, name: str) -> list[Plain]:
    pods = [pod for pod in world.pods() if pod["spec"].get("nodeName") == name]
    return [pod for pod in pods if objects.controller_of(pod).get("kind") != "DaemonSet"]


_VERBS: dict[str, Any] = {
    "apply": _apply,
    "patch": _patch,
    "scale": _scale,
    "restart": _restart,
    "cordon": _cordon,
    "uncordon": _uncordon,
    "drain": _drain,
    "taint": _taint,
    "untaint": _untaint,
    "deleteNode": _delete_node,
    "addNodes": _add_node,
    "nodeDown": _node_down,
    "nodeUp": _node_up,
    "deletePods": _delete_pods,
    "patchPods": _patch_pods,
    "delete": _delete,
}
