"""What is kept up to date from one binding to the next is what a fresh start works out."""

from __future__ import annotations

import copy
import json
import random
from typing import Any, NamedTuple, Optional, Union

import pytest
from hypothesis import given, HealthCheck, settings

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.releases.version import nearest_release, release_of
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.plugin import Profile, ScoreError
from kubectl_spread.scheduler.profiles import profiles
from tests.naive.builders import HOSTNAME, node, pod, ZONE
from tests.naive.strategies import cases

pytestmark = pytest.mark.slow

Plain = dict[str, Any]

few = settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


class Answer(NamedTuple):
    """What a scheduler says of a pod, by two ways that must agree where there are several nodes."""

    feasible: list[int]
    hosts: Union[list[int], str]
    highest: Union[list[int], str]


def answer(scheduler: Scheduler, item: Pod) -> Optional[Answer]:
    """None where no node fits."""
    filtered = scheduler.filter(item)
    if not filtered.feasible.any():
        return None
    feasible = filtered.feasible.nonzero()[0].tolist()
    if len(feasible) == 1:
        return Answer(feasible, feasible, feasible)
    found: list[Union[list[int], str]] = []
    for highest in (scheduler.hosts, lambda item, filtered: scheduler.score(item, filtered).hosts()):
        try:
            found.append(highest(item, filtered).tolist())
        except ScoreError as error:
            found.append(str(error))
    return Answer(feasible, *found)


def check(objects: list[Plain], incoming: list[Pod], by_name: dict[str, Profile], every: int = 1) -> None:
    """Place the pods one by one; what is said of each is what a scheduler says that saw all bindings at once."""
    bound: list[tuple[Pod, int]] = []
    kept = Scheduler(Columns(cluster_of(copy.deepcopy(objects))), by_name, all_nodes=True)
    for at, item in enumerate(incoming):
        found = answer(kept, item)
        if at % every == 0:
            fresh = Scheduler(Columns(cluster_of(copy.deepcopy(objects))), by_name, all_nodes=True)
            for other, host in bound:
                fresh.bind(other, host)

            assert answer(fresh, item) == found
        if found is not None:
            assert found.highest == found.hosts
            if not isinstance(found.hosts, str):
                bound.append((item, found.hosts[at % len(found.hosts)]))
                kept.bind(*bound[-1])


@few
@given(cases())
def test_the_nodes_with_the_highest_score_are_kept_up_to_date(case: Plain) -> None:
    """On clusters odd in every way; scores that are added up ahead are those that are told plugin by plugin."""
    configuration = json.loads(case["schedulerConfig"]) if case.get("schedulerConfig") else None
    by_name = profiles(configuration, nearest_release(release_of(case.get("kubernetesVersion", "1.36"))))
    incoming = [read.pod(item) for item in case["incoming"] if not item["spec"].get("schedulingGates")]
    check(case["objects"], [item for item in incoming if item.cls.scheduler_name in by_name], by_name)


