"""What is known of open documents, from one moment to the next."""

from __future__ import annotations

from kubectl_spread.lint.check_source import Result
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.selection import Config, LintPolicy
from kubectl_spread.lsp import OpenDocument, Review, review_documents
from kubectl_spread.operations.rule_choice import DocumentChecker
from kubectl_spread.text.source import SourceFile

EMPTY = Review({})
TEXT = "kind: Pod\napiVersion: v1\nspec: {topologySpreadConstraints: [{maxSkew: 0}]}\n"


JUDGE = DocumentChecker(LintPolicy(), Config("/"))


def opened(name: str, text: str, version: int = 1) -> OpenDocument:
    return OpenDocument(f"file:///{name}", name, version, text)


def test_what_did_not_change_is_not_read_again() -> None:
    """A new version with the same text is none, too."""
    first = review_documents([opened("a", TEXT), opened("b", TEXT)], JUDGE, before=EMPTY)
    second = review_documents([opened("a", TEXT, 2), opened("b", TEXT + "#")], JUDGE, before=first)

    assert first.documents["file:///a"].result is second.documents["file:///a"].result
    assert first.documents["file:///b"].result is not second.documents["file:///b"].result
    assert 2 == second.documents["file:///a"].opened.version


def test_a_source_is_known_by_its_document() -> None:
    """And one that is not open by its name."""
    review = review_documents([opened("a", TEXT), opened("b", TEXT)], JUDGE, before=EMPTY)

    assert "file:///b" == review.uri(review.documents["file:///b"].result.source)
    assert "c.yaml" == review.uri(SourceFile("c.yaml", TEXT))


def test_a_bug_that_only_all_together_meet_hides_nothing() -> None:
    """It is told all the same."""

    class FailsTogether(DocumentChecker):
        def findings(self, results: list[Result]) -> list[Finding]:
            if len(results) > 1:
                raise KeyError("together")
            return super().findings(results)

    review = review_documents([opened("a", TEXT), opened("b", TEXT)], FailsTogether(*JUDGE), before=EMPTY)

    assert ["KeyError('together')"] == [repr(bug) for bug in review.bugs]
    assert all(checked.findings for checked in review.documents.values())
