"""Small clusters in which a running workload violates its constraints, made from a seed."""

from __future__ import annotations

import random
from typing import Any

from tests.naive.builders import HOSTNAME, node, ZONE
from tests.naive.controllers import admission, explore
from tests.naive.controllers.world import Settings, World

Plain = dict[str, Any]


def world(seed: int, *, soft: bool = False) -> World:
    """Return a world in which nothing moves but what a plan moves; the pods of `web` are on random nodes.

    With `soft`, its constraints are ScheduleAnyway.
    """
    chance = random.Random(seed)
    nodes = _nodes(chance)
    items = [*nodes, *_workload(chance, nodes, soft=soft)]
    made = World(Settings())
    for item in items:
        admission.create(made, item)
    made, is_over = explore.walk(made, random.Random(seed))
    assert is_over
    _move(made, nodes, chance)
    return made


def objects(made: World) -> list[Plain]:
    """Return the objects of a world as the API server has them."""
    return [item for kind in sorted(made.kinds) for item in made.list(kind)]


def _nodes(chance: random.Random) -> list[Plain]:
    found = []
    for zone in "abc"[: chance.choice((2, 3, 3))]:
        for number in range(chance.choice((1, 1, 2, 2, 3))):
            name = f"{zone}{number + 1}"
            spec = {"unschedulable": True} if chance.random() < 0.06 else {}
            if spec:
                spec["taints"] = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
            found.append(
                node(
                    name,
                    labels={ZONE: zone, HOSTNAME: name},
                    allocatable={"cpu": str(chance.choice((3, 4, 6, 8))), "pods": "20"},
                    spec=spec,
                    status={"conditions": [{"type": "Ready", "status": "True"}]},
                )
            )
    return found


def _workload(chance: random.Random, nodes: list[Plain], *, soft: bool) -> list[Plain]:
    kind = chance.choice(("Deployment", "Deployment", "Deployment", "StatefulSet", "ReplicaSet"))
    room = sum(int(item["status"]["allocatable"]["cpu"]) for item in nodes)
    replicas = min(chance.randint(3, 7), room - 1)
    constraints = [_constraint(ZONE, chance.choice((1, 1, 2)), chance)]
    if chance.random() < 0.4:
        constraints.append(_constraint(HOSTNAME, chance.choice((1, 2, 3)), chance))
    for constraint in constraints if soft else ():
        constraint["whenUnsatisfiable"] = "ScheduleAnyway"
        constraint.pop("minDomains", None)
    spec = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
        "topologySpreadConstraints": constraints,
    }
    own: Plain = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
    }
    if kind == "StatefulSet":
        own |= {"serviceName": "web", "podManagementPolicy": chance.choice(("OrderedReady", "Parallel"))}
    item = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": own}
    return [item, *_budget(chance, replicas)]


def _constraint(key: str, skew: int, chance: random.Random) -> Plain:
    found: Plain = {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    if chance.random() < 0.15:
        found["nodeTaintsPolicy"] = "Honor"
    if chance.random() < 0.1:
        found["minDomains"] = chance.choice((2, 3))
    return found


def _budget(chance: random.Random, replicas: int) -> list[Plain]:
    if chance.random() > 0.35:
        return []
    rule: Plain = chance.choice(
        ({"maxUnavailable": 1}, {"minAvailable": replicas - 1}, {"minAvailable": "50%"}, {"maxUnavailable": 0})
    )
    return [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, **rule},
        }
    ]


def _move(made: World, nodes: list[Plain], chance: random.Random) -> None:
    """Put the pods on random nodes, most of them on a few, and make them ready."""
    room = {item["metadata"]["name"]: int(item["status"]["allocatable"]["cpu"]) for item in nodes}
    favourites = chance.sample(sorted(room), min(len(room), chance.choice((1, 2, 3))))
    for pod in sorted(made.list("Pod"), key=lambda item: str(item["metadata"]["name"])):
        able = [name for name in favourites if room[name]] or [name for name in sorted(room) if room[name]]
        chosen = chance.choice(able)
        room[chosen] -= 1
        conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
        made.put(
            {
                **pod,
                "spec": {**pod["spec"], "nodeName": chosen},
                "status": {"phase": "Running", "conditions": conditions},
            }
        )
