"""Suggestions tried out: what a suggestion promises against what controllers and the scheduler make of it.

The program is asked as people ask it, by its command line, and its JSON document is all that is known of a suggestion.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import io
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Optional

from ruamel.yaml import YAML

from kubectl_spread.cli import main
from tests.judge import living
from tests.naive import objects, requests, selectors
from tests.naive.controllers import (
    actions,
    admission,
    daemon,
    deployment,
    explore,
    kubectl,
    nodes,
    patching,
    replicaset,
    scheduling,
    validation,
)
from tests.naive.controllers.world import delete_pod, is_active, is_ready, World

Plain = dict[str, Any]
Owner = tuple[str, str, str]

_STEPS = 1200
# Words that say that running pods end.
_SAYS_RESTART = re.compile(r"restart|delet|evict|replace|recreat|again|roll|\bend|kill|stop|anew|terminat", re.I)


def load(path: Path) -> list[Plain]:
    """The objects of a snapshot."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    found: list[Plain] = []
    for document in YAML(typ="safe", pure=False).load_all(text):
        if document:
            found += document.get("items", [document])
    return found


def judged(items: list[Plain], folder: Path, *, most: int, walks: int) -> Iterator[str]:
    """Yield a line for everything that a suggestion for a Pending pod of a snapshot promises in vain.

    Args:
        items: the objects of the snapshot.
        folder: where a file may be written.
        most: suggestions for one pod.
        walks: ways to carry out each of them.
    """
    path = folder / "snapshot.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
    for pod in pending(items):
        chance = random.Random(1)
        document = explained(path, pod, most=most)
        found = case(items, pod, walks=walks, chance=chance)
        for suggestion in document["suggestions"]:
            for fault in faults(found, suggestion, walks=walks, chance=chance):
                yield f"{objects.name_of(pod)}: {suggestion['title']}: {fault}"


def explained(path: Path, pod: Plain, *, most: int = 30) -> Plain:
    """The document about a pod of a snapshot."""
    name, namespace = objects.name_of(pod), objects.namespace_of(pod)
    words = ["explain", "pod", name, "-n", namespace, "--snapshot", str(path), "-o", "json", "--suggestions", str(most)]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        main.run(words)
    document: Plain = json.loads(out.getvalue())
    return document


def pending(items: list[Plain]) -> list[Plain]:
    """One of the Pending pods of every workload."""
    world = living.world_of(items)
    found: dict[Owner, Plain] = {}
    for item in items:
        if item["kind"] != "Pod" or (item.get("spec") or {}).get("nodeName"):
            continue
        pod = world.get("Pod", objects.name_of(item), objects.namespace_of(item))
        if pod is not None and scheduling.is_waiting(pod):
            found.setdefault(owner_of(world, pod), item)
    return list(found.values())


def owner_of(world: World, pod: Plain) -> Owner:
    kind, name = actions.owner_of(world, pod)
    return objects.namespace_of(pod), kind, name


class Moment(NamedTuple):
    """A cluster in numbers.

    waiting: pods without a node by workload. placed: those with one. missing: replicas that are wanted and have no pod.
    uids: of ready pods, those left out that a rollout is to replace anyway. running: of all pods. own: of those of the
    workload in question that run.
    """

    waiting: Counter[Owner]
    placed: Counter[Owner]
    missing: Counter[Owner]
    uids: frozenset[str]
    running: frozenset[str]
    own: frozenset[str]


def moment(world: World, own: Optional[Owner] = None) -> Moment:
    waiting: Counter[Owner] = Counter()
    placed: Counter[Owner] = Counter()
    for pod in world.pods():
        if not is_active(pod):
            continue
        (placed if pod["spec"].get("nodeName") else waiting)[owner_of(world, pod)] += 1
    missing: Counter[Owner] = Counter()
    for kind in ("Deployment", "StatefulSet", "ReplicaSet"):
        for item in world.list(kind):
            owner = (objects.namespace_of(item), kind, objects.name_of(item))
            if not objects.controller_of(item):
                missing[owner] += max(0, replicaset.replicas_of(item) - waiting[owner] - placed[owner])
    running = frozenset(pod["metadata"]["uid"] for pod in world.pods() if is_active(pod))
    bound = [pod for pod in world.pods() if is_active(pod) and pod["spec"].get("nodeName")]
    of_own = frozenset(pod["metadata"]["uid"] for pod in bound if owner_of(world, pod) == own)
    return Moment(waiting, placed, missing, frozenset(ready_uids(world)), running, of_own)


def ready_uids(world: World) -> Iterator[str]:
    for pod in world.pods():
        owner = world.get("ReplicaSet", objects.controller_of(pod).get("name", ""), objects.namespace_of(pod))
        if is_active(pod) and is_ready(pod) and (owner is None or not _is_old(world, owner)):
            yield pod["metadata"]["uid"]


