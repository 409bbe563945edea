"""Hints that name a change: it was simulated, and helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from tests.cli.running_objects import constraint, deployment, node


def checked(tmp_path: Path, capsys: pytest.CaptureFixture[str], pods: int, last: str, **settings: object) -> str:
    """Check a Deployment on zones a and b with a node each, and a cordoned node in zone c with so much cpu."""
    made = deployment(constraint(**settings), replicas=pods)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "1"}}
    nodes = [node("a1", "a"), node("b1", "b"), node("c1", "c", unschedulable=True)]
    for item, cpu in zip(nodes, ("8", "8", last), strict=True):
        item["status"]["allocatable"]["cpu"] = cpu
    facts, manifest = tmp_path / "facts.json", tmp_path / "web.json"
    facts.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    manifest.write_text(json.dumps({"apiVersion": "apps/v1", **made}))
    run(["check", str(manifest), "--snapshot", str(facts), "-n", "shop"])
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("cpu", "helps"), [("8", True), ("500m", False), ("1", False)])
def test_uncordon_is_named_if_it_is_enough(
    cpu: str, helps: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A node that is too small, or has room for one of two missing pods only, does not help when it is back."""
    out = checked(tmp_path, capsys, 6, cpu, nodeTaintsPolicy="Honor")
    assert "no node in it can run this pod (cordoned)" in out
    assert ("hint: uncordon a node there, or use ScheduleAnyway" in out) is helps
    assert ("hint: make room there, or use ScheduleAnyway" in out) is not helps


def test_a_lower_min_domains_is_one_that_the_cluster_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """4 would be enough for the number of pods, but there are 3 zones."""
    out = checked(tmp_path, capsys, 3, "8", minDomains=9)
    assert "hint: write 3 or less, so that zones are compared with each other" in out
