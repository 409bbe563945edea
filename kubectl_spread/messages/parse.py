"""Messages about Pending pods as people paste them: which component wrote them, and what each part says.

What kube-scheduler writes (FitError.Error of pkg/scheduler/framework/types.go, 1.16 to 1.36):

    message    = "0/" total " nodes are available:" [ " " list "." | " " reason "." ] [ " " postfilter ]
    list       = count " " reason { ", " count " " reason }
    postfilter = [ words ", " ] "preemption: " ( message | "not eligible due to " ... )

What stands around it is not the message and is passed over: the columns of `kubectl describe`, quotes, YAML or JSON.
Whatever else is not understood is kept word for word, so that somebody can be told.
"""

from __future__ import annotations

import bisect
import re
from typing import NamedTuple
from typing import Optional

from kubectl_spread.messages import other_components
from kubectl_spread.messages.other_components import Component
from kubectl_spread.messages.scheduler_reasons import FIRST_MINOR
from kubectl_spread.messages.scheduler_reasons import is_longer_known
from kubectl_spread.messages.scheduler_reasons import kind_beginning
from kubectl_spread.messages.scheduler_reasons import LAST_MINOR
from kubectl_spread.messages.scheduler_reasons import match
from kubectl_spread.messages.scheduler_reasons import ReasonKind
from kubectl_spread.messages.scheduler_reasons import squeezed

NO_CLAIMS = "no new claims to deallocate"
STATE_NOT_FOUND = "not found"
_MOST_CHARACTERS = 50_000  # an event has 1,024; what is beyond this is not read, and that is said


class Part(NamedTuple):
    """One reason of a list. `number`, of nodes, is None where the text has none; `subject` is what the reason names.

    may_go_on: the text ends here without a full stop, and a longer reason begins with the same words.
    """

    number: Optional[int]
    reason: str
    kind: ReasonKind
    subject: str = ""
    is_cut: bool = False
    may_go_on: bool = False


class Preemption(NamedTuple):
    """What preemption came to: a list of nodes again, or the words that say why it was not tried."""

    total: Optional[int] = None
    parts: tuple[Part, ...] = ()
    verdict: str = ""
    is_cut: bool = False


class Era(NamedTuple):
    """Minor versions of Kubernetes, both included."""

    first: int
    last: int


class Message(NamedTuple):
    """One message.

    `form` is `nodes` for the scheduler's list of nodes, `not-scaled` for the autoscaler's, the name of a form of
    `elsewhere`, or `unknown`. `post_filter` are the words between the list and the preemption clause. `times` is how
    often it was pasted or, by its event, seen. `not_understood` holds texts word for word.
    """

    component: Component
    form: str
    text: str
    total: Optional[int] = None
    parts: tuple[Part, ...] = ()
    post_filter: tuple[str, ...] = ()
    preemption: Optional[Preemption] = None
    era: Optional[Era] = None
    details: tuple[tuple[str, str], ...] = ()
    times: int = 1
    is_cut: bool = False
    not_understood: tuple[str, ...] = ()

    @property
    def is_of_nodes(self) -> bool:
        return self.form == "nodes"


def parse(text: str) -> Message:
    """The message of a text; of several the first."""
    return parse_all(text)[0]


def parse_all(text: str) -> tuple[Message, ...]:
    """Every message of a text, in its order, repeated ones once. What is no message at all is one unknown message."""
    found = _all(text)
    rows = text.strip("\r\n").splitlines()
    lengths = [len(row) for row in rows]
    if len(rows) > 1 and _missed(found) and lengths[0] >= lengths[-1] and len({*lengths[:-1]}) == 1:
        joined = _all("".join(rows))  # a terminal broke the lines, and perhaps words
        if _missed(joined) < _missed(found):
            return joined
    return found


def _missed(found: tuple[Message, ...]) -> int:
    return sum(len(item.not_understood) for item in found)


def _all(text: str) -> tuple[Message, ...]:
    pasted = _pasted(text)
    places = _places(pasted.plain)
    if not places:
        rest = tuple(" ".join(line.split()) for line in pasted.written.splitlines() if line.strip())
        return (Message(Component.UNKNOWN, "unknown", " ".join(rest), not_understood=rest),)
    found: list[Message] = []
    before = _leftover(pasted, 0, _line_start(pasted.plain, places[0].start))
    for at, place in enumerate(places):
        following = places[at + 1].start if at + 1 < len(places) else len(pasted.plain)
        found.append(_message(pasted, place, following))
    first = found[0]
    found[0] = first._replace(not_understood=(*before, *first.not_understood))
    if len(text) > _MOST_CHARACTERS:
        unread = f"(what follows the first {_MOST_CHARACTERS} characters was not read)"
        found[-1] = found[-1]._replace(not_understood=(*found[-1].not_understood, unread))
    return _once(found)


class _Pasted(NamedTuple):
    """A text as written, and the same with plain quotes and spaces: place by place the same characters."""

    written: str
    plain: str

    def quote(self, start: int, end: int) -> str:
        return " ".join(self.written[start:end].split())


