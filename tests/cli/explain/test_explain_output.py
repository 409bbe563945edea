"""The whole text of `explain`, at two widths, with and without colour.

Each folder of `explained/` has a `command` and what it prints. `python -m tests.cli.explain.test_explain_output` writes
the texts again: look at the difference before you keep it.
"""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

CASES = sorted(path.parent for path in (Path(__file__).parent / "explained").glob("*/command"))
EXAMPLES = Path(__file__).parents[3] / "examples"
WIDTHS = (60, 80, 160)
COLOURS = ("never", "always")

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def printed(case: Path, width: int, colour: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the command of a case prints."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(EXAMPLES)
    out = io.StringIO()
    with redirect_stdout(out):
        run([*shlex.split((case / "command").read_text(encoding="utf-8")), "--color", colour])
    return out.getvalue()


def expected(case: Path, width: int, colour: str) -> Path:
    """The file with the text of a case."""
    return case / f"{width}{'-coloured' if colour == 'always' else ''}.txt"


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_text_is_the_one_that_was_looked_at(
    case: Path, width: int, colour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert expected(case, width, colour).read_text(encoding="utf-8") == printed(case, width, colour, monkeypatch)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_colour_is_all_that_colour_adds(case: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, coloured = (printed(case, width, colour, monkeypatch) for colour in COLOURS)

    assert plain == _COLOUR.sub("", coloured)
    assert plain != coloured


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_line_is_wider_only_where_a_word_or_a_command_is(
    case: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is copied is never broken: commands, the fields that a suggestion changes, names, and rows of tables."""
    wide = [line for line in printed(case, width, "never", monkeypatch).splitlines() if len(line) > width]
    prose = [
        line for line in wide if "   " not in line.strip() and not line.strip().startswith(("$ ", "spec.", "labels:"))
    ]

    assert [] == [line for line in prose if max(map(len, line.split())) < width // 2]


def main() -> None:
    """Write the expected texts."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for case in CASES:
            for width in WIDTHS:
                for colour in COLOURS:
                    text = printed(case, width, colour, monkeypatch)
                    expected(case, width, colour).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
