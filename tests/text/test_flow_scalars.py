"""Colons in flow style, which libyaml refuses and kubectl accepts."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.text import compose, node
from kubectl_spread.text.source import SourceFile
from tests.text.composing import composed

BOMB = "a: &a [x:x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdef", "bcdefg", strict=True)
)
REFUSAL = "found unexpected ':' while scanning a plain scalar"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{image: nginx:1.27}", {"image": "nginx:1.27"}),
        ("{url: http://h:80}", {"url": "http://h:80"}),
        ("[--listen=0.0.0.0:80, a:b]", ["--listen=0.0.0.0:80", "a:b"]),
        ("{a: b:c, d: 1, e: '1', f: !!str 2, g: yes}", {"a": "b:c", "d": 1, "e": "1", "f": "2", "g": True}),
        ("a: &x {i: n:1}\nb: {<<: *x, j: *x}\n", {"a": {"i": "n:1"}, "b": {"i": "n:1", "j": {"i": "n:1"}}}),
    ],
)
def test_a_colon_inside_a_flow_scalar_belongs_to_it(text: str, expected: Any) -> None:
    """Nothing else of the document is read differently for it."""
    assert [expected] == composed(text)


def test_a_value_stands_where_it_is_written() -> None:
    """Places count characters, also behind those that take several bytes."""
    text = "a: 1\n---\n{e: é🎠, image: nginx:1.27}"
    documents = [item for item in compose.compose(SourceFile("f", text)) if isinstance(item, compose.Document)]
    start, end = node.place(documents[1].root, ("image",))

    assert "nginx:1.27" == text[start:end]


def test_documents_are_told_once() -> None:
    """Also where the second of a piece is the one that has to be read again."""
    assert [{"a": 1}, {"b": "c:d"}, {"e": 2}] == composed("{a: 1}\n...\n{b: c:d}\n---\ne: 2\n")


def test_a_document_before_a_refused_one_is_kept() -> None:
    """One piece of text may hold several objects of JSON's kind, of which the second is broken."""
    assert [{"a": 1}, "1:14: expecting ':' delimiter"] == composed('{"a": 1} {"b"')


def test_what_both_parsers_refuse_has_the_first_refusal() -> None:
    """The message and the place are those of libyaml."""
    assert [f"1:6: {REFUSAL}"] == composed("a: {b:c}\n e: f\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{a: b:c, d: " + "[" * 300 + "]" * 300 + "}", "1:268: nested deeper than 256 levels"),
        ("{a: b:c, d: *e}", "1:13: unknown anchor `e`"),
        ("{a: b:c, d: &e [*e]}", "1:17: anchor `e` contains itself"),
        (BOMB, "1:1: document contains excessive aliasing: 12345685 nodes when written out"),
    ],
    ids=["depth", "unknown anchor", "recursion", "bomb"],
)
def test_the_limits_hold_there_too(text: str, expected: str) -> None:
    """Depth, anchors and aliases are bounded whichever parser reads."""
    assert [expected] == composed(text)


def test_a_text_too_long_to_be_read_again_is_refused() -> None:
    """The pure Python parser takes seconds for half a million characters."""
    assert [f"1:10: {REFUSAL}"] == composed("{image: n:1}" + "\n" * 500_000)


def test_other_refusals_are_final() -> None:
    """The pure Python parser takes much that kubectl does not: a mapping in the middle of another's line."""
    assert ["1:5: mapping values are not allowed in this context"] == composed("a: b: c")
