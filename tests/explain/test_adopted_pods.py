"""`check` counts pods that a new Deployment adopts as its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

CASES = Path(__file__).parents[1] / "cases" / "engine"


def test_adopted_pods_are_replicas_that_run_already(capsys: pytest.CaptureFixture[str]) -> None:
    """`check` placed 5 more pods, although the controller creates 2."""
    run(
        [
            "check",
            str(CASES / "orphaned-deployment.yaml"),
            "--snapshot",
            str(CASES / "orphaned-replicaset.yaml"),
            "--namespace",
            "shop",
        ]
    )
    out = capsys.readouterr().out

    assert "Deployment shop/web: 5 of 5 replicas placed, 3 of them already running" in out
    assert "counted by the constraint" not in out
