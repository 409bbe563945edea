"""Families of small scenarios in which the engine over time and the slow controllers must agree.

Each family draws a cluster that stands still and one step: workloads with priorities, paused rollouts, Jobs, dead and
deleted nodes, quotas, autoscalers, orphans that are adopted, pods without time to end, DaemonSets on nodes that they
should not run on, nodes that are out of service, taints that evict pods again and again.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any, Optional

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.objects.node import Taint
from tests.judge import agreement, clusters
from tests.judge.agreement import Scenario
from tests.naive import objects
from tests.naive.controllers import admission, explore, nodes
from tests.naive.controllers.actions import Action
from tests.naive.controllers.world import World
from tests.timeline.played import steps_to

Plain = dict[str, Any]
Step = Optional[tuple[tuple[Action, ...], tuple[Any, ...]]]

NAMESPACE = "shop"
_CLASSES = {"high": 1000, "low": 10}


class _Maker(clusters.Maker):
    """A cluster of few nodes with little room, and workloads of few pods."""

    def small_facts(self) -> None:
        self._facts(zones=self.one(["ab", "abc", "aab"]), equal=self.often(0.5))
        for node in map(self.world.edit, self.world.list("Node")):
            node["status"]["allocatable"]["cpu"] = self.one(["1", "2", "2", "3"])
            node["metadata"]["labels"].setdefault(clusters.ZONE, objects.name_of(node)[0])

    def plain(self, name: str, kind: str = "Deployment", *, most: int = 3) -> Plain:
        """A workload with few pods, each with half a CPU or one, mostly spread over zones."""
        made = {"Deployment": lambda: self._deployment(name), "Job": self._job}.get(kind, self._stateful_set)
        item = made()
        spec = item["spec"]
        if "replicas" in spec:
            spec["replicas"] = self.chance.randint(1, most)
        pod = spec["template"]["spec"]
        pod.pop("nodeSelector", None)
        pod["containers"][0]["resources"]["requests"]["cpu"] = self.one(["500m", "500m", "1"])
        return item

    def create(self, *items: Plain) -> None:
        for item in items:
            admission.create(self.world, item, namespace=NAMESPACE)

    def settled(self, *script: Action) -> Optional[World]:
        """Let a script and its consequences happen; None if the cluster never stands still."""
        self.world.script = script
        self._settle()
        return self.world if explore.is_steady(self.world) else None

    def find(self, *kinds: str) -> Plain:
        return next(item for kind in kinds for item in self.world.list(kind) if not objects.controller_of(item))

    def step(self) -> Step:
        """Return a step about workloads or nodes."""
        made = self.one(agreement.STEPS)(self.world, self.chance)
        return made or self.step()


def manifest(item: Plain) -> Plain:
    """Return the manifest of an object of the world."""
    metadata = {"name": objects.name_of(item), "namespace": NAMESPACE}
    spec = copy.deepcopy(item["spec"])
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": metadata, "spec": spec}


def applied(world: World, *manifests: Plain) -> Step:
    """Return the step that applies manifests in one go."""
    keys = {(item["kind"], objects.name_of(item)) for item in manifests}
    items = clusters.snapshot(world)
    kept = [item for item in items if (item["kind"], objects.name_of(item)) not in keys]
    after = []
    for item in manifests:
        before = world.get(item["kind"], objects.name_of(item), NAMESPACE)
        metadata = {**(before or item)["metadata"], "namespace": NAMESPACE}
        after.append({**(before or {}), **item, "metadata": metadata})
    script = tuple(("apply", item) for item in manifests)
    return script, steps_to(cluster_of(items), cluster_of([*kept, *copy.deepcopy(after)]))


def _priorities(maker: _Maker) -> Step:
    """Two workloads of which one may preempt the other, or overtake it."""
    maker.small_facts()
    for name, value in _CLASSES.items():
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        maker.create({**kind, "metadata": {"name": name}, "value": value})
    items = [maker.plain("web"), maker.plain("api", maker.one(["Deployment", "Deployment", "StatefulSet"]), most=2)]
    for item, name in zip(
        items, maker.one([("high", ""), ("high", "low"), ("low", "high"), ("", "high")]), strict=True
    ):
        if name:
            item["spec"]["template"]["spec"]["priorityClassName"] = name
    if maker.often(0.5):
        return None if maker.settled() is None else applied(maker.world, *_named(items))
    maker.create(*items)
    return None if maker.settled() is None else maker.step()


def _named(items: list[Plain]) -> list[Plain]:
    return [{**item, "metadata": {**item["metadata"], "namespace": NAMESPACE}} for item in items]


def _paused(maker: _Maker) -> Step:
    """A Deployment that is paused: from the start, before a rollout, or in the middle of one that is stuck."""
    maker.small_facts()
    item = maker.plain("web", most=4)
    item["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": maker.one(_ROLLING)}
    way = maker.one(["start", "before", "middle", "middle", "middle"])
    if way == "start":
        item["spec"]["paused"] = True
        if maker.often(0.5):
            return None if maker.settled() is None else applied(maker.world, *_named([item]))
    maker.create(item)
    if maker.settled() is None:
        return None
    if way != "start":
        after = manifest(maker.find("Deployment"))
        pod = after["spec"]["template"]["spec"]
        pod["containers"][0]["resources"]["requests"]["cpu"] = "6" if maker.often(0.7) else "250m"
        if way == "middle" and maker.settled(("apply", copy.deepcopy(after))) is None:
            return None
        after["spec"]["paused"] = True
        if maker.settled(("apply", after)) is None:
            return None
    found = maker.find("Deployment")
    if maker.often(0.5):
        replicas = maker.chance.randint(0, 5)
        script = (("scale", {**agreement.reference(found), "replicas": replicas}),)
        return script, (steps.Scale(agreement.key_of(found), replicas),)
    if maker.often(0.6):
        patch = {**agreement.reference(found), "patch": {"spec": {"paused": False}}, "type": "merge"}
        after = manifest(found)
        after["spec"]["paused"] = False
        return (("patch", patch),), applied(maker.world, after)[1]
    return maker.step()


_ROLLING = [
    {"maxSurge": 1, "maxUnavailable": 0},
    {"maxSurge": 1, "maxUnavailable": 1},
    {"maxSurge": 2, "maxUnavailable": 1},
]


def _jobs(maker: _Maker) -> Step:
    """A Job whose pods are deleted or evicted."""
    maker.small_facts()
    item = maker._job()
    spec = item["spec"]
    spec["parallelism"] = maker.chance.randint(1, 3)
    spec["completions"] = spec["parallelism"] + maker.chance.randint(0, 2)
    if maker.often(0.4):
        spec["completionMode"] = "Indexed"
    if maker.often(0.8):
        spec["backoffLimit"] = maker.one([0, 0, 1, 2])
    if maker.often(0.3):
        condition = {"type": "DisruptionTarget", "status": "True"}
        rule = {"action": maker.one(["Ignore", "Count", "FailJob"]), "onPodConditions": [condition]}
        spec["podFailurePolicy"] = {"rules": [rule]}
    spec["template"]["spec"].pop("nodeSelector", None)
    maker.create(item)
    if maker.often(0.4):
        maker.create(maker.plain("web", most=2))
    if maker.settled() is None:
        return None
    makers = (agreement.delete_pod, agreement.drain, agreement.delete_node, agreement.node_down, agreement.taint)
    return maker.one(makers)(maker.world, maker.chance)


def _dead_nodes(maker: _Maker) -> Step:
    """A node dies, replacements run or wait, and then something else happens, most often the node is deleted."""
    maker.small_facts()
    kind = maker.one(["Deployment", "Deployment", "StatefulSet", "Job"])
    item = maker.plain("web", kind)
    if maker.often(0.7):
        tolerations = [
            {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
            for name in ("not-ready", "unreachable")
        ]
        item["spec"]["template"]["spec"]["tolerations"] = tolerations
    maker.create(item)
    if maker.settled() is None:
        return None
    name = objects.name_of(maker.one(maker.world.list("Node")))
    if maker.settled(("nodeDown", name)) is None:
        return None
    if maker.often(0.3):  # it dies while their containers are created
        for pod in [pod for pod in maker.world.pods() if pod["spec"].get("nodeName") == name]:
            maker.world.edit(pod)["status"]["phase"] = "Pending"
    if maker.often(0.6):
        return (("deleteNode", name),), (steps.DeleteNodes((name,)),)
    return maker.step()


def _quotas(maker: _Maker) -> Step:
    """A quota, or limits of containers, that has room for few more pods."""
    maker.small_facts()
    kind = maker.one(["Deployment", "Deployment", "StatefulSet", "Job"])
    maker.create(maker.plain("web", kind))
    if maker.often(0.4):
        maker.create(maker.plain("api", most=2))
    if maker.settled() is None:
        return None
    used = len(list(maker.world.pods()))
    hard = maker.one([{"pods": str(used + more)} for more in (0, 0, 1, 2)] + [{"requests.cpu": str(used)}])
    kinds = {"apiVersion": "v1", "metadata": {"name": "bound"}}
    if maker.often(0.85):
        maker.create({**kinds, "kind": "ResourceQuota", "spec": {"hard": hard}})
    else:
        limit = maker.one([{"max": {"cpu": "750m"}}, {"min": {"cpu": "750m"}}])
        maker.create({**kinds, "kind": "LimitRange", "spec": {"limits": [{"type": "Container", **limit}]}})
    if maker.settled() is None:
        return None
    if maker.often(0.5):
        return agreement.scale(maker.world, maker.chance) or maker.step()
    return maker.step()


def _autoscalers(maker: _Maker) -> Step:
    """A workload under an autoscaler, and most often a step that scales it."""
    maker.small_facts()
    item = maker.plain("web", maker.one(["Deployment", "Deployment", "StatefulSet"]))
    maker.create(item)
    least = maker.chance.randint(1, 3)
    target = {"apiVersion": "apps/v1", "kind": item["kind"], "name": objects.name_of(item)}
    spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": least + maker.chance.randint(0, 2)}
    kinds = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}}
    maker.create({**kinds, "spec": spec})
    if maker.settled() is None:
        return None
    found = maker.find("Deployment", "StatefulSet")
    if maker.often(0.7):
        replicas = maker.chance.randint(0, 5)
        script = (("scale", {**agreement.reference(found), "replicas": replicas}),)
        return script, (steps.Scale(agreement.key_of(found), replicas),)
    return maker.step()


def _adoptions(maker: _Maker) -> Step:
    """A Deployment or a StatefulSet that is created again over its orphans."""
    maker.small_facts()
    item = maker.plain("web", maker.one(["Deployment", "Deployment", "StatefulSet"]))
    maker.create(item)
    if maker.settled() is None:
        return None
    found = maker.find("Deployment", "StatefulSet")
    again = manifest(found)
    maker.world.remove(found)
    for kind in ("ReplicaSet", "Pod"):
        for other in maker.world.list(kind):
            if objects.controller_of(other).get("uid") == objects.uid_of(found):
                maker.world.edit(other)["metadata"].pop("ownerReferences")
    if maker.settled() is None:
        return None
    if maker.often(0.3):
        again["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "250m"
    elif maker.often(0.5):
        again["spec"]["template"]["spec"] |= {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30}
    if maker.often(0.3):
        again["spec"]["replicas"] = maker.chance.randint(1, 4)
    return applied(maker.world, again)


def _without_grace(maker: _Maker) -> Step:
    """Pods that are gone as soon as they are deleted, also from dead nodes."""
    maker.small_facts()
    item = maker.plain("web", maker.one(["Deployment", "StatefulSet"]))
    item["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 0
    maker.create(item)
    if maker.often(0.3):
        maker.create(maker.plain("api", most=2))
    return None if maker.settled() is None else maker.step()


def _cordoned(maker: _Maker) -> Step:
    """Cordoned nodes whose taint the snapshot may lack."""
    maker.small_facts()
    item = maker.plain("web", maker.one(["Deployment", "StatefulSet"]))
    for constraint in item["spec"]["template"]["spec"]["topologySpreadConstraints"]:
        constraint["nodeTaintsPolicy"] = maker.one(["Honor", "Ignore"])
    maker.create(item)
    node = maker.one(maker.world.list("Node"))
    if maker.settled(("cordon", objects.name_of(node))) is None:
        return None
    step = maker.step()
    if maker.often(0.6):
        maker.world.edit(maker.world.get("Node", objects.name_of(node)) or {})["spec"].pop("taints", None)
    return step


def _daemon_rollouts(maker: _Maker) -> Step:
    """A rollout of a DaemonSet some of whose nodes are dead, or have got a taint that keeps new pods away."""
    maker.small_facts()
    item = maker._varied_daemon_set()
    item["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = maker.one(["100m", "500m", "1"])
    maker.create(item)
    if maker.settled() is None:
        return None
    names = [objects.name_of(node) for node in maker.world.list("Node")]
    taint = {"key": "maint", "value": "x", "effect": "NoSchedule"}
    for name in maker.chance.sample(names, maker.one([1, 1, 2])):
        before = maker.one([("nodeDown", name), *[("taint", {"node": name, "taint": taint})] * 2])
        if maker.settled(before) is None:
            return None
    makers = (agreement.restart_daemons, agreement.restart_daemons, agreement.roll_out_daemons)
    return maker.one(makers)(maker.world, maker.chance)


def _out_of_service(maker: _Maker) -> Step:
    """A dead node with terminating pods gets the taint that lets the garbage collector remove them, or has it."""
    maker.small_facts()
    item = maker.plain("web", maker.one(["Deployment", "StatefulSet", "StatefulSet", "Job"]))
    maker.create(item)
    if maker.often(0.3):
        maker.create(maker._varied_daemon_set())
    if maker.settled() is None:
        return None
    name = objects.name_of(maker.one(maker.world.list("Node")))
    taint = Taint(nodes.OUT_OF_SERVICE, "nodeshutdown", maker.one(["NoExecute", "NoExecute", "NoSchedule"]))
    change = ("taint", {"node": name, "taint": taint._asdict()})
    if maker.often(0.7):
        if maker.settled(("nodeDown", name)) is None:
            return None
        return (change,), (steps.TaintNodes((name,), taint),)
    if maker.settled(change) is None:
        return None
    return (("nodeDown", name),), (steps.NodesDown((name,)),)


def _evicted_again(maker: _Maker) -> Step:
    """A taint evicts pods that tolerate it for a while, so that others of them may come to its nodes again."""
    maker.small_facts()
    item = maker.plain("web", maker.one(["Deployment", "StatefulSet"]), most=2)
    pod = item["spec"]["template"]["spec"]
    pod["tolerations"] = [{"key": "maint", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]
    maker.create(item)
    if maker.settled() is None:
        return None
    names = [objects.name_of(node) for node in maker.world.list("Node")]
    chosen = names if maker.often(0.6) else maker.chance.sample(names, 1)
    taint = Taint("maint", "x", "NoExecute")
    script = tuple(("taint", {"node": name, "taint": taint._asdict()}) for name in chosen)
    return script, (steps.TaintNodes(tuple(chosen), taint),)


FAMILIES: dict[str, Callable[[_Maker], Step]] = {
    "priorities": _priorities,
    "paused": _paused,
    "jobs": _jobs,
    "dead-nodes": _dead_nodes,
    "quotas": _quotas,
    "autoscalers": _autoscalers,
    "adoptions": _adoptions,
    "no-grace": _without_grace,
    "cordoned": _cordoned,
    "daemon-rollouts": _daemon_rollouts,
    "out-of-service": _out_of_service,
    "evicted-again": _evicted_again,
}


def scenario(family: str, seed: int) -> Optional[Scenario]:
    """Draw a cluster that stands still and a step; None if it never does."""
    maker = _Maker(random.Random(f"{family} {seed}").randrange(2**32))
    step = FAMILIES[family](maker)
    if step is None:
        return None
    script, ops = step
    text = f"{script}" if script[0][0] != "apply" else f"apply {[objects.name_of(item) for _, item in script]}"
    return Scenario(clusters.snapshot(maker.world), script, ops, text)
