"""The page of `rebalance -o html`."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.pages.parsing import assert_is_closed_off, Page
from tests.rebalance.builders import nodes, workload

EXAMPLES = Path(__file__).parents[2] / "examples" / "rebalance"
HOSTILE = '<script>alert("x")</script>&<b>'


def page(capsys: pytest.CaptureFixture[str], *args: str, code: int) -> str:
    assert code == run(["rebalance", "-A", "-o", "html", *args])
    return capsys.readouterr().out


def example(name: str) -> list[str]:
    return ["--snapshot", str(EXAMPLES / f"{name}.yaml")]


def test_a_plan_has_its_steps_its_counts_and_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """What is deleted comes first; the evicted pods have a look of their own on the map."""
    found = assert_is_closed_off(page(capsys, *example("zone-came-back"), code=0)).words

    assert "Deployment shop/web 2 evictions repair it This plan deletes 2 running pods, one after the other." in found
    assert "1 web-5f8c-1 a1 c1 or c2 2 web-5f8c-5 b2 c1 or c2" in found
    assert "stays is evicted a 3 pods, 2 nodes" in found
    assert "topology.kubernetes.io/zone, maxSkew 1: before violated Skew 3." in found
    assert "topology.kubernetes.io/zone, maxSkew 1: after ok Skew 0." in found
    assert "No shorter list of evictions is enough. At least 5 of 6 pods stay ready on the way." in found
    assert "kubectl rollout status deployment/web -n shop --timeout=10m &&" in found
    assert "If a command fails, the rest do not run." in found


def test_a_restart_says_why_nothing_is_evicted(capsys: pytest.CaptureFixture[str]) -> None:
    found = Page(page(capsys, *example("budget-allows-none"), code=0)).words

    assert "This plan replaces all 3 running pods. Nothing was replaced yet." in found
    assert "Why not evict: the eviction of web-5f8c-1 or web-5f8c-3 would be refused" in found
    assert "kubectl rollout restart deployment/web -n shop &&" in found


def test_without_a_plan_there_are_reasons_and_remedies_and_no_commands(capsys: pytest.CaptureFixture[str]) -> None:
    found = Page(page(capsys, *example("cordoned-zone"), code=1)).words

    assert "no plan" in found
    assert "Why there is no plan the pod that replaces" in found
    assert "What would help uncordon b1 ( kubectl uncordon b1 ); then 1 eviction would be enough" in found
    assert "after ok" not in found
    assert "Commands" not in found


def test_nothing_to_do_is_a_page_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "there is nothing to rebalance" in Page(snapshot(capsys, tmp_path, workload("a1 b1"), code=0)).words


def test_counts_that_depend_on_the_scheduler_are_ranges(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Zones b and c are alike: one of them gets the fourth pod."""
    found = Page(snapshot(capsys, tmp_path, workload("a1 a1 a2 a2 b1 b1"), code=0)).words

    assert "Skew 1. Depending on the nodes that the scheduler chooses:" in found or "after ok Skew" in found


def test_names_are_only_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pods = workload("a1 a1 b1")
    pods[2] = copy.deepcopy(pods[2])
    pods[2]["metadata"]["name"] = HOSTILE
    text = snapshot(capsys, tmp_path, pods, code=0)

    assert_is_closed_off(text)
    assert HOSTILE not in text


def snapshot(capsys: pytest.CaptureFixture[str], folder: Path, pods: list[Any], *, code: int) -> str:
    """Return the page of a small cluster."""
    path = folder / "facts.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes("a1", "a2", "b1", "c1"), *pods]}))
    return page(capsys, "--snapshot", str(path), code=code)
