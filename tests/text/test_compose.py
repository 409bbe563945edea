"""Documents, their values and the places of their parts."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.text import compose, node
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile
from tests.text.composing import composed

MANIFEST = """\
---
# A comment of its own
apiVersion: apps/v1
kind: Deployment   # and one beside a value
metadata:
  name: web
  labels: {app: web, "tier": 'front end', version: "1.30"}

  annotations:
    example.com/note: it's said:no, or#1
    "quoted.key": yes
    nothing:
    also-nothing: ~
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: web
        image: registry.example:5000/web:1.27@sha256:0a
        args: [--port=8080, "-v", [], {}, {a: {b: [1, 0x10, 1e3]}}]
        command:
        - -c
        - exec  sleep   # two blanks stay
        -
        - key: value
          other: 0.50
          '': empty
      -
        name: below
"""

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGE_BOMB = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 10)}]}}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def document(text: str) -> compose.Document:
    """The only document of a text."""
    (found,) = compose.compose(SourceFile("f", text))
    assert isinstance(found, compose.Document)
    return found


def spanned(text: str, route: Route, *, key: bool = False) -> str:
    """The text at the place of a route."""
    start, end = node.place(document(text).root, route, key=key)
    return text[start:end]


def test_the_parser_is_the_c_parser_of_ruamel_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be imported, and it is the one that is asked; the slower one hears only of what it refuses."""
    import _ruamel_yaml

    parsed: list[str] = []

    class Recording(_ruamel_yaml.CParser):  # type: ignore[misc]
        def __init__(self, text: str) -> None:
            parsed.append(text)
            super().__init__(text)

    monkeypatch.setattr(_ruamel_yaml, "CParser", Recording)

    assert [{"a": 1}] == composed("a: 1\n")
    assert set(parsed) == {"a: 1\n"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ("# only a comment", []),
        ("# one\n---\n# two\n--- # three\n---\n", []),
        ("--- # a comment\na: 1\n", [{"a": 1}]),
        ("# first\n---\n# second\na: 1\n---\n# third\n", [{"a": 1}]),
        ("a: 1\n---\nb: 2\n---\nc: 3\n", [{"a": 1}, {"b": 2}, {"c": 3}]),
        ("a: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\r---\rb: 2\r", [{"a": 1}, {"b": 2}]),
        ("# c\ra: 1\r", [{"a": 1}]),
        ("--- a\n--- b\n---\tc\n", ["a", "b", "c"]),
        ("--- {a: 1}\n", [{"a": 1}]),
        ("a: 1\n...\n", [{"a": 1}]),
        ("a: 1\n... # end\n---\nb: 2\n...\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\n...\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\r\n...\r\nb: 2\r\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\n...", [{"a": 1}]),
        ("%YAML 1.1\n---\na: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("%YAML 1.2\n---\na: 1\n", [{"a": 1}]),
        ("# c\n%YAML 1.1\n# d\n---\na: 1\n", [{"a": 1}]),
        ("a: 1\n...\n%YAML 1.1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\n...\n# c\n%YAML 1.1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("a: |\n  x\n  ---\n  y\n---\nb: 1\n", [{"a": "x\n---\ny\n"}, {"b": 1}]),
        ("a: |\n  x\n  ...\n  y\n---\nb: 1\n", [{"a": "x\n...\ny\n"}, {"b": 1}]),
        ("---a: 1\n", [{"---a": 1}]),
        ("---: 1\n", [{"---": 1}]),
        ("....\n", ["...."]),
        ("a: '---'\nb: \"...\"\n", [{"a": "---", "b": "..."}]),
        ("a: 5 % 3\n---\nb: 2\n", [{"a": "5 % 3"}, {"b": 2}]),
        ("a: 1\n---\n\ufeffb: 2\n", [{"a": 1}, {"b": 2}]),
        ('{"a": 1}\n---\n{"b": [1, 2]}\n', [{"a": 1}, {"b": [1, 2]}]),
        ('{\n\t"a":\t1\n}\n', [{"a": 1}]),
        ('"only a string"\n', ["only a string"]),
        ("''\n", [""]),
        ("~\n", [None]),
    ],
)
def test_a_stream_is_its_documents(text: str, expected: list[Any]) -> None:
    """Comments, markers and directives make no document; what is left empty is none."""
    assert expected == composed(text)


@pytest.mark.parametrize("breaks", [20, 1000, 100_000])
@pytest.mark.parametrize("line_break", ["\n", "\r\n", " \n", "#\n", "# #\n"])
def test_a_document_after_many_blank_lines_is_found(breaks: int, line_break: str) -> None:
    """Many comments, too, with and without directives."""
    found = composed(line_break * breaks + "%YAML 1.1\n" + line_break * breaks + "---\n" + line_break * breaks + "a: 1")

    assert [{"a": 1}] == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a: [\n---\nb: 2\n---\nc: }\n---\nd: 4\n",
            [
                "2:1: did not find expected node content while parsing a flow node",
                {"b": 2},
                "5:4: did not find expected node content while parsing a block node",
                {"d": 4},
            ],
        ),
        (
            "a: 'x\n---\nb: 2\n",
            ["2:1: found unexpected end of stream while scanning a quoted scalar", {"b": 2}],
        ),
        (
            "a:\n\tb: 1\n",
            ["2:1: found character that cannot start any token while scanning for the next token"],
        ),
        (
            "a: b: c\n---\nd: 1\n",
            ["1:5: mapping values are not allowed in this context", {"d": 1}],
        ),
        ("%YAML 2.0\n---\na: 1\n", ["1:1: found incompatible YAML document"]),
        ("a: *x\n---\nb: 1\n", ["1:4: unknown anchor `x`", {"b": 1}]),
        ("a: &x 1\n---\nb: *x\n", [{"a": 1}, "3:4: unknown anchor `x`"]),
        ("a: &x [1, *x]\n", ["1:11: anchor `x` contains itself"]),
        ("&x\na: {b: *x}\n", ["2:8: anchor `x` contains itself"]),
        ("&x\n<<: *x\n", ["2:5: anchor `x` contains itself"]),
        ("a: {{ .Values.a }}\n", ["1:5: invalid map key: a mapping or sequence"]),
        ("? [a]\n: 1\n", ["1:3: invalid map key: a mapping or sequence"]),
        ("a: &x [1]\nb: {*x : 1}\n", ["2:5: invalid map key: a mapping or sequence"]),
        ("<<: 1\n", ["1:1: map merge requires map or sequence of maps as the value"]),
        ("<<: [{a: 1}, 2]\n", ["1:1: map merge requires map or sequence of maps as the value"]),
        ("x: &x [{a: 1}]\n<<: *x\n", ["2:1: map merge requires map or sequence of maps as the value"]),
    ],
)
def test_a_broken_document_has_a_place_and_hides_no_other(text: str, expected: list[Any]) -> None:
    """Each document is parsed for itself, and refused for what kubectl refuses it."""
    assert expected == composed(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: \x01", "1:4: control characters are not allowed"),
        ("a: é\x07", "1:5: control characters are not allowed"),
        ("ok: 1\n---\nééé: 💥💥\x00", "3:8: control characters are not allowed"),
        ("a: '\x1b[2J'", "1:5: control characters are not allowed"),
        ("é\r\n💥: \x7f", "2:4: control characters are not allowed"),
        ("a: \ufffe", "1:4: control characters are not allowed"),
    ],
)
def test_a_control_character_is_refused_where_it_stands(text: str, expected: str) -> None:
    """The reader counts bytes; the place is in characters."""
    assert expected == composed(text)[-1]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        "{" * 1_000_000,
        "- " * 500_000,
        "? " * 500_000,
        "a: " + "[" * 1_000_000,
        "\n".join(" " * level + "a:" for level in range(1000)),
        "\n".join(" " * level + "-" for level in range(1000)),
        "[" * 257 + "]" * 257,
    ],
    ids=["[", "{", "-", "?", "a: [", "mappings", "sequences", "one too many"],
)
def test_deep_nesting_is_refused(text: str) -> None:
    """Kubernetes objects nest about 20 levels; 256 are enough, and the rest is not read."""
    (problem,) = composed(text)

    assert "nested deeper than 256 levels" == problem.partition(": ")[2]


