"""Simple YAML has the values that libyaml gives, and everything else is left to libyaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_spread.text import compose, node
from kubectl_spread.text.source import SourceFile

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

SIMPLE = [
    MANIFEST,
    "a: b",
    "a:\n",
    "- a\n- b: c\n-\n  - d\n",
    "a:\n- 1\n-\nb:\n  - true\n",
    "- b: 1\n  c: 2\n- d: 3\n",
    "  a: 1\n  b:\n    - c\n",
    "a: é ü  # 漢字\nb: 'it'\n",
    "a: x#y:z\n",
    "true: 1\n1: 2\nnull: 3\n1.50: 4\n",
    "a: {}\nb: []\nc: { d: e , f: [ g ] } # end\n",
    "a: 0o17\nb: 017\nc: 1_000\nd: .5\ne: y\nf: +1\ng: 1:30\n",
]
OTHER = {
    "a literal block": "a: |\n  b\n",
    "a folded block": "a: >-\n  b\n",
    "a plain scalar of two lines": "a: b\n  c\n",
    "a quoted scalar of two lines": 'a: "b\n  c"\n',
    "a flow collection of two lines": "a: {b: c,\n  d: e}\n",
    "an escape": 'a: "\\n"\n',
    "a quote in quotes": "a: 'it''s'\n",
    "an anchor": "a: &b c\n",
    "an alias": "a: &b c\nd: *b\n",
    "a merge": "a: &b {c: d}\ne:\n  <<: *b\n",
    "a tag": "a: !!str 1\n",
    "a key written twice": "a: 1\na: 2\n",
    "a key written twice in one line": "a: {b: 1, b: 2}\n",
    "a complex key": "? a\n: b\n",
    "a sequence in a dash's line": "- - a\n",
    "a tab": "a:\tb\n",
    "a carriage return": "a: b\r\n",
    "a scalar alone": "a\n",
    "nothing": "# nothing\n",
    "a value beside the separator": "--- {a: b}\n",
    "a template": "a: {{ .Values.a }}\n",
    "a colon in flow style": "a: {b: nginx:1.27}\n",
    "a key alone in flow style": "a: {b}\n",
    "a comma at the end": "a: [b,]\n",
    "a line separator": "a: b\u2028c\n",
    "a byte order mark": "\ufeffa: b\n",
    "a mapping where a value was": "a: b\n  c: d\n",
    "less indentation than any block": "a:\n    b: 1\n  c: 2\n",
    "a dash among keys": "a: 1\n- b\n",
    "a key among dashes": "- a\nb: 1\n",
    "a word after quotes": 'a: "b" c\n',
    "a bracket too many": "a: [b]]\n",
    "a bracket too few": "a: [b\n",
    "seventy levels": "\n".join(" " * level + "a:" for level in range(70)),
    "thirty brackets": f"a: {'[' * 30}{']' * 30}\n",
}


def documents(text: str) -> list[compose.Document]:
    found = compose.compose(SourceFile("f", text))
    return [item for item in found if isinstance(item, compose.Document)]


def by_libyaml(document: compose.Document, text: str) -> node.Node:
    """The nodes of the same document, built from the events of libyaml."""
    source = SourceFile("f", text)
    chunks = [chunk for chunk in compose.chunks(text) if not chunk.is_blank]
    found = [item for chunk in chunks for item in compose.compose_roots(source, chunk)]
    roots = [item for item in found if not isinstance(item, compose.SyntaxProblem)]
    return roots[document.number]


def assert_as_by_libyaml(document: compose.Document, text: str) -> None:
    """A document that is simple has the value, and each of its nodes has the place, that libyaml gives."""
    root = by_libyaml(document, text)

    assert repr(node.to_plain(root)) == repr(document.plain)
    assert written(root) == written(document.root)


def written(item: node.Node) -> Any:
    """A node with its place, and all in it."""
    at = type(item).__name__, item.start, item.end
    if isinstance(item, node.Scalar):
        return *at, item.text, item.plain
    if isinstance(item, node.Sequence):
        return *at, [written(child) for child in item.items]
    return *at, [(written(key), written(child)) for key, child in item.pairs]


@pytest.mark.parametrize("text", SIMPLE)
def test_simple_yaml_has_the_values_and_places_that_libyaml_gives(text: str) -> None:
    (document,) = documents(text)

    assert document.is_simple
    assert_as_by_libyaml(document, text)


def test_the_value_of_a_manifest() -> None:
    (document,) = documents(MANIFEST)
    container = {
        "name": "web",
        "image": "registry.example:5000/web:1.27@sha256:0a",
        "args": ["--port=8080", "-v", [], {}, {"a": {"b": [1, 16, 1000.0]}}],
        "command": ["-c", "exec  sleep", None, {"key": "value", "other": 0.5, "": "empty"}],
    }

    assert document.plain == {
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


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_everything_else_is_left_to_libyaml(text: str) -> None:
    assert not any(document.is_simple for document in documents(text))


def test_the_nodes_of_a_simple_document_have_places_in_the_whole_source() -> None:
    source = SourceFile("f", "a: 1\n---\nb:\n  c: 2\n")
    _, second = compose.compose(source)

    assert isinstance(second, compose.Document)
    assert second.is_simple
    assert source.position(node.place(second.root, ("b", "c")).start) == (4, 6)


def test_equal_lines_have_values_of_their_own() -> None:
    """A fix that changes one would change the others, too."""
    first, second = documents("a:\n- b: {c: [1]}\n- b: {c: [1]}\n---\na:\n- b: {c: [1]}\n")
    first.plain["a"][0]["b"]["c"].append(2)

    assert first.plain == {"a": [{"b": {"c": [1, 2]}}, {"b": {"c": [1]}}]}
    assert second.plain == {"a": [{"b": {"c": [1]}}]}


PIECES = [
    *" \n:#-,{}[]'\"?&*!|>%@`~<=.\\\t0ay",
    *(": ", " #", "- ", "\n  ", "\n- ", "\n ", "  ", "---\n", "...\n", "<<: ", "? ", "é", "\u2028", "\x85", "\xa0"),
    *("''", '""', "null", "{}", "[]", ", ", ",}", ":a", "#a", "\r\n"),
]


@pytest.mark.slow
@settings(deadline=None, max_examples=600, derandomize=True, database=None)
@given(
    st.sampled_from(SIMPLE),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from(PIECES), st.integers(0, 3)), min_size=1, max_size=3),
)
def test_whatever_is_read_as_simple_is_as_libyaml_gives_it(text: str, changes: list[tuple[float, str, int]]) -> None:
    """Texts with pieces put in and taken out at any place; a document that libyaml refuses is missing among its own."""
    for share, piece, gone in changes:
        at = int(share * len(text))
        text = text[:at] + piece + text[at + gone :]

    for document in documents(text):
        if document.is_simple:
            assert_as_by_libyaml(document, text)


def test_the_manifests_of_the_tests_are_as_libyaml_gives_them() -> None:
    simple = 0
    for path in sorted(Path(__file__).parents[1].glob("lint/**/*.yaml")):
        text = path.read_text(encoding="utf-8")
        for document in documents(text)[:3]:
            simple += document.is_simple
            assert_as_by_libyaml(document, text)

    assert simple > 50
