"""NodeResourcesFit, tables of cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import Answer, filtered, FITS, scored, U, UU

Plain = dict[str, Any]

GPU = "example.com/gpu"


def asking(containers: Any = None, init: Any = None, overhead: Any = None, **requests: str) -> Plain:
    """A pod of one container with `requests`, or of several containers and init containers."""
    made = pod("p")
    rows = [requests] if containers is None else containers
    made["spec"]["containers"] = [{"name": f"c{at}", "resources": {"requests": row}} for at, row in enumerate(rows)]
    made["spec"]["initContainers"] = [
        {"name": f"i{at}", "resources": {"requests": {key: value for key, value in row.items() if key != "restart"}}}
        | ({"restartPolicy": "Always"} if "restart" in row else {})
        for at, row in enumerate(init or ())
    ]
    return made | {"spec": {**made["spec"], **({"overhead": overhead} if overhead else {})}}


# 4 CPUs, 8Gi, of which 3 CPUs and 6Gi are requested.
BUSY = (node("n", allocatable={GPU: "2"}), pod("running", on="n", requests={"cpu": "3", "memory": "6Gi", GPU: "1"}))


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        pytest.param(asking(), FITS, id="no requests"),
        pytest.param(asking(cpu="1", memory="2Gi"), FITS, id="exactly what is left"),
        pytest.param(asking(cpu="1001m"), U("Insufficient cpu"), id="one milli-CPU too much"),
        pytest.param(asking(cpu="4001m"), UU("Insufficient cpu"), id="more than the node has"),
        pytest.param(asking(memory="3Gi"), U("Insufficient memory"), id="memory"),
        pytest.param(asking(**{GPU: "2"}), U(f"Insufficient {GPU}"), id="an extended resource"),
        pytest.param(asking(**{GPU: "3"}), UU(f"Insufficient {GPU}"), id="more of it than the node has"),
        pytest.param(asking(**{"example.com/tpu": "1"}), UU("Insufficient example.com/tpu"), id="the node has none"),
        pytest.param(asking(**{"example.com/tpu": "0"}), FITS, id="a request of 0"),
        pytest.param(
            asking(cpu="2", memory="9Gi"), UU("Insufficient cpu; Insufficient memory"), id="two reasons, one for good"
        ),
        pytest.param(asking(containers=[{"cpu": "600m"}, {"cpu": "600m"}]), U("Insufficient cpu"), id="the sum"),
        pytest.param(asking([{"cpu": "500m"}], init=[{"cpu": "1"}]), FITS, id="an init container runs before"),
        pytest.param(
            asking([{"cpu": "500m"}], init=[{"cpu": "600m", "restart": ""}]), U("Insufficient cpu"), id="a sidecar adds"
        ),
        pytest.param(
            asking([{"cpu": "100m"}], init=[{"cpu": "600m", "restart": ""}, {"cpu": "500m"}]),
            U("Insufficient cpu"),
            id="an init container beside a sidecar",
        ),
        pytest.param(
            asking([{"cpu": "900m"}], overhead={"cpu": "200m"}), U("Insufficient cpu"), id="overhead of the runtime"
        ),
    ],
)
def test_a_node_needs_room_for_every_request(incoming: Plain, expected: Answer) -> None:
    """A request above the whole node is refused for good."""
    assert {"n": expected} == filtered("NodeResourcesFit", incoming, *BUSY)


@pytest.mark.parametrize(
    ("limit", "requests", "expected"),
    [
        pytest.param("2", {}, FITS, id="one pod more"),
        pytest.param("1", {}, U("Too many pods"), id="the node is full"),
        pytest.param("0", {}, U("Too many pods"), id="even a limit of 0 is not for good"),
        pytest.param("1", {"cpu": "2"}, U("Too many pods; Insufficient cpu"), id="both reasons"),
        pytest.param("1", {"cpu": "5"}, UU("Too many pods; Insufficient cpu"), id="the CPU is for good"),
    ],
)
def test_a_node_runs_a_limited_number_of_pods(limit: str, requests: Any, expected: Answer) -> None:
    """One pod runs already, with 3 of 4 CPUs."""
    objects = (node("n", allocatable={"pods": limit}), pod("running", on="n", requests={"cpu": "3"}))

    assert {"n": expected} == filtered("NodeResourcesFit", asking(**requests), *objects)


def test_ignored_resources_are_not_checked() -> None:
    """Neither by name nor by group."""
    arguments = {"ignoredResources": ["one.example/x"], "ignoredResourceGroups": ["two.example"]}
    incoming = asking(**{"one.example/x": "1", "two.example/y": "1", "three.example/z": "1"})

    answers = filtered("NodeResourcesFit", incoming, node("n"), arguments=arguments)

    assert {"n": UU("Insufficient three.example/z")} == answers


MOST = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}
RATIO = {
    "scoringStrategy": {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": "cpu", "weight": 1}],
        "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]},
    }
}


@pytest.mark.parametrize(
    ("incoming", "arguments", "expected"),
    [
        # idle: cpu (4 - 1) / 4 = 75, memory (8 - 2) / 8 = 75. busy: cpu (4 - 3) / 4 = 25, memory (8 - 4) / 8 = 50: 37.
        pytest.param(asking(cpu="1", memory="2Gi"), None, {"idle": 75, "busy": 37}, id="LeastAllocated"),
        # Without requests 100m and 200Mi count: idle 97, 97; busy 47 (1900 / 4000), 72 (5944 / 8192): 59.
        pytest.param(asking(), None, {"idle": 97, "busy": 59}, id="defaults for pods without requests"),
        # busy: 2 + 3 of 4 CPUs is too much, so 0; memory 6 - 0.2 of 8 Gi is 72: 36. idle: 25 and 97: 61.
        pytest.param(asking(cpu="3"), None, {"idle": 61, "busy": 36}, id="more than there is scores 0"),
        pytest.param(asking(cpu="1"), MOST, {"idle": 25, "busy": 75}, id="MostAllocated"),
        pytest.param(asking(cpu="3"), MOST, {"idle": 75, "busy": 100}, id="MostAllocated, at most 100"),
        # Used 25 and 75 percent of a falling line.
        pytest.param(asking(cpu="1"), RATIO, {"idle": 75, "busy": 25}, id="RequestedToCapacityRatio"),
    ],
)
def test_scores_follow_the_strategy(incoming: Plain, arguments: Any, expected: dict[str, int]) -> None:
    """Two nodes of 4 CPUs and 8Gi; on one of them 2 CPUs and 2Gi are requested."""
    objects = (node("idle"), node("busy"), pod("running", on="busy", requests={"cpu": "2", "memory": "2Gi"}))

    assert expected == scored("NodeResourcesFit", incoming, *objects, arguments=arguments)
