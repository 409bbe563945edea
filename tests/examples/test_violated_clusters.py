"""The clusters of examples/rebalance: the plan that ends, and a descheduler that does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.advice.rebalance.planner import RepairRequest
from kubectl_spread.advice.rebalance.repair import rebalance
from kubectl_spread.cli.main import run
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from kubectl_spread.sources import snapshot
from tests.rebalance import descheduler, executing

Plain = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "examples" / "rebalance"
WEB = ObjectKey("Deployment", "shop", "web")
CACHE = ObjectKey("Deployment", "shop", "cache")

# File, --soft, verdict, evictions, reasons, and the first change that would help.
EXPECTED: tuple[tuple[str, bool, str, int, list[str], str], ...] = (
    ("budget-allows-none", False, "restart", 0, ["refused"], ""),
    ("cordoned-zone", False, "noPlan", 0, ["pending"], "uncordon"),
    ("preferred-node-wins", True, "noPlan", 0, ["returns"], "addNodes"),
    ("tainted-node-counts", False, "noPlan", 0, ["pending"], "addNodes"),
    ("two-constraints-at-once", False, "evict", 2, [], ""),
    ("volumes-pin-pods", False, "noPlan", 0, ["pinned", "pending"], "maxSkew"),
    ("zone-came-back", False, "evict", 2, [], ""),
    ("zones-of-different-sizes", True, "noPlan", 0, ["conflict"], "addNodes"),
)


def path(name: str) -> str:
    return str(FOLDER / f"{name}.yaml")


def cluster(name: str) -> Cluster:
    return snapshot.load(path(name)).cluster


def test_every_example_is_expected() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.yaml")) == sorted(name for name, *_ in EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "soft", "verdict", "evictions", "obstacles", "remedy"), EXPECTED)
def test_an_example_turns_out_as_expected(
    name: str,
    soft: bool,
    verdict: str,
    evictions: int,
    obstacles: list[str],
    remedy: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The verdict, the number of evictions, the reasons and the first remedy; the exit code follows the verdict."""
    code = run(["rebalance", "-A", "--snapshot", path(name), "-o", "json", *(["--soft"] if soft else [])])
    document: Plain = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("rebalance-plan"))
    (repair,) = document["repairs"]

    assert repair["verdict"] == verdict
    assert len((repair["plan"] or {"evictions": []})["evictions"]) == evictions
    assert [item["reason"] for item in repair["obstacles"]] == obstacles
    assert next((item["change"] for item in repair["remedies"]), "") == remedy
    assert code == (verdict == "noPlan")


@pytest.mark.parametrize("name", ["two-constraints-at-once", "zone-came-back"])
def test_a_plan_of_an_example_ends_well(name: str) -> None:
    """Executed eviction by eviction, no outcome violates a constraint."""
    start = cluster(name)
    (repair,) = rebalance(start, profiles()).repairs
    assert repair.plan is not None

    outcomes = list(executing.by_engine(start, [item.pod for item in repair.plan.evictions]))
    assert not any(executing.is_violated(item.cluster(), WEB) for item in outcomes)


@pytest.mark.parametrize(("name", "key"), [("zones-of-different-sizes", WEB), ("preferred-node-wins", CACHE)])
def test_a_descheduler_evicts_forever_where_rebalance_says_that_there_is_no_plan(name: str, key: ObjectKey) -> None:
    """It evicts in every round, and the constraints are as violated as before."""
    start = cluster(name)
    rounds = descheduler.rounds(start, key, most=6)
    (repair,) = rebalance(start, profiles(), RepairRequest(has_soft=True)).repairs

    assert [bool(item.evicted) for item in rounds] == [True] * 6
    assert all(executing.is_violated(item.after, key, has_soft=True) for item in rounds)
    assert repair.plan is None


def test_with_the_nodes_that_it_asks_for_the_plan_ends() -> None:
    """One more node in each of the two small zones."""
    start = cluster("zones-of-different-sizes")
    new = tuple(
        node._replace(name=f"{node.name}-new", labels={**node.labels, "kubernetes.io/hostname": f"{node.name}-new"})
        for node in start.nodes
        if node.name in ("b1", "c1")
    )
    grown = start._replace(nodes=(*start.nodes, *new))
    (repair,) = rebalance(grown, profiles(), RepairRequest(has_soft=True)).repairs
    assert repair.plan is not None

    outcomes = list(executing.by_engine(grown, [item.pod for item in repair.plan.evictions]))
    assert len(repair.plan.evictions) == 2
    assert not any(executing.is_violated(item.cluster(), WEB, has_soft=True) for item in outcomes)
