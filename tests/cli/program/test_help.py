"""What --help looks like."""

from __future__ import annotations

import pytest

from kubectl_spread.cli.main import run

COMMANDS = [(), ("check",), ("explain",), ("lsp",), ("rule",), ("snapshot",), ("status",), ("version",)]


def help_of(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    assert 0 == run([*command, "--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_keep_their_lines(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """They stand under a heading, one command a line, to be copied from there."""
    lines = help_of(command, capsys).splitlines()
    examples = [line for line in lines[lines.index("  Examples:") + 1 : lines.index("Options:")] if line]

    assert examples
    assert [] == [line for line in examples if not line.startswith(("    # ", "    kubectl ", "    helm template "))]


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_of_the_formatting_is_left(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Neither click's marks nor spaces at the end of a line."""
    text = help_of(command, capsys)

    assert not {"\b", "\\b"} & {text[at : at + length] for at in range(len(text)) for length in (1, 2)}
    assert [] == [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("command", [("check",), ("explain",), ("lsp",), ("status",)])
def test_every_exit_code_has_a_line(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """From 0 to 3."""
    lines = help_of(command, capsys).splitlines()
    first = lines.index("  Exit codes:") + 1

    assert ["    0  ", "    1  ", "    2  ", "    3  "] == [line[:7] for line in lines[first : first + 4]]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("check", ["Options:", "Rules and files:", "Cluster facts:", "API server, as in kubectl:"]),
        ("status", ["Options:", "Cluster facts:", "API server, as in kubectl:"]),
        ("simulate", ["Options:", "Cluster facts:", "API server, as in kubectl:"]),
        ("version", ["Options:", "API server, as in kubectl:"]),
        ("rule", ["Options:"]),
    ],
)
def test_shared_options_have_their_own_sections(
    command: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The options of the command itself come first, those of kubectl last."""
    lines = help_of((command,), capsys).splitlines()[1:]

    assert expected == [line for line in lines if line.endswith(":") and not line.startswith(" ")]
