"""Awkward starts: small clusters that lived for a while and then had bad luck, and a command for each of them.

A start is a snapshot with pods on nodes that are gone, terminating pods, orphans, gates, full quotas, claims that are
being deleted, cyclic owners and the like. The judge runs one command in process and looks for hangs, crashes and
certainty that the slow controllers of `tests/naive` contradict.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import re
import shlex
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Optional
from unittest import mock

from kubectl_spread.cli import main
from kubectl_spread.cli.commands import simulate
from tests.judge import clusters, living
from tests.naive import objects
from tests.naive.controllers import actions, daemon, explore, job, kubectl, limits, patching, validation
from tests.naive.controllers.actions import Action
from tests.naive.controllers.world import is_active, is_ready, owner_reference, World

Plain = dict[str, Any]

NAMESPACE = "shop"
LATE = "2026-02-01T00:00:00Z"
MAX_STATES = 300
LIMIT_S = 20.0  # CPU time of one command
KINDS = (
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
    "Pod",
)


class HangError(BaseException):
    """A command that used up its CPU time; no handler for bugs catches it."""


class _Maker(clusters.Maker):
    """A small cluster with a workload of one kind, and perhaps a second workload."""

    def living(self, kind: str) -> Optional[World]:
        self._facts()
        items = [self._of_kind(kind)]
        if self.often(0.3):
            items.append(self._deployment("api"))
        return self._living(items)

    def budget(self, item: Plain) -> Plain:
        """Return a budget for the pods of a workload; a CronJob's template is one level deeper."""
        return super().budget(item if item["kind"] != "CronJob" else {**item["spec"]["jobTemplate"], **_named(item)})

    def _of_kind(self, kind: str) -> Plain:
        if kind == "Deployment":
            return self._deployment("web")
        if kind == "StatefulSet":
            return self._stateful_set()
        if kind == "DaemonSet":
            return self._varied_daemon_set()
        if kind == "Job":
            return self._job_with_rules()
        if kind == "CronJob":
            job = self._job_with_rules()
            spec = {"schedule": "0 * * * *", "jobTemplate": {"spec": job["spec"]}}
            return {"apiVersion": "batch/v1", "kind": kind, "metadata": {"name": "nightly"}, "spec": spec}
        if kind == "Pod":
            return self._bare_pod(0)
        item = self._deployment("web")
        item["kind"] = kind
        for field in ("strategy", "paused"):
            item["spec"].pop(field, None)
        if kind == "ReplicationController":
            item["apiVersion"] = "v1"
            item["spec"]["selector"] = {"app": "web"}
        return item

    def _job_with_rules(self) -> Plain:
        item = self._job()
        if self.often(0.5):
            item["spec"]["completionMode"] = "Indexed"
        if self.often(0.5):
            item["spec"]["backoffLimit"] = self.one([0, 1, 6])
        return item


def _named(item: Plain) -> Plain:
    return {"kind": "Job", "metadata": item["metadata"]}


def start(kind: str, seed: int) -> Optional[list[Plain]]:
    """Return the objects of an awkward start with a workload of a kind; None if the cluster never stands still."""
    made = _Maker(seed).living(kind)
    if made is None:
        return None
    items = clusters.snapshot(made)
    chance = random.Random(f"{kind} {seed}")
    for misfortune in chance.sample(MISFORTUNES, chance.choice([1, 2, 3, 4])):
        items = misfortune(items, chance)
    for item in _of(items, "Job"):  # The API server writes the selector, and the controller has not counted its pods.
        labels = {"batch.kubernetes.io/controller-uid": item["metadata"]["uid"]}
        item["spec"].setdefault("selector", {"matchLabels": labels})
    for pod in _of(items, "Pod"):
        if objects.controller_of(pod).get("kind") == "Job" and not objects.is_terminated(pod):
            pod["metadata"]["finalizers"] = [job.FINALIZER]
    return items


def _of(items: list[Plain], *kinds: str) -> list[Plain]:
    return [item for item in items if item["kind"] in kinds]