class _Place(NamedTuple):
    """Where a message begins: the scheduler's header, the autoscaler's, a sentence of `elsewhere`, or a bare list."""

    start: int
    end: int
    kind: str
    total: Optional[int] = None
    found: Optional[other_components.Found] = None


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
_HEADER = re.compile(
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
_PREEMPTION = re.compile(r"preemption\s*:\s*", re.IGNORECASE)
_IN_CLAUSE = re.compile(r"preemption\s*:\s*\Z", re.IGNORECASE)
_SEEN = re.compile(r"\(x(\d+)\s+over\s+[\w.]+\)")
_MOST_BEFORE = 300  # characters of a line before a message that are looked at for how often it was seen
_NEW_LINES = re.compile(r"\r\n?")


def _pasted(text: str) -> _Pasted:
    text = _NEW_LINES.sub("\n", text[:_MOST_CHARACTERS])
    for pattern, plain in _ESCAPED:
        text = pattern.sub(plain, text)
    written = collapsed(text)
    return _Pasted(written, written.translate(_PLAIN))


def collapsed(text: str) -> str:
    """Reduce white space before anything is looked for: one blank, one new line, or one empty line in a row.

    The margins of quotes and tables go, too. Patterns then never meet a run of white space, whose length would count
    more than once in the work of matching.
    """
    lines = (line.rstrip(_MARGIN + "\\").lstrip(_MARGIN + ">") for line in _BLANKS.sub(" ", text).split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines))


def _places(plain: str) -> list[_Place]:
    """Where messages begin; a header within a preemption clause begins none, and a sentence within a list neither."""
    places: list[_Place] = []
    for header in _HEADER.finditer(plain):
        if _IN_CLAUSE.search(plain, max(0, header.start() - 40), header.start()):
            continue
        total = header.group("total")
        places.append(_Place(header.start(), header.end(), "nodes", int(total[:9]) if total else None))
    places += [_Place(at.start(), at.end(), "notScaled") for at in other_components.NOT_SCALED.finditer(plain)]
    lists = sorted(place.start for place in places)
    breaks = [at for at, char in enumerate(plain) if char == "\n"]
    places += [
        _Place(found.start, found.end, "elsewhere", found=found)
        for found in other_components.find(plain)
        if not _is_in_a_list(lists, breaks, found.start)
    ]
    if not places:
        bare = _BARE.search(plain)
        if bare:
            places.append(_Place(bare.start(), bare.start(), "bare"))
    return sorted(places)


def _is_in_a_list(lists: list[int], breaks: list[int], at: int) -> bool:
    """Whether a sentence stands in a line that has begun as a list of nodes; lists, breaks: sorted places."""
    before = bisect.bisect_right(lists, at)
    if not before:
        return False
    return bisect.bisect_left(breaks, lists[before - 1]) == bisect.bisect_left(breaks, at)


class _Reader:
    """Reads one message's text from left to right; what it makes out of it is in its attributes."""

    def __init__(self, pasted: _Pasted, at: int, end: int) -> None:
        self.text = pasted.plain[at:end]
        self.written = pasted.written[at:end]
        self.at = 0
        self.end = end - at
        self.first, self.last = FIRST_MINOR, LAST_MINOR
        self.is_cut = False
        self.not_understood: list[str] = []

    def quote(self, start: int, end: int) -> str:
        """What was written between two places."""
        return " ".join(self.written[start:end].split())

    def is_over(self, at: int) -> bool:
        """Whether nothing is left from a place on but what ends a text."""
        return _NOTHING_LEFT.match(self.text, at) is not None

    def take(self, pattern: re.Pattern[str]) -> Optional[re.Match[str]]:
        """What stands here, if it is of the pattern; it is read."""
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def wrote(self, since: int, until: int) -> None:
        """Narrow down who may have written this; what contradicts is not heard (gates can be switched off)."""
        first, last = max(self.first, since), min(self.last, until)
        if first <= last:
            self.first, self.last = first, last

    def parts(self) -> tuple[Part, ...]:
        """`2 Insufficient cpu, 1 Too many pods`, or a reason without a count."""
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
        if _ELLIPSIS_END.match(self.text, self.at) and is_longer_known(self.text[start : found.end]):
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
        """Whether the text ends within `(missing required label)`."""
        begun = _LABEL_BEGUN.match(self.text, self.at)
        if not begun or not _MISSING_LABEL.startswith(squeezed(begun.group(1))):
            return False
        self.at = begun.end()
        return True

    def _unknown(self, count: Optional[int]) -> Optional[Part]:
        """A reason that is not known, or only its beginning: as long as no other begins."""
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
        """What follows the list: words of PostFilter plugins, and the preemption clause."""
        words: list[str] = []
        while True:
            self.take(_BEFORE_CLAUSE)
            self.take(_SPACES)
            start = self.at
            if self.take(_PREEMPTION):
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
        """A preemption clause, or the words before it, of which only the beginning is there."""
        rest = squeezed(self.text[self.at : self.at + _MOST_BEGUN]).rstrip(".…\"'`")
        phrases = (squeezed(NO_CLAIMS), "stillnotschedulable", "preemption:")
        if len(rest) > 1 and any(phrase.startswith(rest) for phrase in phrases):
            self.at, self.is_cut = self.end, True
            return Preemption(is_cut=True)
        return None

    def _preemption(self) -> Preemption:
        header = self.take(_HEADER)
        if header:
            total = header.group("total")
            if "available" not in header.group().lower():
                self.is_cut = True
                return Preemption(int(total[:9]) if total else None, is_cut=True)
            parts = self.parts()
            dots = self.take(_DOTS)
            if dots and dots.group().strip() == ".." and self.is_over(self.at):
                self.wrote(26, 28)
            return Preemption(int(total[:9]) if total else None, parts, is_cut=self.is_cut)
        start = self.at
        if self.take(_VERDICT):
            verdict = self.quote(start, self.at)
            self.take(_DOTS)
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
_DOTS = re.compile(r"\s*[.…]+")
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


