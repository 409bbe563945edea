"""Two models of the same: the engine over time and the slow controllers, asked what a step may lead to.

Outcomes are compared without names: the engine takes nodes that differ in nothing for one, and so does this. An outcome
is what stands on the nodes of each zone.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any, NamedTuple, Optional

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import Limits, Mode, play, StepAnswer
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Taint
from kubectl_spread.scheduler.profiles import profiles
from tests.judge import clusters, living
from tests.naive import objects
from tests.naive.controllers import actions, explore, job, nodes, statefulset
from tests.naive.controllers.actions import Action
from tests.naive.controllers.world import is_ready, World
from tests.timeline.played import steps_to

Plain = dict[str, Any]
State = Any

_LABELS = ("pod-template-hash", "controller-revision-hash")
_PATIENCE_S = 60
_PROFILES = profiles()


class Scenario(NamedTuple):
    """A snapshot and one step, in the words of both."""

    items: list[Plain]
    script: tuple[Action, ...]
    ops: tuple[Any, ...]
    text: str


class Sides(NamedTuple):
    """What both say; None where one of them gave up."""

    slow: Optional[set[State]]
    engine: Optional[set[State]]


def scenario(seed: int, *, daemons: bool = False) -> Optional[Scenario]:
    """A small cluster that stands still, and a step; `daemons`: the cluster has a DaemonSet."""
    world = clusters.small_with_daemons(seed) if daemons else clusters.small(seed)
    if world is None:
        return None
    chance = random.Random(seed)
    items = clusters.snapshot(world)
    made = _STEPS_WITH_DAEMONS if daemons else STEPS
    choices = [one for make in made if (one := make(world, chance)) is not None]
    script, ops = chance.choice(choices)
    return Scenario(items, script, ops, f"{script}")


def _workload(world: World, kinds: tuple[str, ...]) -> Optional[Plain]:
    for kind in kinds:
        for item in world.list(kind):
            if not objects.controller_of(item):
                return item
    return None


_SCALED = ("Deployment", "StatefulSet", "ReplicaSet")


def key_of(item: Plain) -> ObjectKey:
    return ObjectKey(item["kind"], objects.namespace_of(item), objects.name_of(item))


def reference(item: Plain) -> Plain:
    return {"kind": item["kind"], "name": objects.name_of(item), "namespace": objects.namespace_of(item)}


def scale(world: World, chance: random.Random) -> Any:
    item = _workload(world, _SCALED)
    if item is None:
        return None
    replicas = max(0, item["spec"]["replicas"] + chance.choice([-2, -1, 1, 2]))
    return (("scale", {**reference(item), "replicas": replicas}),), (steps.Scale(key_of(item), replicas),)


def _restart(world: World, chance: random.Random) -> Any:
    return _restarted(_workload(world, ("Deployment", "StatefulSet")))


def restart_daemons(world: World, chance: random.Random) -> Any:
    return _restarted(_workload(world, ("DaemonSet",)))


def _restarted(item: Optional[Plain]) -> Any:
    if item is None:
        return None
    return (("restart", {**reference(item), "value": "1"}),), (steps.Restart(key_of(item)),)


def drain(world: World, chance: random.Random) -> Any:
    nodes = [item["metadata"]["name"] for item in world.list("Node")]
    names = chance.sample(nodes, min(len(nodes), chance.choice([1, 1, 2])))
    return (("drain", names),), (steps.Drain(tuple(names)),)


def taint(world: World, chance: random.Random) -> Any:
    name = chance.choice(world.list("Node"))["metadata"]["name"]
    taint = {"key": "maint", "value": "x", "effect": "NoExecute"}
    return (("taint", {"node": name, "taint": taint}),), (steps.TaintNodes((name,), Taint("maint", "x", "NoExecute")),)


def delete_pod(world: World, chance: random.Random) -> Any:
    pods = [pod for pod in world.pods() if objects.controller_of(pod)]
    if not pods:
        return None
    chosen = chance.sample(pods, min(len(pods), chance.choice([1, 1, 2])))
    uids = tuple(pod["metadata"]["uid"] for pod in chosen)
    return (("deleteSet", uids),), (steps.DeletePods(uids),)


def delete_node(world: World, chance: random.Random) -> Any:
    name = chance.choice(world.list("Node"))["metadata"]["name"]
    return (("deleteNode", name),), (steps.DeleteNodes((name,)),)


def node_down(world: World, chance: random.Random) -> Any:
    name = chance.choice(world.list("Node"))["metadata"]["name"]
    return (("nodeDown", name),), (steps.NodesDown((name,)),)


def _roll_out(world: World, chance: random.Random) -> Any:
    """Another template, which may fit nowhere."""
    item = _workload(world, ("Deployment", "StatefulSet"))
    return _rolled_out(world, item, chance, ["cpu", "selector", "constraints"])


def roll_out_daemons(world: World, chance: random.Random) -> Any:
    """Another template of the DaemonSet, which may want other nodes."""
    return _rolled_out(world, _workload(world, ("DaemonSet",)), chance, ["cpu", "selector"])


def _create_daemons(world: World, chance: random.Random) -> Any:
    """A second DaemonSet, whose pods may be on the ports of the first."""
    manifest = copy.deepcopy(_workload(world, ("DaemonSet",)))
    if manifest is None:
        return None
    spec = manifest["spec"]
    labels = {"app": "helper"}
    spec["selector"], spec["template"]["metadata"] = {"matchLabels": labels}, {"labels": labels}
    container = spec["template"]["spec"]["containers"][0]
    container["resources"]["requests"]["cpu"] = chance.choice(["100m", "1", "2500m"])
    container["ports"] = [{"containerPort": 80, "hostPort": chance.choice([80, 90]), "protocol": "TCP"}]
    manifest = {**manifest, "metadata": {"name": "helper", "namespace": "shop"}}
    manifest.pop("status", None)
    before = clusters.snapshot(world)
    return (("apply", manifest),), steps_to(cluster_of(before), cluster_of([*before, manifest]))


def _rolled_out(world: World, item: Optional[Plain], chance: random.Random, fields: list[str]) -> Any:
    if item is None:
        return None
    after = copy.deepcopy(item)
    spec = after["spec"]["template"]["spec"]
    what = chance.choice(fields)
    if what == "cpu":
        spec["containers"][0]["resources"]["requests"]["cpu"] = chance.choice(["200m", "2500m", "6"])
    elif what == "selector":
        spec["nodeSelector"] = {"disk": chance.choice(["ssd", "nvme"])}
    else:
        spec["topologySpreadConstraints"] = []
    manifest = {**after, "metadata": {"name": objects.name_of(item), "namespace": objects.namespace_of(item)}}
    before = clusters.snapshot(world)
    key = key_of(item)
    changed = [after if is_item(other, key) else other for other in before]
    return (("apply", manifest),), steps_to(cluster_of(before), cluster_of(changed))


def is_item(item: Plain, key: ObjectKey) -> bool:
    return item["kind"] == key.kind and key_of(item) == key


STEPS = (
    scale,
    scale,
    _restart,
    _restart,
    drain,
    taint,
    delete_pod,
    delete_node,
    node_down,
    _roll_out,
    _roll_out,
)


_STEPS_WITH_DAEMONS = (
    *(restart_daemons,) * 3,
    *(roll_out_daemons,) * 3,
    *(_create_daemons,) * 2,
    delete_pod,
    taint,
    delete_node,
    node_down,
    _restart,
)


def both(found: Scenario, *, limit: int) -> Sides:
    """Ask both.

    The engine leaves out the pods of workloads that nothing happens to; they must stay where they are.
    """
    world = living.world_of(found.items)
    world.settings.patience_s = _PATIENCE_S
    revisions = {_revision(objects.labels_of(pod)) for pod in world.pods()}
    slow, answer = _slow(world, found, limit, revisions), _engine(found, limit)
    if slow is None or not answer.is_exact:
        return Sides(None if slow is None else set(), set() if answer.is_exact else None)
    steady = [outcome for outcome in answer.outcomes if outcome.is_steady]
    engine = [[_state(pod, revisions) for pod in outcome.pods] for outcome in steady]
    moved = {(key.kind, key.name) for outcome in answer.outcomes for key in outcome.workloads}
    moved |= {pod.owner for pods in engine for pod in pods}
    with_owners = (pod for item in (*answer.before, *answer.outcomes) for pod in item.pods if pod.owner is not None)
    moved |= {("Pod", pod.name) for pod in with_owners}  # They were adopted.
    nodes = _nodes_of(found.script)
    before = [_pod(world, pod, revisions) for pod in world.pods()]
    still = [pod for pod in before if pod.owner not in moved and (pod.owner[0] != "Pod" or pod.node not in nodes)]
    shapes = _shapes(world)
    ends = {_shown(pods, shapes) for pods in slow.ends}
    ends |= {_ENDLESS} if slow.is_endless else set()
    seen = {_shown([*pods, *still], shapes) for pods in engine}
    return Sides(ends, seen | ({_ENDLESS} if answer.is_endless else set()))


_ENDLESS = ((), "without an end")


def _nodes_of(script: tuple[Action, ...]) -> list[str]:
    """The nodes that a step is about; bare pods on them may go."""
    verb, argument = script[0]
    if verb == "drain":
        return list(argument)
    if verb == "taint":
        return [argument["node"]]
    return [argument] if verb == "deleteNode" else []


class Stood(NamedTuple):
    """A pod at the end."""

    node: str
    owner: tuple[str, str]
    revision: str
    ordinal: int
    ready: bool
    terminating: bool


def _revision(labels: dict[str, str]) -> str:
    """The revision of a pod, without the workload's name before it."""
    text = next((labels[label] for label in _LABELS if label in labels), "")
    return text.rpartition("-")[2]


