"""Inputs on which `guarantee` was wrong: first sentences and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.pages.parsing import Page

Plain = dict[str, Any]
CASES = Path(__file__).parents[1] / "cases/policy"
WEB = ("-f", str(CASES / "web.yaml"), "--topology", "zones=3,nodes=2", "--at-most", "zone=1/2")


def web() -> Plain:
    found: Plain = YAML(typ="safe").load((CASES / "web.yaml").read_text())
    return found


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], list[str]]:
    code = run(["guarantee", *words])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err.splitlines()


@pytest.mark.parametrize("words", [(), ("--shards", "3..5")])
def test_a_way_to_a_crowded_zone_ends_with_the_pods_that_it_placed(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The rollout's old pods are deleted, not created again, and the violation stays."""
    code, out, _ = said(capsys, *WEB, *words, "--details")
    text = " ".join(out)

    assert (code, out[0]) == (1, "Policy of the command line: refuted: at most 1/2 of the pods in one zone")
    assert "zone c holds 3 of 4 pods; 2 allowed" in text
    assert "created again" not in text
    assert "2 old pods of web are deleted: on node-a1, node-a2." in text


def test_a_deleted_old_pod_is_not_created_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Its ReplicaSet keeps no pods; a pod that somebody deletes before it does is one too many."""
    facts = ("-f", str(CASES / "recommended.yaml"), "--topology", "zones=3,nodes=2", "--at-most", "zone=1/2")
    code, out, _ = said(capsys, *facts)

    assert (code, out[0]) == (1, "Policy of the command line: refuted: at most 1/2 of the pods in one zone")
    assert "    6. The rollout of web replaces all old pods." in out
    assert "    8. A pod of web on node-a1 is deleted." in out


def test_a_violation_while_pods_move_is_not_one_that_stays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Each revision is spread for itself: a zone holds 2 of 4 pods after a rollout, and 4 of 6 during it."""
    code, out, _ = said(capsys, *by_revision(tmp_path), "--details")

    assert (code, out[0]) == (
        1,
        "Policy of the command line: proved once settled, refuted while pods move: at most 3 pods in one zone",
    )
    assert [" ".join(line.split()) for line in out[5:7]] == [
        "at most 3 pods in one zone, once settled proved",
        "while pods move refuted",
    ]
    assert any(line.startswith("  once settled, rollouts: proved: a zone holds at most 2 pods: ") for line in out)
    assert "  while pods move, rollouts: refuted: zone b holds 4 of 6 pods; 3 allowed" in out


def by_revision(folder: Path) -> tuple[str, ...]:
    """Return the arguments of a rule that is violated only while a rollout goes on."""
    plain = web()
    plain["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["matchLabelKeys"] = ["pod-template-hash"]
    (folder / "web.json").write_text(json.dumps(plain))
    facts = ("-f", str(folder / "web.json"), "--topology", "zones=2,nodes=2")
    return (*facts, "--max-count", "zone=3", "--regime", "rollouts")


def test_every_format_has_both_answers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The answer once settled comes first, and the way is one of the other answer."""
    words = by_revision(tmp_path)
    report = json.loads("\n".join(said(capsys, *words, "-o", "json")[1]))
    jsonschema.validate(report, schemas.load("guarantee-report"))
    rule = report["groups"][0]["regimes"][0]["rules"][0]
    junit = "\n".join(said(capsys, *words, "-o", "junit")[1])
    page = Page("\n".join(said(capsys, *words, "-o", "html")[1])).words

    assert (report["settledVerdict"], report["verdict"]) == ("proved", "refuted")
    assert (rule["settled"]["verdict"], rule["verdict"]) == ("proved", "refuted")
    assert (rule["settled"]["witness"], rule["witness"]["settled"]) == (None, False)
    assert 'message="proved once settled; while pods move: zone b holds 4 of 6 pods; 3 allowed"' in junit
    assert "Policy of the command line: proved once settled, refuted while pods move" in page
    assert "while pods move, rollouts: refuted" in page


def test_check_says_whether_a_violation_stays(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPR918 names the moment of a violation that ends by itself."""
    by_revision(tmp_path)
    monkeypatch.chdir(tmp_path)
    policy = (
        "{apiVersion: kubectl-spread/v1, kind: Policy, name: ha, regimes: [rollouts], groups: [{maxCount: {zone: 3}}]}"
    )
    (tmp_path / "ha.yaml").write_text(policy)
    (tmp_path / ".kubectl-spread.yaml").write_text("policies: [ha.yaml]\nselect: [SPR918]\n")
    code = run(["check", "web.json", "--topology", "zones=2,nodes=2", "-o", "concise"])
    out = capsys.readouterr().out

    assert code == 1
    assert "`at most 3 pods in one zone` can be violated by a rollout while pods move: zone b holds 4 of 6 pods" in out


def test_a_long_way_is_called_a_coincidence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Thirteen pods go to the same of two equal zones: all but the first had a choice."""
    plain = web()
    plain["spec"]["replicas"] = 14
    del plain["spec"]["template"]["spec"]["topologySpreadConstraints"]
    (tmp_path / "web.json").write_text(json.dumps(plain))
    words = ("-f", str(tmp_path / "web.json"), "--topology", "zones=2,nodes=1", "--regime", "creation")
    code, out, _ = said(capsys, *words, "--max-count", "zone=12")

    assert code == 1
    told = "This is a coincidence of 12 steps: each of them could have gone another way; --details prints it."
    assert f"    {told}" in out


def test_a_recommendation_passes_check(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It was `recommended.yaml`: a hard and a soft constraint of zones, of which kubectl apply loses one (SPR606)."""
    assert "SPR606" in codes(CASES / "recommended.yaml", capsys)
    plain = web()
    del plain["spec"]["template"]["spec"]["topologySpreadConstraints"]
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(plain))
    words = (
        "-f",
        str(manifest),
        "--topology",
        "zones=3,nodes=2",
        "--at-most",
        "zone=1/2",
        "--regime",
        "creation",
        "--regime",
        "restarts",
    )
    run(["guarantee", *words, "--recommend", "-o", "json"])
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    option = group["recommendation"]["options"][0]
    plain["spec"]["template"]["spec"] |= option["patches"][0]["patch"]["spec"]["template"]["spec"]
    manifest.write_text(json.dumps(plain))

    assert codes(manifest, capsys) <= {"SPR401"}


def codes(manifest: Path, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Return the codes that `check` reports, none of which is an error."""
    assert run(["check", str(manifest), "--topology", "zones=3,nodes=2", "--no-config", "-o", "json"]) == 0
    return {item["code"] for item in json.loads(capsys.readouterr().out)["findings"]}


def test_a_regime_that_is_an_object_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The file is validated before it is read."""
    words = ("-f", str(CASES / "web.yaml"), "--topology", "zones=3,nodes=2")
    code, out, err = said(capsys, *words, "--policy", str(CASES / "regimes-of-objects.yaml"))

    assert (code, out) == (2, [])
    assert err[0].startswith(f"error: {CASES / 'regimes-of-objects.yaml'}:3:11: ")
