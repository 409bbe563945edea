"""Pods that are bound at once count as those that are bound one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns

Plain = dict[str, Any]

NODES: list[Plain] = [
    {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}
    for name in ("a", "b", "c")
]


def _pod(number: int, node: str, *requests: dict[str, str], **metadata: Any) -> Plain:
    containers = [{"name": f"c{at}", "resources": {"requests": asked}} for at, asked in enumerate(requests)]
    return {
        "kind": "Pod",
        "metadata": {"name": f"pod-{number}", "uid": str(number), "namespace": "shop", **metadata},
        "spec": {"containers": containers, "nodeName": node},
    }


# Of one template, of another, on no node of the cluster, on its way out, and more than 64 bits hold.
PODS = [
    _pod(0, "b", {"cpu": "100m"}, labels={"app": "web"}),
    _pod(1, "b", {"cpu": "100m"}, labels={"app": "web"}),
    _pod(2, "a", {"example.com/gpu": "1"}, {"memory": "1Gi", "cpu": "1500m"}),
    _pod(3, "gone", {"cpu": "100m"}, labels={"app": "web"}),
    _pod(4, "a", {"cpu": "100m"}, labels={"app": "web"}, deletionTimestamp="2026-01-01T00:00:00Z"),
    _pod(5, "c", {"memory": "8Ei"}, {"memory": "8Ei"}),
    _pod(6, "c", {"memory": "8Ei"}),
]


def _told(columns: Columns) -> Plain:
    accounts = {name: account.tolist() for name, account in columns.requested.items()}
    return {
        "requested": list(accounts.items()),
        "counts": [columns.pod_count.tolist(), columns.nonzero_cpu.tolist(), columns.nonzero_memory.tolist()],
        "pods": [[pod.name for pod in pods] for pods in columns.pods],
        "bound": [pod.name for pod in columns.bound_pods],
        "beside": [columns.bound_nodes.tolist(), columns.bound_groups.tolist(), columns.bound_classes.tolist()],
        "last": columns.last_bound,
        "groups": columns.groups,
        "classes": columns.classes,
    }


def _one_by_one(objects: list[Plain]) -> Columns:
    cluster = cluster_of(objects)
    columns = Columns(cluster._replace(pods=()))
    for pod in cluster.pods:
        if pod.node_name in columns.index:
            columns.bind(pod, columns.index[pod.node_name])
    return columns


def test_at_once_as_one_by_one() -> None:
    both = Columns(cluster_of([*NODES, *PODS]))
    assert [2, 2, 2] == both.pod_count.tolist()
    assert _told(_one_by_one([*NODES, *PODS])) == _told(both)


def test_no_pods_and_no_nodes() -> None:
    for objects in (NODES, PODS, []):
        assert _told(_one_by_one(objects)) == _told(Columns(cluster_of(objects)))


def test_pods_bound_later_follow_those_bound_at_once() -> None:
    cluster = cluster_of([*NODES, *PODS])
    columns = Columns(cluster_of([*NODES, *PODS[:2]]))
    for pod in (cluster.pods[at] for at in (2, 4, 5, 6)):
        columns.bind(pod, columns.index[pod.node_name])
    assert _told(Columns(cluster)) == _told(columns)


def test_images_are_told_apart_when_asked_for() -> None:
    images = [{"names": ["web:1", "web:latest"], "sizeBytes": 5}]
    nodes = [NODES[0], {**NODES[1], "status": {"images": images}}, {**NODES[2], "status": {"images": images}}]
    columns = Columns(cluster_of(nodes))
    assert columns.copy_for_cluster(columns.cluster).images is columns.images
    assert {"web:1": (5, [1, 2]), "web:latest": (5, [1, 2])} == columns.images
    fewer = columns.copy_for_cluster(cluster_of(nodes[1:]))
    assert {"web:1": (5, [0, 1]), "web:latest": (5, [0, 1])} == fewer.images
    assert np.array_equal(fewer.pod_count, [0, 0])


def test_the_pods_of_some_groups_are_found_with_and_without_an_index() -> None:
    """From the 16th search on there is an index, of the pods bound until then; pods bound later are found, too."""
    made = [_pod(at, "abc"[at % 3], {"cpu": "1m"}, labels={"app": f"app-{at * 7 % 5}"}) for at in range(60)]
    cluster = cluster_of([*NODES, *made])
    columns = Columns(cluster._replace(pods=cluster.pods[:30]))
    found = []
    for at, pod in enumerate(cluster.pods[30:]):
        columns.bind(pod, at % 3)
        wanted = np.arange(len(columns.groups)) % (2 + at % 3) == 1
        found.append((columns.positions(wanted).tolist(), np.flatnonzero(wanted[columns.bound_groups]).tolist()))

    assert [expected for _, expected in found] == [places for places, _ in found]
    assert any(places for places, _ in found[:15]), "without an index"
    assert any(places for places, _ in found[16:]), "with one"
