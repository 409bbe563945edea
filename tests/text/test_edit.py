"""Changes to a text: only what they are about changes, and the text then means what was intended."""

from __future__ import annotations

import contextlib
import io
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.edit import Append, apply_changes, Change, Drop, edits, NoEditError, Put, Rename, with_edits
from kubectl_spread.text.source import SourceFile

BLOCK = """\
# first
a:   1     # one
b:
  - x: 1   # the x
    w: two
  # about the second
  - x: '2'
c: [p,  q]
d: {e:  f}
empty:
"""
JSON = """\
{
  "a": 1,
  "b": [
    "x",
    "y"
  ],
  "c": {}
}
"""


def documents(text: str) -> list[compose.Document]:
    composed = list(compose.compose(SourceFile("a.yaml", text)))
    assert all(isinstance(item, compose.Document) for item in composed), text
    return [item for item in composed if isinstance(item, compose.Document)]


def edited(text: str, *changes: Change) -> str:
    """The text with the changes made, once it is proved to mean what they say."""
    (document,) = documents(text)
    result = with_edits(text, edits(document, changes))

    (after,) = documents(result)
    assert apply_changes(nodes.to_plain(document.root), changes) == nodes.to_plain(after.root)
    return result


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (Put(("a",), 2), "a:   1     # one", "a:   2     # one"),
        (Put(("a",), "on"), "a:   1     # one", 'a:   "on"     # one'),
        (Put(("b", 1, "x"), "3"), "x: '2'", "x: '3'"),
        (Put(("b", 0, "z"), "v"), "    w: two\n", "    w: two\n    z: v\n"),
        (Put(("b", 1, "z"), True), "- x: '2'\n", "- x: '2'\n    z: true\n"),
        (Put(("b", 0, "z"), {"m": {"k": "v"}}), "two\n", "two\n    z:\n      m:\n        k: v\n"),
        (Put(("b", 0, "z"), [{"k": 1, "l": 2}]), "two\n", "two\n    z:\n      - k: 1\n        l: 2\n"),
        (Put(("b", 0, "z"), ["k", "l"]), "two\n", "two\n    z: [k, l]\n"),
        (Put(("d", "g"), "h"), "{e:  f}", "{e:  f, g: h}"),
        (Put(("d",), {"e": 1}), "d: {e:  f}", "d: {e: 1}"),
        (Put(("empty",), "now"), "empty:\n", "empty: now\n"),
        (Put(("empty",), {"m": 1}), "empty:\n", "empty:\n  m: 1\n"),
        (Put(("empty",), ["m"]), "empty:\n", "empty: [m]\n"),
        (Put(("b",), [{"x": 1}]), BLOCK[BLOCK.index("- x: 1") : BLOCK.index("c:")], "- x: 1\n"),
        (Drop(("a",)), "a:   1     # one\n", ""),
        (Drop(("b", 0, "x")), "x: 1   # the x\n    w", "w"),
        (Drop(("b", 0, "w")), "    w: two\n", ""),
        (Drop(("b", 0)), "  - x: 1   # the x\n    w: two\n", ""),
        (Drop(("b", 1)), "  - x: '2'\n", ""),
        (Drop(("c", 0)), "[p,  q]", "[q]"),
        (Drop(("c", 1)), "[p,  q]", "[p]"),
        (Drop(("empty",)), "empty:\n", ""),
        (Rename(("b", 0, "w"), "why"), "w: two", "why: two"),
        (Rename(("d", "e"), "ee"), "{e:  f}", "{ee:  f}"),
        (Append(("c",), "r"), "[p,  q]", "[p,  q, r]"),
        (Append(("b",), {"x": 3, "w": 4}), "- x: '2'\n", "- x: '2'\n  - x: 3\n    w: 4\n"),
    ],
    ids=str,
)
def test_only_what_a_change_is_about_changes(change: Change, before: str, after: str) -> None:
    """Comments, quotes, spaces and line ends stay, whichever end the lines have."""
    assert BLOCK.replace(before, after, 1) == edited(BLOCK, change)
    crlf = [text.replace("\n", "\r\n") for text in (BLOCK, before, after)]
    assert crlf[0].replace(crlf[1], crlf[2], 1) == edited(crlf[0], change)


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (Put(("a",), "x"), "1,", '"x",'),
        (Put(("d",), {"e": ["f"]}), '"c": {}\n', '"c": {},\n  "d": {"e": ["f"]}\n'),
        (Put(("c", "k"), 1), "{}", '{"k": 1}'),
        (Append(("b",), "z"), '"y"\n', '"y",\n    "z"\n'),
        (Drop(("b", 1)), '"x",\n    "y"', '"x"'),
        (Drop(("b", 0)), '"x",\n    "y"', '"y"'),
        (Drop(("c",)), ',\n  "c": {}', ""),
        (Rename(("a",), "aa"), '"a"', '"aa"'),
    ],
    ids=str,
)
def test_json_stays_json(change: Change, before: str, after: str) -> None:
    import json

    result = edited(JSON, change)

    assert JSON.replace(before, after, 1) == result
    assert json.loads(result)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        pytest.param("a: &x {b: 1}\nc: *x\n", Put(("c", "b"), 2), id="behind an alias"),
        pytest.param("a: &x {b: 1}\nc: {<<: *x}\n", Put(("c", "b"), 2), id="merged"),
        pytest.param("a: &x {b: 1}\nc: {<<: *x}\n", Drop(("c", "b")), id="drop what is merged"),
        pytest.param("a: &x {b: 1}\nc: *x\n", Append(("c",), 2), id="append to no list"),
        pytest.param("a: &x 1\nb: *x\n", Put(("a",), 2), id="an anchor"),
        pytest.param("a: |\n  text\n", Put(("a",), "b"), id="a block scalar"),
        pytest.param("a: {b: 1}\n", Drop(("a", "b")), id="the only field"),
        pytest.param("- a\n", Drop((0,)), id="the only item"),
        pytest.param("- a: 1\n  # about b\n  b: 2\n", Drop((0, "a")), id="a comment between"),
        pytest.param("a: [1, # one\n  2]\n", Drop(("a", 0)), id="a comment in a flow list"),
        pytest.param("- - a\n  - b\n", Drop((0, 0)), id="a list in a list"),
        pytest.param("a: 1\n", Put(("b", "c"), 1), id="no parent"),
    ],
)
def test_what_cannot_be_written_is_refused(text: str, change: Change) -> None:
    (document,) = documents(text)

    with pytest.raises(NoEditError):
        edits(document, [change])


