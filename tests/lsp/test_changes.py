"""Changes of a document, and places in it, against a slow reading of the protocol."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from kubectl_spread.lsp.changes import apply_changes
from kubectl_spread.lsp.positions import offset, position
from kubectl_spread.text.source import SourceFile

TEXTS = st.text(alphabet="ab \r\n\u00e9\u2028\x0c\U0001f600", max_size=30)
PLACES = st.tuples(st.integers(0, 6), st.integers(0, 12))
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def offset_of(text: str, place: tuple[int, int], encoding: str) -> int:
    """The offset of a place, character by character."""
    line, units = place
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    if line >= len(starts):
        return len(text)
    codec, width = CODECS[encoding]
    at = starts[line]
    while at < len(text) and text[at] not in "\r\n":
        units -= len(text[at].encode(codec)) // width
        if units < 0:
            break
        at += 1
    return at


def partial(start: tuple[int, int], end: tuple[int, int], text: str) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(types.Range(types.Position(*start), types.Position(*end)), text)


@given(TEXTS, st.lists(st.tuples(PLACES, PLACES, TEXTS), max_size=4), st.sampled_from(list(CODECS)))
def test_changes_are_made_one_after_the_other(
    text: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]], encoding: str
) -> None:
    """Each counts in the text that the one before it left."""
    expected = text
    for start, end, new in edits:
        first, last = offset_of(expected, start, encoding), offset_of(expected, end, encoding)
        expected = expected[:first] + new + expected[max(first, last) :]
    changes = [partial(*edit) for edit in edits]

    assert expected == apply_changes(text, changes, encoding)


@given(TEXTS, st.sampled_from(list(CODECS)), st.integers(0, 30))
def test_a_place_and_its_offset_are_the_same(text: str, encoding: str, at: int) -> None:
    """Whatever takes more than one unit stands before it in the line."""
    source = SourceFile("a", text)
    at = min(at, len(text))
    found = position(source, at, encoding)
    is_inside_of_an_end = text[at - 1 : at + 1] == "\r\n" and at > 0

    assert is_inside_of_an_end or at == offset_of(text, (found.line, found.character), encoding)
    assert is_inside_of_an_end or at == offset(source, found, encoding)


def test_a_change_without_a_range_is_the_whole_text() -> None:
    changes = [types.TextDocumentContentChangeWholeDocument("b\n"), partial((0, 0), (0, 1), "c")]

    assert "c\n" == apply_changes("a", changes, "utf-16")


@pytest.mark.parametrize("encoding", CODECS)
def test_half_of_a_surrogate_pair_is_one_unit(encoding: str) -> None:
    """An editor may send one."""
    assert "\ud800c" == apply_changes("\ud800b", [partial((0, 3 if encoding == "utf-8" else 1), (0, 9), "c")], encoding)