def _is_old(world: World, item: Plain) -> bool:
    reference = objects.controller_of(item)
    above = world.get(reference.get("kind") or "", reference.get("name") or "", objects.namespace_of(item))
    if above is None or above["kind"] != "Deployment":
        return False
    new = deployment.sets_of(world, above).new
    return new is not None and new["metadata"]["name"] != item["metadata"]["name"]


class Trial(NamedTuple):
    """How one way of carrying out a suggestion ended. problem: why it could not be carried out."""

    end: Optional[World]
    is_steady: bool
    problem: str = ""


def by_commands(world: World, suggestion: Plain, chance: random.Random) -> Trial:
    """Type the commands, once what no command does has come about: new nodes, and what is waited for."""
    after = world.copy()
    for change in suggestion["changes"]:
        if "awaited" in change or (change["kind"] == "Node" and change.get("added")):
            carry_out(after, change)
    after.script = kubectl.script(suggestion["commands"])
    try:
        kubectl.check_deleted(world, suggestion["commands"])
    except patching.PatchError as error:
        return Trial(None, False, str(error))
    return _ended(after, chance)


def by_changes(world: World, suggestion: Plain, chance: random.Random) -> Trial:
    """Do to the objects what the document says."""
    after = world.copy()
    try:
        for change in suggestion["changes"]:
            carry_out(after, change)
    except (patching.PatchError, kubectl.UnknownCommandError) as error:
        return Trial(None, False, str(error))
    return _ended(after, chance)


def _ended(world: World, chance: random.Random) -> Trial:
    try:
        end, is_steady = explore.walk(world, chance, most=_STEPS)
    except (patching.PatchError, kubectl.UnknownCommandError) as error:
        return Trial(None, False, str(error))
    return Trial(end, is_steady)


def carry_out(world: World, change: Plain) -> None:
    """Do to the objects what one entry of a document says."""
    kind, name, namespace = change["kind"], change["name"], change.get("namespace") or "default"
    for item in change.get("added") or []:
        admission.create(world, _with_room(world, {"kind": kind, **item}), namespace=namespace)
    if "recreatedFrom" in change:
        actions.delete(world, _item(world, kind, name, namespace))
        kubectl.create_job(world, change["recreatedFrom"], name, namespace)
        return
    if kind == "Node":
        _change_node(world, change)
        return
    if "patch" in change or "replaced" in change:
        _patch(world, kind, name, namespace=namespace, ops=change.get("patch") or [])
    if "replicas" in change:
        item = _item(world, kind, name, namespace)
        world.put({**item, "spec": {**item["spec"], "replicas": change["replicas"]}})
        return
    for gone in change.get("deleted") or []:
        item = world.get(kind, gone, namespace)
        if item is not None:
            _delete(world, item)


def _with_room(world: World, item: Plain) -> Plain:
    """A new node has its room free beside what DaemonSets run there."""
    if item["kind"] != "Node":
        return item
    item = copy.deepcopy(item)
    room = item["status"]["allocatable"]
    for owner in world.list("DaemonSet"):
        if not daemon.node_should_run(owner, item):
            continue
        wanted = requests.pod_requests({"spec": owner["spec"]["template"]["spec"]})
        for name, thousandths in {**wanted, "pods": 1000}.items():
            if name in room:
                room[name] = f"{requests.parse(str(room[name])) + thousandths}m"
    return item


def _delete(world: World, item: Plain) -> None:
    if item["kind"] == "Pod" and objects.is_terminating(item):
        world.remove(item)  # its deletion is finished
        return
    actions.delete(world, item)
    if item["kind"] == "PersistentVolumeClaim":
        for pod in list(world.pods(objects.namespace_of(item))):
            names = [
                volume.get("persistentVolumeClaim", {}).get("claimName") for volume in pod["spec"].get("volumes") or []
            ]
            if objects.name_of(item) in names and not pod["spec"].get("nodeName"):
                delete_pod(world, pod)


def _item(world: World, kind: str, name: str, namespace: str) -> Plain:
    item = world.get(kind, name, namespace)
    if item is None:
        raise patching.PatchError(f"{kind} {name} not found")
    return item


