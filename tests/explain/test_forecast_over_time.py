"""A forecast has the ranges that a simulation over time finds."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.run import play
from kubectl_spread.explain.forecast import forecast
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.played import counts

Plain = dict[str, Any]
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def node(name: str, cpu: str) -> Plain:
    labels = {ZONE: name[0], HOSTNAME: name}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "9"}},
    }


def web(replicas: int) -> Plain:
    soft = {"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": "web"}}}
    containers = [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]
    spec = {"containers": containers, "topologySpreadConstraints": [{**soft, "topologyKey": ZONE}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
        },
    }


@pytest.mark.parametrize(
    ("nodes", "replicas"),
    [
        ({"a1": "4", "b1": "4", "c1": "4"}, 4),
        ({"a1": "4", "a2": "4", "b1": "4"}, 3),
        ({"a1": "8", "b1": "2", "c1": "4"}, 5),
        ({"a1": "4", "a2": "4", "b1": "4", "b2": "4"}, 5),
    ],
)
def test_ranges_are_those_of_a_simulation(nodes: dict[str, str], replicas: int) -> None:
    key = ObjectKey("Deployment", "default", "web")
    controller = cluster_of([web(replicas)]).controllers[key]
    cluster = cluster_of([node(name, cpu) for name, cpu in nodes.items()])
    found = forecast(controller.workload, cluster, profiles())
    answer = play(cluster, profiles(), [steps.Apply(controller)]).last

    assert found is not None
    assert found.basis.is_exact
    assert answer.is_exact
    simulated = counts(answer, key, ZONE)
    (constraint,) = found.constraints
    assert {value: (item.least, item.most) for value, item in constraint.domains.items()} == simulated
