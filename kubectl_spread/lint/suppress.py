"""Suppressions of findings: comments, annotations, and entries of the config.

A comment, `# spread: ignore[SPR304] one node a zone`, covers its own line, or the next one if it is alone. If that line
opens a block (a key without a value, the first line of a list item), it covers the block. An annotation
`spread.kubectl.io/ignore: SPR304 one node a zone`, on the object or on its pod template, covers the object. Rules are
given by code or name, separated by commas, and followed by the reason. An entry under `ignores` in the config covers
the objects that it names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple, Optional, Union

from kubectl_spread.containers import grouped
from kubectl_spread.lint.finding import DocumentFix, Finding, Fix
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.selection import named_codes
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.edit import Edit
from kubectl_spread.text.glob import Globs, matches
from kubectl_spread.text.source import Place, SourceFile, Span

ANNOTATION = "spread.kubectl.io/ignore"

# Patterns are compiled when a comment is read: most sources have none.
_COMMENT = (
    r"(?m)(?:^|(?<=[ \t]))#[ \t]*spread:[ \t]*ignore\b[ \t]*(?:\[(?P<rules>[^\]\r\n]*)\])?(?=(?P<reason>[^\r\n]*))"
)
_NAMED = r"\s*([\w-]+(?:\s*,\s*[\w-]+)*)"
_BY_NAME = {rule.name: code for code, rule in RULES.items()}


class Suppression(NamedTuple):
    """A suppression of rules in a part of a source; `words` name them, `place` is the place of the suppression."""

    place: Place
    range: Span
    words: tuple[str, ...]
    object: ObjectKey = ObjectKey()
    reason: str = ""

    def covers(self, finding: Finding) -> bool:
        """Return whether a finding is in that part."""
        place = finding.place
        return place.source is self.place.source and self.range.start <= place.span.start < self.range.end

    def reaches(self, source: SourceFile) -> bool:
        """Return whether it can suppress something of a source."""
        return source is self.place.source

    def codes(self, word: str) -> frozenset[str]:
        """Return the rule of a code or name; prefixes would hide rules that are added later."""
        code = word.upper() if word.upper() in RULES else _BY_NAME.get(word)
        return frozenset([code] if code else [])


class Waiver(NamedTuple):
    """An entry of the config that accepts findings of some rules, by object and file; empty means any."""

    place: Place
    words: tuple[str, ...]
    kind: str = ""
    name: str = ""
    namespace: str = ""
    files: Optional[Globs] = None
    object: ObjectKey = ObjectKey()

    def covers(self, finding: Finding) -> bool:
        """Return whether the suppression applies to the finding's object and file."""
        about = finding.object
        return (
            _fits(self.kind, about.kind)
            and _fits(self.name, about.name)
            and _fits(self.namespace, about.namespace or "default")
            and self.reaches(finding.place.source)
        )

    def reaches(self, source: SourceFile) -> bool:
        """Return whether the suppression applies to a source."""
        return self.files is None or self.files.match(source.name)

    def codes(self, word: str) -> frozenset[str]:
        """Return the rules of a code, prefix or name."""
        return named_codes([word])


AnySuppression = Union[Suppression, Waiver]
Used = set[tuple[AnySuppression, str]]  # a suppression, and a code that it has suppressed


def from_comments(source: SourceFile) -> Iterator[Suppression]:
    """Yield the suppressions that a source's comments ask for."""
    text = source.text
    if "spread:" not in text:
        return
    found = list(re.finditer(_COMMENT, text))
    lines = text.count("\n") + 1
    documents = compose.documents(source) if found else ()
    mappings = (mapping for document in documents for mapping in nodes.mappings(document.root))
    items = (item for mapping in mappings for pair in mapping.pairs for item in pair)
    # Texts that may look like a comment and are none.
    scalars = [nodes.span(item) for item in items if isinstance(item, nodes.Scalar) and "#" in item.text]
    for match in found:
        if not any(span.start < match.start() < span.end for span in scalars):
            words = tuple(word.strip() for word in (match["rules"] or "").split(",") if word.strip())
            place = Place(source, Span(match.start(), match.end()))
            yield Suppression(
                place, _covered(source, match.start(), lines=lines), words, reason=_reason(match["reason"])
            )


def from_annotations(subject: Subject) -> Iterator[Suppression]:
    """Yield the suppressions that the annotations of a workload and of its pod template ask for."""
    root = subject.node(())
    for route in {("metadata", "annotations"), (*subject.template_route, "metadata", "annotations")}:
        written = subject.node((*route, ANNOTATION))
        if root is None or not isinstance(written, nodes.Scalar):
            continue
        listed = re.match(_NAMED, written.text)
        words = tuple(word.strip() for word in listed[1].split(",")) if listed else ()
        place = subject.place((*route, ANNOTATION))
        reason = _reason(written.text[listed.end() :] if listed else "")
        yield Suppression(place, nodes.span(root), words, subject.manifest.ref, reason)