def _patch(world: World, kind: str, name: str, *, namespace: str, ops: list[Plain]) -> None:
    """Patch an object; what cannot be changed is made again, and pods that wait are made of the new template."""
    before = _item(world, kind, name, namespace)
    after = patching.json_patched(before, ops)
    if kind in ("Pod", "Job", "StorageClass", "PersistentVolumeClaim"):
        actions.delete(world, before)
        after = copy.deepcopy(after)
        for field in ("uid", "deletionTimestamp"):
            after["metadata"].pop(field, None)
        after.pop("status", None)
        if kind == "PersistentVolumeClaim":  # its volume and its node are chosen again
            after["spec"].pop("volumeName", None)
            after["metadata"].pop("annotations", None)
        admission.create(world, after)
        return
    validation.update(before, after)
    world.put(after)
    if (
        kind in ("StatefulSet", "ReplicaSet", "ReplicationController")
        and before["spec"]["template"] != after["spec"]["template"]
    ):
        for pod in list(world.pods(namespace)):
            if owner_of(world, pod) == (namespace, kind, name) and scheduling.is_waiting(pod):
                delete_pod(world, pod)


def _change_node(world: World, change: Plain) -> None:
    if "deleted" in change:
        for name in change["deleted"]:
            world.remove(_item(world, "Node", name, ""))
        return
    if change.get("added"):
        return
    node = world.edit(_item(world, "Node", change["name"], ""))
    for key, value in (change.get("labels") or {}).items():
        node["metadata"]["labels"].pop(key, None)
        if value is not None:
            node["metadata"]["labels"][key] = value
    if change.get("awaited") == "Ready":
        nodes.come_up(world, change["name"])
        node = world.edit(_item(world, "Node", change["name"], ""))
    gone = [change.get("taintRemoved"), *(change.get("taintsRemoved") or [])]
    spec = node.setdefault("spec", {})
    spec["taints"] = [taint for taint in spec.get("taints") or [] if _text(taint) not in gone]
    if "unschedulable" in change:
        nodes.cordon(world, change["name"], unschedulable=False)
    if "taintAdded" in change:
        nodes.cordon(world, change["name"], unschedulable=True)


def _text(taint: Plain) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


class Case(NamedTuple):
    """A snapshot, and a Pending pod of it: its workload, and the numbers before.

    is_known: the snapshot has the workload, so that what becomes of its running pods is not a guess.
    """

    world: World
    own: Owner
    before: Moment
    baseline: Counter[Owner]
    is_known: bool
    pod: str = ""


def case(items: list[Plain], pod: Plain, *, walks: int, chance: random.Random) -> Case:
    """A Pending pod of a snapshot, with what happens to the other workloads if nothing is done."""
    world = living.world_of(items)
    stored = world.get("Pod", objects.name_of(pod), objects.namespace_of(pod))
    assert stored is not None
    baseline: Counter[Owner] = Counter()
    for _ in range(walks):
        end, _ = explore.walk(world, chance, most=_STEPS)
        baseline |= moment(end).waiting
    own = owner_of(world, stored)
    is_known = own[1] == "Pod" or any((item["kind"], objects.name_of(item)) == own[1:] for item in items)
    return Case(world, own, moment(world, own), baseline, is_known, objects.name_of(pod))


def faults(found: Case, suggestion: Plain, *, walks: int, chance: random.Random) -> list[str]:
    """What is not as the suggestion says, a line each; nothing where it holds."""
    ways = [("changes", by_changes)]
    if suggestion["commands"]:
        ways.append(("commands", by_commands))
    problems: list[str] = []
    for name, carry_out in ways:
        trials = [carry_out(found.world, suggestion, chance) for _ in range(walks)]
        problems += [f"{name}: {text}" for text in dict.fromkeys(faults_of(found, suggestion, trials))]
    return problems


def faults_of(found: Case, suggestion: Plain, trials: list[Trial]) -> Iterator[str]:
    refused = [trial.problem for trial in trials if trial.problem]
    if refused:
        yield f"refused: {refused[0]}"
        return
    if not all(trial.is_steady for trial in trials):
        yield f"never comes to rest in {sum(not trial.is_steady for trial in trials)} of {len(trials)} ways"
    ends = [moment(trial.end) for trial in trials if trial.end is not None]
    yield from _of_own(found, suggestion, ends)
    yield from _of_others(found, ends)
    if not found.is_known:
        return
    yield from _of_node(found, suggestion, [trial.end for trial in trials if trial.end is not None])
    yield from _of_restarts(found, suggestion, ends)
    yield from _of_domains(found, suggestion, [trial.end for trial in trials if trial.end is not None])


def _of_own(found: Case, suggestion: Plain, ends: list[Moment]) -> Iterator[str]:
    promised = suggestion["effect"]["pending"]["after"]
    got = sorted({end.waiting[found.own] + end.missing[found.own] for end in ends})
    if got != [promised]:
        yield f"promised {promised} Pending pods of {'/'.join(found.own[1:])}, got {_any(got)}"


def _any(numbers: list[int]) -> str:
    return " or ".join(map(str, numbers))


