"""Places in a document, against a slow reading of the protocol."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.lsp import offset, position
from kubectl_spread.text.source import SourceFile

TEXTS = st.text(alphabet="ab \r\n\u00e9\u2028\x0c\U0001f600", max_size=30)
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


@given(TEXTS, st.sampled_from(list(CODECS)), st.integers(0, 30))
def test_a_place_and_its_offset_are_the_same(text: str, encoding: str, at: int) -> None:
    """Whatever takes more than one unit stands before it in the line."""
    source = SourceFile("a", text)
    at = min(at, len(text))
    found = position(source, at, encoding)
    is_inside_of_an_end = text[at - 1 : at + 1] == "\r\n" and at > 0

    assert is_inside_of_an_end or at == offset_of(text, (found.line, found.character), encoding)
    assert is_inside_of_an_end or at == offset(source, found, encoding)