class _Slow(NamedTuple):
    ends: list[list[Stood]]
    is_endless: bool


def _slow(world: World, found: Scenario, limit: int, revisions: set[str]) -> Optional[_Slow]:
    world = world.copy()
    world.script = found.script
    world.settings.old = {objects.uid_of(pod) for pod in world.pods()}
    space = explore.explore([world], limit=limit)
    if not space.is_complete:
        return None
    return _Slow([[_pod(end, pod, revisions) for pod in end.pods()] for end in space.steady], space.is_endless)


def _pod(world: World, pod: Plain, revisions: set[str]) -> Stood:
    kind, name = actions.owner_of(world, pod)
    ordinal = -1
    if kind == "StatefulSet":
        ordinal = statefulset.ordinal_of(pod)
    elif job.INDEX in objects.annotations_of(pod):
        ordinal = int(objects.annotations_of(pod)[job.INDEX])
    age = _age(kind, _revision(objects.labels_of(pod)), revisions)
    node = pod["spec"].get("nodeName") or ""
    return Stood(node, (kind, name), age, ordinal, is_ready(pod), objects.is_terminating(pod))


def _age(kind: str, revision: str, revisions: set[str]) -> str:
    if kind not in ("Deployment", "StatefulSet", "DaemonSet"):
        return ""
    return "old" if revision in revisions else "new"


