"""Small random cases: as plain data for the judge, and as objects of a cluster for the proofs."""

from __future__ import annotations

import random
from typing import Any

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.guarantee import texts
from kubectl_spread.guarantee.members import Member
from kubectl_spread.guarantee.policy import PLACED, PolicyRule, RuleKind
from kubectl_spread.kubectl.situation import controller_of
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.reading import read
from kubectl_spread.operations import cluster_facts
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.scheduler.framework.plugin import Profile

Plain = dict[str, Any]
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
KEYS = (ZONE, HOSTNAME)


def profiles() -> dict[str, Profile]:
    """Return the default profiles of the newest release."""
    return dict(cluster_facts.load_profiles(ClusterSource()))


def case(seed: int, regime: str) -> Plain:
    """Return a random case that a judge can finish."""
    chance = random.Random(seed)
    nodes = _nodes(chance)
    count = 2 if chance.random() < 0.35 else 1
    pods = chance.choice((2, 3, 4)) if count == 1 else 2
    workloads = {name: _workload(chance, pods, regime, is_one=count == 1) for name in ("web", "db")[:count]}
    found = {"nodes": nodes, "workloads": workloads, "rules": _rules(chance, regime)}
    more = random.Random(f"more {seed}")
    for spec in workloads.values():
        if not spec["stateful"] and more.random() < 0.3:
            spec["surge"], spec["unavailable"] = more.choice(((pods + 1, 0), (pods + 2, 1), (pods + 1, pods)))
    if regime in ("scaling", "disruptions") and more.random() < 0.25:
        _grow_by_shards(found, more)
    return found


def _grow_by_shards(found: Plain, chance: random.Random) -> None:
    """Let a case have up to three equal workloads, at first one or two of them, that come and go as a whole."""
    spec = next(iter(found["workloads"].values()))
    spec.pop("range", None)
    spec["replicas"] = chance.choice((1, 2))
    for constraint in spec["constraints"]:
        constraint["all"] = True
        constraint.pop("revision", None)
    first = chance.choice((1, 2))
    found["shards"] = (1, chance.choice((2, 3)) if spec["replicas"] == 1 else 2)
    names = [f"web-{number}" for number in range(max(first, found["shards"][1]))]
    found["workloads"] = {name: {**spec, "is_extra": at >= first} for at, name in enumerate(names)}


def _nodes(chance: random.Random) -> Plain:
    zones = chance.choice(("aab", "ab", "abc", "aabb", "aabc", "abcc"))
    nodes: Plain = {}
    for number, zone in enumerate(zones):
        name = f"{zone}{number}"
        labels = {HOSTNAME: name, ZONE: zone}
        if chance.random() < 0.06:
            del labels[ZONE]
        nodes[name] = {"labels": labels, "taint": chance.random() < 0.12}
        if chance.random() < 0.25:
            nodes[name]["slots"] = chance.choice((1, 2))
    return nodes


def _workload(chance: random.Random, pods: int, regime: str, *, is_one: bool) -> Plain:
    found: Plain = {"replicas": pods, "stateful": chance.random() < 0.4, "constraints": []}
    if found["stateful"]:
        found["parallel"] = chance.random() < 0.5
    else:
        found["surge"], found["unavailable"] = chance.choice(((1, 0), (1, 1), (0, 1), (2, 0)))
    for key in chance.choice((KEYS, KEYS[:1], KEYS[1:], KEYS[1:], ())):
        constraint: Plain = {"key": key, "skew": chance.choice((1, 1, 2, 3)), "all": not is_one}
        if chance.random() < 0.2:
            constraint["min"] = chance.choice((2, 3, 4))
        constraint["honor"] = chance.random() < 0.4
        if is_one:
            constraint["revision"] = chance.random() < 0.3
        found["constraints"].append(constraint)
    if chance.random() < 0.25:
        found["apart"] = (chance.choice(KEYS),)
    if regime in ("scaling", "disruptions") and chance.random() < 0.7:
        found["range"] = (max(1, pods - chance.choice((0, 1, 2))), min(4, pods + chance.choice((0, 1))))
    return found


