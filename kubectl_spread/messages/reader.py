"""Reading of one scheduler message from left to right: reasons with counts, then the preemption clause."""

from __future__ import annotations

import re
from typing import Optional

from kubectl_spread.messages.message import NO_CLAIMS, Part, Preemption, STATE_NOT_FOUND
from kubectl_spread.messages.pasted_text import HEADER, PastedText, PREEMPTION
from kubectl_spread.messages.reason_kind import ReasonKind
from kubectl_spread.messages.scheduler_reasons import (
    begins_longer_wording,
    FIRST_MINOR,
    kind_beginning,
    LAST_MINOR,
    match,
    without_space,
)


class Reader:
    """A reader of one message's text, from left to right; its attributes hold the result."""

    def __init__(self, pasted: PastedText, at: int, end: int) -> None:
        self.text = pasted.plain[at:end]
        self.written = pasted.written[at:end]
        self.at = 0
        self.end = end - at
        self.first, self.last = FIRST_MINOR, LAST_MINOR
        self.is_cut = False
        self.not_understood: list[str] = []

    def quote(self, start: int, end: int) -> str:
        """Return the original text between two places."""
        return " ".join(self.written[start:end].split())

    def is_over(self, at: int) -> bool:
        """Return whether only closing characters follow a place."""
        return _NOTHING_LEFT.match(self.text, at) is not None

    def take(self, pattern: re.Pattern[str]) -> Optional[re.Match[str]]:
        """Read the text at the current place if it matches a pattern."""
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def wrote(self, since: int, until: int) -> None:
        """Narrow down the releases; ignore contradictions, because feature gates can be switched off."""
        first, last = max(self.first, since), min(self.last, until)
        if first <= last:
            self.first, self.last = first, last

    def parts(self) -> tuple[Part, ...]:
        """Read `2 Insufficient cpu, 1 Too many pods`, or a reason without a count."""
        out: list[Part] = []
        while True:
            self.take(_SPACES)
            start = self.at
            counted = self.take(_COUNT)
            if not counted and (out or self.is_over(self.at)):
                self.at = start
                break
            part = self._part(int(counted.group(1)[:9]) if counted else None)
            if part is None:
                self.at = start
                break
            out.append(part)
            if self.is_cut or not self.take(_SEPARATOR):
                break
        return tuple(out)

    def _part(self, count: Optional[int]) -> Optional[Part]:
        start = self.at
        found = match(self.text, start)
        if found is None:
            return self._unknown(count)
        self.at = found.end
        repeated = self.take(_REPEATED)
        if repeated:
            self.wrote(FIRST_MINOR, 21)
        reason = self.quote(start, self.at)
        kind = ReasonKind.TOO_MANY_PODS if (found.kind, found.subject) == (ReasonKind.RESOURCES, "pods") else found.kind
        if _ELLIPSIS_END.match(self.text, self.at) and begins_longer_wording(self.text[start : found.end]):
            self.is_cut = True
        elif kind is ReasonKind.SPREAD and self._begins_label():
            self.is_cut, kind = True, ReasonKind.SPREAD_LABEL
        else:
            self.wrote(found.since, found.until)
            if found.is_of_pod and count is not None:
                self.wrote(FIRST_MINOR, 25)
        may_go_on = kind is ReasonKind.SPREAD and not self.is_cut and _ENDS_OPEN.match(self.text, self.at) is not None
        return Part(count, reason, kind, found.subject, self.is_cut, may_go_on)

    def _begins_label(self) -> bool:
        """Return whether the text ends within `(missing required label)`."""
        begun = _LABEL_BEGUN.match(self.text, self.at)
        if not begun or not _MISSING_LABEL.startswith(without_space(begun.group(1))):
            return False
        self.at = begun.end()
        return True

    def _unknown(self, count: Optional[int]) -> Optional[Part]:
        """Read an unknown reason, or only its beginning, up to the next reason."""
        start = self.at
        found = _REASON_END.search(self.text, start)
        end = found.start() if found else len(self.text)
        raw = self.text[start:end]
        if count is None and not raw.strip():
            return None
        is_last = self.is_over(end) and not _FULL_STOP.match(self.text, end)
        kind = kind_beginning(raw.rstrip(" .…\"'`")) if is_last else None
        self.at = end
        written = self.quote(start, end)
        if kind is not None:
            self.is_cut = True
            return Part(count, written.rstrip(" .…"), kind, "", is_cut=True)
        self.not_understood.append(written)
        return Part(count, written, ReasonKind.UNKNOWN)

    def post_filter(self) -> tuple[tuple[str, ...], Optional[Preemption]]:
        """Read the text after the list: words of PostFilter plugins, and the preemption clause."""
        words: list[str] = []
        while True:
            self.take(_BEFORE_CLAUSE)
            self.take(_SPACES)
            start = self.at
            if self.take(PREEMPTION):
                if not words:
                    self.wrote(24, 33)
                return tuple(words), self._preemption()
            if self.take(_STATE):
                self.wrote(34, LAST_MINOR)
                return (*words, STATE_NOT_FOUND), None
            if not self.take(_POST_FILTER):
                return tuple(words), self._begun()
            self.wrote(34, LAST_MINOR)
            words.append(self.quote(start, self.at))
            self.take(_COMMA)

    def _begun(self) -> Optional[Preemption]:
        """Read the beginning of a preemption clause, or of the words before it, in a text that is cut off."""
        rest = without_space(self.text[self.at : self.at + _MOST_BEGUN]).rstrip(".…\"'`")
        phrases = (without_space(NO_CLAIMS), "stillnotschedulable", "preemption:")
        if len(rest) > 1 and any(phrase.startswith(rest) for phrase in phrases):
            self.at, self.is_cut = self.end, True
            return Preemption(is_cut=True)
        return None

    def _preemption(self) -> Preemption:
        header = self.take(HEADER)
        if header:
            total = header.group("total")
            if "available" not in header.group().lower():
                self.is_cut = True
                return Preemption(int(total[:9]) if total else None, is_cut=True)
            parts = self.parts()
            dots = self.take(DOTS)
            if dots and dots.group().strip() == ".." and self.is_over(self.at):
                self.wrote(26, 28)
            return Preemption(int(total[:9]) if total else None, parts, is_cut=self.is_cut)
        start = self.at
        if self.take(_VERDICT):
            verdict = self.quote(start, self.at)
            self.take(DOTS)
            return Preemption(verdict=verdict)
        begun = _CLAUSE_BEGUN.match(self.text, self.at)
        if begun and self.is_over(begun.end()):
            self.at, self.is_cut = self.end, True
            return Preemption(is_cut=True)
        found = _SENTENCE_END.search(self.text, self.at)
        self.at = found.start() if found else len(self.text)
        verdict = self.quote(start, self.at)
        self.not_understood.append(verdict)
        return Preemption(verdict=verdict)


