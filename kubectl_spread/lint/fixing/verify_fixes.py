"""Verification of fixes: the new text has the intended meaning, and the API server refuses no more than before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import DocumentFix, ObjectRef, Severity
from kubectl_spread.lint.fixing.unfixed import UNDECODABLE
from kubectl_spread.text import compose
from kubectl_spread.text import edit as editing
from kubectl_spread.text.source import SourceFile


def harm(result: Result, text: str, repairs: Iterable[DocumentFix], *, recheck: Callable[[SourceFile], Result]) -> str:
    """Return why a text with fixes must not replace the source; empty if it may."""
    fixed = SourceFile(result.source.name, text)
    if not _means(fixed, result.source, repairs):
        return "the text would not mean what the fix intends"
    added = _added(_refusals(result), _refusals(recheck(fixed)))
    return f"the API server would then refuse more: {', '.join(added)}" if added else ""


def _means(fixed: SourceFile, source: SourceFile, repairs: Iterable[DocumentFix]) -> bool:
    """Return whether the documents are the former ones, changed as intended; a new one may have become valid."""
    expected, problems = _documents(source)
    changes: dict[int, list[editing.Change]] = {}  # by the offset of the document
    for repair in repairs:
        if repair.document is not None:
            changes.setdefault(repair.document.start, []).extend(repair.fix.changes)
    for number, made in changes.items():
        expected[number] = editing.apply_changes(expected[number], made)
    found, problems_left = _documents(fixed)
    if problems_left > problems:
        return False
    remaining = iter(found.values())
    return all(_canonical(plain) in map(_canonical, remaining) for plain in expected.values())


def _documents(source: SourceFile) -> tuple[dict[int, Any], int]:
    """Return the plain values of the documents by their offsets, and the number of documents that are not YAML."""
    composed = list(compose.compose(source))
    plain = {item.start: item.plain for item in composed if isinstance(item, compose.Document)}
    return plain, len(composed) - len(plain)


def _canonical(plain: Any) -> str:
    """Return a text in which 1 and true differ."""
    return repr(_sorted(plain))


def _sorted(plain: Any) -> Any:
    """Return a value whose mappings are in the order of their keys."""
    if isinstance(plain, dict):
        return {key: _sorted(plain[key]) for key in sorted(plain)}
    return [_sorted(item) for item in plain] if isinstance(plain, list) else plain


def _refusals(result: Result) -> Counter[tuple[ObjectRef, str]]:
    """Return the errors of the API server, by object and rule."""
    return Counter((item.object, item.rule.code) for item in result.findings if item.rule.severity is Severity.ERROR)


def _added(before: Counter[tuple[ObjectRef, str]], after: Counter[tuple[ObjectRef, str]]) -> list[str]:
    """Return the rules by which more is refused; errors of objects that could not be decoded before are not new."""
    hidden = {name for name, code in before if code == UNDECODABLE}
    return sorted({code for name, code in after - before if code == UNDECODABLE or name not in hidden})
