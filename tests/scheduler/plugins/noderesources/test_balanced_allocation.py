"""NodeResourcesBalancedAllocation, a table of cases.

With the fractions f of CPU and memory that are requested, balance is `trunc((1 - |f1 - f2| / 2) * 100)`. The score is
`50 + (50 + balance(after) - balance(before)) // 2`.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.objects.releases.version import Release
from tests.naive.builders import node, pod
from tests.scheduler.plugins.asking import scored

NAME = "NodeResourcesBalancedAllocation"
CPU_HEAVY = {"cpu": "2"}  # of 4 CPUs and 8Gi: 0.5 and 0, balance 75


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param({}, None, id="no requests: PreScore skips"),
        # idle: 0.25, 0.25: 100 -> 50 + 50 // 2 = 75. busy: 0.75, 0.25: 75 -> 75.
        pytest.param({"cpu": "1", "memory": "2Gi"}, {"idle": 75, "busy": 75}, id="the balance stays"),
        # idle: 0, 0.5: 75 -> 50 + 25 // 2 = 62. busy: 0.5, 0.5: 100 -> 50 + 75 // 2 = 87.
        pytest.param({"memory": "4Gi"}, {"idle": 62, "busy": 87}, id="memory balances the CPU"),
        # idle: 0.5, 0: 75 -> 62. busy: 1, 0: 50 -> 50 + 25 // 2 = 62.
        pytest.param({"cpu": "2"}, {"idle": 62, "busy": 62}, id="more CPU"),
        # A fraction is at most 1. idle: 1, 0: 50 -> 50. busy: 1, 0 as well: 50 -> 62.
        pytest.param({"cpu": "9"}, {"idle": 50, "busy": 62}, id="a fraction is at most 1"),
        # idle: 1, 1: 100 -> 75. busy: 1, 1: 100 -> 50 + 75 // 2 = 87.
        pytest.param({"cpu": "4", "memory": "8Gi"}, {"idle": 75, "busy": 87}, id="the whole node"),
        # idle: 0.01, 0: trunc(99.5) = 99 -> 50 + 49 // 2 = 74. busy: 0.51, 0: trunc(74.5) = 74 -> 50 + 49 // 2 = 74.
        pytest.param({"cpu": "40m"}, {"idle": 74, "busy": 74}, id="truncated"),
    ],
)
def test_a_pod_that_balances_cpu_and_memory_scores_higher(requests: Any, expected: Any) -> None:
    """75 is neutral."""
    objects = (node("idle"), node("busy"), pod("running", on="busy", requests=CPU_HEAVY))

    assert expected == scored(NAME, pod("p", requests=requests), *objects)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        # Fractions 0.5, 0.5 and 1: mean 2/3, deviation sqrt(1/18) = 0.2357: 76 -> 50 + 26 // 2 = 63.
        pytest.param({"cpu": "2", "memory": "4Gi", "example.com/gpu": "2"}, 63, id="three fractions"),
        # A request of 0 is none.
        pytest.param({"cpu": "2", "memory": "4Gi", "example.com/gpu": "0"}, 75, id="requested with 0"),
        # Without a request for it there are two fractions.
        pytest.param({"cpu": "2", "memory": "4Gi"}, 75, id="not requested"),
        pytest.param({"cpu": "2", "memory": "4Gi", "example.com/gpu": "1"}, 75, id="three equal fractions"),
    ],
)
def test_more_resources_than_two_use_the_standard_deviation(requests: Any, expected: int) -> None:
    """An extended resource counts if the pod requests it."""
    resources = [{"name": name, "weight": 1} for name in ("cpu", "memory", "example.com/gpu")]
    found = scored(
        NAME,
        pod("p", requests=requests),
        node("n", allocatable={"example.com/gpu": "2"}),
        arguments={"resources": resources},
    )

    assert {"n": expected} == found


def test_older_releases_score_the_balance_itself() -> None:
    """Up to 1.34, idle: 0, 0.5 is 75; busy: 0.5, 0.5 is 100."""
    objects = (node("idle"), node("busy"), pod("running", on="busy", requests=CPU_HEAVY))

    found = scored(NAME, pod("p", requests={"memory": "4Gi"}), *objects, release=Release(30, 10))

    assert {"idle": 75, "busy": 100} == found