def check_removals(objects: list[Plain], incoming: list[Pod], by_name: dict[str, Profile]) -> None:
    """Place the pods one by one and remove every second one later; a fresh start has the same answers."""
    bound: list[tuple[Pod, int]] = []
    kept = Scheduler(Columns(cluster_of(copy.deepcopy(objects))), by_name, all_nodes=True)
    for at, item in enumerate(incoming):
        found = answer(kept, item)
        fresh = Scheduler(Columns(cluster_of(copy.deepcopy(objects))), by_name, all_nodes=True)
        for other, host in bound:
            fresh.bind(other, host)

        assert answer(fresh, item) == found
        if found is not None and not isinstance(found.hosts, str):
            bound.append((item, found.hosts[at % len(found.hosts)]))
            kept.bind(*bound[-1])
        if bound and at % 2 and not bound[at // 2 % len(bound)][0].cls.volumes:
            gone, host = bound.pop(at // 2 % len(bound))
            kept.columns.unbind(gone, host)


@few
@given(cases())
def test_a_pod_that_goes_is_forgotten(case: Plain) -> None:
    """By every plugin; what a pod reserved of volumes stays reserved, so that only pods without volumes go."""
    configuration = json.loads(case["schedulerConfig"]) if case.get("schedulerConfig") else None
    by_name = profiles(configuration, nearest_release(release_of(case.get("kubernetesVersion", "1.36"))))
    incoming = [read.pod(item) for item in case["incoming"] if not item["spec"].get("schedulingGates")]
    twice = [pod._replace(uid=f"{pod.uid}-{turn}", name=f"{pod.name}-{turn}") for turn in "ab" for pod in incoming]
    check_removals(case["objects"], [item for item in twice if item.cls.scheduler_name in by_name], by_name)


def constraint(key: str, skew: int, action: str, app: str, **fields: Any) -> Plain:
    selector = {"matchLabels": {"app": app}}
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": action, "labelSelector": selector, **fields}


WEIGHTED: Plain = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "plugins": {
                "multiPoint": {
                    "enabled": [
                        {"name": "NodeResourcesFit", "weight": 7},
                        {"name": "NodeResourcesBalancedAllocation", "weight": 3},
                    ]
                }
            }
        }
    ],
}


def kinds() -> list[Plain]:
    """Templates whose pods select one another's."""
    hard, soft = "DoNotSchedule", "ScheduleAnyway"
    return [
        {"topologySpreadConstraints": [constraint(ZONE, 1, hard, "a"), constraint(HOSTNAME, 1, soft, "a")]},
        {"topologySpreadConstraints": [constraint(HOSTNAME, 2, hard, "b", nodeTaintsPolicy="Honor")]},
        {"topologySpreadConstraints": [constraint("rack", 3, hard, "a", minDomains=9), constraint(ZONE, 2, soft, "b")]},
        {"topologySpreadConstraints": [constraint(HOSTNAME, 1, soft, "a"), constraint(ZONE, 1, soft, "c")]},
        {"topologySpreadConstraints": [constraint(HOSTNAME, 4, soft, "c")]},
        {},
    ]


@pytest.mark.parametrize("seed", range(4))
def test_classes_that_count_one_another_are_kept_up_to_date(seed: int) -> None:
    """With many pods on few nodes: domains fill up, are even again, and one class asks after many of another."""
    chance = random.Random(seed)
    taint = {"taints": [{"key": "k", "value": "", "effect": "NoSchedule"}]}
    nodes = [
        node(
            f"n{at:02}",
            labels={ZONE: f"z{at % 3}", HOSTNAME: f"n{at:02}", **({"rack": f"r{at % 4}"} if at % 5 else {})},
            allocatable={"cpu": chance.choice(["4", "64"]), "pods": "200"},
            spec=taint if at % 7 == 0 else {},
        )
        for at in range(12)
    ]
    incoming = []
    for at in range(240):
        # In runs, so that a class sees one new pod between two of its own, none, or many at once.
        spec = chance.choice(kinds()) if at % 6 else kinds()[at // 6 % len(kinds())]
        labels = {"app": chance.choice("abc")}
        incoming.append(read.pod(pod(f"p{at}", labels=labels, requests={"cpu": "100m"}, **spec)))
    check(nodes, incoming, profiles(WEIGHTED if seed % 2 else None), every=5)


def test_counts_far_apart_are_scored_as_near_ones() -> None:
    """A node with a hundred matching pods more than another."""
    nodes = [node(f"n{at}", labels={HOSTNAME: f"n{at}"}, allocatable={"pods": "900"}) for at in range(3)]
    running = [pod(f"r{at}", on="n0" if at < 100 else "n1", labels={"app": "a"}) for at in range(130)]
    spec = {"topologySpreadConstraints": [constraint(HOSTNAME, 1, "ScheduleAnyway", "a")]}
    check(nodes + running, [read.pod(pod(f"p{at}", labels={"app": "a"}, **spec)) for at in range(80)], profiles())
