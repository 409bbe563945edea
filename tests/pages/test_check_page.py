"""The page of `check -o html`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set, ZONE, ZONES
from tests.pages.parsing import assert_is_closed_off, Page

Plain = dict[str, Any]

EXAMPLES = Path(__file__).parents[2] / "examples"
WEB = str(EXAMPLES / "shop" / "web.yaml")
SHOP = str(EXAMPLES / "shop" / "cluster.yaml")
HOSTILE = '<script>alert("x")</script>&<b>\x1b[31m'


def page(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    run(["check", "-o", "html", *args])
    return capsys.readouterr().out


def test_findings_have_their_line_with_the_place_marked(capsys: pytest.CaptureFixture[str]) -> None:
    text = page(capsys, WEB)
    found = assert_is_closed_off(text).words

    assert "1 workload checked: 2 findings" in found
    assert "warning SPR401 missing-revision-key during a rolling update the old pods are counted too" in found
    assert "21</span>  - <mark>maxSkew</mark>: 1</pre>" in text


def test_code_in_a_message_is_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert "zone <code>c</code> counts towards the skew" in page(capsys, WEB, "--snapshot", SHOP)


def test_placed_and_running_pods_are_drawn_and_pending_ones_are_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """The Pending pods of the snapshot are placed again under the names of the prediction."""
    found = assert_is_closed_off(page(capsys, WEB, "--snapshot", SHOP)).words

    assert "2 of 4 replicas placed, 2 of them already running, 2 Pending" in found
    assert "a 1 pod, 2 nodes a-1 1 running a-2 no pods" in found
    assert "Pending no node 2 Pending web-3 , web-4" in found
    assert "Skew 1: the fullest domain has 1, the global minimum is 0. At most 1 is allowed." in found


def test_pods_that_the_check_places_have_a_look_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    found = Page(page(capsys, WEB, "--topology", "zones=3,nodes=2")).words

    assert "4 of 4 replicas placed" in found
    assert "1 placed by this check" in found


def test_copies_of_a_workload_are_drawn_each_in_its_own_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("dev", "prod"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "web.json").write_text(json.dumps(deployment(constraint(), replicas=3)))
    text = page(capsys, "-R", str(tmp_path), "--topology", "zones=3,nodes=1")

    assert Page(text).words.count("Skew 0: the fullest domain has 1, the global minimum is 1.") == 2


def test_running_workloads_are_drawn_as_they_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = tmp_path / "facts.json"
    nodes = [node(name, zone) for name, zone in ZONES.items()]
    objects = [*nodes, deployment(constraint()), replica_set(), *(pod(f"w-{at}", "a1") for at in range(3))]
    facts.write_text(json.dumps({"kind": "List", "items": objects}))
    found = assert_is_closed_off(page(capsys, "-A", "--snapshot", str(facts))).words

    assert "deployment/web in shop violated 3 of 3 pods on a node" in found
    assert "a1 3 running" in found


def test_nothing_in_a_manifest_becomes_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither names nor the source line of a finding, nor its message."""
    written = deployment(constraint(topologyKey=HOSTILE), constraint(max_skew=1))
    written["metadata"]["name"] = HOSTILE
    written["spec"]["template"]["metadata"]["labels"]["`</code><script>`"] = HOSTILE
    (tmp_path / "web.json").write_text(json.dumps(written, ensure_ascii=False).replace("\x1b", "\\u001b"))
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"kind": "List", "items": [node(HOSTILE, HOSTILE), node("b", "b")]}))
    for more in ([], ["--snapshot", str(facts)]):
        text = page(capsys, str(tmp_path / "web.json"), *more)

        assert_is_closed_off(text)
        assert "\x1b" not in text
        assert "&lt;script&gt;" in text


def test_an_input_that_cannot_be_read_is_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = assert_is_closed_off(page(capsys, WEB, str(tmp_path / "missing.yaml"))).words

    assert f"not read: {tmp_path / 'missing.yaml'}" in found


def test_the_page_can_be_one_of_several_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["check", WEB, "-o", f"html={tmp_path / 'page.html'}", "-o", "concise"])

    assert code == 0
    assert capsys.readouterr().out.startswith(f"{WEB}:21:9: info SPR301")
    assert_is_closed_off((tmp_path / "page.html").read_text())


def test_nodes_of_a_custom_key_are_drawn_in_its_domains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    racked = [node("n1", "a"), node("n2", "a"), node("n3", "b")]
    for number, item in enumerate(racked[:2]):
        item["metadata"]["labels"]["rack"] = f"r{number}"
    assert ZONE in racked[0]["metadata"]["labels"]
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps({"kind": "List", "items": racked}))
    (tmp_path / "web.json").write_text(json.dumps(deployment(constraint(topologyKey="rack"))))
    found = Page(page(capsys, str(tmp_path / "web.json"), "--snapshot", str(facts))).words

    assert "r0" in found
    assert "nodes without rack" in found
