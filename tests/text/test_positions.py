"""Lines and columns of a source."""

from __future__ import annotations

import pytest

from kubectl_spread.text.source import SourceFile


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ("", 0, (1, 1)),
        ("ab", 0, (1, 1)),
        ("ab", 2, (1, 3)),
        ("ab\ncd", 2, (1, 3)),
        ("ab\ncd", 3, (2, 1)),
        ("ab\ncd\n", 6, (3, 1)),
        ("ab\r\ncd", 2, (1, 3)),
        ("ab\r\ncd", 3, (1, 4)),
        ("ab\r\ncd", 4, (2, 1)),
        ("ab\rcd", 3, (2, 1)),
        ("ab\r\rcd", 4, (3, 1)),
        ("a\r\nb\rc\nd", 7, (4, 1)),
        ("\n\n\n", 2, (3, 1)),
        ("é💥\nx", 2, (1, 3)),
        ("é💥\nx", 3, (2, 1)),
        ("a\x85b\u2028c", 4, (1, 5)),
    ],
)
def test_a_position_counts_lines_and_code_points_from_one(text: str, offset: int, expected: tuple[int, int]) -> None:
    """LF, CRLF and a lone CR end a line; nothing else does."""
    assert expected == SourceFile("f", text).position(offset)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\nc", ["a", "b", "c"]),
        ("a\r\nb\r\nc\r\n", ["a", "b", "c", ""]),
        ("a\rb\rc", ["a", "b", "c"]),
        ("\na\n", ["", "a", ""]),
    ],
)
def test_a_line_has_no_line_break(text: str, expected: list[str]) -> None:
    """Lines are numbered from one, and come without what ends them."""
    source = SourceFile("f", text)

    assert expected == [source.line(number + 1) for number in range(len(expected))]
