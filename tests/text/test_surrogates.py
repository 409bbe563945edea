"""Escaped surrogates in JSON text."""

from __future__ import annotations

import json

import pytest

from kubectl_spread.text import compose, json_nodes, node
from kubectl_spread.text.source import SourceFile


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a"', "a"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"x \uD83D\uDE00 y"', "x 😀 y"),
        (r'"\ud83d\ude00\ud83d\ude01"', "😀😁"),
        (r'"\\ud83d\\ude00"', r"\ud83d\ude00"),
        (r'"\\\ud83d\ude00"', "\\😀"),
        (r'"\ud83d"', "\ufffd"),
        (r'"\ude00\ud83d"', "\ufffd\ufffd"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (r'"\u00e9\n\""', 'é\n"'),
    ],
)
def test_json_and_yaml_read_an_escaped_character_alike(text: str, expected: str) -> None:
    """A pair is one character, a lone half is U+FFFD, as in Go; an escaped backslash escapes nothing."""
    (document,) = compose.compose(SourceFile("f", f"[{text}]"))
    assert isinstance(document, compose.Document)

    assert [expected] == json.loads(json_nodes.without_lone(f"[{text}]"))
    assert [expected] == node.to_plain(document.root)


def test_places_after_an_escaped_pair_are_those_of_the_text() -> None:
    """What is parsed has the length of what was written, and a line break in it counts for nothing."""
    text = '{"a": "\\ud83d\\ude00",\n "b": [}'
    source = SourceFile("f", text)
    (problem,) = compose.compose(source)
    assert isinstance(problem, compose.SyntaxProblem)

    assert (2, 8) == source.position(problem.span.start)


def test_yaml_that_is_not_json_is_left_alone() -> None:
    """YAML refuses an escaped surrogate, and so does kubectl."""
    (problem,) = compose.compose(SourceFile("f", 'a: "\\ud83d\\ude00"'))
    assert isinstance(problem, compose.SyntaxProblem)

    assert "found invalid Unicode character escape code while parsing a quoted scalar" == problem.message
