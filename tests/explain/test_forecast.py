"""Where workloads with soft constraints end up, against every way of choosing among the best nodes."""

from __future__ import annotations

from collections import Counter
from typing import Any, Optional

import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.placing import seeded_pick
from kubectl_spread.explain.forecast import Forecast, forecast
from kubectl_spread.explain.placement import Placement
from kubectl_spread.explain.replicas import place
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.report.explain import text
from kubectl_spread.scheduler.framework.plugin import NodeIndices
from kubectl_spread.scheduler.profiles import profiles

Plain = dict[str, Any]

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
SPOT = [{"key": "spot", "value": "", "effect": "PreferNoSchedule"}]


def node(name: str, zone: str = "", cpu: str = "4", pods: str = "10", **spec: Any) -> Plain:
    labels = {HOSTNAME: name, **({ZONE: zone} if zone else {})}
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": pods}}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def running(name: str, on: str, cpu: str = "100m") -> Plain:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "labels": {"app": name.partition("-")[0]}}
    return {"kind": "Pod", "metadata": metadata, "spec": {"nodeName": on, "containers": [container]}}


def soft(key: str = ZONE, skew: int = 1, action: str = "ScheduleAnyway") -> Plain:
    selector = {"matchLabels": {"app": "web"}}
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": action, "labelSelector": selector}


def web(replicas: int, *constraints: Plain, cpu: str = "100m", **spec: Any) -> Workload:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], "topologySpreadConstraints": list(constraints), **spec}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    return Workload("Deployment", "apps/v1", "default", "web", replicas, template)


def foretold(cluster: Cluster, owner: Workload, **limits: int) -> Forecast:
    found = forecast(owner, cluster, profiles(), **limits)
    assert found is not None
    return found


class Every:
    """Goes through all ways to choose, one after the other, like the digits of a counter."""

    def __init__(self) -> None:
        self._choices: list[list[int]] = []
        self._at = 0

    def start(self) -> None:
        self._at = 0

    def pick(self, hosts: NodeIndices) -> int:
        if self._at == len(self._choices):
            self._choices.append([0, len(hosts)])
        chosen = self._choices[self._at][0]
        self._at += 1
        return int(hosts[chosen])

    def advance(self) -> bool:
        while self._choices:
            self._choices[-1][0] += 1
            if self._choices[-1][0] < self._choices[-1][1]:
                return True
            self._choices.pop()
        return False


def every_placement(owner: Workload, cluster: Cluster, most: int) -> Optional[list[Placement]]:
    """All of them, nodes told apart; None where there are more."""
    every = Every()
    found: list[Placement] = []
    while len(found) < most:
        every.start()
        found += place([owner], cluster, profiles(), pick=every.pick)
        if not every.advance():
            return found
    return None


def ranges(placements: list[Placement], cluster: Cluster) -> tuple[dict[str, Range], dict[str, Range]]:
    """By node, and by zone."""
    zones = {item.name: item.labels.get(ZONE, "") for item in cluster.nodes}
    by_node = [Counter(pod.node for pod in placement.placed) for placement in placements]
    by_zone = [Counter(zones[pod.node] for pod in placement.placed) for placement in placements]
    return _ranges(by_node, set(zones)), _ranges(by_zone, set(zones.values()) - {""})


def _ranges(counts: list[Counter[str]], names: set[str]) -> dict[str, Range]:
    found = {name: Range(min(run[name] for run in counts), max(run[name] for run in counts)) for name in names}
    return {name: range_ for name, range_ in found.items() if range_.most}


clusters = st.builds(
    lambda nodes, pods: cluster_of([*nodes, *(running(f"{app}-{at}", on) for at, (app, on) in enumerate(pods))]),
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", ""]), st.sampled_from(["2", "4"]), st.sampled_from([None, SPOT])),
        min_size=1,
        max_size=4,
    ).map(
        lambda drawn: [
            node(f"n{at}", zone, cpu, "3", **({"taints": taints} if taints else {}))
            for at, (zone, cpu, taints) in enumerate(drawn)
        ]
    ),
    st.lists(st.tuples(st.sampled_from(["web", "db"]), st.sampled_from(["n0", "n1"])), max_size=2),
)
constraints = st.sampled_from([(soft(),), (soft(HOSTNAME),), (soft(), soft(HOSTNAME)), (soft(skew=2),)])
workloads = st.builds(lambda replicas, drawn: web(replicas, *drawn), st.integers(1, 4), constraints)
fuzzed = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.slow
@fuzzed
@given(clusters, workloads)
def test_an_exact_forecast_is_that_of_every_way_to_choose(cluster: Cluster, owner: Workload) -> None:
    """Although ways that lead to the same are walked through once."""
    placements = every_placement(owner, cluster, 600)
    found = foretold(cluster, owner)
    if placements is None:
        return
    by_node, by_zone = ranges(placements, cluster)

    if found.basis.is_exact:
        assert by_node == found.nodes
        for constraint in found.constraints:
            if constraint.topology_key == ZONE:
                assert by_zone == {value: pods for value, pods in constraint.domains.items() if pods.most}


@pytest.mark.slow
@fuzzed
@given(clusters, workloads, st.integers(0, 1000))
def test_a_forecast_holds_for_every_seed(cluster: Cluster, owner: Workload, seed: int) -> None:
    found = foretold(cluster, owner)
    (placement,) = place([owner], cluster, profiles(), pick=seeded_pick(seed))
    counts = Counter(pod.node for pod in placement.placed)

    if found.basis.is_exact:
        assert found.placed.least <= len(placement.placed) <= found.placed.most
        for name in counts:
            assert found.nodes[name].least <= counts[name] <= found.nodes[name].most
        for constraint in found.constraints:
            for value, pods in placement.domains[constraint.topology_key].items():
                expected = constraint.domains.get(value, Range(0, 0))
                assert expected.least <= pods <= expected.most


