"""Words of each rule: its name and summary, its messages, and its page."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from types import CodeType
from typing import Any, NamedTuple

from kubectl_spread.lint.catalogue.pages import documentation
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.finding import RuleMeta, RuleTarget
from kubectl_spread.lint.run_rules import module_name
from kubectl_spread.text.source import SourceFile

_WORD = re.compile(r"[a-z][a-z0-9]+", re.ASCII)
_EXAMPLE = re.compile(r"^## Example\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class RuleWords(NamedTuple):
    """Words of a rule, from the most to the least telling source. Messages keep the order of their words."""

    title: tuple[str, ...]
    messages: tuple[tuple[str, ...], ...]
    page: tuple[str, ...]


def words_of(rule: RuleMeta) -> RuleWords:
    """Return the words of a rule; loads its module."""
    page = documentation(rule)
    prose = _EXAMPLE.sub("", page)
    title = words(f"{rule.code} {rule.name} {rule.summary}")
    return RuleWords(title, tuple(map(words, _messages(rule, page))), words(prose))


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text: lower case, without plural endings.

    A field in camel case is one word, and each of its parts is one as well.
    """
    return tuple(word for part in text.split() for word in _forms(part))


def _forms(part: str) -> Iterator[str]:
    split = _CAMEL.sub(" ", part)
    if split != part:
        yield from map(_singular, _WORD.findall(part.lower()))
    yield from map(_singular, _WORD.findall(split.lower()))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _messages(rule: RuleMeta, page: str) -> Iterator[str]:
    """Yield texts from which the rule builds its messages, or else the messages about its example."""
    if rule.target is not RuleTarget.OBJECT:
        spec = find_spec(module_name(rule.name))
        loader: Any = spec.loader if spec is not None else None
        yield from _texts(loader.get_code(module_name(rule.name)), skipped=page)
        return
    found = _EXAMPLE.search(page)
    if found is not None:
        source = SourceFile("example.yaml", textwrap.dedent(found["text"]).strip("\n") + "\n")
        yield from (finding.message for finding in check_source(source, named=True).findings if finding.rule == rule)


def _texts(code: CodeType, *, skipped: str) -> Iterator[str]:
    """Yield the texts with a space in compiled code; names and keys have none."""
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _texts(value, skipped=skipped)
        elif isinstance(value, str) and " " in value and value.strip() != skipped:
            yield value
