"""The changes of fixes, as a unified diff for `git apply` and `patch`."""

from __future__ import annotations

import difflib
import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter

from kubectl_spread.report.table import paint
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import safe

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_CONTEXT = 3  # lines
# Control characters except tab, and characters that change the direction or the lines of terminal output.
_MISLEADING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

Opcode = tuple[str, int, int, int, int]  # as difflib has it


def render(before: SourceFile, text: str) -> str:
    """Return the diff of one file, with the line ends of the file."""
    old, new = _lines(before.text), _lines(text)
    if old == new:
        return ""
    name = safe(before.name).lstrip("/")
    shown = [_shown(f"--- a/{name}\n"), _shown(f"+++ b/{name}\n")]
    # Neighbours of one kind are joined, because hunks are split by the number of equal lines.
    opcodes: list[Opcode] = []
    for tag, run in itertools.groupby(_opcodes(old, new), itemgetter(0)):
        first, *_, last = [*run] * 2
        opcodes.append((tag, first[1], last[2], first[3], last[4]))
    matcher = difflib.SequenceMatcher(None, "", "")
    matcher.opcodes = opcodes  # type: ignore[attr-defined]  # typeshed leaves it out
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        hunk = [f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"]
        for tag, start, end, new_start, new_end in group:
            sign = " " if tag == "equal" else "-"
            hunk += [f"{sign}{line}" for line in old[start:end]]
            hunk += [f"+{line}" for line in new[new_start:new_end]] if sign == "-" else []
        shown += map(_shown, hunk)
    return "".join(shown)


def _range(start: int, end: int) -> str:
    """Return a range as in the head of a hunk: the first line from 1, then the number of lines."""
    if end - start == 1:
        return f"{start + 1}"
    return f"{start + 1 if end > start else start},{end - start}"


def _opcodes(old: list[str], new: list[str]) -> Iterator[Opcode]:
    """Yield the operations that turn one text into another, in linear time for few changes.

    Lines that occur once in each text are matched first (patience diff). difflib compares the lines between them.
    """
    at = new_at = 0
    for anchor, new_anchor in (*_anchors(old, new), (len(old), len(new))):
        matcher = difflib.SequenceMatcher(None, old[at:anchor], new[new_at:new_anchor], autojunk=False)
        for tag, start, end, new_start, new_end in matcher.get_opcodes():
            yield tag, at + start, at + end, new_at + new_start, new_at + new_end
        if anchor < len(old):
            yield "equal", anchor, anchor + 1, new_anchor, new_anchor + 1
        at, new_at = anchor + 1, new_anchor + 1


def _anchors(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the most lines that each text has once, in the same order in both."""
    counts, new_counts = Counter(old), Counter(new)
    new_places = {line: at for at, line in enumerate(new) if new_counts[line] == 1}
    pairs = [(at, new_places[line]) for at, line in enumerate(old) if counts[line] == 1 and line in new_places]
    ends: list[int] = []  # of the best increasing runs of each length, their last places in the new text
    tails: list[int] = []  # the same, as positions in pairs
    before: list[int] = []
    for at, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(tails[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        tails[length : length + 1] = [at]
    found: list[tuple[int, int]] = []
    at = tails[-1] if tails else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _lines(text: str) -> list[str]:
    """Return the lines as `patch` sees them: only a line feed ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _shown(line: str) -> str:
    body, end = (line[:-1], "\n") if line.endswith("\n") else (line, "\n\\ No newline at end of file\n")
    body, carriage_return = (body[:-1], "\r") if body.endswith("\r") else (body, "")
    body = _MISLEADING.sub(lambda match: f"\\x{ord(match[0]):02x}", body)
    style = _STYLES.get(line[:1])
    return (paint(body, style) if style else body) + carriage_return + end
