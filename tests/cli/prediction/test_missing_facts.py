"""An answer that lacks a fact, a reason or a way out names where to get it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

SHOP = Path(__file__).parents[3] / "examples" / "shop"


def _said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run([*arguments])
    return " ".join(capsys.readouterr().out.split())


def test_a_drain_names_the_workload_that_is_not_in_the_facts(
    pods_alone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = _said(capsys, "simulate", "drain", "a-1", "--snapshot", pods_alone)

    assert out.startswith("drain a-1: not known")
    assert (
        "hint: run `kubectl get deployments.apps web -n shop -o yaml > web.yaml`, and add `--snapshot web.yaml`" in out
    )


def test_with_the_workload_no_fact_is_missing(pods_alone: str, capsys: pytest.CaptureFixture[str]) -> None:
    facts = ("--snapshot", pods_alone, "--snapshot", str(SHOP / "web.yaml"))

    assert "but not the object itself" not in _said(capsys, "simulate", "drain", "a-1", *facts)


def test_a_refuted_rule_names_what_explains_it_and_what_would_help(capsys: pytest.CaptureFixture[str]) -> None:
    web, path = str(SHOP / "web.yaml"), str(SHOP / "cluster.yaml")
    out = _said(capsys, "guarantee", "-f", web, "--less-than", "zone=1/2", "--snapshot", path)

    assert "More: --recommend looks for constraints that keep the policy;" in out
    assert f"$ kubectl spread explain -f {web} --snapshot {path} # why pods stay Pending" in out


def test_a_proved_policy_needs_neither(capsys: pytest.CaptureFixture[str]) -> None:
    made = ("--topology", "zones=3,nodes=2", "--at-most", "zone=2/3", "--regime", "creation")
    out = _said(capsys, "guarantee", "-f", str(SHOP / "web-fixed.yaml"), *made)

    assert "--recommend" not in out
    assert "why pods stay Pending" not in out


def test_constraints_that_keep_the_policy_in_the_end_are_not_said_to_keep_it_always(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = ("--topology", "zones=3,nodes=2", "--less-than", "zone=1/2", "--recommend")
    out = _said(capsys, "guarantee", "-f", str(SHOP / "web-fixed.yaml"), *made)

    assert "these constraints keep the policy once nothing moves, and leave no pod Pending:" in out
    assert "not guaranteed while pods move" in out
