"""What a pod requests, and what a node has."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.objects.reading import read
from kubectl_spread.objects.resources import amount

GIB = 2**30


def requests(spec: dict[str, Any], status: Any = None) -> dict[str, int]:
    """A pod's requests: CPU in milli-cores, the rest in whole units."""
    return dict(read.pod({"spec": spec, "status": status}).cls.requests)


def container(name: str = "c", *, sidecar: bool = False, limits: Any = None, **asked: Any) -> dict[str, Any]:
    policy = {"restartPolicy": "Always"} if sidecar else {}
    return {"name": name, "resources": {"requests": asked, "limits": limits}, **policy}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {}),
        ({"containers": []}, {}),
        ({"containers": [None, {"resources": None}]}, {}),
        ({"containers": [container(cpu="1", memory="1Gi")]}, {"cpu": 1000, "memory": GIB}),
        ({"containers": [container(cpu="1"), container(cpu="500m", memory="1")]}, {"cpu": 1500, "memory": 1}),
        # entries are rounded to thousandths, their sum to units
        ({"containers": [container(cpu="100.5m"), container(cpu="100.5m")]}, {"cpu": 202}),
        ({"containers": [container(memory="0.4"), container(memory="0.4")]}, {"memory": 1}),
        ({"containers": [container(memory="1.5")]}, {"memory": 2}),
        ({"containers": [container(cpu="0.1m")]}, {"cpu": 1}),
        # limits stand in for requests that are not there
        ({"containers": [container(limits={"cpu": "2"})]}, {"cpu": 2000}),
        ({"containers": [container(cpu="1", limits={"cpu": "2", "memory": "1"})]}, {"cpu": 1000, "memory": 1}),
        ({"containers": [container(cpu="0", limits={"cpu": "2"})]}, {"cpu": 0}),
        ({"containers": [container(cpu=None, limits={"cpu": "2"})]}, {"cpu": 0}),
        ({"initContainers": [container(limits={"cpu": "2"})]}, {"cpu": 2000}),
        # init containers run one after another
        ({"containers": [container(cpu="1")], "initContainers": [container(cpu="2"), container(cpu="3")]},
         {"cpu": 3000}),
        ({"containers": [container(cpu="4")], "initContainers": [container(cpu="2"), container(cpu="3")]},
         {"cpu": 4000}),
        (
            {"containers": [container(cpu="1", memory="4")], "initContainers": [container(cpu="2", memory="1")]},
            {"cpu": 2000, "memory": 4},
        ),
        # sidecars run beside what follows them
        (
            {
                "containers": [container(cpu="500m")],
                "initContainers": [container(sidecar=True, cpu="200m"), container(cpu="900m")],
            },
            {"cpu": 1100},
        ),
        (
            {
                "containers": [container(cpu="500m")],
                "initContainers": [container(cpu="900m"), container(sidecar=True, cpu="200m")],
            },
            {"cpu": 900},
        ),
        (
            {
                "containers": [container(cpu="100m")],
                "initContainers": [container(sidecar=True, cpu="200m"), container(sidecar=True, cpu="300m")],
            },
            {"cpu": 600},
        ),
        # pod-level requests replace what the containers add up to, of the resources that may be given there
        ({"containers": [container(cpu="3")], "resources": {"requests": {"cpu": "1"}}}, {"cpu": 1000}),
        ({"containers": [container(cpu="3")], "resources": {"requests": {"memory": "1"}}}, {"cpu": 3000, "memory": 1}),
        ({"containers": [container()], "resources": {"requests": {"example.com/gpu": "1"}}}, {}),
        ({"containers": [container(cpu="3")], "resources": {"limits": {"cpu": "5"}}}, {"cpu": 3000}),
        ({"containers": [container()], "resources": {"limits": {"cpu": "5"}}}, {"cpu": 5000}),
        ({"containers": [container()], "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "5"}}}, {"cpu": 1000}),
        # the overhead comes on top of all
        ({"containers": [container(cpu="1")], "overhead": {"cpu": "250m"}}, {"cpu": 1250}),
        (
            {"containers": [container()], "resources": {"requests": {"cpu": "1"}}, "overhead": {"cpu": "250m"}},
            {"cpu": 1250},
        ),
        ({"overhead": {"memory": "5"}}, {"memory": 5}),
        # names that the scheduler keeps no account of are dropped
        (
            {
                "containers": [
                    container(
                        **{
                            "foo": "1", "pods": "1", "requests.example.com/x": "1", "ephemeral-storage": "2",
                            "example.com/gpu": "3", "hugepages-2Mi": "4", "attachable-volumes-x": "5",
                            "x.kubernetes.io/y": "6",
                        }
                    )
                ]
            },
            {
                "ephemeral-storage": 2, "example.com/gpu": 3, "hugepages-2Mi": 4, "attachable-volumes-x": 5,
                "x.kubernetes.io/y": 6,
            },
        ),
    ],
)  # fmt: skip
def test_a_pod_requests_what_it_needs_at_its_peak(spec: dict[str, Any], expected: dict[str, int]) -> None:
    """Containers and sidecars together, or an init container and the sidecars before it."""
    assert expected == requests(spec)


