"""A cluster to test against, a real one or a stand-in alike, and scenes: what a test makes there.

All that is created has the label `kubectl-spread.test/scene`, and is removed when the scene ends. Nodes are made of
nothing: an object, a condition that says Ready, and a Lease renewed in the background, as no kubelet does it. They
are tainted, so that nobody else's pods go there; their pods are bound and never run, and are gone once deleted, as
their grace period is 0.
"""

from __future__ import annotations

import contextlib
import copy
import datetime as dt
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Optional

from tests.apiserver import KINDS
from tests.live.api import Api, ApiError, Recorder

Plain = dict[str, Any]

SCENE = "kubectl-spread.test/scene"
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
SECRET = "hunter2"  # in the environment of every container
PATIENCE_S = 60.0
_RENEWED_S = 10.0  # as a kubelet does; after 50 s the node lifecycle controller gives a node up
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_MERGE = "application/merge-patch+json"
_SET_BY_CONDITIONS = "node.kubernetes.io/"


def path(kind: str, namespace: str = "", name: str = "") -> str:
    """Where objects of a kind are."""
    group, version, plural, is_namespaced = KINDS[kind]
    found = f"/apis/{group}/{version}" if group else f"/api/{version}"
    if is_namespaced and namespace:
        found += f"/namespaces/{namespace}"
    return f"{found}/{plural}/{name}" if name else f"{found}/{plural}"


def until(condition: Callable[[], Any], *, told: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """Wait for a condition, and give back what it found; else fail with what is told."""
    end = time.monotonic() + patience_s
    pause_s = 0.02
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience_s:.0f} s: {told()}")
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.5, 1.0)


