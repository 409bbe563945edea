"""Records as JSON: the names, the order and the values of their fields."""

from __future__ import annotations

import operator
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Optional

import pytest
from ruamel.yaml import YAML

from kubectl_spread.cli.main import run
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.report.documents import error_documents, form, plain, to_document

EXAMPLES = Path(__file__).parents[3] / "examples"


class Colour(Enum):
    RED = "red"


class Part(NamedTuple):
    max_skew: int
    colour: Colour = Colour.RED


class Whole(NamedTuple):
    owner: ObjectKey
    part: Optional[Part]
    parts: tuple[Part, ...]
    pods: Range
    budget: str = ""
    is_exact: bool = True


WHOLE = Whole(ObjectKey("Deployment", "shop", "web"), Part(2), (Part(1),), Range(1, 2))


def test_fields_have_the_names_and_the_order_of_the_schema() -> None:
    assert list(to_document(WHOLE, "pods exact object=owner").items()) == [
        ("pods", {"min": 1, "max": 2}),
        ("exact", True),
        ("object", {"kind": "Deployment", "namespace": "shop", "name": "web"}),
    ]


def test_a_field_of_a_field_is_null_without_the_record() -> None:
    assert to_document(WHOLE, "maxSkew=part.max_skew") == {"maxSkew": 2}
    assert to_document(WHOLE._replace(part=None), "maxSkew=part.max_skew") == {"maxSkew": None}


def test_an_empty_field_is_null_only_with_a_question_mark() -> None:
    assert to_document(WHOLE, "budget") == {"budget": ""}
    assert to_document(WHOLE, "budget?") == {"budget": None}


def test_a_record_without_a_form_has_all_its_fields() -> None:
    assert to_document(Part(1)) == {"maxSkew": 1, "colour": "red"}


def test_a_form_holds_for_records_within_records() -> None:
    class Inner(NamedTuple):
        number: int

    class Outer(NamedTuple):
        inner: tuple[Inner, ...]

    form(Inner, "number double", double=lambda item: 2 * item.number)

    assert to_document(Outer((Inner(2),))) == {"inner": [{"number": 2, "double": 4}]}
    assert plain({"a": Inner(1)}) == {"a": {"number": 1, "double": 2}}
    assert to_document(Inner(2), double=5) == {"number": 2, "double": 5}


def test_an_error_without_a_file_has_line_0() -> None:
    assert error_documents([SourceError("a.yaml", "not YAML", line=2, column=1)]) == [
        {"file": "a.yaml", "message": "not YAML", "line": 2, "column": 1}
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["check", "shop/web.yaml"],
        ["status", "-n", "shop", "--snapshot", "shop/running.yaml"],
        ["explain", "-A", "--snapshot", "shop/cluster.yaml"],
        ["rebalance", "-n", "shop", "--snapshot", "shop/running.yaml"],
        ["simulate", "cordon", "a-1", "--snapshot", "shop/running.yaml"],
        ["guarantee", "-A", "--at-most", "zone=1/2", "--regime", "creation", "--snapshot", "shop/running.yaml"],
        ["rule", "SPR202"],
        ["version", "--client"],
    ],
    ids=operator.itemgetter(0),
)
def test_yaml_is_the_same_document_as_json(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(EXAMPLES)
    written = {}
    for name in ("json", "yaml"):
        code = run([*words, "-o", name])
        written[name] = (code, YAML(typ="safe").load(capsys.readouterr().out))

    assert written["json"] == written["yaml"]
