"""Findings that somebody has looked at and does not want to see again.

A comment, `# spread: ignore[SPR304] one node a zone`, covers the line it ends, or the line below where it stands alone;
where that line opens a block (a key without a value on its line, the first line of a list item), the block with it. An
annotation `spread.kubectl.io/ignore: SPR304 one node a zone`, on the object or on its pod template, covers the object.
Rules are named by code or name, several by commas; what follows is the reason.
"""

from __future__ import annotations

import re
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
from typing import NamedTuple

from kubectl_spread.lint.catalogue import RULES
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.finding import ObjectRef
from kubectl_spread.lint.finding import Place
from kubectl_spread.lint.subject import reference
from kubectl_spread.lint.subject import Subject
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.source import Span

ANNOTATION = "spread.kubectl.io/ignore"

_COMMENT = re.compile(
    r"(?:^|(?<=[ \t]))#[ \t]*spread:[ \t]*ignore\b[ \t]*(?:\[(?P<rules>[^\]\r\n]*)\])?(?=(?P<reason>[^\r\n]*))",
    re.MULTILINE,
)
_NAMED = re.compile(r"\s*([\w-]+(?:\s*,\s*[\w-]+)*)")
_BY_NAME = {rule.name: code for code, rule in RULES.items()}


class Suppression(NamedTuple):
    """A wish not to hear of rules in a part of a source; `words` name them, `place` is where it is written."""

    place: Place
    covers: Span
    words: tuple[str, ...]
    object: ObjectRef = ObjectRef()
    reason: str = ""


class Sifted(NamedTuple):
    """The findings that are left, those about suppressions included, and how many were suppressed."""

    findings: list[Finding]
    ignored: int


def commented(source: SourceFile) -> Iterator[Suppression]:
    """The suppressions that a source's comments ask for."""
    text = source.text
    if "spread:" not in text:
        return
    matches = list(_COMMENT.finditer(text))
    scalars = _scalars(source) if matches else []
    for match in matches:
        if not any(span.start < match.start() < span.end for span in scalars):
            words = tuple(word.strip() for word in (match["rules"] or "").split(",") if word.strip())
            place = Place(source, Span(match.start(), match.end()))
            yield Suppression(place, _covered(source, match.start()), words, reason=_reason(match["reason"]))


def annotated(subject: Subject) -> Iterator[Suppression]:
    """The suppressions that the annotations of a workload and of its pod template ask for."""
    root = subject.node(())
    for route in {("metadata", "annotations"), (*subject.template_route, "metadata", "annotations")}:
        written = subject.node((*route, ANNOTATION))
        if root is None or not isinstance(written, nodes.Scalar):
            continue
        named = _NAMED.match(written.text)
        words = tuple(word.strip() for word in named[1].split(",")) if named else ()
        place = subject.place((*route, ANNOTATION))
        reason = _reason(written.text[named.end() :] if named else "")
        yield Suppression(place, nodes.span(root), words, reference(subject.manifest), reason)


def sift(findings: Iterable[Finding], suppressions: Iterable[Suppression], codes: Container[str]) -> Sifted:
    """Leave out what is suppressed, and tell of suppressions that suppress nothing.

    What cannot be decoded is always told. A rule that was not asked for (`codes`) has nothing to suppress, and its
    suppression is not in vain.
    """
    wishes = list(suppressions)
    used: set[tuple[Suppression, str]] = set()
    kept = []
    ignored = 0
    for finding in findings:
        hits = [] if finding.is_unreadable else [wish for wish in wishes if _applies(wish, finding)]
        used.update((wish, finding.rule.code) for wish in hits)
        ignored += bool(hits)
        if not hits:
            kept.append(finding)
    if "SPR005" in codes:
        kept += [finding for wish in wishes for finding in _in_vain(wish, used, codes)]
    if "SPR607" in codes:
        kept += [_unexplained(wish) for wish in wishes if wish.words and not wish.reason]
    return Sifted(kept, ignored)


def _applies(wish: Suppression, finding: Finding) -> bool:
    place = finding.place
    if place.source is not wish.place.source or not wish.covers.start <= place.span.start < wish.covers.end:
        return False
    return any(_code(word) == finding.rule.code for word in wish.words)


def _in_vain(wish: Suppression, used: set[tuple[Suppression, str]], codes: Container[str]) -> Iterator[Finding]:
    rule = RULES["SPR005"]
    if not wish.words:
        hint = "name the rules in brackets: # spread: ignore[SPR304]"
        yield Finding(rule, "no rule is named, so nothing is ignored", wish.place, wish.object, hint=hint)
    for word in wish.words:
        code = _code(word)
        if not code:
            yield Finding(rule, f"no rule is called `{word}`", wish.place, wish.object, hint="see kubectl spread rule")
        elif code in codes and (wish, code) not in used:
            yield Finding(
                rule, f"nothing here is {code}, so nothing is ignored", wish.place, wish.object, hint="remove it"
            )


def _unexplained(wish: Suppression) -> Finding:
    words = ", ".join(wish.words)
    return Finding(
        RULES["SPR607"],
        f"nothing says why {words} is ignored here",
        wish.place,
        wish.object,
        hint="write the reason behind the rules",
    )


def _reason(text: str) -> str:
    """What is written behind the rules, without the signs that set it apart."""
    return text.strip(" \t:;,.-#\u2013\u2014\u2026")


def _code(word: str) -> str:
    return word.upper() if word.upper() in RULES else _BY_NAME.get(word, "")


def _scalars(source: SourceFile) -> list[Span]:
    """Where text stands that may look like a comment and is none."""
    spans = []
    for document in compose.compose(source):
        if isinstance(document, compose.Document):
            for mapping in nodes.mappings(document.root):
                for value in mapping.pairs:
                    spans += [nodes.span(item) for item in value if isinstance(item, nodes.Scalar) and "#" in item.text]
    return spans


def _covered(source: SourceFile, at: int) -> Span:
    """The line that a comment speaks of, and the block that it opens."""
    number, column = source.position(at)
    if not source.line(number)[: column - 1].strip():
        number += 1
    lines = source.text.count("\n") + 1
    last = number
    if number <= lines and _opens(source.line(number)):
        while last < lines and _is_below(source.line(last + 1), source.line(number)):
            last += 1
    start = source.offset(min(number, lines))
    return Span(start, source.offset(last + 1) if last < lines else len(source.text) + 1)


def _opens(line: str) -> bool:
    content = line.split(" #", maxsplit=1)[0].strip()
    return content.endswith(":") or content.startswith("- ")


def _is_below(line: str, opener: str) -> bool:
    """Whether a line belongs to the block of an earlier one; a key's list may stand in the key's own column."""
    content = line.strip()
    if not content or content.startswith("#"):
        return True
    depth, of_opener = len(line) - len(line.lstrip(" ")), len(opener) - len(opener.lstrip(" "))
    return depth > of_opener or (depth == of_opener and content.startswith("-") and not opener.strip().startswith("-"))