def test_several_changes_keep_their_order() -> None:
    assert "a: 1\nb: 2\nc: 3\n" == edited("a: 1\n", Put(("b",), 2), Put(("c",), 3))


ADDITIONS = (Put(("b", 1, "v"), 1), Append(("b",), {"x": 3}), Put(("b", 1, "w"), {"k": "l"}), Put(("e",), 2))


@pytest.mark.parametrize("changes", list(permutations(ADDITIONS)))
@pytest.mark.parametrize(
    "text",
    ["a: 1\nb:\n- x: 1\n- x: 2\n", "a: 1\r\nb:\r\n    -   x: 1\r\n    -   x: 2", "a: 1\nb:\n  - x: 1\n  - x: 2 # c\n"],
)
def test_what_is_added_at_one_place_in_any_order_means_the_same(text: str, changes: tuple[Change, ...]) -> None:
    """The edits of each change are made for the text as it was, and the lines of the innermost mapping come first."""
    together = with_edits(text, [edit for change in changes for edit in edits(documents(text)[0], [change])])
    (after,) = documents(together)

    assert apply_changes(nodes.to_plain(documents(text)[0].root), changes) == nodes.to_plain(after.root)
    assert (changes.index(ADDITIONS[0]) < changes.index(ADDITIONS[2])) == (together.index("v:") < together.index("w:"))


def test_a_last_line_without_a_break_is_enough() -> None:
    assert "a: 1\nb: 2" == edited("a: 1", Put(("b",), 2))
    assert "a: 1\n" == edited("a: 1\nb: 2", Drop(("b",)))


KEYS = st.sampled_from(["a", "b-c", "topology.kubernetes.io/zone", "1", "on", "x y", "ü"])
SCALARS = st.one_of(
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.sampled_from(["", "on", "1.10", "0644", "a: b", "# no", "-", "null", "é\U0001f600", "*a", "line\nline\n", "~"]),
)
PLAIN = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=3),
    max_leaves=12,
)


def routes(plain: Any, route: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    return [route, *(found for step, value in below for found in routes(value, (*route, step)))]


@st.composite
def cases(draw: Any) -> tuple[str, Change]:
    """A document in some style, and a change of something in it."""
    plain = draw(st.dictionaries(KEYS, PLAIN, min_size=1, max_size=4))
    yaml = YAML(pure=True)
    yaml.default_flow_style = draw(st.sampled_from([False, None, True]))
    yaml.indent(*draw(st.sampled_from([(2, 2, 0), (2, 4, 2), (4, 4, 2)])))
    yaml.allow_unicode = True
    stream = io.StringIO()
    yaml.dump(plain, stream)
    text = stream.getvalue()
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    route = draw(st.sampled_from(routes(nodes.to_plain(documents(text)[0].root))[1:]))
    change = draw(
        st.one_of(
            st.builds(Put, st.just(route), PLAIN),
            st.builds(Put, st.just((*route, "new")), PLAIN),
            st.builds(Drop, st.just(route)),
            st.builds(Append, st.just(route), PLAIN),
        )
    )
    return text, change


@pytest.mark.slow
@given(cases())
def test_a_change_means_what_it_says_or_is_refused(case: tuple[str, Change]) -> None:
    """In any style that ruamel.yaml writes; the rest of the document keeps its value."""
    text, change = case
    with contextlib.suppress(NoEditError):
        edited(text, change)


def test_what_is_added_is_indented_as_the_text_is() -> None:
    """Levels and dashes."""
    text = "spec:\n    list:\n    -   a: 1\n        b: 2\n"
    added = "    -   a:\n            c: 3\n        d: 4\n"

    assert text + added == edited(text, Append(("spec", "list"), {"a": {"c": 3}, "d": 4}))