def _engine(found: Scenario, limit: int) -> StepAnswer:
    limits = Limits(mode=Mode.ALL, max_states=limit, samples=1, patience_s=_PATIENCE_S)
    return play(cluster_of(found.items), _PROFILES, [found.ops], limits=limits).last


def _state(pod: Any, revisions: set[str]) -> Stood:
    kind, name = (pod.owner.kind, pod.owner.name) if pod.owner is not None else ("Pod", pod.name)
    ordinal = -1 if pod.ordinal is None else pod.ordinal
    age = _age(kind, pod.revision.rpartition("-")[2], revisions)
    return Stood(pod.node, (kind, name), age, ordinal, bool(pod.is_ready), bool(pod.is_terminating))


def _shapes(world: World) -> dict[str, tuple[str, str]]:
    """The zone of each node, and what it is to pods; what no pod asks for is left out, as the engine leaves it out."""
    asked = {key for pod in world.pods() for key in pod["spec"].get("nodeSelector") or {}}
    found = {}
    for node in world.list("Node"):
        labels = {key: value for key, value in objects.labels_of(node).items() if key in asked}
        like = str((sorted(labels.items()), nodes.taints_of(node), node["status"]["allocatable"]["cpu"]))
        found[objects.name_of(node)] = (objects.labels_of(node).get(clusters.ZONE, ""), like)
    return found


def _shown(pods: list[Stood], shapes: dict[str, tuple[str, str]]) -> State:
    on: dict[str, list[Any]] = {}
    for pod in pods:
        on.setdefault(pod.node, []).append((pod.owner, pod.revision, pod.ready, pod.terminating))
    zones: dict[str, list[Any]] = {}
    for name, (zone, like) in shapes.items():
        zones.setdefault(zone, []).append((like, tuple(sorted(on.pop(name, [])))))
    left = tuple(sorted((name == "", tuple(sorted(rest))) for name, rest in on.items()))
    return tuple(sorted(tuple(sorted(found)) for found in zones.values())), left


def difference(sides: Sides) -> str:
    """What only one of the two says."""
    assert sides.slow is not None
    assert sides.engine is not None
    lines = [f"only the slow one: {_brief(state)}" for state in list(sides.slow - sides.engine)[:2]]
    lines += [f"only the engine: {_brief(state)}" for state in list(sides.engine - sides.slow)[:2]]
    return "\n".join(lines)


def _brief(state: State) -> str:
    zones, left = state
    if state == _ENDLESS:
        return str(left)
    parts = []
    for zone in zones:
        parts.append(" | ".join(_pods(pods) for _, pods in zone))
    return " || ".join(parts) + " :: " + " ".join(_pods(pods) for _, pods in left)


def _pods(pods: Any) -> str:
    counted = Counter(
        f"{name}.{revision or '-'}{'' if ready else '!'}{'T' if gone else ''}"
        for (_, name), revision, ready, gone in pods
    )
    return ",".join(f"{count}x{text}" for text, count in sorted(counted.items())) or "-"