_MISSING_LABEL = "(missingrequiredlabel)"
_LABEL_BEGUN = re.compile(r"\s*(\([a-z ]{0,30})(?:\.{2,}|…)?[\"'`]*\s*\Z", re.IGNORECASE)
_ENDS_OPEN = re.compile(r"[\s\"'`)\]}]*\Z")
_NOTHING_LEFT = re.compile(r"[ .…\n\"'`)\]}]*\Z")
_CLAUSE_BEGUN = re.compile(r"0(?:/\d*(?: [a-z]+)*)?|not eli[a-z ]*|no candi[a-z ]*|", re.IGNORECASE)
_SENTENCE_END = re.compile(r"\n|\.(?=\s|$)")
_MOST_BEGUN = 80  # characters that may be the beginning of a preemption clause
_SPACES = re.compile(r"\s*(?:[-*•]\s+(?=\d))?")
_COUNT = re.compile(r"(\d+)(?:\s+|(?=\s*\Z)|(?=node\(s\))|(?=\.{2,}|…))")
_SEPARATOR = re.compile(r"\s*(?:[,;]\s*(?:and\s+)?|\s+and\s+|\s+)(?:[-*•]\s+)?(?=\d+\s*(?:[^\s\d,./:]|\Z|\.{2,}|…))")
_REASON_END = re.compile(
    r"\s*[,;]\s*(?=\d+\s+[^\s\d])|\.(?=\s|\.|[\"'`)]|$)|…|(?<![\"'`])[\"'`]+\s*$|(?=\n\s*\n)|\n(?=\S+\s*:)"
)
_FULL_STOP = re.compile(r"\.(?![.…])")
_REPEATED = re.compile(r"\s*\(repeated\s+\d+\s+times\)")
_ELLIPSIS_END = re.compile(r"\s*(?:\.{2,}|…|\[(?:\.\.\.|…)\])\s*[\"'`)\]}]*\s*\Z")
DOTS = re.compile(r"\s*[.…]+")
_BEFORE_CLAUSE = re.compile(r"[,;](?=\s*(?:preemption|no new claims|still not))", re.IGNORECASE)
_COMMA = re.compile(r"\s*[,.;]?\s*")
_STATE = re.compile(r"not\s+found(?=[\s.\"'`]|$)", re.IGNORECASE)
_POST_FILTER = re.compile(
    r"no\s+new\s+claims\s+to\s+deallocate|still\s+not\s+schedulable|deallocation\s+of\s+ResourceClaim\s+completed|"
    r"plugin\s+disabled|found\s+schedulable\s+node[^\n,.]*",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"not\s+eligible\s+due\s+to\s+(?:preemptionPolicy\s*=\s*\w+|a\s+terminating\s+pod\s+on\s+the\s+nominated\s+node|"
    r"workload\s+aware\s+preemption\s+enabled|placement-based\s+pod\s+group\s+scheduling\s+limitation)"
    r"|no\s+candidate\s+node\s+for\s+preemption|pod\s+group\s+for\s+pod\s+not\s+found",
    re.IGNORECASE,
)
