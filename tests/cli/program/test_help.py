"""What --help looks like."""

from __future__ import annotations

import pytest

from kubectl_spread.cli.main import COMMANDS as EVERY_COMMAND
from kubectl_spread.cli.main import run

_COPIED = ("    # ", "    kubectl ", "    helm template ", "    curl ")
COMMANDS = [(), *((name,) for name in EVERY_COMMAND)]


def help_of(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    assert 0 == run([*command, "--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_keep_their_lines(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """They stand under a heading, one command a line, to be copied from there."""
    lines = help_of(command, capsys).partition("\nOptions:\n")[0].partition("\n  Exit codes:\n")[0].splitlines()
    examples = [line for line in lines[lines.index("  Examples:") + 1 :] if line]

    assert examples
    assert [] == [
        line for line in examples if not line.startswith(("    # ", "    kubectl ", "    helm template ", "    curl "))
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_of_the_formatting_is_left(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Neither click's marks nor spaces at the end of a line."""
    text = help_of(command, capsys)

    assert not {"\b", "\\b"} & {text[at : at + length] for at in range(len(text)) for length in (1, 2)}
    assert [] == [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("command", [("check",), ("explain",), ("lsp",), ("status",)])
def test_every_exit_code_has_a_line(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """From 0 to 3."""
    lines = help_of(command, capsys).partition("  Exit codes:\n")[2].partition("\n\n")[0].splitlines()

    assert ["0", "1", "2", "3"] == [line[4] for line in lines if line[4] != " "][:4]


EVERY = ["check", "demo", "explain", "guarantee", "init", "lsp", "rebalance", "rule", "simulate", "snapshot", "status"]


@pytest.mark.parametrize("command", EVERY)
def test_only_commands_to_copy_exceed_a_narrow_terminal(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit codes and steps wrap, too; a line of an example stays whole."""
    monkeypatch.setenv("COLUMNS", "60")
    before, _, after = help_of((command,), capsys).partition("  Examples:\n")
    codes = after[after.index("  Exit codes:") :]

    assert [] == [line for line in (before + codes).splitlines() if len(line) > 60 and " " in line.strip()]


def test_an_exit_code_wraps_below_its_first_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not below the number."""
    monkeypatch.setenv("COLUMNS", "60")

    assert [
        "    0  the snapshot was written",
        "    2  wrong usage",
        "    3  an input could not be read, the cluster could not",
        "       be reached, or the file could not be written",
    ] == help_of(("snapshot",), capsys).partition("  Exit codes:\n")[2].partition("\n\n")[0].splitlines()


@pytest.mark.parametrize("command", ["check", "explain", "guarantee", "rebalance", "simulate", "status"])
def test_every_option_has_a_text(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Arguments have none, and are no options."""
    options = help_of((command,), capsys).partition("\nOptions:\n")[2].splitlines()

    assert "  -" == options[0][:3]
    assert [] == [line for line in options[:-1] if line and line[:3] not in ("  -", "   ") and not line.endswith(":")]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("check", ["Options:", "Rules and files:"]),
        ("status", ["Options:"]),
    ],
)
def test_a_help_has_the_options_of_its_command(
    command: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = help_of((command,), capsys).splitlines()[1:]

    assert expected == [line for line in lines if line.endswith(":") and not line.startswith(" ")]


@pytest.mark.parametrize("command", EVERY_COMMAND)
def test_a_help_fits_a_screen(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal of 80 columns it has 60 lines at most."""
    monkeypatch.setenv("COLUMNS", "80")

    assert len(help_of((command,), capsys).splitlines()) <= 60


@pytest.mark.parametrize(
    ("command", "last"),
    [
        ("check", "For --live, --snapshot, --topology, --context ...: kubectl spread options"),
        ("snapshot", "For --live, --snapshot, --scheduler-config, --context ...: kubectl spread options"),
        ("version", "For --context ...: kubectl spread options"),
    ],
)
def test_shared_flags_have_one_line(command: str, last: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert last == help_of((command,), capsys).splitlines()[-1]


def test_options_lists_the_shared_flags(capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` lists none of them, and no hidden one is anywhere."""
    assert 0 == run(["options"])
    told = capsys.readouterr().out
    headings = [line for line in told.splitlines() if line.endswith(":") and not line.startswith(" ")]

    assert headings == ["Cluster facts:", "API server, as in kubectl:", "Output:"]
    assert all(flag in told for flag in ("--live", "--topology SPEC", "--as-group NAME...", "--color"))
    assert not any(flag in told for flag in ("--seed", "--all-nodes"))
    assert 2 == run(["options", "--live"])
