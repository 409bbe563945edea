"""Clusters of every kind in which some pod waits: made by chance, and lived in until nothing moves.

Workloads are created by the controllers and placed by the scheduler; then something happens that leaves a pod Pending.
What comes out is a snapshot as `kubectl get -o json` prints it.
"""

from __future__ import annotations

import copy
import random
from typing import Any, Optional

from tests.naive import objects
from tests.naive.controllers import admission, deployment, explore, nodes, scheduling, statefulset
from tests.naive.controllers.world import condition, is_ready, Settings, World

Plain = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_NAMESPACE = "shop"
_DEDICATED = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
_STEPS = 800


class Maker:
    """Draws one cluster."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.world = World(Settings())
        self.one = self.chance.choice

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    def run(self) -> Optional[World]:
        self._facts()
        for item in self._workloads():
            admission.create(self.world, item, namespace=_NAMESPACE)
        self._settle()
        for _ in range(4):
            if any(True for _ in scheduling.waiting(self.world)):
                return self.world
            self._trouble()
            self._settle()
        return self.world if scheduling.waiting(self.world) else None

    def _settle(self) -> None:
        self.world, _ = explore.walk(self.world, self.chance, most=_STEPS)

    def _facts(self, zones: str = "", *, equal: bool = False) -> None:
        zones = zones or self.one(["abc", "abc", "ab", "aabbc", "abcc", "aab", "abcd"])
        like = self._node("", "") if equal else None
        for number, zone in enumerate(zones):
            node = self._node(f"{zone}{number}", zone) if like is None else copy.deepcopy(like)
            node["metadata"]["name"] = f"{zone}{number}"
            node["metadata"]["labels"] |= {HOSTNAME: f"{zone}{number}"} | ({ZONE: zone} if like is not None else {})
            admission.create(self.world, node)
        admission.create(self.world, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})
        for name, mode in (("late", "WaitForFirstConsumer"), ("fast", "Immediate")):
            admission.create(
                self.world,
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "StorageClass",
                    "metadata": {"name": name},
                    "provisioner": "disk.csi.example.com",
                    "reclaimPolicy": "Delete",
                    "volumeBindingMode": mode,
                },
            )

    def _node(self, name: str, zone: str) -> Plain:
        labels = {HOSTNAME: name, "kubernetes.io/os": "linux", ZONE: zone}
        if self.often(0.08):
            del labels[ZONE]
        if self.often(0.3):
            labels["disk"] = self.one(["ssd", "hdd"])
        room = {"cpu": self.one(["2", "3", "4", "8"]), "memory": "16Gi", "pods": self.one(["110", "110", "5"])}
        spec: Plain = {"taints": [dict(_DEDICATED)]} if self.often(0.12) else {}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
            "status": {
                "allocatable": room,
                "capacity": dict(room),
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }

    def _workloads(self) -> list[Plain]:
        found = [self._main()]
        if self.often(0.35):
            found.append(self._deployment("api"))
        if self.often(0.2):
            found.append(self._daemon_set())
        if self.often(0.25):
            found += [self._bare_pod(number) for number in range(self.chance.randint(1, 2))]
        return found

    def _main(self) -> Plain:
        kind = self.one(["Deployment"] * 5 + ["StatefulSet"] * 3 + ["Job", "ReplicaSet"])
        if kind == "Deployment":
            return self._deployment("web")
        if kind == "StatefulSet":
            return self._stateful_set()
        if kind == "Job":
            return self._job()
        item = self._deployment("web")
        item["kind"] = "ReplicaSet"
        for field in ("strategy", "paused"):
            item["spec"].pop(field, None)
        return item

    def _deployment(self, name: str) -> Plain:
        rolling = self.one([{"maxSurge": "25%", "maxUnavailable": "25%"}] * 3 + [{"maxSurge": 1, "maxUnavailable": 0}])
        strategy: Plain = {"type": "RollingUpdate", "rollingUpdate": dict(rolling)}
        if self.often(0.1):
            strategy = {"type": "Recreate"}
        elif self.often(0.15):
            strategy["rollingUpdate"] = {"maxSurge": 0, "maxUnavailable": 1}
        spec = {"replicas": self.chance.randint(1, 5), "strategy": strategy}
        return self._workload("apps/v1", "Deployment", name, spec)

    def _stateful_set(self) -> Plain:
        spec: Plain = {
            "replicas": self.chance.randint(1, 4),
            "serviceName": "db",
            "podManagementPolicy": self.one(["OrderedReady", "Parallel"]),
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        }
        if self.often(0.1):
            spec["updateStrategy"] = {"type": "OnDelete"}
        if self.often(0.6):
            asked = {"requests": {"storage": "1Gi"}}
            claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": self.one(["late", "late", "fast"])}
            spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": {**claim, "resources": asked}}]
        return self._workload("apps/v1", "StatefulSet", "db", spec)

    def _job(self) -> Plain:
        count = self.chance.randint(1, 4)
        item = self._workload("batch/v1", "Job", "sweep", {"parallelism": count, "completions": count})
        del item["spec"]["selector"]
        item["spec"]["template"]["spec"]["restartPolicy"] = "Never"
        return item

    def _daemon_set(self) -> Plain:
        item = self._workload("apps/v1", "DaemonSet", "agent", {})
        item["spec"]["template"]["spec"] = {"containers": [_container("100m")]}
        return item

    def _living(self, items: list[Plain]) -> Optional[World]:
        """Create workloads, few of their pods, and perhaps budgets; None if the cluster never stands still."""
        for item in items:
            spec = item["spec"]
            if "replicas" in spec:
                spec["replicas"] = min(spec["replicas"], 3 if len(items) == 1 else 2)
            if item["kind"] == "Job":
                spec["parallelism"] = spec["completions"] = min(spec["parallelism"], 3)
            admission.create(self.world, item, namespace=_NAMESPACE)
            for number in range(self.one([0, 0, 0, 0, 0, 0, 1, 1, 2])):
                budget = self.budget(item)
                budget["metadata"]["name"] += f"-{number}"
                admission.create(self.world, budget, namespace=_NAMESPACE)
        self._settle()
        return self.world if explore.is_steady(self.world) else None

    def _varied_daemon_set(self) -> Plain:
        item = self._daemon_set()
        rolling = [{"maxUnavailable": 1}, {"maxUnavailable": 2}, {"maxUnavailable": 0, "maxSurge": 1}]
        item["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": self.one(rolling)}
        spec = item["spec"]["template"]["spec"]
        spec["containers"] = [_container(self.one(["100m", "1", "1500m", "2500m"]))]
        if self.often(0.3):
            spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
        if self.often(0.2):
            spec["nodeSelector"] = {"disk": "ssd"}
        return item

    def _bare_pod(self, number: int) -> Plain:
        labels = self.one([{"app": "web"}, {"app": "tool"}])
        spec = {"containers": [_container("500m")]}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"tool-{number}", "labels": labels},
            "spec": spec,
        }

    def _workload(self, version: str, kind: str, name: str, spec: Plain) -> Plain:
        labels = {"app": name, "tier": "front"}
        template = {"metadata": {"labels": labels}, "spec": self._pod_spec(name)}
        own = {**spec, "selector": {"matchLabels": {"app": name}}, "template": template}
        return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": own}

    def _pod_spec(self, name: str) -> Plain:
        spec: Plain = {"containers": [_container(self.one(["100m", "500m", "1", "1500m"]))]}
        keys = self.one([[ZONE], [ZONE], [ZONE], [HOSTNAME], [ZONE, HOSTNAME], []])
        spec["topologySpreadConstraints"] = [self._constraint(key, name) for key in keys]
        if self.often(0.15):
            spec["nodeSelector"] = {"disk": self.one(["ssd", "hdd"])}
        if self.often(0.12):
            term = {"topologyKey": self.one([HOSTNAME, ZONE]), "labelSelector": {"matchLabels": {"app": name}}}
            spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}}
        if self.often(0.15):
            spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
        if self.often(0.05):
            spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
        return spec

    def _constraint(self, key: str, name: str) -> Plain:
        labels = self.one([{"app": name}] * 4 + [{"tier": "front"}])
        constraint: Plain = {
            "maxSkew": self.one([1, 1, 1, 2]),
            "topologyKey": key,
            "whenUnsatisfiable": self.one(["DoNotSchedule"] * 4 + ["ScheduleAnyway"]),
            "labelSelector": {"matchLabels": dict(labels)},
        }
        is_hard = constraint["whenUnsatisfiable"] == "DoNotSchedule"
        if is_hard and self.often(0.15):
            constraint["minDomains"] = self.one([2, 3])
        if self.often(0.25):
            constraint["nodeTaintsPolicy"] = self.one(["Honor", "Ignore"])
        if self.often(0.15) and name != "db":
            constraint["matchLabelKeys"] = ["pod-template-hash"]
        return constraint

    def budget(self, item: Plain) -> Plain:
        """A budget for the pods of a workload."""
        labels = objects.labels_of(item["spec"].get("template") or item)
        spec = {**self.one([{"maxUnavailable": 1}, {"minAvailable": 1}, {"maxUnavailable": "50%"}])}
        spec["selector"] = {"matchLabels": {"app": labels["app"]}}
        name = objects.name_of(item)
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec}

    def _trouble(self) -> None:
        """Something that may leave a pod without a node."""
        action = self.one([self._scale, self._scale, self._close_a_node, self._lose_a_pod, self._roll_out, self._fill])
        action()

    def _main_item(self) -> Plain:
        kinds = ("StatefulSet", "Job", "Deployment", "ReplicaSet")
        return next(
            item
            for kind in kinds
            for item in self.world.list(kind)
            if objects.name_of(item) != "api" and not objects.controller_of(item)
        )

    def _scale(self) -> None:
        item = self._main_item()
        spec = dict(item["spec"])
        if item["kind"] == "Job":
            return
        spec["replicas"] = spec["replicas"] + self.chance.randint(1, 3)
        self.world.put({**item, "spec": spec})

    def _close_a_node(self) -> None:
        node = self.one(self.world.list("Node"))
        ways = [("unschedulable", "")] * 2 + [("taint", "NoSchedule"), ("taint", "NoExecute"), ("down", "")]
        sort, effect = self.one(ways)
        self.world.script = {
            "unschedulable": (("cordon", node["metadata"]["name"]),),
            "taint": (("taint", {"node": node["metadata"]["name"], "taint": {**_DEDICATED, "effect": effect}}),),
            "down": (("nodeDown", node["metadata"]["name"]),),
        }[sort]
        if sort != "down":
            self._settle()
            self._lose_a_pod()

    def _lose_a_pod(self) -> None:
        item = self._main_item()
        owner = f"{item['kind']}/{objects.name_of(item)}"
        self.world.script = (("deletePods", {"owner": owner, "count": 1}),)

    def _roll_out(self) -> None:
        item = copy.deepcopy(self._main_item())
        if item["kind"] in ("Job", "ReplicaSet"):
            return
        spec = item["spec"]["template"]["spec"]
        what = self.one(["cpu", "selector", "constraint", "paused"])
        if what == "cpu":
            spec["containers"] = [_container(self.one(["1500m", "2500m", "6"]))]
        elif what == "selector":
            spec["nodeSelector"] = {"disk": "nvme"}
        elif what == "constraint":
            spec["topologySpreadConstraints"] = [self._constraint(ZONE, objects.name_of(item))]
        elif item["kind"] == "Deployment":
            item["spec"]["paused"] = True
            item["spec"]["replicas"] += 3
        self.world.put(item)

    def _fill(self) -> None:
        """Another workload takes the room that is left on a node."""
        node = self.one(self.world.list("Node"))
        spec = {"containers": [_container("1500m")], "nodeSelector": {HOSTNAME: objects.labels_of(node)[HOSTNAME]}}
        template = {"metadata": {"labels": {"app": "fill"}}, "spec": spec}
        own = {"replicas": 2, "selector": {"matchLabels": {"app": "fill"}}, "template": template}
        item = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "fill"}, "spec": own}
        if self.world.get("Deployment", "fill", _NAMESPACE) is None:
            admission.create(self.world, item, namespace=_NAMESPACE)
            self._scale()


def _container(cpu: str) -> Plain:
    return {"name": "c", "image": "registry.k8s.io/pause:3.9", "resources": {"requests": {"cpu": cpu}}}


def generated(seed: int) -> Optional[list[Plain]]:
    """The objects of a cluster in which a pod waits; None where none does."""
    world = Maker(seed).run()
    return None if world is None else snapshot(world)


def small(seed: int) -> Optional[World]:
    """A cluster small enough to look at everything that may happen to it."""
    maker = Maker(seed)
    maker._facts()
    return maker._living([item for item in maker._workloads() if objects.name_of(item) != "agent"][:2])


def small_with_daemons(seed: int) -> Optional[World]:
    """A small cluster of mostly equal nodes, with a DaemonSet and perhaps another workload."""
    maker = Maker(seed)
    maker._facts(zones=maker.one(["ab", "abc", "aabb", "aab"]), equal=maker.often(0.7))
    return maker._living([maker._varied_daemon_set(), *(maker._workloads()[:1] if maker.often(0.4) else [])])


def snapshot(world: World) -> list[Plain]:
    """The objects of a moment as the API server would print them."""
    return [_shown(world, item) for items in world.kinds.values() for item in items.values()]


def _shown(world: World, item: Plain) -> Plain:
    item = copy.deepcopy(item)
    metadata = item["metadata"]
    metadata["creationTimestamp"] = metadata.get("creationTimestamp") or "2026-01-01T00:00:00Z"
    for name in [name for name in metadata.get("annotations") or {} if name.startswith("naive/")]:
        del metadata["annotations"][name]
    if item["kind"] == "Pod":
        item["apiVersion"] = "v1"
        _show_pod(item)
    elif item["kind"] == "StatefulSet":
        revisions = statefulset.revisions_of(item)
        item["status"] = {"currentRevision": revisions.current, "updateRevision": revisions.update}
        item["status"]["replicas"] = len(statefulset.pods_of(world, item))
    elif item["kind"] == "Deployment":
        sets = deployment.sets_of(world, item)
        if sets.new is not None:
            number = objects.annotations_of(sets.new).get(deployment.REVISION, "1")
            metadata.setdefault("annotations", {})[deployment.REVISION] = number
    elif item["kind"] in ("PersistentVolume", "PersistentVolumeClaim"):
        item.setdefault("apiVersion", "v1")
    return item


def _show_pod(pod: Plain) -> None:
    is_running = is_ready(pod) or _was_lost(pod)
    status = {"phase": "Running" if is_running else "Pending", "conditions": []}
    if pod["spec"].get("nodeName"):
        status["conditions"] = [
            {"type": "PodScheduled", "status": "True"},
            {"type": "Ready", "status": "True" if is_ready(pod) else "False"},
        ]
    nominated = objects.nominated_node_name(pod)
    if nominated:
        status["nominatedNodeName"] = nominated
    pod["status"] = status


def _was_lost(pod: Plain) -> bool:
    """Whether the pod ran when its node stopped answering."""
    reason = (condition(pod, "Ready") or {}).get("reason")
    return bool(reason == nodes.NODE_LOST and pod["status"].get("phase") == "Running")


def lived(facts: list[Plain], manifests: list[Plain]) -> Optional[list[Plain]]:
    """The objects of a cluster some time after manifests were applied to it; None where no pod waits."""
    world = World(Settings())
    for item in [*facts, *manifests]:
        if item.get("kind") and "metadata" in item:
            admission.create(world, {**item, "metadata": {**item["metadata"]}})
    end, _ = explore.walk(world, random.Random(1), most=_STEPS)
    return snapshot(end) if scheduling.waiting(end) else None
