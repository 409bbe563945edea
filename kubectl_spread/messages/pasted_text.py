"""Pasted text: made plain, with the begin of each message, and the text around messages."""

from __future__ import annotations

import bisect
import re
from typing import NamedTuple, Optional

from kubectl_spread.messages import other_components
from kubectl_spread.messages.form import RecognizedSentence

MOST_CHARACTERS = 50_000  # an event has 1,024; the rest is not read, and the message says so


class PastedText(NamedTuple):
    """A text as written, and the same with plain quotes and spaces: place by place the same characters."""

    written: str
    plain: str

    def quote(self, start: int, end: int) -> str:
        return " ".join(self.written[start:end].split())


class MessageStart(NamedTuple):
    """The beginning of a message: a header, a sentence of another component, or a bare list."""

    start: int
    end: int
    kind: str
    total: Optional[int] = None
    found: Optional[RecognizedSentence] = None


_PLAIN = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "′": "'", "´": "'", "`": "`", "“": '"', "”": '"'})
_ESCAPED = (
    (re.compile(r"\x1b\[[0-9;?]*[A-Za-z]"), ""),
    (re.compile(r"[\u200b\u200c\u200d\ufeff\u00ad]"), ""),
    (re.compile(r"(?<=\w)''(?=\w)"), "'"),
    (re.compile(r"(?<!\\)\\+n(?=\s|\d|\\)"), "\n"),
    (re.compile(r"(?<!\\)\\+([\"'])"), r"\1"),
    (re.compile(r"\\u0027|&#0?39;|&apos;|&rsquo;"), "'"),
    (re.compile(r"\\u0022|&quot;|&#34;"), '"'),
    (re.compile(r"(?mi)(?<![ \t])[ \t]{2,}\((?:cut|taints|first|truncated|shortened)\b[^()\n]*\)[ \t]*$"), ""),
)
_BLANKS = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r"\n{3,}")
_MARGIN = " |│┃"  # of quotes and tables
HEADER = re.compile(
    r"(?:\b0/(?P<total>\d+)\s+nodes?(?:\s+are)?(?:\s+available\b\s*:?|(?:\s+a\w*)?\s*(?:\.{2,}|…)\s*\Z)"
    r"|(?<![\w/])nodes\s+are\s+available\s*:|\bcannot\s+schedule\s+pods\s*:(?!\s*(?:no\s+nodes|0/)))",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:\b\d+\s+)?(?:node\(s\)\s|insufficient\s+\w|too many pods|pod has unbound|persistentvolumeclaim\s+\"|"
    r"no preemption victims|preemption is not helpful|cannot allocate all claims|max node group size reached|"
    r"in backoff after failed)",
    re.IGNORECASE,
)
PREEMPTION = re.compile(r"preemption\s*:\s*", re.IGNORECASE)
_IN_CLAUSE = re.compile(r"preemption\s*:\s*\Z", re.IGNORECASE)
_SEEN = re.compile(r"\(x(\d+)\s+over\s+[\w.]+\)")
_MOST_BEFORE = 300  # characters of a line before a message that are looked at for how often it was seen
_NEW_LINES = re.compile(r"\r\n?")


def pasted_text(text: str) -> PastedText:
    text = _NEW_LINES.sub("\n", text[:MOST_CHARACTERS])
    for pattern, plain in _ESCAPED:
        text = pattern.sub(plain, text)
    written = collapse_blanks(text)
    return PastedText(written, written.translate(_PLAIN))


def collapse_blanks(text: str) -> str:
    """Reduce each run of white space to one blank, one new line, or one empty line.

    The margins of quotes and tables go, too. Then the cost of matching does not depend on the length of such runs.
    """
    lines = (line.rstrip(_MARGIN + "\\").lstrip(_MARGIN + ">") for line in _BLANKS.sub(" ", text).split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines))