def _some(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Return at least one of the items, if there are any."""
    return chance.sample(items, chance.randint(1, len(items))) if items else []


def _delete_nodes(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Some nodes are gone, and their pods are still there."""
    gone = _some(_of(items, "Node"), chance)[:2]
    return [item for item in items if item not in gone]


def _delete_every_node(items: list[Plain], chance: random.Random) -> list[Plain]:
    return [item for item in items if item["kind"] != "Node"]


def _terminate(items: list[Plain], chance: random.Random) -> list[Plain]:
    for pod in _some(_of(items, "Pod"), chance):
        pod["metadata"] |= {"deletionTimestamp": LATE, "deletionGracePeriodSeconds": chance.choice([0, 30])}
    return items


def _unbind(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Some pods have no node; perhaps they are being deleted."""
    for pod in _some(_of(items, "Pod"), chance):
        pod["spec"].pop("nodeName", None)
        pod["status"] = {"phase": "Pending", "conditions": []}
        if chance.random() < 0.5:
            pod["metadata"]["deletionTimestamp"] = LATE
    return items


def _drop_owners(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Some owners are gone; what they owned still names them, or does not."""
    owners = _some(_of(items, "Deployment", "ReplicaSet", "StatefulSet", "Job"), chance)
    if chance.random() < 0.5:
        gone = {item["metadata"]["uid"] for item in owners}
        for item in items:
            if objects.controller_of(item).get("uid") in gone:
                item["metadata"]["ownerReferences"] = []
    return [item for item in items if item not in owners]


def _orphan(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Some objects lose the reference to an owner that is still there."""
    for item in _some(_of(items, "ReplicaSet", "Pod"), chance):
        item["metadata"]["ownerReferences"] = []
    return items


def _gate(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Pods wait for somebody to remove their gates: some pods, or all of them and those that are to come."""
    pods, templates = _some(_of(items, "Pod"), chance), []
    if chance.random() < 0.5:
        pods, templates = _of(items, "Pod"), _templated(items)
    for pod in pods:
        pod["spec"].pop("nodeName", None)
        pod["status"] = {"phase": "Pending", "conditions": []}
    for item in (*pods, *map(template_of, templates)):
        item["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    return items


def _grace_zero(items: list[Plain], chance: random.Random) -> list[Plain]:
    """No pod gets time to end."""
    for item in _templated(items):
        template_of(item)["spec"]["terminationGracePeriodSeconds"] = 0
    for pod in _of(items, "Pod"):
        pod["spec"]["terminationGracePeriodSeconds"] = 0
    return items


def _fill_quota(items: list[Plain], chance: random.Random) -> list[Plain]:
    used = len(_of(items, "Pod"))
    hard: Plain = chance.choice([{"pods": str(used)}, {"pods": str(used + 1)}, {"requests.cpu": "100m"}, {"pods": "0"}])
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "full", "namespace": NAMESPACE}}
    return [*items, {**quota, "spec": {"hard": hard}}]


def _limit(items: list[Plain], chance: random.Random) -> list[Plain]:
    limit = chance.choice([{"max": {"cpu": "200m"}}, {"min": {"cpu": "1"}}, {"defaultRequest": {"cpu": "250m"}}])
    spec = {"limits": [{"type": "Container", **limit}]}
    metadata = {"name": "limits", "namespace": NAMESPACE}
    return [*items, {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec}]


def _autoscale(items: list[Plain], chance: random.Random) -> list[Plain]:
    for item in _some(_of(items, "Deployment", "StatefulSet"), chance):
        target = {"apiVersion": item["apiVersion"], "kind": item["kind"], "name": objects.name_of(item)}
        least = chance.choice([1, 2, 4])
        spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": least + chance.choice([0, 3])}
        metadata = {"name": objects.name_of(item), "namespace": NAMESPACE}
        hpa = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}
        items = [*items, hpa]
    return items


def _delete_claims(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Some claims are being deleted, or gone, or have lost their volume."""
    claims = _some(_of(items, "PersistentVolumeClaim"), chance)
    way = chance.choice(["terminating", "gone", "lost"])
    if way == "gone":
        return [item for item in items if item not in claims]
    for claim in claims:
        if way == "terminating":
            claim["metadata"] |= {"deletionTimestamp": LATE, "finalizers": ["kubernetes.io/pvc-protection"]}
        else:
            claim["status"] = {"phase": "Lost"}
            items = [item for item in items if objects.name_of(item) != claim["spec"].get("volumeName")]
    return items


def _cycle_owners(items: list[Plain], chance: random.Random) -> list[Plain]:
    """An object is the owner of its owner, or of itself."""
    for item in _some(_of(items, "ReplicaSet", "Deployment", "Job", "StatefulSet", "Pod"), chance)[:1]:
        above = objects.controller_of(item)
        owner = next((other for other in items if other["metadata"].get("uid") == above.get("uid")), item)
        owner["metadata"]["ownerReferences"] = [owner_reference(item)]
    return items


def _pause(items: list[Plain], chance: random.Random) -> list[Plain]:
    """A paused Deployment, perhaps with another template."""
    for item in _of(items, "Deployment"):
        item["spec"]["paused"] = True
        if chance.random() < 0.6:
            item["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.k8s.io/pause:3.10"
    for item in _of(items, "Job"):
        item["spec"]["suspend"] = True
    return items


def _change_template(items: list[Plain], chance: random.Random) -> list[Plain]:
    """A rollout that has just begun."""
    for item in _some(_of(items, "Deployment", "StatefulSet", "DaemonSet"), chance):
        item["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.k8s.io/pause:3.10"
    return items


def _lose_nodes(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Some nodes do not answer; perhaps their pods are being deleted."""
    for node in _some(_of(items, "Node"), chance)[:2]:
        node["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
        taint = {"key": "node.kubernetes.io/unreachable"}
        taints = node.setdefault("spec", {}).setdefault("taints", [])
        taints += [{**taint, "effect": effect} for effect in ("NoSchedule", "NoExecute")]
        for pod in _of(items, "Pod"):
            if pod["spec"].get("nodeName") == objects.name_of(node):
                pod["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
                if chance.random() < 0.5:
                    pod["metadata"]["deletionTimestamp"] = LATE
    return items


def _cordon(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Some nodes are cordoned; the taint is there, or not yet."""
    for node in _some(_of(items, "Node"), chance):
        spec = node.setdefault("spec", {})
        spec["unschedulable"] = True
        if chance.random() < 0.5:
            taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
            spec["taints"] = [*(spec.get("taints") or []), taint]
    return items


def _finish(items: list[Plain], chance: random.Random) -> list[Plain]:
    """Some pods have failed, succeeded, or are unready."""
    for pod in _some(_of(items, "Pod"), chance):
        phase = chance.choice(["Failed", "Succeeded", "Running"])
        if phase == "Running" and not pod["spec"].get("nodeName"):
            continue
        conditions = [{"type": "Ready", "status": "False"}]
        pod["status"] = {"phase": phase, "conditions": conditions}
    return items


def _nominate(items: list[Plain], chance: random.Random) -> list[Plain]:
    """A waiting pod is nominated for a node that may not be there."""
    names = [objects.name_of(node) for node in _of(items, "Node")]
    for pod in _some(_of(items, "Pod"), chance)[:1]:
        pod["spec"].pop("nodeName", None)
        pod["status"] = {"phase": "Pending", "nominatedNodeName": chance.choice([*names, "gone"])}
    return items


def _resize(items: list[Plain], chance: random.Random) -> list[Plain]:
    """The number of replicas was just changed, perhaps to none."""
    for item in _some(_of(items, "Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"), chance):
        item["spec"]["replicas"] = chance.choice([0, 1, 4])
    return items


MISFORTUNES: tuple[Callable[[list[Plain], random.Random], list[Plain]], ...] = (
    _delete_nodes,
    _delete_every_node,
    _terminate,
    _unbind,
    _drop_owners,
    _orphan,
    _gate,
    _grace_zero,
    _fill_quota,
    _limit,
    _autoscale,
    _delete_claims,
    _cycle_owners,
    _pause,
    _change_template,
    _lose_nodes,
    _cordon,
    _finish,
    _nominate,
    _resize,
)

_TEMPLATED = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob")


def _templated(items: list[Plain]) -> list[Plain]:
    return _of(items, *_TEMPLATED)


def template_of(item: Plain) -> Plain:
    """Return the pod template of a workload."""
    spec: Plain = item["spec"]["jobTemplate"]["spec"] if item["kind"] == "CronJob" else item["spec"]
    template: Plain = spec["template"]
    return template


class Command(NamedTuple):
    """The words of a command of ours, without the cluster facts; manifests: of the file that `FILE` stands for."""

    words: tuple[str, ...]
    manifests: tuple[Plain, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.words)


class _Commands:
    """Draws commands about the objects of a start."""

    def __init__(self, items: list[Plain], chance: random.Random) -> None:
        self._items, self._chance = items, chance

    def _name(self, *kinds: str) -> str:
        """Return TYPE/NAME of an object of one of the kinds, of any if there is none, or of one that is not there."""
        found = _of(self._items, *kinds) or _templated(self._items) or _of(self._items, "Pod")
        if not found:
            return f"{kinds[0].lower()}/missing"
        item = self._chance.choice(found)
        return f"{item['kind'].lower()}/{objects.name_of(item)}"

    def _node(self) -> str:
        names = {objects.name_of(node) for node in _of(self._items, "Node")}
        lost = {pod["spec"].get("nodeName") for pod in _of(self._items, "Pod")} - {None}
        return self._chance.choice(sorted(names or lost or {"gone"}))

    def _zone(self) -> str:
        zones = {objects.labels_of(node).get(clusters.ZONE) for node in _of(self._items, "Node")} - {None}
        return f"{clusters.ZONE}={self._chance.choice(sorted(zones) or ['a'])}"

    def _manifest(self, *kinds: str) -> Plain:
        """Return a manifest of a workload of the start, changed in something, perhaps under another name."""
        found = _of(self._items, *(kinds or _TEMPLATED)) or [_Maker(1)._deployment("web")]
        item = copy.deepcopy(self._chance.choice(found))
        metadata = {"name": objects.name_of(item), "namespace": NAMESPACE}
        spec = item["spec"]
        if item["kind"] == "Job":
            spec.pop("selector", None)
        pod = template_of(item)["spec"]
        way = self._chance.choice(["cpu", "replicas", "paused", "priority", "nothing"])
        if way == "cpu":
            pod["containers"][0]["resources"] = {"requests": {"cpu": self._chance.choice(["200m", "2500m", "90"])}}
        elif way == "replicas" and "replicas" in spec:
            spec["replicas"] = self._chance.choice([0, 2, 5])
        elif way == "paused" and item["kind"] == "Deployment":
            spec["paused"] = True
        elif way == "priority":
            pod["priorityClassName"] = "system-node-critical"
        return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": metadata, "spec": spec}

    def draw(self, verb: str) -> Command:
        one = self._chance.choice
        rolled = ("Deployment", "StatefulSet", "DaemonSet")
        sized = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
        simple: dict[str, Callable[[], list[str]]] = {
            "rollout restart": lambda: [self._name(*rolled)],
            "rollout undo": lambda: [self._name(*rolled)],
            "rollout pause": lambda: [self._name("Deployment")],
            "rollout resume": lambda: [self._name("Deployment")],
            "scale": lambda: [self._name(*sized), f"--replicas={one([0, 1, 3, 6])}"],
            "set image": lambda: [self._name(*_TEMPLATED, "Pod"), "c=registry.k8s.io/pause:3.11"],
            "set resources": lambda: [self._name(*_TEMPLATED), f"--requests=cpu={one(['50m', '2500m', '90'])}"],
            "set env": lambda: [self._name(*_TEMPLATED), "A=B"],
            "patch": self._patch,
            "delete": self._delete,
            "drain": self._drain,
            "cordon": lambda: [self._node()],
            "uncordon": lambda: [self._node()],
            "taint": lambda: [
                "nodes",
                self._node(),
                one(["dedicated=db:NoExecute", "dedicated=db:NoSchedule", "node.kubernetes.io/unreachable:NoExecute-"]),
            ],
            "label": lambda: one(
                [
                    ["node", self._node(), one(["disk=ssd", f"{clusters.ZONE}=z", f"{clusters.ZONE}-"]), "--overwrite"],
                    ["pod", self._pod(), one(["app=other", "app-", "tier=back"]), "--overwrite"],
                ]
            ),
            "annotate": lambda: ["pod", self._pod(), f"controller.kubernetes.io/pod-deletion-cost={one([-5, 5])}"],
            "lose": lambda: [self._zone()],
            "restore": lambda: [self._zone()],
            "add-nodes": lambda: [f"{self._zone()},count={one([1, 2])},cpu=4,memory=16Gi"],
        }
        if verb in simple:
            return Command((*verb.split(), *simple[verb]()))
        if verb == "create":
            jobs = _of(self._items, "CronJob")
            if jobs and one([True, False]):
                return Command(("create", "job", "again", f"--from=cronjob/{objects.name_of(jobs[0])}"))
            manifest = self._manifest()
            if one([True, False]):
                manifest["metadata"]["name"] = "fresh"
            return Command(("create", "-f", "FILE"), (manifest,))
        assert verb == "apply", f"no command is drawn for {verb}"
        return Command((verb, "-f", "FILE"), tuple(self._manifest() for _ in range(one([1, 1, 2]))))

    def _pod(self) -> str:
        return self._name("Pod").rpartition("/")[2]

    def _patch(self) -> list[str]:
        patch = self._chance.choice(
            [
                {"spec": {"replicas": 2}},
                {"spec": {"paused": True}},
                {"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}},
                {"spec": {"template": {"spec": {"nodeSelector": {"disk": "nvme"}}}}},
                {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 0}}}},
                {"metadata": {"labels": {"app": "other"}}},
                {"spec": {"completions": 7}},
                {"spec": {"completions": 2, "parallelism": 2}},
                {"spec": {"completionMode": "Indexed"}},
                {"spec": {"podManagementPolicy": "Parallel"}},
            ]
        )
        return [self._name(*_TEMPLATED), "-p", json.dumps(patch)]

    def _delete(self) -> list[str]:
        one = self._chance.choice
        kind = one(["Pod", "Pod", "Pod", "Node", "workload", "PersistentVolumeClaim", "all"])
        if kind == "Pod":
            return [self._name("Pod"), *one([[], [], ["--force", "--grace-period=0"], ["--now"]])]
        if kind == "Node":
            return ["node", self._node()]
        if kind == "all":
            return [one(["pods", "rs", "deploy", "sts", "nodes", "pvc"]), "--all"]
        if kind == "workload":
            return [self._name(*_TEMPLATED), *one([[], ["--cascade=orphan"]])]
        return [self._name("PersistentVolumeClaim")]

    def _drain(self) -> list[str]:
        flags = self._chance.choice([[], ["--force"], ["--force", "--disable-eviction"]])
        return [self._node(), "--ignore-daemonsets", "--delete-emptydir-data", *flags]


def simulated(items: list[Plain], verb: str, seed: int) -> Command:
    """Draw a command of `simulate` with a verb of its grammar, and for every third one a further step."""
    chance = random.Random(f"{verb} {seed}")
    drawn = _Commands(items, chance).draw(verb)
    more: tuple[str, ...] = ()
    if chance.random() < 0.3:
        further = _Commands(items, chance).draw(chance.choice(_FURTHER))
        more = ("--then", shlex.join(further.words))
    return drawn._replace(words=("simulate", *drawn.words, "-n", NAMESPACE, "-o", "json", *more))


_FURTHER = (
    "scale",
    "rollout restart",
    "rollout resume",
    "delete",
    "drain",
    "uncordon",
    "restore",
    "add-nodes",
    "set env",
)


def asked(items: list[Plain], seed: int) -> Iterator[Command]:
    """Yield commands of `explain` and `check` about the objects of a start."""
    chance = random.Random(seed)
    pods = _of(items, "Pod")
    waiting = [pod for pod in pods if not pod["spec"].get("nodeName")] or pods
    about = [*_some(_templated(items), chance)[:1], *_some(waiting, chance)[:1]]
    for item in about:
        yield Command(("explain", f"{item['kind'].lower()}/{objects.name_of(item)}", "-n", NAMESPACE, "-o", "json"))
    yield Command(("check", "-n", NAMESPACE, "-o", "json"))
    yield Command(("check", "FILE", "-o", "json"), (_Commands(items, chance)._manifest(),))


def contradictions(items: list[Plain], command: Command, document: Plain, *, walks: int = 8) -> Optional[list[str]]:
    """Return where slow controllers end outside of an answer that is called exact; None if it cannot be compared.

    Args:
        items: the start.
        command: a command of `simulate`.
        document: its answer.
        walks: runs of the slow controllers.
    """
    step = document["steps"][0] if document.get("steps") else {}
    if not step.get("exact") or step.get("refusal") or document.get("notes") or step.get("notes"):
        return None
    if {bool(template_of(item)["spec"].get("schedulingGates")) for item in _templated(items)} - {_has_gates(items)}:
        return None  # somebody else puts gates on pods, or takes them away
    if _are_all_unready(items):
        return None  # new pods are taken to be as those that run
    try:
        world = living.world_of(items)
        world.settings.patience_s = PATIENCE_S
        world.script = _script(world, command)
        chance = random.Random(1)
        ends = [explore.walk(world, chance, most=400) for _ in range(walks)]
    except validation.InvalidError as error:
        return [f"the API server refuses it: {error}"]
    except (kubectl.UnknownCommandError, patching.PatchError, limits.RefusedError):
        return None
    found = []
    for end, is_steady in ends:
        for told in step["workloads"] if is_steady else ():
            key, after = told["object"], told["ready"]["after"]
            ready = sum(
                is_ready(pod)
                and is_active(pod)
                and (key["kind"], key["name"]) in _owners(end, pod)
                and _is_wanted(end, pod)
                for pod in end.pods(key["namespace"])
            )
            if after is not None and not after["min"] <= ready <= after["max"]:
                found.append(f"{key['kind']}/{key['name']}: {ready} ready, not {after['min']} to {after['max']}")
    return list(dict.fromkeys(found))


def _is_wanted(world: World, pod: Plain) -> bool:
    """Return whether a pod counts in its owner's status: of a DaemonSet only those on nodes that should have one do."""
    owner = world.get("DaemonSet", objects.controller_of(pod).get("name") or "", objects.namespace_of(pod))
    if objects.controller_of(pod).get("kind") != "DaemonSet" or owner is None:
        return True
    node = world.get("Node", pod["spec"].get("nodeName") or "")
    return node is not None and daemon.node_should_run(owner, node)


def _are_all_unready(items: list[Plain]) -> bool:
    """Return whether all running pods of some workload are unready, so that its new pods may never be ready."""
    ready: dict[str, set[bool]] = {}
    for pod in _of(items, "Pod"):
        if pod["status"].get("phase") == "Running" and pod["spec"].get("nodeName"):
            ready.setdefault(objects.labels_of(pod).get("app", ""), set()).add(is_ready(pod))
    return {False} in ready.values()


def _has_gates(items: list[Plain]) -> bool:
    return any(pod["spec"].get("schedulingGates") for pod in _of(items, "Pod"))


def _owners(world: World, pod: Plain) -> set[tuple[str, str]]:
    """Return the controller of a pod and that controller's own: an orphaned ReplicaSet may have been adopted."""
    reference = objects.controller_of(pod)
    return {actions.owner_of(world, pod), (reference.get("kind", ""), reference.get("name", ""))}


PATIENCE_S = 400  # as long as pods of lost nodes are waited for


def _script(world: World, command: Command) -> tuple[Action, ...]:
    """Return a command of `simulate` as actions of the slow controllers.

    Raises:
        kubectl.UnknownCommandError: it is none of theirs.
    """
    words = [*command.words[1 : command.words.index("-n")]]
    verb, rest = words[0], words[1:]
    if verb in ("drain", "lose", "restore"):
        names = [objects.name_of(node) for node in world.list("Node")]
        if verb == "drain":
            if set(rest) & {"--disable-eviction"} or rest[0] not in names:
                raise kubectl.UnknownCommandError(verb)
            return (("drain", [rest[0]]),)
        key, _, value = rest[0].partition("=")
        chosen = [objects.name_of(node) for node in world.list("Node") if objects.labels_of(node).get(key) == value]
        return tuple(("nodeDown" if verb == "lose" else "nodeUp", name) for name in chosen)
    if verb in ("apply", "create") and command.manifests:
        found = [world.get(item["kind"], objects.name_of(item), NAMESPACE) for item in command.manifests]
        if verb == "create" and any(found):
            raise kubectl.UnknownCommandError(verb)
        return tuple(("apply", copy.deepcopy(item)) for item in command.manifests)
    if verb in ("set", "add-nodes") or "--all" in rest or any(word.startswith("--cascade") for word in rest):
        raise kubectl.UnknownCommandError(verb)
    text = shlex.join(["kubectl", *words, "-n", NAMESPACE])
    return (("kubectl", text),)


class Said(NamedTuple):
    """The result of a command; code: None if it hung. where: the last line of ours in a crash or a hang."""

    code: Optional[int]
    out: str
    err: str
    where: str = ""

    @property
    def fault(self) -> str:
        """Return what is wrong with the run itself; empty if nothing is."""
        if self.code is None:
            return f"no end within {LIMIT_S:.0f} s of CPU time: {self.where}"
        if self.code not in (0, 1, 2, 3):
            return f"exit code {self.code}: {self.where}"
        return ""

    @property
    def document(self) -> Plain:
        found: Plain = json.loads(self.out) if self.out.startswith("{") else {}
        return found


def run(items: list[Plain], command: Command, folder: Path, *, limit_s: float = LIMIT_S) -> Said:
    """Run a command in process on a start, at most so many seconds of CPU time."""
    facts = folder / "facts.json"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
    file = folder / "manifests.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(command.manifests)}), "utf-8")
    words = [str(file) if word == "FILE" else word for word in command.words]
    out, err = io.StringIO(), io.StringIO()
    before = signal.signal(signal.SIGPROF, _hang)
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    try:
        limit = mock.patch.object(simulate, "_MAX_STATES", MAX_STATES)
        with limit, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code: Optional[int] = main.run([*words, "--snapshot", str(facts)])
    except HangError as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "kubectl_spread/" in frame.filename]
        modules = dict.fromkeys(Path(frame.filename).stem for frame in frames)
        where = " > ".join(modules)
        return Said(None, out.getvalue(), err.getvalue(), where)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return Said(code, out.getvalue(), err.getvalue(), _crash(err.getvalue()))


def _hang(number: int, frame: Optional[FrameType]) -> None:
    raise HangError


def _crash(text: str) -> str:
    """Return the exception at the end of a traceback, with the places where it was raised."""
    if "Traceback" not in text:
        return ""
    places = re.findall(r'kubectl_spread/([\w/]+)\.py", line (\d+), in (\w+)', text)
    error = [line for line in text.splitlines() if re.match(r"\w*(Error|Exception|Exit)\b", line)]
    return f"{(error or ['?'])[-1]} at " + " < ".join(f"{file}:{line} {name}" for file, line, name in places[:-4:-1])
