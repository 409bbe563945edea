"""Random clusters with NodePools; the same one for the same number."""

from __future__ import annotations

import random
from typing import Any

from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from tests.karpenter.worlds import instance_type, need, node, pod, pool, ZONES

Plain = dict[str, Any]
GPU = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
SOFT = {"key": "batch", "value": "true", "effect": "PreferNoSchedule"}


def case(number: int) -> tuple[list[Plain], list[Plain]]:
    """Return the objects of a cluster, and a table of instance types."""
    draw = random.Random(f"karpenter {number}")
    pools = [_pool(draw, at) for at in range(draw.randint(1, 3))]
    nodes = [_node(draw, at) for at in range(draw.choice([0, 0, 1, 2, 4]))]
    objects: list[Plain] = [*pools, *nodes]
    for app in ("web", "api")[: draw.choice([1, 1, 2])]:
        spec = _spec(draw, app)
        for at in range(draw.randint(1, 5)):
            objects += _pod(draw, f"{app}-{at}", spec)
        for at, one in enumerate(nodes):
            if draw.random() < 0.4:
                running = pod(
                    f"{app}-1{at}", on=one["metadata"]["name"], cpu="1", **(spec if draw.random() < 0.5 else {})
                )
                if draw.random() < 0.2:
                    running["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
                objects.append(running)
    if draw.random() < 0.2:
        objects.append(_daemon_set(draw))
    return objects, _types(draw)


def _types(draw: random.Random) -> list[Plain]:
    found = [instance_type("small", 2), instance_type("large", 8)]
    if draw.random() < 0.3:
        found.append(instance_type("arm", 4, zones=ZONES[: draw.randint(1, 2)], arch="arm64"))
    for item in found:
        for offer in item["offerings"]:
            offer["available"] = draw.random() < 0.9
    return found


def _pool(draw: random.Random, at: int) -> Plain:
    requirements = []
    if draw.random() < 0.8:
        requirements.append(need(ZONE, *draw.sample(ZONES, draw.randint(1, 3))))
    if draw.random() < 0.2:
        requirements.append(
            need("rack", *draw.sample(["r1", "r2"], draw.randint(1, 2)), operator=draw.choice(["In", "NotIn"]))
        )
    labels = {"pool": f"p{at}"} if draw.random() < 0.5 else {}
    taints = [taint for taint, share in ((GPU, 0.2), (SOFT, 0.15)) if draw.random() < share]
    limits = {"limits": {"cpu": str(draw.choice([4, 8, 16]))}} if draw.random() < 0.15 else {}
    if draw.random() < 0.05:
        limits = {"limits": {"nodes": str(draw.choice([1, 2]))}}
    weight = {"weight": draw.choice([1, 10])} if draw.random() < 0.4 else {}
    found = pool(f"p{at}", *requirements, labels=labels, taints=taints, **limits, **weight)
    found["spec"]["template"]["spec"]["requirements"] = requirements
    return found


def _node(draw: random.Random, at: int) -> Plain:
    labels = {"karpenter.sh/nodepool": f"p{draw.randint(0, 2)}"} if draw.random() < 0.3 else {}
    if labels:
        labels["node.kubernetes.io/instance-type"] = "small"
    found = node(
        f"n{at}", draw.choice([*ZONES, "zone-d"]), cpu=draw.choice([1, 2, 4]), host=draw.random() < 0.9, **labels
    )
    if draw.random() < 0.1:
        del found["metadata"]["labels"][ZONE]
    found["spec"] = {"providerID": f"fake:///n{at}", "taints": [GPU] if draw.random() < 0.15 else []}
    return found


def _spec(draw: random.Random, app: str) -> Plain:
    found: Plain = {}
    if draw.random() < 0.75:
        found["topologySpreadConstraints"] = [_constraint(draw, app) for _ in range(draw.choice([1, 1, 2]))]
    if draw.random() < 0.25:
        found["nodeSelector"] = draw.choice(
            [{"pool": "p0"}, {ZONE: "zone-a"}, {"karpenter.sh/nodepool": "p1"}, {"kubernetes.io/arch": "arm64"}]
        )
    if draw.random() < 0.3:
        found["tolerations"] = [draw.choice([{"key": "gpu", "operator": "Exists"}, {"operator": "Exists"}])]
    affinity: Plain = {}
    if draw.random() < 0.25:
        terms = [
            {
                "matchExpressions": [
                    need(
                        ZONE,
                        *draw.sample([*ZONES, "zone-d"], draw.randint(1, 2)),
                        operator=draw.choice(["In", "In", "NotIn"]),
                    )
                ]
            }
            for _ in range(draw.randint(1, 2))
        ]
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    if draw.random() < 0.15:
        soft = [
            {"weight": weight, "preference": {"matchExpressions": [need(ZONE, draw.choice(ZONES))]}}
            for weight in draw.sample([1, 5, 10], draw.randint(1, 2))
        ]
        affinity.setdefault("nodeAffinity", {})["preferredDuringSchedulingIgnoredDuringExecution"] = soft
    for kind in ("podAffinity", "podAntiAffinity"):
        if draw.random() < 0.15:
            term = {
                "labelSelector": {"matchLabels": {"app": draw.choice([app, "web"])}},
                "topologyKey": draw.choice([ZONE, HOSTNAME]),
            }
            affinity[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            if draw.random() < 0.4:
                affinity[kind] = {
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]
                }
    return {**found, "affinity": affinity} if affinity else found


def _constraint(draw: random.Random, app: str) -> Plain:
    found: Plain = {
        "maxSkew": draw.choice([1, 1, 1, 2]),
        "topologyKey": draw.choice([ZONE, ZONE, ZONE, HOSTNAME, HOSTNAME, "rack", "pool"]),
        "whenUnsatisfiable": draw.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": {"matchLabels": {"app": draw.choice([app, app, app, "web"])}},
    }
    if found["whenUnsatisfiable"] == "DoNotSchedule" and draw.random() < 0.2:
        found["minDomains"] = draw.randint(1, 4)
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if draw.random() < 0.3:
            found[field] = draw.choice(["Honor", "Ignore"])
    if draw.random() < 0.1:
        found["matchLabelKeys"] = ["app"]
    return found


def _pod(draw: random.Random, name: str, spec: Plain) -> list[Plain]:
    """Return a pod, sometimes with a volume in one zone."""
    found = pod(name, cpu=draw.choice(["1", "1", "1500m"]), **spec)
    if draw.random() > 0.1:
        return [found]
    found["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": f"c-{name}"}}]
    terms = [{"matchExpressions": [need(ZONE, zone)]} for zone in draw.sample(ZONES, draw.choice([1, 1, 2]))]
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"v-{name}"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": f"c-{name}",
            "namespace": "default",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {"volumeName": f"v-{name}", "storageClassName": "gp3"},
    }
    return [found, volume, claim]


def _daemon_set(draw: random.Random) -> Plain:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "500m", "memory": "128Mi"}}}
    spec: Plain = {"containers": [container]}
    if draw.random() < 0.5:
        spec["tolerations"] = [{"operator": "Exists"}]
    if draw.random() < 0.3:
        spec["nodeSelector"] = {"pool": "p0"}
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": spec}
    selector = {"matchLabels": {"app": "agent"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {"selector": selector, "template": template},
    }
