"""Results for the open documents at one moment.

All open documents are one project, like the files of one run of `check`. So a HorizontalPodAutoscaler in one tab counts
for the Deployment in another. An unchanged document is not parsed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple, Optional, TypeVar

from kubectl_spread.containers import grouped
from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.operations.rule_choice import DocumentChecker
from kubectl_spread.text.source import SourceFile

T = TypeVar("T")


class OpenDocument(NamedTuple):
    """An open document in the client's version; `name` is its path, or its URI if it is not a file."""

    uri: str
    name: str
    version: Optional[int]
    text: str


class ReviewedDocument(NamedTuple):
    """An open document with its objects and findings."""

    opened: OpenDocument
    result: Result
    findings: tuple[Finding, ...]


class Review(NamedTuple):
    """The open documents by URI, and bugs of this program that occurred; a bug's own results are missing."""

    documents: dict[str, ReviewedDocument]
    bugs: tuple[Exception, ...] = ()

    @property
    def open_documents(self) -> tuple[OpenDocument, ...]:
        return tuple(checked.opened for checked in self.documents.values())

    def uri(self, source: SourceFile) -> str:
        """Return the URI of a source's document; the source's name if it is not open."""
        for uri, checked in self.documents.items():
            if checked.result.source is source:
                return uri
        return source.name


def review_documents(opened: Iterable[OpenDocument], checker: DocumentChecker, *, before: Review) -> Review:
    """Check the open documents together. If a bug prevents that, check each one separately."""
    bugs: list[Exception] = []
    results: list[tuple[OpenDocument, Result]] = []
    for document in opened:
        known = before.documents.get(document.uri)
        if known is not None and known.opened.text == document.text:
            results.append((document, known.result))
            continue
        # A file contains neither a byte order mark nor single halves of surrogate pairs.
        text = document.text.removeprefix("\ufeff").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        source = SourceFile(document.name, text)
        results.append((document, _tried(partial(checker.read, source), bugs) or Result(source, ())))
    together = [result for _, result in results]
    found = _tried(partial(checker.findings, together), bugs)
    if found is None:
        alone = [_tried(partial(checker.findings, [result]), bugs) or [] for result in together]
        found = [finding for findings in alone for finding in findings]
    by_source = grouped((id(finding.place.source), finding) for finding in found)
    documents = {
        document.uri: ReviewedDocument(document, result, tuple(by_source.get(id(result.source), ())))
        for document, result in results
    }
    return Review(documents, tuple(bugs))


def _tried(work: Callable[[], T], bugs: list[Exception]) -> Optional[T]:
    """Return the result of a call; None if it fails. Record the bug, because other requests still need answers."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 (a bug must not end the session)
        bugs.append(error)
        return None