RESIZED = {
    "containerStatuses": [
        {"name": "c", "resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "2", "memory": "7"}}
    ]
}


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({"nodeName": "n", "containers": [container(cpu="1", memory="9")]}, RESIZED, {"cpu": 3000, "memory": 9}),
        ({"nodeName": "n", "containers": [container(cpu="4")]}, RESIZED, {"cpu": 4000, "memory": 7}),
        ({"nodeName": "n", "containers": [container("other", cpu="1")]}, RESIZED, {"cpu": 1000}),
        ({"containers": [container(cpu="1")]}, RESIZED, {"cpu": 1000}),
        ({"nodeName": "n", "containers": [container(cpu="1")]}, None, {"cpu": 1000}),
        ({"nodeName": "n", "containers": [container(cpu="1")]}, {"containerStatuses": [None]}, {"cpu": 1000}),
        (
            {"nodeName": "n", "containers": [container(cpu="1")]},
            {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "2"}}]},
            {"cpu": 1000},
        ),
        (
            {"nodeName": "n", "initContainers": [container("s", sidecar=True, cpu="1"), container("i", cpu="1")]},
            {
                "initContainerStatuses": [
                    {"name": "s", "resources": {"requests": {"cpu": "2"}}},
                    {"name": "i", "resources": {"requests": {"cpu": "8"}}},
                ]
            },
            {"cpu": 3000},
        ),
    ],
)
def test_a_bound_pod_counts_what_it_was_given_where_that_is_more(
    spec: dict[str, Any], status: Any, expected: dict[str, int]
) -> None:
    """The most of spec, status and allocation by container; ordinary init containers count by their spec."""
    assert expected == requests(spec, status)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, {"pods": 0}),
        ({"allocatable": None}, {"pods": 0}),
        (
            {"allocatable": {"cpu": "3920m", "memory": "7Gi", "pods": "110", "foo": "1", "example.com/gpu": "2"}},
            {"cpu": 3920, "memory": 7 * GIB, "pods": 110, "example.com/gpu": 2},
        ),
        ({"allocatable": {"cpu": "100.5m", "memory": "1.5"}}, {"cpu": 101, "memory": 2, "pods": 0}),
        ({"capacity": {"cpu": "4"}}, {"pods": 0}),
    ],
)
def test_a_node_has_its_allocatable(status: dict[str, Any], expected: dict[str, int]) -> None:
    """Not its capacity; pod slots are always there, none where nothing is said."""
    assert expected == read.node({"status": status}).allocatable


@pytest.mark.parametrize(
    ("resource", "number", "expected"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 10**16, "10000000000000"),
        ("cpu", 2**63 - 1, "9.2e+15"),
        ("memory", 2**50, "1024Ti"),
        ("memory", 2**63 - 1, "9.2e+18"),
    ],
)
def test_an_amount_is_exact_up_to_near_the_limit_of_64_bits(resource: str, number: int, expected: str) -> None:
    assert amount(resource, number) == expected