def apply(findings: Iterable[Finding], suppressions: Iterable[AnySuppression]) -> tuple[list[Finding], Used]:
    """Return the findings that are not suppressed, and the suppressions that were used.

    Undecodable objects are always reported.
    """
    by_code = [
        (code, suppression)
        for suppression in suppressions
        for code in frozenset().union(*map(suppression.codes, suppression.words))
    ]
    waivers = grouped((code, item) for code, item in by_code if isinstance(item, Waiver))
    # A large file may have thousands of comments, so they are found by the place of a finding.
    comments = grouped(((code, item.place.source), item) for code, item in by_code if isinstance(item, Suppression))
    for items in comments.values():
        items.sort(key=lambda item: item.range.start)
    # The largest end of each suppression and those before it.
    ends = {key: list(accumulate((item.range.end for item in items), max)) for key, items in comments.items()}
    used: Used = set()
    kept = []
    for finding in findings:
        code, (source, span) = finding.rule.code, finding.place
        hits: list[AnySuppression] = []
        if not finding.is_unreadable:
            hits += (item for item in waivers.get(code, ()) if item.covers(finding))
            before = comments.get((code, source), [])
            at = bisect_right(before, span.start, key=lambda item: item.range.start) - 1
            while at >= 0 and ends[code, source][at] > span.start:
                hits += [before[at]] if before[at].covers(finding) else []
                at -= 1
        used.update((suppression, code) for suppression in hits)
        kept += [] if hits else [finding]
    return kept, used


def findings_about(
    suppressions: Iterable[AnySuppression], used: Used, asked: Callable[[AnySuppression], frozenset[str]]
) -> Iterator[Finding]:
    """Yield findings for suppressions without effect, and for comments and annotations that give no reason.

    A suppression of a rule that does not run on the covered files is not reported.
    """
    for suppression in suppressions:
        if not suppression.words:
            hint = "name the rules in brackets: # spread: ignore[SPR304]"
            yield _finding("SPR005", suppression, "this suppression names no rule, so it has no effect", hint)
        for word in suppression.words:
            codes = suppression.codes(word)
            if not codes:
                yield _finding("SPR005", suppression, f"no rule is called `{word}`", "see kubectl spread rule")
            elif codes & asked(suppression) and used.isdisjoint((suppression, code) for code in codes):
                missing = next(iter(codes)) if len(codes) == 1 else word
                message = f"this suppression has no effect: there is no {missing} here"
                yield _finding("SPR005", suppression, message, "remove it")._replace(repair=_without(word, suppression))
        if isinstance(suppression, Suppression) and suppression.words and not suppression.reason:
            message = f"no reason is given for ignoring {', '.join(suppression.words)}"
            yield _finding("SPR607", suppression, message, "write the reason after the rules")


def _finding(code: str, suppression: AnySuppression, message: str, hint: str) -> Finding:
    return Finding(RULES[code], message, suppression.place, suppression.object, hint=hint)


def _without(word: str, suppression: AnySuppression) -> Optional[DocumentFix]:
    """Remove a rule from a comment. If the comment names no other rule, remove it with its reason."""
    source, (start, end) = suppression.place
    if not source.text.startswith("#", start):
        return None
    others = [other for other in suppression.words if other != word]
    number = source.position(start).line
    line, before = source.offset(number), source.text[source.offset(number) : start]
    if others:
        head = source.text[start : source.text.index("[", start)]
        edit = Edit(start, end, f"{head}[{', '.join(others)}]")
    elif before.strip():
        edit = Edit(line + len(before.rstrip()), line + len(source.line(number)), "")
    else:
        edit = Edit(line, source.offset(number + 1), "")
    return DocumentFix(Fix(f"remove {word} from the suppression", (), is_safe=True), source, edits=(edit,))


def _reason(text: str) -> str:
    """Return the reason after the rules, without the punctuation before it."""
    return text.strip(" \t:;,.-#\u2013\u2014\u2026")


def _fits(pattern: str, text: str) -> bool:
    return not pattern or matches(pattern, text)


def _covered(source: SourceFile, at: int, *, lines: int) -> Span:
    """Return the line that a comment covers, and the block that the line opens."""
    number, column = source.position(at)
    if not source.line(number)[: column - 1].strip():
        number += 1
    last = number
    content = source.line(number).split(" #", maxsplit=1)[0].strip() if number <= lines else ""
    if content.endswith(":") or content.startswith("- "):  # it opens a block
        while last < lines and _is_below(source.line(last + 1), source.line(number)):
            last += 1
    start = source.offset(min(number, lines))
    return Span(start, source.offset(last + 1) if last < lines else len(source.text) + 1)


def _is_below(line: str, opener: str) -> bool:
    """Return whether a line belongs to the block of an earlier one; a key's list may begin in the key's own column."""
    content = line.strip()
    if not content or content.startswith("#"):
        return True
    depth, of_opener = len(line) - len(line.lstrip(" ")), len(opener) - len(opener.lstrip(" "))
    return depth > of_opener or (depth == of_opener and content.startswith("-") and not opener.strip().startswith("-"))