def _message(pasted: _Pasted, place: _Place, following: int) -> Message:
    """The message that begins at a place, and what is left over before the line of the next."""
    end = following
    line = _line_start(pasted.plain, following, place.end)
    if following < len(pasted.plain) and line > place.end:
        end = line  # what stands before the next message in its line is of that message
    if place.found is not None:
        return _sentence(pasted, place, place.found, end)
    reader = _Reader(pasted, place.end, end)
    parts = reader.parts()
    dots = reader.take(_DOTS)
    words, preemption = reader.post_filter() if place.kind != "notScaled" else ((), None)
    text = pasted.quote(place.start, place.end + reader.at)
    reader.take(_DOTS)
    is_cut = reader.is_cut or bool(dots and dots.group().strip() in ("...", "…"))
    is_scheduler = place.kind != "notScaled" and not all(part.kind in _OF_AUTOSCALER for part in parts or (_NONE,))
    era = Era(reader.first, reader.last) if is_scheduler and _tells(reader) else None
    return Message(
        component=Component.SCHEDULER if is_scheduler else Component.CLUSTER_AUTOSCALER,
        form="nodes" if is_scheduler else "notScaled",
        text=text,
        total=place.total,
        parts=parts,
        post_filter=words,
        preemption=preemption,
        era=era,
        times=_seen(pasted.plain, place.start),
        is_cut=is_cut,
        not_understood=(*reader.not_understood, *_leftover(pasted, place.end + reader.at, end)),
    )


_NONE = Part(None, "", ReasonKind.UNKNOWN)
_OF_AUTOSCALER = {
    ReasonKind.GROUP_FULL,
    ReasonKind.GROUP_BACKOFF,
    ReasonKind.GROUP_NOT_READY,
    ReasonKind.CLUSTER_LIMIT,
    ReasonKind.GROUP_OTHER,
}


def _tells(reader: _Reader) -> bool:
    return (reader.first, reader.last) != (FIRST_MINOR, LAST_MINOR)


def _sentence(pasted: _Pasted, place: _Place, found: other_components.Found, end: int) -> Message:
    return Message(
        component=found.form.component,
        form=found.form.name,
        text=pasted.quote(place.start, place.end),
        details=tuple(found.details.items()),
        times=_seen(pasted.plain, place.start),
        not_understood=_leftover(pasted, place.end, end),
    )


def _line_start(plain: str, at: int, since: int = 0) -> int:
    """Where the line of a place begins, or `since` if that is in it."""
    return max(since, plain.rfind("\n", since, at) + 1)


def _seen(plain: str, at: int) -> int:
    """How often an event was seen, by the columns before it."""
    seen = _SEEN.search(plain[_line_start(plain, at, max(0, at - _MOST_BEFORE)) : at])
    return int(seen.group(1)[:9]) if seen else 1


_AGE = r"(?:<?(?:unknown|invalid)>?|(?:\d+(?:\.\d+)?(?:ms|[smhdy]))+)"
# What stands around messages: rows and columns of kubectl, keys of YAML and JSON, fields of klog, a shell.
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


def _leftover(pasted: _Pasted, start: int, end: int) -> tuple[str, ...]:
    """The lines of a stretch of text that are neither message nor what stands around one."""
    out = []
    for number, line in enumerate(pasted.plain[start:end].split("\n")):
        text = line.strip()
        is_new_line = number > 0 or not start or pasted.plain[start - 1] == "\n"
        if _AROUND.fullmatch(text) or _CONNECTORS.fullmatch(text) or (is_new_line and _KEY.fullmatch(text)):
            continue
        out.append(" ".join(text.split()))
    return tuple(out)


def _once(found: list[Message]) -> tuple[Message, ...]:
    """Equal messages as one, with how often they were pasted."""
    out: dict[object, Message] = {}
    for item in found:
        key = item._replace(times=1, not_understood=())
        known = out.get(key)
        if known is None:
            out[key] = item
            continue
        rest = tuple(dict.fromkeys((*known.not_understood, *item.not_understood)))
        out[key] = known._replace(times=known.times + item.times, not_understood=rest)
    return tuple(out.values())
