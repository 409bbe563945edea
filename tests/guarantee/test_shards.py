"""Groups that grow and shrink by whole workloads: the shards of a Redis cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.guarantee.cases import ZONE
from tests.guarantee.test_gaps import by_zone, pods_of

Plain = dict[str, Any]
EXAMPLES = Path(__file__).parents[2] / "examples"
REDIS = EXAMPLES / "simulations/redis/manifests"
STRICT = EXAMPLES / "guarantee/redis-3-zones.yaml"


def judged(capsys: pytest.CaptureFixture[str], *words: str) -> Plain:
    run(["guarantee", *words, "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    found: Plain = group
    return found


def shard(number: int, *, kind: str = "StatefulSet") -> Plain:
    """Return a shard of two pods; constraints count the pods of all shards."""
    found = pods_of(f"redis-{number}", kind, replicas=2, **by_zone({"matchLabels": {"group": "all"}}))
    if kind == "Deployment":
        found["spec"]["strategy"] = {"type": "Recreate"}
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": f"redis-{number}"}}}
    found["spec"]["template"]["spec"]["affinity"] = {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    }
    return found


@pytest.mark.parametrize(
    ("shards", "numbers"),
    [("3..6", [(6, 1, 2), (8, 2, 3), (10, 3, 4), (12, 3, 5)]), ("10..10", [(20, 6, 9)])],
)
def test_the_largest_max_skew_follows_the_number_of_shards(
    shards: str, numbers: list[tuple[int, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A third of the pods on a node and half of them in a zone, one less where it divides; no search finds that."""
    words = ("-f", str(REDIS / "3-zones-3-shards.yaml"), "--policy", str(STRICT), "--topology", "zones=3,nodes=4")
    found = judged(capsys, *words, "--shards", shards, "--regime", "creation", "--recommend", "--effort", "quick")
    rows = [(item["pods"], *[limit["most"] for limit in item["limits"]]) for item in found["recommendation"]["shards"]]

    assert rows == numbers


def test_three_shards_wait_for_each_other_and_relaxed_rules_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    """With six nodes, `less than` needs maxSkew 1 for nodes; `at most` allows 2, and the 2 of zones stays."""
    words = ("-f", str(REDIS / "3-zones-3-shards.yaml"), "--policy", str(STRICT), "--topology", "zones=3,nodes=2")
    found = judged(capsys, *words, "--shards", "3..3", "--regime", "creation", "--recommend")
    (three,) = found["recommendation"]["shards"]
    best = three["recommendation"]["options"][0]["constraints"]

    assert three["recommendation"]["relaxed"]
    assert {item["verdict"]["rule"]["kind"] for item in three["recommendation"]["attempts"]} >= {"placed"}
    assert [item["maxSkew"] for item in best] == [2, 2]


def test_a_new_shard_can_take_the_place_that_another_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """While one pod of the three shards waits, the fourth shard fills its zones."""
    words = ("-f", str(REDIS / "3-zones-3-shards.yaml"), "--policy", str(STRICT), "--topology", "zones=3,nodes=4")
    creation = judged(capsys, *words, "--regime", "creation")["regimes"][0]["rules"][-1]
    group = judged(capsys, *words, "--shards", "3..5", "--regime", "scaling")
    scaling, notes = group["regimes"][0]["rules"][-1], group["notes"]

    assert (creation["verdict"], scaling["verdict"]) == ("proved", "refuted")
    assert "StatefulSet redis-3 is created." in scaling["witness"]["text"]
    assert notes[-1] == (
        "other constraints for other numbers of shards: StatefulSet redis-0, StatefulSet redis-1, StatefulSet redis-2 "
        "and new shards keep those of the manifests"
    )
    assert scaling["witness"]["text"][-1] == "1 pod of redis-0 finds no node, and stays Pending."


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_the_last_pods_after_a_scale_in_are_uneven(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shards are deleted as a whole, whichever of them, and nothing moves the others."""
    items = [shard(number, kind=kind) for number in range(2)]
    (tmp_path / "redis.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    words = ("-f", str(tmp_path / "redis.json"), "--topology", "zones=3,nodes=1", "--min-domains", "zone=3")
    found = judged(capsys, *words, "--shards", "2..3", "--regime", "creation", "--regime", "scaling")
    rules = [regime["rules"][0] for regime in found["regimes"]]

    assert [item["verdict"] for item in rules] == ["proved", "refuted"]
    assert [item["object"]["kind"] for item in rules[1]["witness"]["events"] if item["kind"] == "deleted"] == [kind]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--shards", "0..3"), "0..3 has no workload: write 1..3"),
        (("--shards", "5..3"), "5 is greater than 3: write 3..5"),
        (("--shards", "3..1000"), "3..1000: the largest number of shards is 100"),
        (("--shards", "3..5", "--replicas", "1..2"), "--replicas and --shards exclude each other"),
    ],
)
def test_wrong_ranges_are_refused(words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what to write."""
    facts = ("-f", str(REDIS / "3-zones-3-shards.yaml"), "--topology", "zones=3,nodes=2", "--at-most", "zone=1/2")

    assert run(["guarantee", *facts, *words]) == 2
    assert message in capsys.readouterr().err


def test_numbers_of_shards_have_a_table_even_if_nothing_keeps_the_policy_now(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("-f", str(REDIS / "1-zone-3-shards.yaml"), "--less-than", "node=1/3", "--topology", "zones=1,nodes=2")
    run(["guarantee", *words, "--recommend", "--shards", "2..3", "--effort", "quick", "--regime", "creation"])
    out = capsys.readouterr().out

    assert "  3        6      1                                       none proved\n" in out
    assert "so 6 nodes are needed; there are 2." in out
