"""Clusters of one family each, in which a pod waits for a reason that one certain change would end.

Nodes, sizes and workloads are drawn by chance. The controllers and the scheduler then act until nothing moves.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Optional

from tests.judge.clusters import HOSTNAME, lived, REQUIRED, ZONE

Plain = dict[str, Any]
_BATCH = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}


def _node(
    name: str, zone: str, cpu: str = "4", *, labels: Optional[Plain] = None, spec: Optional[Plain] = None
) -> Plain:
    room = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    own = {HOSTNAME: name, ZONE: zone, "kubernetes.io/os": "linux", **(labels or {})}
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"allocatable": room, "capacity": dict(room), "conditions": conditions}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": own},
        "spec": spec or {},
        "status": status,
    }


def _workload(
    name: str, replicas: int, spec: Plain, *, kind: str = "Deployment", labels: Optional[Plain] = None
) -> Plain:
    labels = labels or {"app": name}
    template = {"metadata": {"labels": labels}, "spec": spec}
    own: Plain = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    if kind == "StatefulSet":
        own["serviceName"] = name
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}, "spec": own}


def _spec(cpu: str, **fields: Any) -> Plain:
    return {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}], **fields}


def _constraint(app: str, key: str = ZONE, **fields: Any) -> Plain:
    own = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {**own, "labelSelector": {"matchLabels": {"app": app}}, **fields}


def _apart(field: str, key: str, app: str) -> Plain:
    return {field: {REQUIRED: [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]}}


def _zones(chance: random.Random, number: int) -> list[Plain]:
    return [_node(f"{zone}1", zone, chance.choice(["3", "4", "6"])) for zone in "abcd"[:number]]


def _claim(name: str, mode: str) -> list[Plain]:
    spec = {"accessModes": [mode], "storageClassName": "x"}
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{name}"},
            "spec": {
                **spec,
                "capacity": {"storage": "1Gi"},
                "csi": {"driver": "disk.csi.example.com", "volumeHandle": name},
                "claimRef": {"namespace": "shop", "name": name},
            },
            "status": {"phase": "Bound"},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "shop", "annotations": bound},
            "spec": {**spec, "volumeName": f"pv-{name}", "resources": {"requests": {"storage": "1Gi"}}},
            "status": {"phase": "Bound"},
        },
    ]


def _mounts(name: str) -> list[Plain]:
    return [{"name": "d", "persistentVolumeClaim": {"claimName": name}}]


def one_pod_per_claim(chance: random.Random) -> tuple[list[Plain], list[Plain]]:
    """Several replicas of a claim that one pod may use."""
    kind = chance.choice(["Deployment", "Deployment", "StatefulSet", "ReplicaSet"])
    web = _workload("web", chance.randint(2, 4), _spec("100m", volumes=_mounts("one")), kind=kind)
    if chance.random() < 0.5:
        web["spec"]["template"]["spec"]["topologySpreadConstraints"] = [_constraint("web")]
    return [*_zones(chance, chance.randint(1, 3)), *_claim("one", "ReadWriteOncePod")], [web]


def selector_without_own_pods(chance: random.Random) -> tuple[list[Plain], list[Plain]]:
    """A constraint that counts the pods of another workload, and not its own."""
    nodes = [_node("a1", "a"), _node("b1", "b", chance.choice(["50m", "200m", "1"]))]
    other = _workload("old", chance.randint(2, 4), _spec("300m", nodeSelector={ZONE: "a"}))
    number, cpu = chance.randint(1, 3), chance.choice(["300m", "600m"])
    return nodes, [other, _workload("web", number, _spec(cpu, topologySpreadConstraints=[_constraint("old")]))]


def canary_is_counted(chance: random.Random) -> tuple[list[Plain], list[Plain]]:
    """A constraint that also counts the pods of a canary in one zone."""
    nodes = [_node("a1", "a", "8"), _node("b1", "b", chance.choice(["700m", "1100m"]))]
    labels = {"app": "web", "track": "canary"}
    canary = _workload("web-canary", chance.randint(2, 4), _spec("100m", nodeSelector={ZONE: "a"}), labels=labels)
    web = _workload("web", chance.randint(2, 5), _spec("300m", topologySpreadConstraints=[_constraint("web")]))
    web["spec"]["selector"] = {"matchLabels": {"app": "web"}}
    return nodes, [canary, web]


def cordon_and_a_later_ordinal(chance: random.Random) -> tuple[list[Plain], list[Plain]]:
    """A StatefulSet that a cordon holds back, and that lacks room for a later ordinal, too."""
    nodes = _zones(chance, chance.randint(2, 3))
    for node in nodes[1:]:
        if chance.random() < 0.8:
            node["spec"] = {
                "unschedulable": True,
                "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
            }
    spec = _spec("1", affinity=_apart("podAntiAffinity", HOSTNAME, "db"))
    db = _workload("db", chance.randint(2, 4), spec, kind="StatefulSet")
    db["spec"]["podManagementPolicy"] = chance.choice(["OrderedReady", "Parallel"])
    return nodes, [db]


def idle_nodes_are_tainted(chance: random.Random) -> tuple[list[Plain], list[Plain]]:
    """A zone whose nodes are idle and tainted."""
    nodes = [*_zones(chance, chance.randint(1, 2)), _node("t1", "t", "8", spec={"taints": [dict(_BATCH)]})]
    if chance.random() < 0.5:
        nodes.append(_node("t2", "t", "8", spec={"taints": [dict(_BATCH)]}))
    constraint = _constraint("web", **({"nodeTaintsPolicy": "Ignore"} if chance.random() < 0.5 else {}))
    cpu = chance.choice(["500m", "1", "2"])
    return nodes, [_workload("web", chance.randint(3, 5), _spec(cpu, topologySpreadConstraints=[constraint]))]


def required_affinity(chance: random.Random) -> tuple[list[Plain], list[Plain]]:
    """A required affinity or anti-affinity that leaves no room for some replicas."""
    nodes = _zones(chance, chance.randint(2, 3))
    sort = chance.choice(["zone", "host", "node", "together"])
    key = ZONE if sort == "zone" else HOSTNAME
    number = len(nodes) + chance.randint(1, 2)
    if sort in ("zone", "host"):
        return nodes, [_workload("web", number, _spec("100m", affinity=_apart("podAntiAffinity", key, "web")))]
    if sort == "together":
        cache = _workload("cache", 1, _spec("100m"))
        return nodes, [cache, _workload("web", 5, _spec("1500m", affinity=_apart("podAffinity", key, "cache")))]
    nodes[0]["metadata"]["labels"]["disk"] = "ssd"
    terms = [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    return nodes, [_workload("web", 3, _spec("2500m", affinity=affinity))]


def volumes_at_the_limit(chance: random.Random) -> tuple[list[Plain], list[Plain]]:
    """Nodes whose CSI driver attaches no more volumes."""
    nodes = _zones(chance, chance.randint(1, 2))
    drivers = [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSINode",
            "metadata": {"name": node["metadata"]["name"]},
            "spec": {
                "drivers": [
                    {"name": "disk.csi.example.com", "nodeID": node["metadata"]["name"], "allocatable": {"count": 1}}
                ]
            },
        }
        for node in nodes
    ]
    number = len(nodes) + 1
    claims = [item for at in range(number) for item in _claim(f"d{at}", "ReadWriteOnce")]
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "x"},
        "provisioner": "disk.csi.example.com",
    }
    owners = [_workload(f"web{at}", 1, _spec("100m", volumes=_mounts(f"d{at}"))) for at in range(number)]
    return [*nodes, *drivers, storage_class, *claims], owners


def node_of_another_tier(chance: random.Random) -> tuple[list[Plain], list[Plain]]:
    """A nodeSelector whose nodes are full, while nodes of another tier have room."""
    nodes = _zones(chance, 3)
    for node, tier in zip(nodes, ["web", "db", chance.choice(["db", "web", ""])], strict=True):
        if tier:
            node["metadata"]["labels"]["tier"] = tier
    return nodes, [_workload("web", chance.randint(2, 4), _spec("2500m", nodeSelector={"tier": "web"}))]


FAMILIES: dict[str, Callable[[random.Random], tuple[list[Plain], list[Plain]]]] = {
    item.__name__: item
    for item in (
        one_pod_per_claim,
        selector_without_own_pods,
        canary_is_counted,
        cordon_and_a_later_ordinal,
        idle_nodes_are_tainted,
        required_affinity,
        volumes_at_the_limit,
        node_of_another_tier,
    )
}


def generated(family: str, seed: int) -> Optional[list[Plain]]:
    """The objects of a cluster of a family; None where no pod waits."""
    facts, manifests = FAMILIES[family](random.Random(f"{family} {seed}"))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    return lived([namespace, *facts], manifests)


def lost_node() -> list[Plain]:
    """A StatefulSet whose last pod terminates on a node that does not answer, and whose next pod waits."""
    away = [{"key": "node.kubernetes.io/unreachable", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    nodes = [_node("a1", "a"), _node("b1", "b", "50m"), _node("c1", "c", spec={"taints": away})]
    db = _workload("db", 3, _spec("100m", topologySpreadConstraints=[_constraint("db")]), kind="StatefulSet")
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
    db["metadata"]["uid"] = "u"
    pods = []
    for name, node in (("db-0", "a1"), ("db-1", ""), ("db-2", "c1")):
        metadata: Plain = {"name": name, "namespace": "shop", "labels": {"app": "db"}, "ownerReferences": [owner]}
        if node == "c1":
            metadata["deletionTimestamp"] = "2026-01-01T00:10:00Z"
        spec = {**db["spec"]["template"]["spec"], **({"nodeName": node} if node else {})}
        status = {"phase": "Running" if node else "Pending"}
        pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status})
    return [*nodes, db, *pods]