class Cluster:
    """Everything a test may ask of a cluster.

    api: what the tests send. tool, kubectl: pass on what the program and kubectl send, and remember it.
    """

    def __init__(self, api: Api, tool: Recorder, kubectl: Recorder) -> None:
        self.api = api
        self.tool = tool
        self.kubectl = kubectl
        self.version: str = api.ask("GET", "/version")["gitVersion"]
        self._nodes: set[str] = set()
        self._scenes: list[Scene] = []
        self._stopped = threading.Event()
        self._renewing: Optional[threading.Thread] = None

    @property
    def minor(self) -> int:
        return int(self.version.split(".")[1])

    def list(self, kind: str, namespace: str = "") -> list[Plain]:
        """All objects of a kind, of a namespace or of all."""
        items: list[Plain] = self.api.ask("GET", path(kind, namespace))["items"]
        return [{**item, "kind": kind} for item in items]

    def get(self, kind: str, name: str, namespace: str = "") -> Optional[Plain]:
        """An object, if it exists."""
        try:
            return self.api.ask("GET", path(kind, namespace, name))
        except ApiError as error:
            if error.status != 404:
                raise
            return None

    def apply(self, *objects: Plain) -> None:
        """Create objects, or change what there is so that it has their fields."""
        for item in objects:
            metadata = item["metadata"]
            namespace = metadata.get("namespace", "")
            body = {"apiVersion": _api_version(item["kind"]), **item}
            try:
                self.api.ask("POST", path(item["kind"], namespace), body)
            except ApiError as error:
                if error.status != 409:
                    raise
                self.patch(item["kind"], metadata["name"], item, namespace=namespace)

    def patch(self, kind: str, name: str, change: Plain, *, namespace: str = "", of: str = "") -> Plain:
        """Merge fields into an object, or into its subresource."""
        return self.api.ask("PATCH", path(kind, namespace, name) + (f"/{of}" if of else ""), change, kind=_MERGE)

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """Remove an object at once, if it exists."""
        try:
            self.api.ask("DELETE", path(kind, namespace, name), {"gracePeriodSeconds": 0} if kind == "Pod" else None)
        except ApiError as error:
            if error.status != 404:
                raise

    def create_node(self, name: str, *, scene: str, zone: str, **more: Any) -> None:
        """Make a node of a scene that is Ready and stays so.

        Args:
            name: of the node, and its hostname.
            scene: whose pods alone may go there.
            zone: the value of its label; none where it is empty.
            more: labels, taints, unschedulable, and what is allocatable (cpu, memory, pods).
        """
        labels = {HOSTNAME: name, SCENE: scene, **({ZONE: zone} if zone else {}), **more.pop("labels", {})}
        labels["node.kubernetes.io/exclude-from-external-load-balancers"] = "true"
        taints = [{"key": SCENE, "value": scene, "effect": "NoSchedule"}, *more.pop("taints", [])]
        spec: Plain = {"taints": taints}
        is_cordoned = more.pop("unschedulable", False)
        if is_cordoned:
            spec["unschedulable"] = True
        self.apply({"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec})
        self._nodes.add(name)
        room = {"cpu": "4", "memory": "16Gi", "pods": "110", **more}
        self.patch("Node", name, {"status": self._status(room)}, of="status")
        self._renew(name)
        if self._renewing is None:
            self._renewing = threading.Thread(target=self._renew_all, daemon=True)
            self._renewing.start()
        self._await_taints(name, is_cordoned=is_cordoned)

    def _status(self, room: Plain) -> Plain:
        now = _now()
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "made of nothing"}
        return {
            "capacity": room,
            "allocatable": room,
            "conditions": [{**ready, "lastHeartbeatTime": now, "lastTransitionTime": now}],
            "nodeInfo": {"kubeletVersion": self.version, "operatingSystem": "linux", "architecture": "amd64"},
        }

    def _await_taints(self, name: str, *, is_cordoned: bool) -> None:
        """Wait for the node lifecycle controller; where none runs, do what it would."""
        wanted = {f"{_SET_BY_CONDITIONS}unschedulable"} if is_cordoned else set()

        def others() -> list[Plain]:
            taints = (self.get("Node", name) or {"spec": {}})["spec"].get("taints") or []
            return [taint for taint in taints if not taint["key"].startswith(_SET_BY_CONDITIONS)]

        def is_settled() -> bool:
            taints = (self.get("Node", name) or {"spec": {}})["spec"].get("taints") or []
            return {taint["key"] for taint in taints if taint["key"].startswith(_SET_BY_CONDITIONS)} == wanted

        try:
            until(is_settled, told=lambda: self.get("Node", name), patience_s=15)
        except AssertionError:
            taints = [*others(), *({"key": key, "effect": "NoSchedule"} for key in wanted)]
            self.patch("Node", name, {"spec": {"taints": taints}})

    def _renew(self, name: str) -> None:
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": _now(micro=True)}
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec}
        try:
            self.api.ask("PATCH", f"{_LEASES}/{name}", {"spec": spec}, kind=_MERGE)
        except ApiError as error:
            if error.status != 404:
                raise
            self._create_lease(lease)

    def _create_lease(self, lease: Plain) -> None:
        """Create a node's Lease, unless the other thread was quicker: then it is fresh already."""
        try:
            self.api.ask("POST", _LEASES, lease)
        except ApiError as error:
            if error.status != 409:
                raise

    def _renew_all(self) -> None:
        while not self._stopped.wait(_RENEWED_S):
            for name in list(self._nodes):
                with contextlib.suppress(Exception):  # the next time may go better; a test sees if it does not
                    self._renew(name)

    def remove_node(self, name: str) -> None:
        """Remove a node that was created, and what of others was bound to it."""
        self._nodes.discard(name)
        self.delete("Node", name)
        self.delete("Lease", name, "kube-node-lease")
        for pod in self.list("Pod"):
            if pod["spec"].get("nodeName") == name:
                self.delete("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])

    def close(self) -> None:
        """Leave nothing behind, whatever failed; namespaces take a while to go."""
        self._stopped.set()
        for name in list(self._nodes):
            self.remove_node(name)
        until(lambda: not self.left_behind(), told=lambda: f"left behind: {', '.join(self.left_behind())}")

    def left_behind(self) -> list[str]:
        """What is still there of all that the scenes made outside their namespaces, and these."""
        made = [key for scene in self._scenes for key in scene.made]
        return [f"{kind} {name}" for kind, name, namespace in made if self.get(kind, name, namespace) is not None]

    @contextlib.contextmanager
    def scene(self, folder: Path) -> Iterator[Scene]:
        """A namespace with nodes of its own, removed at the end."""
        scene = Scene(self, f"spread-test-{uuid.uuid4().hex[:6]}", folder)
        self._scenes.append(scene)
        self.apply({"kind": "Namespace", "metadata": {"name": scene.namespace, "labels": {SCENE: scene.namespace}}})
        try:
            account = ("ServiceAccount", "default", scene.namespace)
            until(lambda: self.get(*account), told=lambda: "no default ServiceAccount: is there a controller manager?")
            yield scene
        finally:
            scene.remove()

    def kubeconfig(self, folder: Path, *, namespace: str = "default", through: Optional[Recorder] = None) -> str:
        """Write a kubeconfig that leads through a recorder, that of the program unless another is named."""
        recorder = through or self.tool
        target = folder / f"{'tool' if recorder is self.tool else 'kubectl'}-{namespace}.json"
        context = {"cluster": "test", "user": "recorder", "namespace": namespace}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": recorder.url}}],
            "users": [{"name": "recorder", "user": {}}],
            "contexts": [{"name": "test", "context": context}],
        }
        target.write_text(json.dumps(config, indent=2), encoding="utf-8")
        return str(target)


