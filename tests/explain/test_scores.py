"""Why a pod goes where it goes."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.explain.scores import score_table, ScoreTable
from kubectl_spread.objects.reading import read
from kubectl_spread.report.documents import to_document
from kubectl_spread.report.explain import document as document  # noqa: PLC0414 (the form of scores)
from kubectl_spread.report.explain import scores as text
from kubectl_spread.report.table import lay_out, Style
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.profiles import profiles


def lines(scores: ScoreTable, *, width: int = 120, own: str = "") -> list[str]:
    """The text of the blocks."""
    return lay_out(text.blocks(scores, Style(width, is_detailed=True), own=own))


Plain = dict[str, Any]

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
RECORDINGS = Path(__file__).parent.parent / "conformance" / "recordings"
SPOT = [{"key": "spot", "value": "", "effect": "PreferNoSchedule"}]


def node(name: str, zone: str = "", cpu: str = "4", labels: Any = None, **spec: Any) -> Plain:
    found = {HOSTNAME: name, **({ZONE: zone} if zone else {}), **(labels or {})}
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}
    return {"kind": "Node", "metadata": {"name": name, "labels": found}, "spec": spec, "status": status}


def pod(name: str, on: str = "", cpu: str = "1", **spec: Any) -> Plain:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "labels": {"app": name.partition("-")[0]}}
    return {"kind": "Pod", "metadata": metadata, "spec": {"nodeName": on, "containers": [container], **spec}}


def soft(key: str = ZONE) -> Plain:
    selector = {"matchLabels": {"app": "web"}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}


def table(objects: list[Plain], incoming: Plain, *, all_nodes: bool = False) -> ScoreTable:
    scheduler = Scheduler(Columns(cluster_of(objects)), profiles(), all_nodes=all_nodes)
    wanted = read.pod(incoming)
    found = score_table(wanted, scheduler.filter(wanted), scheduler)
    assert found is not None
    return found


def recorded() -> Iterator[Plain]:
    """Decisions of the real scheduler about single pods with scores, every fifth."""
    with gzip.open(RECORDINGS / "score.ndjson.gz", "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    fit = (case for case in cases if not case.get("schedulerConfig") and "scores" in case["expected"][0])
    return itertools.islice(fit, 0, None, 5)


def test_the_table_is_that_of_the_real_scheduler() -> None:
    """Points by plugin and node, totals, and the node among the best that was taken."""
    seen = 0
    for case in recorded():
        found = table(case["objects"], case["incoming"][0], all_nodes=True)
        told = to_document(found)

        assert case["expected"][0]["scores"] == told["scores"]
        assert case["expected"][0]["placed"] in found.hosts
        seen += found.decision is not None

    assert seen > 20


drawn_nodes = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["2", "4", "8"]), st.booleans()), min_size=2, max_size=6
)
drawn_pods = st.lists(st.tuples(st.sampled_from(["web", "db"]), st.integers(0, 5)), max_size=5)


@pytest.mark.slow
@settings(max_examples=80, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(drawn_nodes, drawn_pods, st.sampled_from([(ZONE,), (HOSTNAME,), (ZONE, HOSTNAME), ()]))
def test_what_is_said_of_the_decision_adds_up(
    nodes: list[tuple[str, str, bool]], pods: list[tuple[str, int]], keys: tuple[str, ...]
) -> None:
    objects = [
        node(f"n{at}", zone, cpu, **({"taints": SPOT} if tainted else {}))
        for at, (zone, cpu, tainted) in enumerate(nodes)
    ]
    objects += [pod(f"{app}-{at}", f"n{on % len(nodes)}", "100m") for at, (app, on) in enumerate(pods)]
    found = table(objects, pod("web-new", cpu="100m", topologySpreadConstraints=[soft(key) for key in keys]))
    totals = {row.node: row.total for row in found.rows}
    best = {name for name, total in totals.items() if total == max(totals.values())}

    assert all(sum(row.points) == row.total for row in found.rows)
    assert best == set(found.hosts)
    assert (found.decision is None) == (len(best) == len(totals))
    if found.decision is not None:
        _check_decision(found, best, totals)
    if found.soft is not None and found.soft.favourite:
        _check_outvoted(found)


def _check_decision(found: ScoreTable, best: set[str], totals: dict[str, int]) -> None:
    decision = found.decision
    assert decision is not None
    assert decision.winner in best
    assert totals[decision.runner_up] == max(total for name, total in totals.items() if name not in best)
    assert decision.margin == totals[decision.winner] - totals[decision.runner_up]
    assert decision.margin == sum(share.points for share in decision.shares)
    for size in range(1, len(found.plugins) + 1):
        changing = [left for left in itertools.combinations(found.plugins, size) if _changes(found, left, best)]
        if changing:
            assert set(changing) == set(decision.decisive)
            return
    raise AssertionError("no plugin decides, although the nodes differ")


def _changes(found: ScoreTable, without: tuple[str, ...], best: set[str]) -> bool:
    left = [at for at, plugin in enumerate(found.plugins) if plugin not in without]
    totals = {row.node: sum(row.points[at] for at in left) for row in found.rows}
    return any(total == max(totals.values()) and name not in best for name, total in totals.items())


def _check_outvoted(found: ScoreTable) -> None:
    vote, at = found.soft, found.plugins.index("PodTopologySpread")
    assert vote is not None
    rows = {row.node: row for row in found.rows}
    rival = next(name for name in found.hosts if name not in vote.favourites)
    assert vote.margin == rows[vote.favourite].points[at] - rows[rival].points[at] > 0
    assert vote.is_tied == bool(set(vote.favourites) & set(found.hosts))
    assert sum(share.points for share in vote.outvoted_by) >= vote.margin + (not vote.is_tied)


def test_a_taint_outvotes_the_zones() -> None:
    """Zone c is empty, and its node has a taint that counts for more. In a narrow table plugins have short names."""
    objects = [
        node("a1", "a"),
        node("b1", "b"),
        node("c1", "c", taints=SPOT),
        node("x1"),
        pod("web-1", "a1"),
        pod("web-2", "a1"),
        pod("web-3", "b1"),
    ]
    found = table(objects, pod("web-4", topologySpreadConstraints=[soft()]))

    assert [
        "Scores (4 nodes fit):",
        "  NODE   TOTAL        TT    NRF   PTS   NRBA",
        "  b1     507 (best)   300   72    66    69",
        "  x1     454          300   86    0     68",
        "  a1     426          300   58    0     68",
        "  c1     354          0     86    200   68",
        (
            "  TT = TaintToleration, NRF = NodeResourcesFit, PTS = PodTopologySpread, "
            "NRBA = NodeResourcesBalancedAllocation"
        ),
        "  the same for every node: DynamicResources 0, ImageLocality 0",
        (
            "b1 wins by 53 points over x1: "
            "PodTopologySpread +66, NodeResourcesFit -14, NodeResourcesBalancedAllocation +1."
        ),
        "Without TaintToleration, or without PodTopologySpread, another node would be among the best.",
        (
            "The ScheduleAnyway constraint prefers c1 by 134 points, and is outvoted: TaintToleration, 300 to 0 "
            "(c1 has the taint spot:PreferNoSchedule)."
        ),
        (
            "  topologySpreadConstraints[0] (topology.kubernetes.io/zone): matching pods "
            "(raw score, the lower the better) c=0 (0.00), b=1 (1.61), a=2 (3.22)"
        ),
        "  without the label of a constraint, so that PodTopologySpread gives 0: x1",
    ] == lines(found, width=80)


def test_a_preferred_affinity_decides() -> None:
    """And what the node has that the other has not is said."""
    preferred = [
        {"weight": 50, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}}
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    found = table(
        [node("a1", "a", labels={"disk": "ssd"}), node("b1", "b", "8"), pod("db-1", "b1")],
        pod("web-1", affinity=affinity),
    )

    assert [
        "Scores (2 nodes fit):",
        "  NODE   TOTAL        NodeAffinity   NodeResourcesFit   NodeResourcesBalancedAllocation",
        "  a1     654 (best)   200            86                 68",
        "  b1     457          0              85                 72",
        "  the same for every node: TaintToleration 300, DynamicResources 0, ImageLocality 0",
        "a1 wins by 197 points over b1: NodeAffinity +200, NodeResourcesBalancedAllocation -4, NodeResourcesFit +1.",
        "Without NodeAffinity, another node would be among the best.",
        "  NodeAffinity: a1 matches preferred node affinity with weight 50; b1 matches none",
    ] == lines(found)


def test_all_nodes_alike() -> None:
    found = table([node("a1"), node("b1")], pod("web-1"))

    assert ["Both nodes score 454, so the scheduler may choose either of them: a1, b1."] == lines(found)


def test_one_node_is_not_scored() -> None:
    found = table([node("a1"), node("b1", unschedulable=True)], pod("web-1"))

    assert ["a1 is the only node that fits, so the scheduler takes it without scoring."] == lines(found)


def test_no_node_has_no_scores() -> None:
    scheduler = Scheduler(Columns(cluster_of([node("b1", unschedulable=True)])), profiles())
    wanted = read.pod(pod("web-1"))

    assert score_table(wanted, scheduler.filter(wanted), scheduler) is None


def test_scoring_may_fail() -> None:
    """A preferred term that does not parse: the scheduler gives up on the pod."""
    preferred = [{"weight": 1, "preference": {"matchExpressions": [{"key": "a b", "operator": "Exists"}]}}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    found = table([node("a1"), node("b1")], pod("web-1", affinity=affinity))

    assert [
        (
            "Scoring fails, and the scheduler does not place the pod: "
            'running PreScore plugin "NodeAffinity": a preferred term does not parse'
        )
    ] == lines(found)


def test_a_large_cluster_is_looked_at_in_part() -> None:
    """And the next search starts where it would have started without the question."""
    scheduler = Scheduler(Columns(cluster_of([node(f"n{at:03}") for at in range(300)])), profiles())
    wanted = read.pod(pod("web-1"))
    filtered = scheduler.filter(wanted)
    found = score_table(wanted, filtered, scheduler)

    assert found is not None
    assert (True, 144, 300) == (found.is_sampled, len(found.rows), found.feasible)
    assert found.hosts == tuple(scheduler.columns.nodes[at].name for at in scheduler.hosts(wanted, filtered))
    assert table([node(f"n{at:03}") for at in range(300)], pod("web-1"), all_nodes=True).is_sampled is False


def test_a_long_table_is_cut() -> None:
    """The pod's own node is shown wherever it stands."""
    objects = [node(f"n{at:02}", cpu=str(4 + at)) for at in range(14)]
    found = table(objects, pod("web-1"))
    shown = [line.split()[0] for line in lines(found, own="n00")[2:13]]

    best = ["n11", "n12", "n13", "n09", "n10", "n08", "n06", "n07", "n05", "n04"]

    assert [*best, "n00"] == shown
    assert "  and 3 more nodes" in lines(found, own="n00")
    assert "  and 4 more nodes" in lines(found)


def test_soft_constraints_that_do_not_tell_the_nodes_apart() -> None:
    found = table([node("a1", "a"), node("b1", "b", cpu="8")], pod("web-1", topologySpreadConstraints=[soft()]))

    assert "The ScheduleAnyway constraint gives all these nodes the same score." in lines(found)


def test_a_soft_constraint_that_another_plugin_balances_is_named() -> None:
    """The totals tie: the pod may go to the full zone, and why is said as if the constraint had lost."""
    preferred = [{"weight": 1, "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    running = [pod("web-1", "a1"), pod("db-1", "b1")]
    found = table(
        [node("a1", "a"), node("b1", "b"), *running],
        pod("web-2", affinity=affinity, topologySpreadConstraints=[soft()]),
    )

    assert found.soft is not None
    assert (set(found.hosts), found.soft.favourite, found.soft.is_tied) == ({"a1", "b1"}, "b1", True)
    assert [share.plugin for share in found.soft.outvoted_by] == ["NodeAffinity"]
    assert (
        "The ScheduleAnyway constraint prefers b1 by 200 points, and does not decide: NodeAffinity, 200 to 0 "
        "(a1 matches preferred node affinity with weight 1; b1 matches none)."
    ) in lines(found)
