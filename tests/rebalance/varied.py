"""Small clusters with everything that can hinder a plan, made from a seed.

Workloads of all kinds run on random nodes: with volumes, budgets, taints, cordons, other pods, pods of old revisions,
pods that are not ready, pods that are being deleted, and rollouts under way.
"""

from __future__ import annotations

import copy
from typing import Any

from tests.judge import clusters
from tests.naive import objects
from tests.naive.controllers import admission, nodes
from tests.naive.controllers.world import delete_pod, is_active, with_condition, World

Plain = dict[str, Any]

_SPREAD = ("Deployment", "StatefulSet", "ReplicaSet", "Job")


def world(seed: int) -> World:
    """Return a world in which constraints are probably violated."""
    return _Drift(seed).run_drifted()


def facts(made: World) -> list[Plain]:
    """Return the objects of a world as the API server has them."""
    found = clusters.snapshot(made)
    originals = {item["metadata"]["uid"]: item for item in made.list("Pod")}
    for item in found:
        if item["kind"] == "Pod":
            item["status"] = {"phase": "Running", **copy.deepcopy(originals[item["metadata"]["uid"]].get("status", {}))}
            if not item["spec"].get("nodeName"):
                item["status"]["phase"] = "Pending"
    return found


class _Drift(clusters.Maker):
    """Draws one cluster."""

    def run_drifted(self) -> World:
        self._facts()
        main = self._main()
        items = [main]
        if self.often(0.3):
            items.append(self._deployment("api"))
        if self.often(0.25):
            items.append(self._daemon_set())
        if self.often(0.3):
            items += [self._bare_pod(number) for number in range(self.chance.randint(1, 2))]
        if self.often(0.15) and main["kind"] != "Job":
            items.append(self._job())
        for item in items:
            self._admit(item, is_main=item is main)
        self._settle()
        self._move()
        for _ in range(self.one([0, 0, 1, 1, 2])):
            self._hinder()
        return self.world

    def _admit(self, item: Plain, *, is_main: bool) -> None:
        spec = item["spec"]
        if is_main:
            for name in ("replicas", "parallelism", "completions"):
                if name in spec:
                    spec[name] = self.chance.randint(2, 5)
            if "parallelism" in spec:
                spec["parallelism"] = spec["completions"]
            pod_spec = spec["template"]["spec"]
            pod_spec["containers"][0]["resources"]["requests"]["cpu"] = self.one(["100m", "500m", "500m", "1"])
            pod_spec["topologySpreadConstraints"] = pod_spec["topologySpreadConstraints"] or [
                self._constraint(clusters.ZONE, objects.name_of(item))
            ]
        elif "replicas" in spec:
            spec["replicas"] = min(spec["replicas"], 2)
        if spec.get("updateStrategy", {}).get("rollingUpdate") and self.often(0.2):
            spec["updateStrategy"]["rollingUpdate"]["partition"] = self.one([1, 2])
        if spec.get("template") and self.often(0.1):
            spec["template"]["spec"]["priority"] = self.one([-10, 100])
        admission.create(self.world, item, namespace="shop")
        if spec.get("template") and self.often(0.5 if is_main else 0.15):
            self._add_budget(item, "")
            if self.often(0.12):
                self._add_budget(item, "-too")

    def _add_budget(self, item: Plain, suffix: str) -> None:
        found = self.budget(item)
        found["metadata"]["name"] += suffix
        spec = found["spec"]
        if self.often(0.5):
            for name in ("maxUnavailable", "minAvailable"):
                spec.pop(name, None)
            replicas = item["spec"].get("replicas", 2)
            spec |= self.one([{"maxUnavailable": 0}, {"minAvailable": "100%"}, {"minAvailable": replicas - 1}])
        if self.often(0.3):
            spec["unhealthyPodEvictionPolicy"] = self.one(["AlwaysAllow", "IfHealthyBudget"])
        if self.often(0.15):
            spec["selector"] = {"matchLabels": {"tier": "front"}}
        admission.create(self.world, found, namespace="shop")

    def _move(self) -> None:
        """Put the pods of workloads with constraints on random nodes, most of them on a few."""
        names = [objects.name_of(item) for item in self.world.list("Node")]
        favourites = self.chance.sample(names, min(len(names), self.one([1, 2, 2, 3])))
        for pod in sorted(self.world.list("Pod"), key=objects.name_of):
            if not pod["spec"].get("topologySpreadConstraints") or not pod["spec"].get("nodeName"):
                continue
            wanted = favourites if self.often(0.8) else names
            able = [name for name in wanted if self._has_room(name, pod)]
            if able and self.often(0.85):
                self._bind(pod, self.one(able))

    def _has_room(self, name: str, pod: Plain) -> bool:
        node = self.world.get("Node", name)
        assert node is not None
        room = _milli(node["status"]["allocatable"]["cpu"])
        there = [other for other in self.world.list("Pod") if other["spec"].get("nodeName") == name]
        if len(there) >= int(node["status"]["allocatable"]["pods"]):
            return False
        return sum(map(_cpu, there)) + _cpu(pod) <= room

    def _bind(self, pod: Plain, name: str) -> None:
        node = self.world.get("Node", name)
        assert node is not None
        self.world.put({**pod, "spec": {**pod["spec"], "nodeName": name}})
        for volume in pod["spec"].get("volumes") or []:
            claim_name = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
            claim = self.world.get("PersistentVolumeClaim", claim_name, objects.namespace_of(pod))
            found = claim and self.world.get("PersistentVolume", claim["spec"].get("volumeName", ""))
            if found:
                moved = self.world.edit(found)
                moved["spec"].pop("nodeAffinity", None)
                zone = objects.labels_of(node).get(clusters.ZONE)
                if zone and self.often(0.8):
                    term = {"matchExpressions": [{"key": clusters.ZONE, "operator": "In", "values": [zone]}]}
                    moved["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}

    def _hinder(self) -> None:
        self.one(
            [
                self._cordon,
                self._taint,
                self._end_a_pod,
                self._break_a_pod,
                self._change_template,
                self._change_template,
                self._add_replicas,
                self._add_a_waiting_pod,
                self._hold_a_pod,
            ]
        )()

    def _cordon(self) -> None:
        nodes.cordon(self.world, objects.name_of(self.one(self.world.list("Node"))), unschedulable=True)

    def _taint(self) -> None:
        node = self.one(self.world.list("Node"))
        effect = self.one(["NoSchedule", "NoSchedule", "PreferNoSchedule"])
        self.world.put(nodes.with_taint(node, {"key": "dedicated", "value": "db", "effect": effect}))

    def _pods(self) -> list[Plain]:
        """Return one of the pods, or none if there are none."""
        pods = [pod for pod in self.world.list("Pod") if is_active(pod) and pod["spec"].get("nodeName")]
        return self.chance.sample(sorted(pods, key=objects.name_of), min(1, len(pods)))

    def _end_a_pod(self) -> None:
        for pod in self._pods():
            delete_pod(self.world, pod)

    def _hold_a_pod(self) -> None:
        for pod in self._pods():
            held = {**pod, "metadata": {**pod["metadata"], "finalizers": ["example.com/hold"]}}
            self.world.put(held)
            delete_pod(self.world, held)

    def _break_a_pod(self) -> None:
        for pod in self._pods():
            self.world.put(with_condition(pod, type="Ready", status="False"))

    def _change_template(self) -> None:
        item = copy.deepcopy(self._main_item())
        if item["kind"] not in ("Deployment", "StatefulSet"):
            return
        item["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.k8s.io/pause:3.10"
        if item["kind"] == "Deployment" and self.often(0.6):
            item["spec"]["paused"] = True
        elif item["kind"] == "StatefulSet":
            replicas = item["spec"]["replicas"]
            partition = {"type": "RollingUpdate", "rollingUpdate": {"partition": self.chance.randint(0, replicas)}}
            item["spec"]["updateStrategy"] = self.one([partition, {"type": "OnDelete"}])
        self.world.put(item)

    def _add_replicas(self) -> None:
        item = copy.deepcopy(self._main_item())
        if "replicas" in item["spec"]:
            item["spec"]["replicas"] += self.one([-1, 1])
        self.world.put(item)

    def _add_a_waiting_pod(self) -> None:
        pod = self._bare_pod(9)
        pod["metadata"]["labels"] = {"app": "tool", "tier": "front"}  # A ReplicaSet would adopt a pod of its selector.
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = self.one(["1500m", "100"])
        admission.create(self.world, pod, namespace="shop")


def _cpu(pod: Plain) -> int:
    containers = pod["spec"]["containers"]
    return sum(_milli(((item.get("resources") or {}).get("requests") or {}).get("cpu", "0")) for item in containers)


def _milli(text: str) -> int:
    return int(text[:-1]) if text.endswith("m") else 1000 * int(text)
