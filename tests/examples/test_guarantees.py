"""The policies of examples/guarantee, on the Redis clusters of examples/simulations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

EXAMPLES = Path(__file__).parents[2] / "examples"
EARLY = ("--regime", "creation", "--regime", "restarts", "--regime", "rollouts")
KEPT = {"maxShare", "separate"}


def refuted(policy: str, manifest: str, topology: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Return the kinds of the refuted rules, before disruptions; nothing may be undecided."""
    words = ["--policy", str(EXAMPLES / "guarantee" / f"{policy}.yaml"), "--topology", topology, *EARLY, "-o", "json"]
    run(["guarantee", "-f", str(EXAMPLES / "simulations/redis/manifests" / f"{manifest}.yaml"), *words])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    verdicts = [rule for regime in group["regimes"] for rule in regime["rules"]]
    assert "undecided" not in {item["verdict"] for item in verdicts}
    return {item["rule"]["kind"] for item in verdicts if item["verdict"] == "refuted"}


@pytest.mark.parametrize("shards", [3, 5, 6])
def test_one_zone_keeps_its_policy(shards: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Creation, rebuilding and vertical upgrades, with enough nodes."""
    assert refuted("redis-1-zone", f"1-zone-{shards}-shards", "zones=1,nodes=12", capsys) == set()


@pytest.mark.parametrize("shards", [3, 5])
def test_two_zones_hold_half_of_the_pods_each(shards: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The zones are even, whatever happens; no shard has both pods in one zone."""
    assert refuted("redis-2-zones", f"2-zones-{shards}-shards", "zones=2,nodes=6", capsys) == set()


def test_three_shards_in_three_zones_can_wait_for_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    """The shares are kept by the formulas N/3 - 1 and N/2 - 1, and the last pod can find no node."""
    assert refuted("redis-3-zones", "3-zones-3-shards", "zones=3,nodes=2", capsys) == {"placed"}


def test_relaxed_rules_end_the_deadlock_of_three_shards(capsys: pytest.CaptureFixture[str]) -> None:
    """With at most a third and at most half, every order ends well."""
    assert refuted("redis-3-zones-relaxed", "3-zones-3-shards-relaxed", "zones=3,nodes=2", capsys) == set()


@pytest.mark.parametrize("shards", [5, 6])
def test_formulas_do_not_hold_once_no_domain_is_empty(shards: int, capsys: pytest.CaptureFixture[str]) -> None:
    """With maxSkew N/2 - 1 a zone can come to hold half of the pods, as the global minimum rises."""
    assert "maxShare" in refuted("redis-3-zones", f"3-zones-{shards}-shards", "zones=3,nodes=4", capsys)