def _rules(chance: random.Random, regime: str) -> list[Plain]:
    rules: list[Plain] = [{"kind": "placed"}]
    for key in KEYS:
        if chance.random() < 0.7:
            share = chance.choice(("1/2", "1/3", "2/3", "3/4"))
            rules.append({"kind": "share", "key": key, "share": share, "strict": chance.random() < 0.5})
        if chance.random() < 0.3:
            rules.append({"kind": "domains", "key": key, "number": chance.choice((1, 2, 3))})
        if chance.random() < 0.3:
            rules.append({"kind": "separate", "key": key})
        if chance.random() < 0.3:
            rules += [{"kind": "survive", "key": key}, {"kind": "replaced", "key": key}]
    return rules


def rules(found: Plain) -> list[PolicyRule]:
    """Return the rules of a case."""
    made = []
    for rule in found["rules"]:
        if rule["kind"] == "placed":
            made.append(PLACED)
        elif rule["kind"] == "share":
            made.append(texts.share_of(rule["key"], f"{'<' if rule['strict'] else ''}{rule['share']}"))
        elif rule["kind"] == "domains":
            made.append(texts.min_domains(f"{rule['key']}={rule['number']}"))
        elif rule["kind"] == "separate":
            made.append(texts.separate(rule["key"]))
        elif rule["kind"] == "replaced":
            made.append(PolicyRule(RuleKind.REPLACED, texts.topology_key(rule["key"])))
        else:
            made.append(texts.survive(rule["key"], "quorum"))
    return made


def nodes(found: Plain) -> list[Plain]:
    """Return the nodes of a case as API objects."""
    made = []
    for name, node in sorted(found["nodes"].items()):
        taints = [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}] if node["taint"] else []
        slots = str(node.get("slots", 110))
        status = {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": slots}}
        plain = {"metadata": {"name": name, "labels": node["labels"]}, "spec": {"taints": taints}, "status": status}
        made.append({"apiVersion": "v1", "kind": "Node", **plain})
    return made


def cluster(found: Plain) -> Cluster:
    """Return the cluster of a case."""
    return Cluster(tuple(map(read.node, nodes(found))))


def members(found: Plain) -> list[Member]:
    """Return the workloads of a case."""
    made = []
    shards = Range(*found["shards"]) if "shards" in found else None
    for name, spec in found["workloads"].items():
        if spec.get("is_extra"):
            continue
        controller = controller_of(manifest(name, spec))
        bounds = Range(*spec["range"]) if "range" in spec else None
        made.append(Member(ObjectKey(controller.workload.kind, "default", name), controller, bounds, shards=shards))
    return made


def manifest(name: str, spec: Plain) -> Plain:
    """Return a workload as an API object."""
    labels = {"app": name, "group": "all"}
    kind = "StatefulSet" if spec["stateful"] else "Deployment"
    label = "controller-revision-hash" if spec["stateful"] else "pod-template-hash"
    constraints = []
    for item in spec["constraints"]:
        constraint = {
            "topologyKey": item["key"],
            "maxSkew": item["skew"],
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"group": "all"} if item["all"] else {"app": name}},
        }
        if "min" in item:
            constraint["minDomains"] = item["min"]
        if item["honor"]:
            constraint["nodeTaintsPolicy"] = "Honor"
        if item.get("revision"):
            constraint["matchLabelKeys"] = [label]
        constraints.append(constraint)
    pod: Plain = {"containers": [{"name": "c", "image": "c"}], "topologySpreadConstraints": constraints}
    terms = [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": name}}} for key in spec.get("apart", ())]
    if terms:
        pod["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    plain: Plain = {
        "replicas": spec["replicas"],
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    if spec["stateful"]:
        plain["podManagementPolicy"] = "Parallel" if spec["parallel"] else "OrderedReady"
    else:
        rolling = {"maxSurge": spec["surge"], "maxUnavailable": spec["unavailable"]}
        plain["strategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": plain}
