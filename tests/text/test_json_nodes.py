"""JSON text, which kubectl does not read as YAML."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies

from kubectl_spread.text import compose, json_nodes, node
from kubectl_spread.text.source import SourceFile

VALUES = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers(-(2**63), 2**63 - 1) | strategies.text(),
    lambda values: strategies.lists(values) | strategies.dictionaries(strategies.text(), values),
)


def composed(text: str) -> list[Any]:
    """The values of the documents, and the messages of those that do not parse."""
    return [
        item.message if isinstance(item, compose.SyntaxProblem) else node.to_plain(item.root)
        for item in compose.compose(SourceFile("f", text))
    ]


@pytest.mark.slow
@given(VALUES, strategies.sampled_from([None, 0, 2]), strategies.booleans())
def test_values_are_those_of_the_json_module(value: Any, indent: int, is_ascii: bool) -> None:
    """However json.dumps writes them."""
    text = json.dumps({"a": value}, indent=indent, ensure_ascii=is_ascii)
    (root,) = json_nodes.roots(text, 0, max_depth=256)

    assert json.loads(text) == node.to_plain(root)


def test_a_pair_of_surrogates_is_one_character_and_a_lone_one_is_none() -> None:
    """Python's json.dumps escapes so; Go puts U+FFFD for a half."""
    assert [{"a": "🎠", "b": "\ufffd"}] == composed('{"a": "\\ud83c\\udfa0", "b": "\\ud83c"}')


def test_a_key_may_be_longer_than_yaml_allows() -> None:
    """YAML's simple keys end at 1024 characters, JSON's do not."""
    key = "k" * 2000

    assert [{key: 1}] == composed(f'{{"{key}": 1}}')


def test_objects_may_follow_one_another() -> None:
    """With white space, or none, or `---` between them, each is a document of its own."""
    text = '{"a": 1}\n{"b": 2}{"c": 3}\n---\n{"d": 4}'

    assert [{"a": 1}, {"b": 2}, {"c": 3}, {"d": 4}] == composed(text)
    assert [0, 1, 2, 3] == [item.number for item in compose.compose(SourceFile("f", text))]  # type: ignore[union-attr]


def test_a_value_stands_where_it_is_written() -> None:
    """Also behind escapes and in the second object; a string stands with its quotes."""
    text = '{"a": "\\ud83c\\udfa0"}\n{"b": [1, {"c": "x"}]}'
    documents = [item for item in compose.compose(SourceFile("f", text)) if isinstance(item, compose.Document)]
    places = [node.place(documents[1].root, route) for route in [("b",), ("b", 0), ("b", 1), ("b", 1, "c")]]

    assert ['[1, {"c": "x"}]', "1", '{"c": "x"}', '"x"'] == [text[start:end] for start, end in places]


def test_the_text_of_a_string_decides_nothing() -> None:
    """In JSON only what has no quotes is a number or a boolean, and `<<` is a key like others."""
    assert [{"<<": {"a": "1"}, "1": "true"}] == composed('{"<<": {"a": "1"}, "1": "true"}')


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        '{"a": 01}',
        '{"a": .5}',
        '{"a": 1.}',
        '{"a": yes}',
        '{"a": "x\ny"}',
        '{"a": "\\x41"}',
        '{"a" 1}',
        '{"a": }',
        '{"a"}',
        '{"a": 1',
        '{"a": [1}',
        '{"a": 1} x',
        '{"a": [1 2]}',
        '{a: "b"}',
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    """Python's json module does not take it either."""
    with pytest.raises(json_nodes.NotJSONError):
        json_nodes.roots(text, 0, max_depth=256)
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [('{"a": 1,}', {"a": 1}), ('{"a": yes}', {"a": True}), ('{"a": x}  # y', {"a": "x"})],
)
def test_what_is_not_json_may_be_yaml(text: str, expected: Any) -> None:
    """Flow style begins with a brace, too."""
    assert [expected] == composed(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1 "b": 2}', "expecting ',' delimiter"),
        ('{"a": yes "b": 2}', "did not find expected ',' or '}' while parsing a flow mapping"),
    ],
)
def test_what_is_neither_has_the_message_of_the_language_it_is_nearer_to(text: str, expected: str) -> None:
    """A bare word is not JSON, and is valid YAML."""
    assert [expected] == composed(text)


@pytest.mark.parametrize(("depth", "expected"), [(256, True), (257, False)])
def test_256_levels_are_read_and_no_more(depth: int, expected: bool) -> None:
    """The same bound as for YAML."""
    (value,) = composed('{"a":' * depth + "1" + "}" * depth)

    assert expected == isinstance(value, dict)


def test_deep_nesting_is_refused() -> None:
    """Nothing below the 256th level is read."""
    values = composed('{"a":' * 200_000)

    assert ["nested deeper than 256 levels"] == values


def test_yaml_does_not_import_json() -> None:
    """The json module costs 5 ms, which only JSON pays."""
    code = (
        "import sys; from kubectl_spread.text import compose; from kubectl_spread.text.source import SourceFile; "
        "list(compose.compose(SourceFile('f', sys.argv[1]))); print('kubectl_spread.text.json_nodes' in sys.modules)"
    )
    printed = [
        subprocess.run([sys.executable, "-c", code, text], capture_output=True, text=True, check=True).stdout
        for text in ("{a: b}", '{"a": 1}')
    ]

    assert ["False\n", "True\n"] == printed
