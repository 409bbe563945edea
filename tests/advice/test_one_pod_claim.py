"""A claim that one pod may use, of a Deployment with two replicas: one replica, or a claim of its own for each pod."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

CASES = Path(__file__).parents[1] / "cases" / "engine"


def test_one_replica_is_suggested_and_never_none(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(CASES / "read-write-once-pod-app.yaml"), "--snapshot", str(CASES / "read-write-once-pod.yaml")]
    code = run(["explain", "-f", *files, "--details"])
    told = capsys.readouterr().out
    suggestions = told[told.index("Suggestions, each simulated:") :]

    assert code == 1
    assert told.startswith("Deployment shop/web: 1 of 2 replicas placed, 1 Pending.\n")
    assert "every node is refused by claim one, which one pod at a time may use" in " ".join(told.split())
    assert "--replicas=0" not in suggestions
    assert "1. Run one replica: one pod at a time may use claim one" in " ".join(suggestions.split())
    assert "give each pod a claim of its own (claim templates of a StatefulSet)" in " ".join(suggestions.split())