def test_256_levels_are_read() -> None:
    """The deepest document that is allowed."""
    expected: list[Any] = []
    for _ in range(255):
        expected = [expected]

    assert [expected] == composed("[" * 256 + "]" * 256)


def test_an_alias_counts_the_levels_of_its_anchor() -> None:
    """200 levels repeated 100 levels down are 300, though neither is written so deep."""
    text = "a: &a " + "[" * 200 + "]" * 200 + "\nb: " + "[" * 100 + "*a" + "]" * 100

    assert ["2:104: nested deeper than 256 levels"] == composed(text)


@pytest.mark.parametrize(
    ("text", "size"), [(BOMB, 1_234_567_899), (MERGE_BOMB, 370_370_369)], ids=["sequences", "merges"]
)
def test_an_alias_bomb_is_refused_without_writing_it_out(text: str, size: int) -> None:
    """A billion nodes from 500 bytes: kubectl's rule for excessive aliasing, before any is made."""
    (problem,) = composed(text)

    assert problem.startswith("1:1: document contains excessive aliasing: ")
    assert int(problem.split()[-5]) > size


def test_aliases_in_moderation_are_written_out() -> None:
    """An anchor used 50 times is nothing excessive."""
    expected = {"a": {"x": [1, 2]}, "b": [{"x": [1, 2]}] * 50}

    assert [expected] == composed(f"a: &a {{x: [1, 2]}}\nb: [{', '.join(['*a'] * 50)}]\n")


