"""The pages of `simulate -o html`: outcomes side by side, and one run event by event."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.report.pages import simulation
from tests.cli.running_objects import constraint, deployment, node
from tests.pages.parsing import assert_is_closed_off, Page

SIMULATIONS = Path(__file__).parents[2] / "examples" / "simulations"
WEB = ["-f", str(SIMULATIONS / "manifests" / "web.yaml"), "--topology", "zones=3,nodes=1"]
STUCK = ["-f", str(SIMULATIONS / "manifests" / "web-anti-affinity.yaml"), "--topology", "zones=3,nodes=1"]
HOSTILE = '<script>alert("x")</script>&<b>\x1b[31m'


def page(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    assert code == run(["simulate", "-o", "html", *args])
    return capsys.readouterr().out


def test_the_outcomes_are_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    found = assert_is_closed_off(page(capsys, *WEB, "rollout", "restart", "deploy/web"), has_script=True).words

    assert "rollout restart deploy/web: completes" in found
    assert "There are 2 different outcomes, all of them found" in found
    assert "Before a 1 pod, 1 node node-a1 1 1 earlier revision, ready" in found
    assert "Outcome 1 completes a 1 pod, 1 node" in found
    assert "Outcome 2 completes a 0 pods, 1 node node-a1 no pods" in found
    assert "maxSkew 1 skew 2 a 0 matching pods minimum" in found
    assert "2 matching pods 1 over the limit" in found


def test_without_the_script_all_moments_of_a_run_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    """The slider itself is hidden until the script shows it."""
    text = page(capsys, *WEB, "rollout", "restart", "deploy/web")
    sentences = re.findall(r'<div class="what"><p>(.*?)</p>', text)

    assert sentences[0] == "Before rollout restart deploy/web"
    assert sentences[1] == "rollout restart deploy/web is accepted."
    assert len(sentences) > 8
    assert '<div class="slider" hidden>' in text
    assert f'max="{len(sentences) - 1}" aria-label="Event"' in text
    assert " hidden" not in text.replace('<div class="slider" hidden>', "").split("<main>")[1].split("<script>")[0]


def test_a_run_that_gets_stuck_ends_with_the_pending_pod(capsys: pytest.CaptureFixture[str]) -> None:
    found = Page(page(capsys, *STUCK, "rollout", "restart", "deploy/web", code=1)).words

    assert "The shortest way to get stuck, event by event" in found
    assert found.count("Pending no node 2 1 new revision, Pending") == 2  # the outcome, and the last moment
    assert "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules." in found


def test_the_reason_and_a_change_that_helps_are_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """The title counts the verdicts of the steps."""
    steps = ("rollout", "restart", "deploy/web", "--then", "uncordon node-a1")
    found = Page(page(capsys, *STUCK, *steps, code=1)).words

    assert "2 steps: 1 gets stuck, 1 completes" in found
    assert "every node is refused by pod anti-affinity on kubernetes.io/hostname" in found
    assert "Do: set maxSurge: 0 and maxUnavailable: 1" in found


def test_nodes_that_change_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    args = [*WEB, "drain", "node-a1", "--then", "lose topology.kubernetes.io/zone=b"]
    text = page(capsys, *args, code=1)
    found = Page(text).words

    assert "node-a1 cordoned" in found
    assert "node-b1 does not answer" in found
    assert " changed" in text
    assert "Step 2: lose topology.kubernetes.io/zone=b" in found


def test_several_workloads_have_letters(capsys: pytest.CaptureFixture[str]) -> None:
    args = ["-f", str(SIMULATIONS / "manifests" / "etcd.yaml"), *WEB, "drain", "node-a1", "--ignore-daemonsets"]
    run(["simulate", "-o", "html", *args])
    found = Page(capsys.readouterr().out).words

    assert "A web, ready" in found
    assert "B etcd, Pending" in found


def test_a_long_run_has_few_moments_and_a_small_page(capsys: pytest.CaptureFixture[str]) -> None:
    args = [*WEB, "--effort", "quick", "scale", "deploy/web", "--replicas=200"]
    text = page(capsys, *args)

    assert text.count('<li class="frame">') <= 121
    assert len(text) < 1_000_000
    assert "more events." in text


def test_nothing_in_a_manifest_becomes_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = deployment(constraint(topologyKey=HOSTILE))
    written["metadata"]["name"] = HOSTILE
    hostile = node(HOSTILE, HOSTILE, taints=[{"key": HOSTILE, "effect": "NoSchedule"}])
    hostile["metadata"]["labels"][HOSTILE] = HOSTILE
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"kind": "List", "items": [hostile, node("b1", "b")]}))
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(written))
    run(["simulate", "-o", "html", "-f", str(manifest), "--snapshot", str(facts), "cordon", "b1"])
    text = capsys.readouterr().out

    assert_is_closed_off(text, has_script=True)
    assert "\x1b" not in text
    assert "&lt;script&gt;" in text


def test_scenarios_have_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    found = assert_is_closed_off(
        page(capsys, "run", str(SIMULATIONS / "rollout-ends-uneven.yaml")), has_script=True
    ).words

    assert "1 scenario: 1 passed" in found
    assert "a rolling update can leave a zone empty ok" in found
    assert "Outcome 2 completes" in found


def test_a_table_of_replicas_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    args = [*WEB, "rollout", "restart", "deploy/web", "--replicas", "1..3"]
    found = assert_is_closed_off(page(capsys, *args)).words

    assert "Deployment default/web with each number of replicas, after rollout restart deploy/web" in found
    assert "replicas verdict ready fewest ready Pending zone skew outcomes 1 completes" in found


def test_the_page_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["simulate", "-o", f"html={tmp_path / 'page.html'}", *WEB, "rollout", "restart", "deploy/web"])

    assert (0, "") == (code, capsys.readouterr().out)
    assert_is_closed_off((tmp_path / "page.html").read_text(), has_script=True)


@pytest.mark.slow
def test_a_page_that_would_be_too_large_has_fewer_pictures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At last it has none, and says so; the words stay."""
    args = [*WEB, "--effort", "quick", "scale", "deploy/web", "--replicas=200"]
    whole = page(capsys, *args)
    monkeypatch.setattr(simulation, "_MOST_BYTES", len(whole) - 1)
    fewer = page(capsys, *args)
    monkeypatch.setattr(simulation, "_MOST_BYTES", 0)
    none = assert_is_closed_off(page(capsys, *args), has_script=True)

    assert 0 < fewer.count('class="frame"') < whole.count('class="frame"')
    assert "200 of 200 pods ready" in none.words
    assert "Pictures are left out, because the page would be too large." in none.words
    assert not [attrs for _, attrs in none.tags if "node" in str(attrs.get("class")).split()]