def _of_others(found: Case, ends: list[Moment]) -> Iterator[str]:
    for owner in sorted({owner for end in ends for owner in end.waiting}):
        most = max(end.waiting[owner] for end in ends)
        known = max(found.before.waiting[owner], found.baseline[owner])
        if owner != found.own and most > known:
            share = sum(end.waiting[owner] > known for end in ends)
            yield f"{most} pods of {'/'.join(owner[1:])} are Pending, {known} before ({share} of {len(ends)} ways)"


def _of_restarts(found: Case, suggestion: Plain, ends: list[Moment]) -> Iterator[str]:
    """Whether running pods end, of which nothing is said."""
    rollout = suggestion.get("rollout")
    lost = max(len(found.before.uids - end.running) for end in ends)
    if rollout is not None:
        own = max(len(found.before.own - end.running) for end in ends)
        lost = max(len(found.before.uids - found.before.own - end.running) for end in ends)
        if own > rollout["restarts"] or (rollout["restarts"] and not own):
            yield f"promised at most {rollout['restarts']} restarts, got {own}"
    said = [suggestion["title"], suggestion["givesUp"], *suggestion["notes"], *suggestion["commands"]]
    if lost and not any(_SAYS_RESTART.search(text) for text in said):
        yield f"{lost} running pods end, and nothing says so"


def _of_node(found: Case, suggestion: Plain, ends: list[World]) -> Iterator[str]:
    """Whether the pod's node is one of those that the suggestion names.

    A pod with another name in its place may be any of the workload's that did not run before.
    """
    if not suggestion["rollout"]["exhaustive"]:
        return
    promised = suggestion["effect"]["nodes"]
    for end in ends:
        came = [
            pod
            for pod in end.pods()
            if owner_of(end, pod) == found.own and is_active(pod) and pod["metadata"]["uid"] not in found.before.own
        ]
        named = [pod for pod in came if objects.name_of(pod) == found.pod]
        got = {pod["spec"].get("nodeName") for pod in named or came}
        if got == {None} and suggestion["effect"]["pending"]["after"]:
            continue  # another pod of the workload came first
        if not got & set(promised) and (got or promised):
            yield f"promised that the pod goes to {promised}, got {got}"
            return


def _of_domains(found: Case, suggestion: Plain, ends: list[World]) -> Iterator[str]:
    """Whether the counts by domain are among those that come about."""
    if not suggestion["rollout"]["exhaustive"]:
        return  # what was seen is not a promise of what may be
    for promised in suggestion["effect"]["domains"]:
        key, wanted = promised["topologyKey"], promised["after"]
        ranges = promised.get("range") or {value: [number, number] for value, number in wanted.items()}
        got = [counts for end in ends if (counts := domain_counts(end, found.own, key, list(wanted))) is not None]
        for counts in got:
            if any(not least <= counts[value] <= most for value, (least, most) in ranges.items()):
                yield f"promised {key} {ranges}, got {counts}"
                break


def domain_counts(world: World, own: Owner, key: str, values: list[str]) -> Optional[dict[str, int]]:
    """Pods by domain that the constraint of a workload's latest pod matches, on nodes that it counts.

    Pods of a DaemonSet count each their own node at most, so that no one of them speaks for all.
    """
    if own[1] == "DaemonSet":
        return None
    pods = [pod for pod in world.pods() if owner_of(world, pod) == own and is_active(pod)]
    for pod in reversed(pods):
        for constraint in pod["spec"].get("topologySpreadConstraints") or []:
            if constraint["topologyKey"] == key:
                return _counts(world, pod, constraint, values)
    return None


def _counts(world: World, pod: Plain, constraint: Plain, values: list[str]) -> dict[str, int]:
    selector = selectors.label_selector_as_selector(constraint.get("labelSelector"))
    found = dict.fromkeys(values, 0)
    for other in world.pods(objects.namespace_of(pod)):
        node = world.get("Node", other["spec"].get("nodeName") or "")
        if node is None or not _is_counted(node, pod, constraint):
            continue
        value = objects.labels_of(node).get(constraint["topologyKey"])
        if value in found and is_active(other) and selector.matches(objects.labels_of(other)):
            found[value] += 1
    return found


def has_pending(items: list[Plain]) -> bool:
    """Whether a pod of a snapshot may have no node."""
    return any(item.get("kind") == "Pod" and not (item.get("spec") or {}).get("nodeName") for item in items)


def _is_counted(node: Plain, pod: Plain, constraint: Plain) -> bool:
    """Whether the policies of a constraint let a node count."""
    is_honored = constraint.get("nodeAffinityPolicy") != "Ignore"
    if is_honored and not selectors.match_required_node_affinity(pod, node):
        return False
    return constraint.get("nodeTaintsPolicy") != "Honor" or not selectors.find_matching_untolerated_taint(node, pod)