@pytest.mark.parametrize(
    ("text", "route", "expected"),
    [
        ("a: 1\nb: two # comment\n", ("b",), "two"),
        ("a: {b: [x, 'y', \"z\\n\"]}\n", ("a",), "{b: [x, 'y', \"z\\n\"]}"),
        ("a: {b: [x, 'y', \"z\\n\"]}\n", ("a", "b"), "[x, 'y', \"z\\n\"]"),
        ("a: {b: [x, 'y', \"z\\n\"]}\n", ("a", "b", 1), "'y'"),
        ("a: {b: [x, 'y', \"z\\n\"]}\n", ("a", "b", 2), '"z\\n"'),
        ("a:\n  b: 1\n  c: 2\n\n# comment\n\nd: 3\n", ("a",), "b: 1\n  c: 2"),
        ("a:\n- x\n- y\n\n# comment\nb: 1\n", ("a",), "- x\n- y"),
        ("a:\r\n  b: é\r\n  c: 💥\r\n\r\nd: 1\r\n", ("a",), "b: é\r\n  c: 💥"),
        ("a: |\n  x\n  y\nb: 1\n", ("a",), "|\n  x\n  y\n"),
        ("a: >-\n  x\n  y\nb: 1\n", ("a",), ">-\n  x\n  y\n"),
        ("a: x\n  y\nb: 1\n", ("a",), "x\n  y"),
        ("a: &x 1\nb: *x\n", ("a",), "&x 1"),
        ("a: &x 1\nb: *x\n", ("b",), "*x"),
        ("a: &x {c: 1}\nb: *x\n", ("b",), "*x"),
        ("a: &x {c: 1}\nb: *x\n", ("b", "c"), "1"),
        ("a: !!str 1\n", ("a",), "!!str 1"),
        ("é: 💥\n---\nb: 2\n", ("é",), "💥"),
        ("x: &x {a: 1}\nw: {<<: *x, b: 2}\n", ("w", "a"), "1"),
        ("a:\nb: 1\n", ("a",), ""),
        # what is not there: the key of the mapping that lacks it, or its first line
        ("a: {b: 1}\nc: 2\n", ("a", "z"), "a"),
        ("a: {b: 1}\nc: 2\n", ("z", "y"), "a"),
        ("a: [x, {b: 1}]\n", ("a", 1, "z"), "b"),
        ("a: [x]\n", ("a", 5), "a"),
        ("[x]\n", ("a",), "[x]"),
    ],
)
def test_a_value_stands_where_it_is_written(text: str, route: Route, expected: str) -> None:
    """A block ends with its last child; an anchored scalar begins at its anchor, an alias is its own place."""
    first = next(iter(compose.compose(SourceFile("f", text))))
    assert isinstance(first, compose.Document)
    start, end = node.place(first.root, route)

    assert expected == text[start:end]


