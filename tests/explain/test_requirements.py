"""Requirements are the plugins' verdicts, taken apart."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings

from kubectl_spread.cluster.assemble import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.explain.requirements import requirements
from kubectl_spread.objects import read
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.config import profiles
from kubectl_spread.scheduler.config import version_of
from kubectl_spread.scheduler.cycle import Filtered
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.plugins import names
from tests.naive.strategies import cases

Plain = dict[str, Any]

# What stands with the requirements of another plugin.
_TOGETHER = {names.TAINT_TOLERATION: names.NODE_UNSCHEDULABLE, names.VOLUME_ZONE: names.VOLUME_BINDING}

many = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def filtered_of(case: Plain) -> Iterator[tuple[PodClass, Filtered]]:
    """What the plugins say of each pod that comes in."""
    columns = Columns(cluster_of(copy.deepcopy(case["objects"] + case["incoming"])))
    configuration = json.loads(case["schedulerConfig"]) if case.get("schedulerConfig") else None
    by_name = profiles(configuration, version_of(case.get("kubernetesVersion", "1.36")))
    scheduler = Scheduler(columns, by_name, all_nodes=True)
    for incoming in case["incoming"]:
        pod = read.pod(incoming)
        filtered = scheduler.filter(pod)
        if filtered.rejection is None:
            yield pod.cls, filtered


@many
@given(cases())
def test_the_requirements_of_a_plugin_leave_the_nodes_that_it_leaves(case: Plain) -> None:
    """No node more, and none less; together they leave the nodes that fit."""
    for cls, filtered in filtered_of(case):
        found = requirements(cls, filtered)
        by_plugin: dict[str, Any] = {}
        for verdict in filtered.verdicts:
            plugin = _TOGETHER.get(verdict.plugin, verdict.plugin)
            by_plugin[plugin] = by_plugin.get(plugin, True) & (verdict.bits == 0)
        for plugin, passes in by_plugin.items():
            own = [item.allowed for item in found if _TOGETHER.get(item.plugin, item.plugin) == plugin]
            assert np.logical_and.reduce([np.ones(filtered.columns.n, np.bool_), *own]).tolist() == passes.tolist(), (
                plugin
            )
        left = np.logical_and.reduce([np.ones(filtered.columns.n, np.bool_), *[item.allowed for item in found]])
        assert (left & filtered.considered).tolist() == filtered.feasible.tolist()


@many
@given(cases())
def test_each_refusal_has_a_sentence_and_each_requirement_a_name_of_its_own(case: Plain) -> None:
    for cls, filtered in filtered_of(case):
        found = requirements(cls, filtered)
        assert all(item.arithmetic for item in found), [item.text for item in found if not item.arithmetic]
        assert len({item.id for item in found}) == len(found)
