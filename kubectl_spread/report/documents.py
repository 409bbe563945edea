"""Documents for programs: records in JSON, under the names and in the order of their schemas; JUnit's XML."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Optional, TypeVar, Union

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.containers import grouped
from kubectl_spread.errors import SourceError, SpreadError
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.node import NodesOfPool
from kubectl_spread.objects.workloads.kinds import KINDS

API_VERSION = "kubectl-spread/v1"
Plain = dict[str, Any]


T = TypeVar("T")


# The fields of a type of records in its schema, and functions for what the record has in another form.
_FORMS: dict[type, tuple[Union[str, Callable[[Any], str]], dict[str, Callable[[Any], object]]]] = {}


def form(kind: type[T], fields: Union[str, Callable[[T], str]], **values: Callable[[T], object]) -> None:
    """Say how a type of records is written, under the names and in the order of its schema.

    Args:
        kind: the type.
        fields: names with blanks between them. `maxSkew` is the field `max_skew`, and `exact` may be `is_exact`;
            `index=position` and `states=coverage.states` take other fields, and `budget?` is null if it is empty.
            A function if they depend on the record.
        values: functions for names that the record does not have, or has in another form.
    """
    _FORMS[kind] = fields, values


def to_document(record: object, fields: str = "", **values: object) -> Plain:
    """Return a record in the form of its type; without a form, all its fields.

    Args:
        record: the record.
        fields: other fields than those of the form, written in the same way.
        values: what neither the record nor its form has.
    """
    written, functions = _FORMS.get(type(record)) or (" ".join(getattr(record, "_fields", ())), {})
    document = {}
    for name, path, is_nullable in _parsed(fields or (written if isinstance(written, str) else written(record))):
        value: Any = record
        if name in values:
            value = values[name]
        elif name in functions:
            value = functions[name](record)
        else:  # a field, or a field of a field; a Boolean one also without its `is_` or `has_`
            for field in path:
                forms = (field, f"is_{field}", f"has_{field}")
                known = next((form for form in forms if hasattr(value, form)), field)
                value = None if value is None else getattr(value, known)
        document[name] = None if is_nullable and not value else plain(value)
    return document


@functools.cache
def _parsed(fields: str) -> list[tuple[str, tuple[str, ...], bool]]:
    """Return the name in the schema, the path to the field, and whether it is null if it is empty."""
    parsed = []
    for text in fields.split():
        written, _, field = text.partition("=")
        stem = written.rstrip("?")
        snake_case = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", stem)
        camel_case = re.sub("_(.)", lambda letter: letter[1].upper(), stem)
        parsed.append((camel_case, tuple((field or snake_case).split(".")), written != stem))
    return parsed


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a choice by its value, a range by its ends, a record in its form."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Range):
        return {"min": value.least, "max": value.most}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return to_document(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def report_document(
    kind: str,
    fields: Plain,
    *,
    errors: Optional[Iterable[SpreadError]] = None,
    unread: Optional[Iterable[Unread]] = None,
) -> Plain:
    """Return a document of some kind; the inputs and resources that could not be read come last, if it has them."""
    document = {"apiVersion": API_VERSION, "kind": kind, **fields}
    if errors is not None:
        document["errors"] = error_documents(errors)
    if unread is not None:
        document["unread"] = unread_documents(unread)
    return document


def origin(constraint: Any) -> str:
    """Return where a constraint comes from: the pod, or the scheduler's default constraints."""
    return "scheduler" if constraint.is_default else "pod"


def error_documents(errors: Iterable[SpreadError]) -> list[Plain]:
    """Return the inputs that could not be read; line and column are 0 for a whole input."""
    return [
        to_document(error, "file=source message line column")
        if isinstance(error, SourceError)
        else {"file": "", "message": str(error), "line": 0, "column": 0}
        for error in errors
    ]


def dumps(document: Plain) -> str:
    """Return a document as indented JSON, without characters that a terminal would obey."""
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False))


def escape_json(text: str) -> str:
    """Return JSON with the same meaning, without characters that a terminal would obey, except line breaks."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text)


def line(unread: Iterable[Unread]) -> str:
    """Return `partly known: may not list cronjobs; outside shop: pods`; empty if everything was read."""
    by_namespace = grouped((item.namespace, item.plural) for item in sorted(unread, key=lambda item: item.namespace))
    parts = [
        f"outside {namespace}: {', '.join(plurals)}" if namespace else ", ".join(plurals)
        for namespace, plurals in by_namespace.items()
    ]
    return f"partly known: may not list {'; '.join(parts)}" if parts else ""


def of_workloads(unread: Iterable[Unread]) -> tuple[Unread, ...]:
    """Return the kinds of workloads that may not be read in any namespace."""
    return tuple(item for item in unread if item.kind in KINDS and not item.namespace)


def unread_documents(unread: Iterable[Unread]) -> list[Plain]:
    """Return the kinds that may not be listed."""
    return [to_document(item, "kind resource=plural onlyNamespace?=namespace") for item in unread]


form(NodesOfPool, "pool nodes=number unused zones")


_TAGS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


class Result(NamedTuple):
    """A result of a test case, such as `failure`, with its attributes and its text."""

    tag: str
    attributes: Mapping[str, str] = {}
    text: str = ""


class Case(NamedTuple):
    """A test case; without a result it has passed. group: the name of its class if that is not the suite."""

    name: str
    results: Sequence[Result] = ()
    group: str = ""


class Suite(NamedTuple):
    """Test cases with a name; counts: the attributes with numbers of cases, by their first results."""

    name: str
    cases: Sequence[Case]
    counts: tuple[str, ...] = ("failures", "errors")


def junit_document(name: str, suites: Iterable[Suite]) -> str:
    """Return a JUnit document of test suites."""
    from xml.etree import ElementTree as ET  # 8 ms

    root = ET.Element("testsuites", name=_text(name))
    for suite in suites:
        tags = Counter(case.results[0].tag for case in suite.cases if case.results)
        numbers = {count: str(tags[_TAGS[count]]) for count in suite.counts}
        parent = ET.SubElement(
            root, "testsuite", {"name": _text(suite.name), "tests": str(len(suite.cases)), **numbers}
        )
        for case in suite.cases:
            group = _text(case.group or suite.name)
            element = ET.SubElement(parent, "testcase", name=_text(case.name), classname=group)
            for result in case.results:
                attributes = {key: _text(value) for key, value in result.attributes.items()}
                ET.SubElement(element, result.tag, attributes).text = _text(result.text) or None
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _text(text: str) -> str:
    """Return text without the characters that XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