@pytest.mark.parametrize(
    ("text", "route", "expected"),
    [
        ("a: 1\nbb: 2\n", ("bb",), "bb"),
        ("a: {'b c': 1}\n", ("a", "b c"), "'b c'"),
        ("? a\n: 1\n", ("a",), "a"),
        ("&k a: 1\n", ("a",), "&k a"),
        ("1.0: x\n", ("1",), "1.0"),
        ("x: &x {a: 1}\nw: {<<: *x}\n", ("w", "a"), "a"),
        ("a: [{b: 1}]\n", ("a", 0), "{b: 1}"),
    ],
)
def test_a_key_stands_where_it_is_written(text: str, route: Route, expected: str) -> None:
    """Quotes, anchors and the text of a number belong to it; an item has no key."""
    assert expected == spanned(text, route, key=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x {b: 1}\nc: {<<: *x}\n", {"b": 1}),
        ("a: &x {b: 1}\nc: {<<: *x, b: 2}\n", {"b": 2}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 3}\n", {"b": 1, "d": 3}),
        ("c: {<<: {b: 1}, d: 3}\n", {"b": 1, "d": 3}),
        ("a: &x {b: 1}\ne: &y {b: 2, f: 4}\nc: {<<: [*x, *y]}\n", {"b": 1, "f": 4}),
        ("a: &x {b: 1}\ne: &y {<<: *x, f: 4}\nc: {<<: *y}\n", {"b": 1, "f": 4}),
        ("c: {<<: []}\n", {}),
        # go-yaml v2 takes them in the order of the text: what is merged later overrides
        ("a: &x {b: 1}\nc: {b: 2, <<: *x}\n", {"b": 1}),
        ("a: &x {b: 1}\ne: &y {b: 2}\nc: {<<: *x, <<: *y}\n", {"b": 2}),
        # no merge keys
        ("c: {'<<': {b: 1}}\n", {"<<": {"b": 1}}),
        ("c: {!!str <<: {b: 1}}\n", {"<<": {"b": 1}}),
    ],
)
def test_a_merge_key_brings_in_the_fields_of_its_mappings(text: str, expected: dict[str, Any]) -> None:
    """In kubectl's order; of several mappings the first wins."""
    assert expected == composed(text)[0]["c"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\n", []),
        ("a: 1\nb: 2\na: 3\n", [("a", (1, 1), (3, 1))]),
        ("a: 1\n'a': 2\n\"a\": 3\n", [("a", (1, 1), (2, 1)), ("a", (1, 1), (3, 1))]),
        ("1: x\n'1': y\n0x1: z\n", [("1", (1, 1), (2, 1)), ("1", (1, 1), (3, 1))]),
        ("y: 1\nyes: 2\n", [("true", (1, 1), (2, 1))]),
        ("{a: {b: 1, b: 2}, c: [{d: 1, d: 2}]}\n", [("b", (1, 6), (1, 12)), ("d", (1, 24), (1, 30))]),
        ("a: &x {b: 1, b: 2}\nc: *x\n", [("b", (1, 8), (1, 14))]),
        # a merge is not a key, and what it brings in is not written twice
        ("{a: 1, <<: {a: 2}, <<: {a: 3}}\n", []),
        ("{a: 1, a: 2, <<: {b: 1, c: 2}}\n", [("a", (1, 2), (1, 8))]),
    ],
)
def test_a_key_written_twice_is_found(text: str, expected: list[Any]) -> None:
    """By what the key means, in document order, and once for what an alias repeats."""
    found = document(text)
    duplicates = [
        (duplicate.text, *(found.source.position(key.start) for key in (duplicate.first, duplicate.again)))
        for mapping in node.mappings(found.root)
        for duplicate in mapping.duplicates()
    ]

    assert expected == duplicates