@pytest.mark.slow
@fuzzed
@given(clusters, workloads)
def test_the_skew_of_a_zone_is_that_of_some_placement(cluster: Cluster, owner: Workload) -> None:
    """Of a cluster whose zones all take the pod at first, and may be full later."""
    placements = every_placement(owner, cluster, 300)
    found = foretold(cluster, owner)
    if placements is None or not found.basis.is_exact or len(found.constraints) > 1:
        return
    (constraint,) = found.constraints
    eligible = set(constraint.domains)
    skews = []
    for placement in placements:
        counts = placement.matching[constraint.topology_key]
        numbers = [counts[value] for value in eligible]
        skews.append(max(numbers, default=0) - min(numbers, default=0))

    assert Range(min(skews), max(skews)) == constraint.skew


def test_three_zones_and_a_remainder() -> None:
    """Which zone gets the third pod is chance."""
    cluster = cluster_of([node("a1", "a"), node("b1", "b"), node("c1", "c")])
    found = foretold(cluster, web(7, soft()))

    assert [
        "Where the 7 replicas of Deployment default/web would end up, for any choice among the best nodes:",
        "  topologySpreadConstraints[0] (topology.kubernetes.io/zone): a=2-3 b=2-3 c=2-3",
        "    skew 1, within maxSkew 1",
        "  nodes: a1=2-3 b1=2-3 c1=2-3",
    ] == text.forecast_lines(found)


def test_a_soft_rule_that_is_outvoted() -> None:
    """The taint counts for more than the zones: nothing goes to b."""
    cluster = cluster_of([node("a1", "a"), node("b1", "b", taints=SPOT)])
    found = foretold(cluster, web(3, soft()))

    assert [
        "Where the 3 replicas of Deployment default/web would end up, for any choice among the best nodes:",
        "  topologySpreadConstraints[0] (topology.kubernetes.io/zone): a=3 b=0",
        "    skew 3, exceeds maxSkew 1: ScheduleAnyway does not prevent it",
        "  nodes: a1=3",
    ] == text.forecast_lines(found)


def test_pods_of_others_count_for_the_skew() -> None:
    """And not for what the workload has in each domain."""
    cluster = cluster_of([node("a1", "a"), node("b1", "b"), running("web-x", "a1"), running("web-y", "a1")])
    (constraint,) = foretold(cluster, web(1, soft())).constraints

    assert {"a": Range(0, 0), "b": Range(1, 1)} == constraint.domains
    assert Range(1, 1) == constraint.skew


def test_what_does_not_fit_is_told() -> None:
    cluster = cluster_of([node("a1", "a", cpu="1"), node("b1", "b", cpu="1")])
    found = foretold(cluster, web(3, soft(), cpu="1"))

    assert Range(2, 2) == found.placed
    assert "  placed: 2 of 3" in text.forecast_lines(found)


def test_too_many_ways_are_sampled() -> None:
    """The range is that of the runs, and it is said how many they were."""
    cluster = cluster_of([node(f"n{at}", "abcdef"[at % 6], cpu=f"{4000 + at}m") for at in range(12)])
    found = foretold(cluster, web(20, soft()), runs=8)

    assert (8, False) == (found.runs, found.basis.is_exact)
    assert found == foretold(cluster, web(20, soft()), runs=8)
    assert text.forecast_lines(found)[0].endswith(
        "would end up, over 8 runs, each with another choice among the best nodes; other choices are possible:"
    )


def test_a_large_cluster_is_not_searched_as_a_whole() -> None:
    cluster = cluster_of([node(f"n{at:03}", "abc"[at % 3]) for at in range(120)])
    found = foretold(cluster, web(6, soft()))

    assert (True, False) == (found.is_sampled, found.basis.is_exact)
    assert [Range(2, 2)] * 3 == list(found.constraints[0].domains.values())
    assert foretold(cluster, web(6, soft()), runs=20, steps=10_000) is not None


def test_what_takes_too_long_is_not_tried() -> None:
    cluster = cluster_of([node("a1", "a", pods="9999")])
    found = foretold(cluster, web(5000, soft()))

    (line,) = text.forecast_lines(found)

    assert "Where the 5,000 replicas of Deployment default/web would end up is not forecast" in line
    assert line.endswith(": 5,000 pods are more than a forecast tries on 1 node.")


def test_hard_constraints_and_daemons_have_no_forecast() -> None:
    """What refuses nodes is told in other ways, and a daemon has its node."""
    cluster = cluster_of([node("a1", "a")])

    assert forecast(web(2, soft(action="DoNotSchedule")), cluster, profiles()) is None
    assert forecast(web(1, soft())._replace(kind="DaemonSet", replicas=None), cluster, profiles()) is None
    assert forecast(web(0, soft()), cluster, profiles()) is None


def test_the_default_constraints_are_forecast() -> None:
    """A Service selects the pods, so that the scheduler's own constraints apply."""
    service = {"kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}}}
    cluster = cluster_of([node("a1", "a"), node("b1", "b"), service])
    found = foretold(cluster, web(2))

    assert [
        "Where the 2 replicas of Deployment default/web would end up, for any choice among the best nodes:",
        "  defaultConstraints[0] (kubernetes.io/hostname): a1=1 b1=1",
        "    skew 0, within maxSkew 3",
        "  defaultConstraints[1] (topology.kubernetes.io/zone): a=1 b=1",
        "    skew 0, within maxSkew 5",
        "  nodes: a1=1 b1=1",
    ] == text.forecast_lines(found)
