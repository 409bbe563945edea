"""A simple document has the same places without its nodes as with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kubectl_spread.text import compose, node, simple_yaml
from kubectl_spread.text.source import SourceFile
from tests.text.test_simple_yaml import SIMPLE

CASES = sorted(str(path) for path in (Path(__file__).parents[1] / "lint").rglob("*.yaml"))


def routes(value: node.Node, route: node.Route = ()) -> Iterator[node.Route]:
    """Every route of a document, and routes that leave it at every value."""
    yield route
    if isinstance(value, node.Mapping):
        for key, field in value.fields.items():
            yield from routes(field.value, (*route, key))
    if isinstance(value, node.Sequence):
        for number, item in enumerate(value.items):
            yield from routes(item, (*route, number))
        yield (*route, len(value.items))
    yield from ((*route, "missing"), (*route, "missing", 0, "below"), (*route, 99))


def differences(text: str) -> list[tuple[node.Route, bool]]:
    """The routes whose places differ, and whether the places of their keys do."""
    found = []
    for document in compose.compose(SourceFile("web.yaml", text)):
        if isinstance(document, compose.Document) and document.is_simple:
            root = simple_yaml.root(document.text, document.start)
            questions = [(route, key) for route in routes(root) for key in (False, True)]
            found += [
                (route, key)
                for route, key in questions
                if document.place(route, key=key) != node.place(root, route, key=key)
            ]
    return found


@pytest.mark.parametrize("text", SIMPLE)
def test_places_of_simple_yaml(text: str) -> None:
    assert [] == differences(text)
    assert [] == differences(f"# first\nkind: Pod\n---\n{text}")


def test_places_of_manifests() -> None:
    assert CASES
    assert [] == [
        (path, difference)
        for path in CASES
        for difference in differences(Path(path).read_text(encoding="utf-8", errors="replace"))
    ]
