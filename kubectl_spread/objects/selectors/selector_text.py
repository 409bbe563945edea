"""A label selector as kubectl's -l takes it.

    web, !canary, tier=front, tier!=back, zone in (a, b), zone notin (c)

Source: staging/src/k8s.io/apimachinery/pkg/labels/selector.go, Parse (v1.36.2), but for `x > 1` and `x < 1`.
"""

from __future__ import annotations

import re

from kubectl_spread.objects.selectors.labels import key_errors, value_errors
from kubectl_spread.objects.selectors.selector import LabelRequirement, Selector

_TOKEN = re.compile(r"\s*(==|!=|=|!|,|\(|\)|[^\s=!,()]+)")
_OPERATORS = {"=": "In", "==": "In", "!=": "NotIn", "in": "In", "notin": "NotIn"}


class SelectorError(ValueError):
    """A text is not a label selector; `str()` says why."""


def parse(text: str) -> Selector:
    """Return the requirements of a selector; an empty text selects everything.

    Raises:
        SelectorError: it is not a selector.
    """
    reader = _Reader(text)
    found: list[LabelRequirement] = []
    while reader.peek():
        found.append(_requirement(reader))
        if reader.peek():
            reader.take(",")
            if not reader.peek():
                raise SelectorError(f"unable to parse requirement: found '', expected: identifier after ',': {text}")
    return Selector(tuple(found))


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        if re.sub(r"\s", "", text) != "".join(self._tokens):
            raise SelectorError(f"unable to parse the selector: {text}")

    def peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def next(self) -> str:
        if not self._tokens:
            raise SelectorError(f"unable to parse requirement: it ends too early: {self._text}")
        token: str = self._tokens.pop(0)
        return token

    def take(self, wanted: str) -> None:
        found = self.next()
        if found != wanted:
            raise SelectorError(f"unable to parse requirement: found '{found}', expected: '{wanted}'")


def _requirement(reader: _Reader) -> LabelRequirement:
    if reader.peek() == "!":
        reader.next()
        return LabelRequirement(_key(reader.next()), "DoesNotExist")
    key = _key(reader.next())
    operator = reader.peek()
    if operator in ("", ","):
        return LabelRequirement(key, "Exists")
    if operator not in _OPERATORS:
        raise SelectorError(f"unable to parse requirement: found '{operator}', expected: in, notin, =, ==, !=")
    reader.next()
    if operator in ("in", "notin"):
        return LabelRequirement(key, _OPERATORS[operator], _values(reader))
    value = "" if reader.peek() in ("", ",") else reader.next()
    return LabelRequirement(key, _OPERATORS[operator], (_value(value),))


def _values(reader: _Reader) -> tuple[str, ...]:
    reader.take("(")
    found: list[str] = []
    while reader.peek() != ")":
        found.append(_value("" if reader.peek() == "," else reader.next()))
        if reader.peek() != ")":
            reader.take(",")
    reader.take(")")
    if not found:
        raise SelectorError("unable to parse requirement: for 'in', 'notin' operators, values set can't be empty")
    return tuple(found)


def _key(text: str) -> str:
    errors = key_errors(text)
    if errors:
        raise SelectorError(f'unable to parse requirement: key: Invalid value: "{text}": {errors[0]}')
    return text


def _value(text: str) -> str:
    errors = value_errors(text)
    if errors:
        raise SelectorError(f'unable to parse requirement: values: Invalid value: "{text}": {errors[0]}')
    return text
