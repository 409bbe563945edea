"""What the shell is offered for rules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from kubectl_spread.cli.main import commands

SHOP = Path(__file__).parents[3] / "examples" / "shop"


def offered(*args: str, word: str) -> list[str]:
    complete = ShellComplete(commands, {}, "kubectl-spread", "_KUBECTL_SPREAD_COMPLETE")
    return [item.value for item in complete.get_completions(list(args), word)]


@pytest.mark.parametrize("option", ["--select", "--ignore", "--extend-select"])
def test_codes_and_names_are_offered(option: str) -> None:
    assert ["SPR304"] == offered("check", option, word="spr304")
    assert ["hard-zone-and-hostname"] == offered("check", option, word="hard-zone-and")
    assert ["SPR1,SPR304"] == offered("check", option, word="SPR1,SPR304")


def test_the_rules_of_the_rule_command_are_offered() -> None:
    assert ["hard-zone-and-hostname"] == offered("rule", word="hard-zone-and")


def test_levels_are_offered_behind_a_rule() -> None:
    assert ["SPR304="] == offered("check", "--severity", word="SPR304")
    assert ["SPR304=error"] == offered("check", "--severity", word="SPR304=e")


def test_every_rule_is_offered_where_nothing_is_typed() -> None:
    """With what it finds."""
    complete = ShellComplete(commands, {}, "kubectl-spread", "_KUBECTL_SPREAD_COMPLETE")
    items = complete.get_completions(["check", "--select"], "")

    assert isinstance(commands, click.Group)
    assert "`maxSkew` is missing, zero or negative" in {item.help for item in items}


def test_a_shell_asks_by_the_program_s_own_name() -> None:
    """bash knows `kubectl-spread`; `kubectl spread` are two words."""
    env = {
        **os.environ,
        "_KUBECTL_SPREAD_COMPLETE": "bash_complete",
        "COMP_WORDS": "kubectl-spread check --select spr304",
    }
    command = [sys.executable, "-m", "kubectl_spread"]
    done = subprocess.run(command, env={**env, "COMP_CWORD": "3"}, capture_output=True, text=True, check=False)

    assert "plain,SPR304\n" == done.stdout


def test_steps_of_a_simulation_are_offered() -> None:
    """The verb, its second word, then names as kubectl completes them."""
    facts = ["--snapshot", str(SHOP / "running.yaml"), "-n", "shop"]

    assert ["scale", "set"] == offered("simulate", word="s")
    assert ["restart", "resume"] == offered("simulate", "rollout", word="re")
    assert ["deployment", "deploymentconfig"] == offered("simulate", "rollout", "restart", word="depl")
    assert ["deployment/web"] == offered("simulate", *facts, "rollout", "restart", word="deployment/w")
    assert offered("simulate", *facts, "drain", word="a")
