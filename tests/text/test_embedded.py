"""Documents inside scalars: every node stands where its characters are written in the outer text."""

from __future__ import annotations

import json
import textwrap

import pytest

from kubectl_spread.text import compose, embedded
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Scalar
from kubectl_spread.text.source import SourceFile

INNER = """\
# An object with all that may stand in one.
kind: Pod
spec:
  list:
  - maxSkew: 0   # a comment
    key: 'a''b'
  - {maxSkew: 1, key: "é\\u00e9"}
  text: |
    a
      b
  anchored: &x {a: 1}
  again: *x
"""
OTHER = "kind: Service\nname: s\n"


def documents(outer: str) -> tuple[SourceFile, list[compose.Document]]:
    """The documents in the first scalar below `a`."""
    source = SourceFile("outer.yaml", outer)
    (document,) = compose.compose(source)
    assert isinstance(document, compose.Document)
    scalar = nodes.follow(document.root, ("a",))
    assert isinstance(scalar, Scalar)
    found = list(embedded.documents(source, scalar, lambda _: True))
    assert all(isinstance(item, compose.Document) and item.is_embedded for item in found)
    return source, [item for item in found if isinstance(item, compose.Document)]


def plain(text: str) -> object:
    (document,) = compose.compose(SourceFile("inner.yaml", text))
    assert isinstance(document, compose.Document)
    return nodes.to_plain(document.root)


def literal(text: str, header: str = "|", indent: str = "    ") -> str:
    return f"a: {header}\n{textwrap.indent(text, indent)}b: 1\n"


STYLES = {
    "literal": literal(INNER),
    "literal, stripped": literal(INNER, "|-"),
    "literal, kept, with a comment": literal(INNER, "|+  # text"),
    "literal with an anchor": literal(INNER, "&anchor |"),
    "literal with an indentation": literal(INNER, "|1", " "),
    "literal with blank lines": literal("\n\n" + INNER + "\n\n"),
    "literal at the end": literal(INNER).removesuffix("b: 1\n"),
    "literal without a last line end": literal(INNER).removesuffix("\nb: 1\n"),
    "literal with CRLF": literal(INNER).replace("\n", "\r\n"),
    "literal and comments": literal(INNER).replace("b: 1", "  # beside\n# outside\nb: 1"),
    "JSON string": json.dumps({"a": INNER, "b": 1}),
    "JSON string as it is": json.dumps({"a": INNER}, ensure_ascii=False, indent=1),
    "double quotes": f"a: {json.dumps(INNER)}\nb: 1\n",
    "double quotes over lines": f"a: {json.dumps(INNER)}\n".replace("\\n", "\\n\\\n  ", 1),
}


@pytest.mark.parametrize("outer", STYLES.values(), ids=STYLES)
def test_a_value_stands_where_it_is_written(outer: str) -> None:
    """The document means what it means by itself, and each place is exact."""
    source, found = documents(outer)
    (document,) = found

    assert plain(INNER) == nodes.to_plain(document.root)
    for index, skew in enumerate("01"):
        span = nodes.place(document.root, ("spec", "list", index, "maxSkew"))
        assert skew == source.text[span.start : span.end]
        key = nodes.place(document.root, ("spec", "list", index, "maxSkew"), key=True)
        assert "maxSkew" == source.text[key.start : key.end]


@pytest.mark.parametrize("outer", ["a: '{key: ''x'', maxSkew: 7}'\n", "a: '{key: ''x'',\n\n   maxSkew: 7}'\n"])
def test_a_quote_that_is_doubled_is_one_character(outer: str) -> None:
    """So is a folded line break."""
    source, (document,) = documents(outer)
    span = nodes.place(document.root, ("maxSkew",))

    assert ({"key": "x", "maxSkew": 7}, "7") == (nodes.to_plain(document.root), source.text[span.start : span.end])


def test_a_folded_text_stands_where_it_begins() -> None:
    source, (document,) = documents("a: >\n  {kind: Pod,\n  maxSkew: 0}\n")
    span = nodes.place(document.root, ("maxSkew",))

    assert ({"kind": "Pod", "maxSkew": 0}, ">") == (nodes.to_plain(document.root), source.text[span.start : span.end])


@pytest.mark.parametrize("separator", ["---\n", "--- # second\n", "---\n# c\n---\n"])
def test_a_text_holds_several_documents(separator: str) -> None:
    """Also where it is indented, which hides the separators from a parser of the outer text."""
    source, found = documents(literal(f"---\n{INNER}{separator}{OTHER}"))
    span = nodes.place(found[-1].root, ("name",))

    assert [plain(INNER), plain(OTHER)] == [nodes.to_plain(item.root) for item in found]
    assert "s" == source.text[span.start : span.end]


def test_a_syntax_error_is_placed_in_the_outer_text() -> None:
    """The documents before it are there."""
    source = SourceFile("outer.yaml", literal(f"{OTHER}---\na: [\n"))
    (document,) = compose.compose(source)
    assert isinstance(document, compose.Document)
    scalar = nodes.follow(document.root, ("a",))
    assert isinstance(scalar, Scalar)
    first, problem = embedded.documents(source, scalar, lambda _: True)

    assert isinstance(first, compose.Document)
    assert isinstance(problem, compose.SyntaxProblem)
    assert source.position(problem.span.start).line in (5, 6)
