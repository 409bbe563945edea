"""Requirements are the plugins' verdicts, taken apart."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.explain.requirements.collect import requirements
from kubectl_spread.explain.requirements.requirement import amount, Requirement
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases.version import nearest_release, release_of
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.profiles import profiles
from tests.explain.tight import tight_cases
from tests.naive.builders import HOSTNAME, node, pod
from tests.naive.strategies import cases

pytestmark = pytest.mark.slow

Plain = dict[str, Any]

# What stands with the requirements of another plugin.
_TOGETHER = {names.TAINT_TOLERATION: names.NODE_UNSCHEDULABLE, names.VOLUME_ZONE: names.VOLUME_BINDING}

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def filtered_of(case: Plain) -> Iterator[tuple[PodClass, FilterResult]]:
    """What the plugins say of each pod that comes in."""
    columns = Columns(cluster_of(copy.deepcopy(case["objects"] + case["incoming"])))
    configuration = json.loads(case["schedulerConfig"]) if case.get("schedulerConfig") else None
    by_name = profiles(configuration, nearest_release(release_of(case.get("kubernetesVersion", "1.36"))))
    scheduler = Scheduler(columns, by_name, all_nodes=True)
    for incoming in case["incoming"]:
        pod = read.pod(incoming)
        filtered = scheduler.filter(pod)
        if filtered.rejection is None:
            yield pod.cls, filtered


@settings(max_examples=120, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(tight_cases(), cases()))
def test_the_requirements_of_a_plugin_leave_the_nodes_that_it_leaves(case: Plain) -> None:
    """No node more, and none less; together they leave the nodes that fit. Each has a sentence and a name."""
    for cls, filtered in filtered_of(case):
        found = requirements(cls, filtered)
        by_plugin: dict[str, Any] = {}
        for verdict in filtered.plugin_results:
            plugin = _TOGETHER.get(verdict.plugin, verdict.plugin)
            by_plugin[plugin] = by_plugin.get(plugin, True) & (verdict.bits == 0)
        for plugin, passes in by_plugin.items():
            own = [item for item in found if _TOGETHER.get(item.plugin, item.plugin) == plugin]
            assert left(own, filtered).tolist() == passes.tolist(), plugin
        assert (left(found, filtered) & filtered.considered).tolist() == filtered.feasible.tolist()
        assert [item.text for item in found if not item.arithmetic] == []
        assert len({item.id for item in found}) == len(found)


def left(found: list[Requirement], filtered: FilterResult) -> Any:
    """Bool (N,): nodes that meet some requirements."""
    return np.logical_and.reduce([np.ones(filtered.columns.n, np.bool_), *[item.allowed for item in found]])


def on_one_node(**incoming: Any) -> list[Requirement]:
    """The requirements of a pod that one node does not meet."""
    taints = [{"key": f"tenant-{at % 3}", "value": str(at), "effect": "NoSchedule"} for at in range(30)]
    labels = {HOSTNAME: "n1", "disk": "hdd"}
    nodes = [node("n1", labels=labels, spec={"taints": taints}, status={"nodeInfo": {"kubeletVersion": "v1.35.1"}})]
    ((cls, filtered),) = filtered_of({"objects": nodes, "incoming": [pod("new", **incoming)]})
    return requirements(cls, filtered)


def test_of_many_taints_those_that_differ_in_their_value_are_one() -> None:
    assert [(item.id, item.text, item.arithmetic) for item in on_one_node()] == [
        (
            f"taint/tenant-{at}:NoSchedule",
            f"taint tenant-{at}:NoSchedule (10 taints)",
            "on n1; the pod does not tolerate it",
        )
        for at in range(3)
    ]


def test_what_a_pod_asks_of_labels_is_told_condition_by_condition() -> None:
    expressions = [
        {"key": "disk", "operator": "NotIn", "values": ["hdd", "tape"]},
        {"key": "gpu", "operator": "Exists"},
        {"key": "disk", "operator": "Exists"},
    ]
    affinity = {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}}
    found = on_one_node(nodeSelector={"disk": "ssd", "rack": "r1"}, affinity=affinity)

    assert [(item.id, item.text, item.arithmetic) for item in found[3:]] == [
        ("nodeSelector/0/disk", "nodeSelector disk=ssd", "disk is hdd on n1"),
        ("nodeSelector/1/rack", "nodeSelector rack=r1", "rack is missing on n1"),
        ("nodeAffinity/0/disk", "node affinity disk notin (hdd,tape)", "disk is hdd on n1"),
        ("nodeAffinity/1/gpu", "node affinity gpu", "gpu is missing on n1"),
    ]


def test_a_request_is_told_with_what_is_free() -> None:
    """The most that any node has free, or has at all."""
    nodes = [node(f"n{at}", allocatable={"cpu": "2", "memory": f"{at + 1}Gi"}) for at in range(3)]
    nodes += [pod(f"p{at}", on=f"n{at}", requests={"cpu": cpu}) for at, cpu in enumerate(("1500m", "1800m", "2"))]
    incoming = pod("new", requests={"cpu": "600m", "memory": "4Gi"})
    ((cls, filtered),) = filtered_of({"objects": nodes, "incoming": [incoming]})

    assert [item.arithmetic for item in requirements(cls, filtered)] == [
        "needs 600m; of 3 nodes n0 has the most free, 500m of 2; all would have enough if empty",
        "needs 4Gi, more than any of the 3 nodes has: at most 3Gi, on n2",
    ]


@pytest.mark.parametrize(
    ("resource", "number", "expected"),
    [
        ("memory", 617984 << 20, "603.5Gi"),
        ("memory", 15842316 << 10, "15.1Gi"),
        ("memory", 1536 << 20, "1536Mi"),
        ("memory", 10**8, "95.4Mi"),
        ("memory", 64 << 30, "64Gi"),
        ("ephemeral-storage", 101 << 40, "101Ti"),
        ("cpu", 123456, "123456m"),
    ],
)
def test_an_amount_has_the_largest_unit_that_is_readable(resource: str, number: int, expected: str) -> None:
    assert amount(resource, number) == expected