def message_places(plain: str) -> list[MessageStart]:
    """Return the begin of each message, except in a preemption clause or in a list."""
    places: list[MessageStart] = []
    for header in HEADER.finditer(plain):
        if _IN_CLAUSE.search(plain, max(0, header.start() - 40), header.start()):
            continue
        total = header.group("total")
        places.append(MessageStart(header.start(), header.end(), "nodes", int(total[:9]) if total else None))
    places += [MessageStart(at.start(), at.end(), "notScaled") for at in other_components.NOT_SCALED.finditer(plain)]
    lists = sorted(place.start for place in places)
    breaks = [at for at, char in enumerate(plain) if char == "\n"]
    places += [
        MessageStart(found.start, found.end, "elsewhere", found=found)
        for found in other_components.find_sentences(plain)
        if not _is_in_a_list(lists, breaks, found.start)
    ]
    if not places:
        bare = _BARE.search(plain)
        if bare:
            places.append(MessageStart(bare.start(), bare.start(), "bare"))
    return sorted(places)


def _is_in_a_list(lists: list[int], breaks: list[int], at: int) -> bool:
    """Return whether a sentence is in a line that begins as a list of nodes; lists, breaks: sorted places."""
    before = bisect.bisect_right(lists, at)
    if not before:
        return False
    return bisect.bisect_left(breaks, lists[before - 1]) == bisect.bisect_left(breaks, at)


def line_start(plain: str, at: int, since: int = 0) -> int:
    """Return the begin of a place's line, or `since` if that is later."""
    return max(since, plain.rfind("\n", since, at) + 1)


def times_seen(plain: str, at: int) -> int:
    """Return how often an event was seen, according to the columns before it."""
    seen = _SEEN.search(plain[line_start(plain, at, max(0, at - _MOST_BEFORE)) : at])
    return int(seen.group(1)[:9]) if seen else 1


_AGE = r"(?:<?(?:unknown|invalid)>?|(?:\d+(?:\.\d+)?(?:ms|[smhdy]))+)"
# Surroundings of messages: rows and columns of kubectl, keys of YAML and JSON, fields of klog, a shell.
_AROUND = re.compile(
    rf"[\s\"'`.,;:|=~*_\[\](){{}}<>…#-]*"
    r"|(?:type\s+reason|last\s+seen|firstseen|namespace\s+last)\b.*|events\s*:.*"
    r"|normal\s+[A-Z]\w+\b.*|warning\s+failedscheduling\b(?:(?!\d/\d).)*"
    rf"|{_AGE}(?:\s+\(x\d+\s+over\s+{_AGE}\))?(?:\s+[\w.-]+)?|\(x\d+\s+over\s+{_AGE}\)"
    r"|(?:default-scheduler|cluster-autoscaler|karpenter|persistentvolume-controller|failed to schedule pod)"
    r"|[, ]*\w+=(?:\"[^\"]*\",?|[^\s\"]\S*)(?: \w+=(?:\"[^\"]*\",?|[^\s\"]\S*))* ?"
    r"|[\"'`]*[,;}}\])\s]*\"[\w./-]+\"\s*:.*"
    r"|[$%]\s.*|\S+[$#]\s.*|kubectl\s.*",
    re.IGNORECASE,
)
_KEY = re.compile(r"-?\s*\"?[A-Za-z][\w ./()-]{0,40}\"?\s*:(?:\s.*)?|conditions:|status:")
_CONNECTORS = re.compile(r"[\s\"'`.,;:)\]}(\[{]*(?:(?:and|then|or)[\s\"'`.,;:)\]}(\[{]*)?", re.IGNORECASE)


def unread_lines(pasted: PastedText, start: int, end: int) -> tuple[str, ...]:
    """Return the lines that are neither a message nor known surroundings of one."""
    out = []
    for number, line in enumerate(pasted.plain[start:end].split("\n")):
        text = line.strip()
        is_new_line = number > 0 or not start or pasted.plain[start - 1] == "\n"
        if _AROUND.fullmatch(text) or _CONNECTORS.fullmatch(text) or (is_new_line and _KEY.fullmatch(text)):
            continue
        out.append(" ".join(text.split()))
    return tuple(out)