def test_of_equal_keys_the_last_counts() -> None:
    """As in kubectl."""
    assert [{"a": 3, "b": 2}] == composed("a: 1\nb: 2\na: 3\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'1'", "1"), ('"y"', "y"), ("|\n  1\n", "1\n"), (">-\n  true\n", "true"), ('"\\u00e9\\t"', "é\t"), ("1", 1),
        ("!!str 1", "1"), ("! 1", "1"), ("!foo 1", "1"), ("!!int '1'", 1), ("!!float 1.5", 1.5), ("!!bool 'yes'", True),
        ("!!null ''", None), ("!<tag:yaml.org,2002:str> 1", "1"), ("&x 1", 1), ("&x", None), ("*y", 7),
    ],
)  # fmt: skip
def test_quotes_and_tags_decide_what_a_scalar_is(text: str, expected: Any) -> None:
    """Only a plain scalar, or one of a known tag, is resolved by its text."""
    assert expected == composed(f"a: &y 7\nb: {text}\n")[0]["b"]


def test_documents_are_numbered_from_zero_without_the_empty_ones() -> None:
    """A broken document takes no number."""
    found = compose.compose(SourceFile("f", "# none\n---\na: 1\n---\n[\n---\n---\nb: 2\n"))

    assert [0, None, 1] == [getattr(item, "number", None) for item in found]


def test_a_refused_chunk_is_not_parsed() -> None:
    """What is not wanted may be as broken as it likes."""
    source = SourceFile("f", "kind: A\n---\nkind: B\n---\n[[[\n")
    found = list(compose.compose(source, lambda text: "B" in text))

    assert [{"kind": "B"}] == [node.to_plain(item.root) for item in found if isinstance(item, compose.Document)]
    assert 1 == len(found)


def test_the_places_of_a_later_document_are_those_of_the_source() -> None:
    """Offsets count from the start of the source."""
    text = "a: 1\n---\nb: [x, y]\n"
    _, second = compose.compose(SourceFile("f", text))
    assert isinstance(second, compose.Document)
    start, end = node.place(second.root, ("b", 1))

    assert (16, "y") == (start, text[start:end])


def test_the_value_of_a_manifest() -> None:
    container = {
        "name": "web",
        "image": "registry.example:5000/web:1.27@sha256:0a",
        "args": ["--port=8080", "-v", [], {}, {"a": {"b": [1, 16, 1000.0]}}],
        "command": ["-c", "exec  sleep", None, {"key": "value", "other": 0.5, "": "empty"}],
    }

    assert document(MANIFEST).plain == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "labels": {"app": "web", "tier": "front end", "version": "1.30"},
            "annotations": {
                "example.com/note": "it's said:no, or#1",
                "quoted.key": True,
                "nothing": None,
                "also-nothing": None,
            },
        },
        "spec": {"replicas": 3, "template": {"spec": {"containers": [container, {"name": "below"}]}}},
    }


def test_equal_lines_have_values_of_their_own() -> None:
    """A fix that changes one would change the others, too."""
    first, second = compose.compose(SourceFile("f", "a:\n- b: {c: [1]}\n- b: {c: [1]}\n---\na:\n- b: {c: [1]}\n"))

    assert isinstance(first, compose.Document)
    assert isinstance(second, compose.Document)
    first.plain["a"][0]["b"]["c"].append(2)

    assert first.plain == {"a": [{"b": {"c": [1, 2]}}, {"b": {"c": [1]}}]}
    assert second.plain == {"a": [{"b": {"c": [1]}}]}