class Scene:
    """A namespace and nodes of its own.

    Pods go to these nodes alone: `workload` gives them the selector and the toleration for it.
    """

    def __init__(self, cluster: Cluster, namespace: str, folder: Path) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.kubeconfig = cluster.kubeconfig(folder, namespace=namespace)
        self.kubectl_config = cluster.kubeconfig(folder, namespace=namespace, through=cluster.kubectl)
        self.made = [("Namespace", namespace, "")]  # kind, name and namespace of what must be removed

    def node(self, name: str, zone: str, **more: Any) -> str:
        """Make a node; its name has the scene's before it."""
        full = f"{self.namespace}-{name}"
        self.made.append(("Node", full, ""))
        self.cluster.create_node(full, scene=self.namespace, zone=zone, **more)
        return full

    def workload(
        self, kind: str, name: str, *, replicas: int, constraints: Any = (), metadata: Any = None, **spec: Any
    ) -> Plain:
        """A Deployment, StatefulSet or bare Pod of this scene; `spec` is that of its pods, besides what all have."""
        labels = {"app": name}
        pod = {
            "metadata": {"labels": labels},
            "spec": {
                "containers": [_container(spec.pop("cpu", "100m"), spec.pop("ports", None))],
                "nodeSelector": {SCENE: self.namespace},
                "tolerations": [{"key": SCENE, "operator": "Exists", "effect": "NoSchedule"}],
                "topologySpreadConstraints": [copy.deepcopy(one) for one in constraints],
                "terminationGracePeriodSeconds": 0,
                "automountServiceAccountToken": False,
                **spec,
            },
        }
        own = {"name": name, "namespace": self.namespace, **(metadata or {})}
        if kind == "Pod":
            return {"apiVersion": "v1", "kind": kind, **pod, "metadata": {**own, "labels": labels}}
        of_kind: Plain = {"strategy": {"type": "Recreate"}}
        if kind == "StatefulSet":
            of_kind = {"serviceName": name, "podManagementPolicy": "Parallel"}
        whole = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod, **of_kind}
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": {**own, "labels": labels}, "spec": whole}

    def apply(self, *objects: Plain) -> None:
        """Create objects, or change them; they are removed with the scene."""
        for item in objects:
            metadata = item["metadata"]
            labels = {**(metadata.get("labels") or {}), SCENE: self.namespace}
            self.cluster.apply({**item, "metadata": {**metadata, "labels": labels}})
            key = (item["kind"], metadata["name"], metadata.get("namespace", ""))
            if key not in self.made and key[2] != self.namespace:  # that goes with the namespace
                self.made.append(key)

    def scale(self, kind: str, name: str, replicas: int) -> None:
        """Let a workload have so many pods."""
        self.cluster.patch(kind, name, {"spec": {"replicas": replicas}}, namespace=self.namespace)

    def pods(self, name: str = "") -> list[Plain]:
        """The pods of a workload, or all; those that are being deleted left out."""
        found = [pod for pod in self.cluster.list("Pod", self.namespace) if "deletionTimestamp" not in pod["metadata"]]
        return [pod for pod in found if not name or pod["metadata"]["labels"]["app"] == name]

    def wait(self, name: str, *, bound: int, refused: int = 0) -> list[Plain]:
        """Wait until so many pods of a workload have a node, and so many were refused; the latter."""

        def is_so() -> bool:
            pods = self.pods(name)
            waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
            return (len(pods) - len(waiting), len(waiting)) == (bound, refused) and all(map(condition_of, waiting))

        until(is_so, told=lambda: f"{bound} bound, {refused} refused: {[_told(pod) for pod in self.pods(name)]}")
        return sorted(
            (pod for pod in self.pods(name) if not pod["spec"].get("nodeName")), key=lambda pod: pod["metadata"]["name"]
        )

    def domains(self, name: str, key: str = ZONE) -> dict[str, int]:
        """How many pods of a workload each of the scene's domains has, as the API server tells it."""
        nodes = [node for node in self.cluster.list("Node") if _is_of(node, self.namespace)]
        labels = {node["metadata"]["name"]: node["metadata"]["labels"] for node in nodes}
        counts = {of[key]: 0 for of in labels.values() if key in of}
        for pod in self.pods(name):
            value = labels.get(pod["spec"].get("nodeName", ""), {}).get(key)
            if value is not None:
                counts[value] += 1
        return counts

    def remove(self) -> None:
        """Remove everything; go on where something cannot be."""
        failures = []
        for kind, name, namespace in self.made:
            try:
                self.cluster.remove_node(name) if kind == "Node" else self.cluster.delete(kind, name, namespace)
            except Exception as error:  # noqa: BLE001 (the rest must go all the same)
                failures.append(f"{kind} {name}: {error}")
        if failures:
            raise AssertionError(f"left behind: {'; '.join(failures)}")


def condition_of(pod: Plain) -> str:
    """The message of why a pod is not scheduled; empty where nobody said."""
    for condition in pod.get("status", {}).get("conditions") or ():
        if (condition["type"], condition["status"]) == ("PodScheduled", "False"):
            return condition.get("message") or ""
    return ""


def _is_of(item: Plain, scene: str) -> bool:
    return (item["metadata"].get("labels") or {}).get(SCENE) == scene


def _told(pod: Plain) -> str:
    return f"{pod['metadata']['name']} {pod['spec'].get('nodeName') or condition_of(pod) or 'nobody looked'}"


def _container(cpu: str, ports: Any) -> Plain:
    requests = {"cpu": cpu, "memory": "64Mi"}
    container: Plain = {
        "name": "c",
        "image": "registry.k8s.io/pause:3.10",
        "env": [{"name": "PASSWORD", "value": SECRET}],
    }
    container["resources"] = {"requests": requests}
    return {**container, "ports": ports} if ports else container


def _api_version(kind: str) -> str:
    group, version, *_ = KINDS[kind]
    return f"{group}/{version}" if group else version


def _now(*, micro: bool = False) -> str:
    return dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")
