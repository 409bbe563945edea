"""The page of `guarantee -o html`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node
from tests.pages.parsing import assert_is_closed_off, Page

MANIFESTS = Path(__file__).parents[2] / "examples" / "simulations" / "manifests"
WEB = ["-f", str(MANIFESTS / "web.yaml"), "--topology", "zones=3,nodes=2"]
HOSTILE = '<script>alert("x")</script>&<b>\x1b[31m'


def page(capsys: pytest.CaptureFixture[str], *args: str, code: int) -> str:
    assert code == run(["guarantee", "-o", "html", *args])
    return capsys.readouterr().out


def test_the_verdict_on_each_rule_and_regime_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    found = assert_is_closed_off(page(capsys, *WEB, "--less-than", "zone=1/2", code=1), has_script=True).words

    assert "Policy of the command line: refuted" in found
    assert "less than 1/2 of the pods in one zone proved proved refuted not judged refuted" in found
    assert "creation, restarts: proved: a zone holds at most 1 pod: maxSkew 1 over 3 zones" in found


def test_the_violation_is_drawn_with_the_limit_of_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    """The zone that holds too many pods has as many dots as the violation says."""
    text = page(capsys, *WEB, "--less-than", "zone=1/2", code=1)
    found = Page(text).words
    numbers = re.search(r"Violation: zone (\w+) holds (\d+) of (\d+) pods; 1 allowed", found)

    assert numbers is not None
    zone, held, total = numbers.groups()
    end = found.split("At the end ")[1].split("Pods by zone")[0]
    counts = dict(re.findall(r"\b([abc]) (\d+) pods?, 2 nodes", end))
    assert counts[zone] == held
    assert sum(map(int, counts.values())) == int(total)
    assert f"{held} matching pods {int(held) - 1} over the limit" in found
    assert "limit 1: most that the rule allows" in found


def test_the_way_to_a_violation_has_a_moment_for_each_event(capsys: pytest.CaptureFixture[str]) -> None:
    text = page(capsys, *WEB, "--less-than", "zone=1/2", code=1)
    sentences = re.findall(r'<div class="what"><p>(.*?)</p>', text)

    assert sentences[0] == "At the start: no pods"
    assert [line for line in sentences if line.startswith("A pod of web goes to node-")]
    assert "A rollout of web begins." in sentences
    assert len(sentences) == text.count('<li class="frame">')


def test_a_policy_that_holds_has_no_way_and_names_its_proofs(capsys: pytest.CaptureFixture[str]) -> None:
    text = page(capsys, *WEB, "--max-count", "zone=4", "--regime", "creation", code=0)

    assert "Policy of the command line: proved" in Page(text).words
    assert '<li class="frame">' not in text


def test_pods_that_stay_pending_are_apart_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    args = ["-f", str(MANIFESTS / "web-anti-affinity.yaml"), "--topology", "zones=3,nodes=1", "--max-count", "zone=9"]
    found = Page(page(capsys, *args, code=1)).words

    assert "every pod finds a node" in found
    assert re.search(r"Pending no node \d Pending", found)


def test_nothing_in_a_manifest_becomes_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = deployment(constraint())
    written["metadata"]["name"] = HOSTILE
    hostile = node(HOSTILE, HOSTILE, taints=[{"key": HOSTILE, "effect": "PreferNoSchedule"}])
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"kind": "List", "items": [hostile, node("b1", "b")]}))
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(written))
    run(["guarantee", "-o", "html", "-f", str(manifest), "--snapshot", str(facts), "--less-than", "zone=1/9"])
    text = capsys.readouterr().out

    assert_is_closed_off(text, has_script=True)
    assert "\x1b" not in text
    assert "&lt;script&gt;" in text
