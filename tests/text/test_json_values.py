"""JSON documents one after another, as Python's own parser reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

from kubectl_spread.text import json_nodes

SCALARS = st.sampled_from([None, True, 0, -1.5, "", 'é"\\', "items"])
KEYS = st.sampled_from(["items", "kind", "", 'a"b'])
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)


def reference(text: str) -> list[Any]:
    """The same by Python's parser alone."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while text[at:].strip(" \t\r\n"):
        at = len(text) - len(text[at:].lstrip(" \t\r\n"))
        value, at = decoder.raw_decode(text, at)
        found.append(value)
    return found


def outcome(parse: Any, *arguments: Any) -> str:
    """What is parsed, or that it is not JSON."""
    try:
        return repr(parse(*arguments))
    except ValueError:
        return "not JSON"


@pytest.mark.slow
@settings(deadline=None, max_examples=400, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(DOCUMENTS, max_size=3), st.sampled_from([None, 1]), st.data())
def test_it_reads_what_pythons_parser_reads(documents: list[Any], indent: int, data: st.DataObject) -> None:
    """And refuses what that refuses: a character is taken away or put in anywhere."""
    text = "\n".join(json.dumps(document, indent=indent) for document in documents)
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.sampled_from(["", *'{}[]:," \n'])) + text[at + data.draw(st.integers(0, 1)) :]

    assert repr(documents) == outcome(json_nodes.values, text)
    assert outcome(reference, broken) == outcome(json_nodes.values, broken)


def test_objects_are_replaced_as_they_come() -> None:
    """The inner ones first."""
    text = '{"kind": "List", "items": [{"name": "a"}, 1, [{"name": "b"}]]}'

    def replace(plain: dict[str, Any]) -> Any:
        return plain.get("name", plain)

    assert [{"kind": "List", "items": ["a", 1, ["b"]]}] == json_nodes.values(text, replace)


@pytest.mark.parametrize("text", ['{"items": [{"a": "\\ud800"}]}', '{"items": [{"a": "\ufffd"}]}'])
def test_a_lone_surrogate_is_replaced(text: str) -> None:
    """As Go does."""
    assert [{"items": [{"a": "\ufffd"}]}] == json_nodes.values(text)
