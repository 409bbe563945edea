"""Messages about Pending pods as people paste them: their component, and the meaning of each part.

The grammar of kube-scheduler's messages (FitError.Error of pkg/scheduler/framework/types.go):

    message    = "0/" total " nodes are available:" [ " " list "." | " " reason "." ] [ " " postfilter ]
    list       = count " " reason { ", " count " " reason }
    postfilter = [ words ", " ] "preemption: " ( message | "not eligible due to " ... )

Text around a message is ignored: the columns of `kubectl describe`, quotes, YAML or JSON.
Other unrecognized text is kept word for word and reported.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

from kubectl_spread.explain.messages.catalogue import (
    begins_longer_wording,
    Component,
    EVERY_MINOR,
    kind_beginning,
    match,
    OF_AUTOSCALER,
    ReasonKind,
    without_space,
)
from kubectl_spread.explain.messages.pasted_text import (
    HEADER,
    line_start,
    message_places,
    MessageStart,
    MOST_CHARACTERS,
    number_in,
    pasted_text,
    PastedText,
    PREEMPTION,
    unread_lines,
)
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.releases.behaviours import (
    CLAIMS,
    PRE_FILTER_MESSAGE_ONCE,
    PREEMPTION_IN_MESSAGE,
    PREEMPTION_SUCCESS_IN_MESSAGE,
    SECOND_DOT,
)
from kubectl_spread.objects.releases.version import default_release, FIRST_MINOR, LAST_MINOR

_OLDEST, _NEWEST = default_release(FIRST_MINOR), default_release(LAST_MINOR)
NO_CLAIMS = "no new claims to deallocate"
STATE_NOT_FOUND = "not found"


class Part(NamedTuple):
    """A reason in a list.

    number: of nodes; None if the text has none.
    subject: the object that the reason names.
    may_go_on: the text ends here without a full stop, and a longer reason begins with the same words.
    """

    number: Optional[int]
    reason: str
    kind: ReasonKind
    subject: str = ""
    is_cut: bool = False
    may_go_on: bool = False


class Preemption(NamedTuple):
    """The outcome of preemption: a list of nodes, or the words that say why it was not tried."""

    total: Optional[int] = None
    parts: tuple[Part, ...] = ()
    verdict: str = ""
    is_cut: bool = False


class Message(NamedTuple):
    """A message about a pod that is not scheduled.

    form: `nodes` for a scheduler's list of nodes, `notScaled` for the autoscaler's, the name of a form of
    the catalogue, or `unknown`.
    post_filter: the words between the list and the preemption clause.
    listed: the text up to the end of the list.
    free: the number before the slash, which is 0 in every message of the scheduler.
    times: the number of times it was pasted or, by its event, seen.
    age: of its event, the latest time that it was seen, `4m11s`; empty if the text has none.
    pod: `NAMESPACE/NAME` or `NAME`; empty if the text has none, None if several pods have the message.
    source: the scheduler in the event's column From, if it is not the default one.
    not_understood: unrecognized texts, word for word.
    era: the minor versions that write it so; None if all do.
    of_provisioners: the text is of Karpenter before 0.33, which had Provisioners and Machines instead of NodePools and
    NodeClaims.
    """

    component: Component
    form: str
    text: str
    total: Optional[int] = None
    free: int = 0
    parts: tuple[Part, ...] = ()
    post_filter: tuple[str, ...] = ()
    preemption: Optional[Preemption] = None
    listed: str = ""
    era: Optional[Range] = None
    details: tuple[tuple[str, str], ...] = ()
    times: int = 1
    age: str = ""
    pod: Optional[str] = ""
    source: str = ""
    is_cut: bool = False
    not_understood: tuple[str, ...] = ()
    of_provisioners: bool = False

    @property
    def is_of_nodes(self) -> bool:
        return self.form == "nodes"


def parse(text: str) -> Message:
    """Return the first message of a text."""
    return parse_all(text)[0]


def parse_all(text: str) -> tuple[Message, ...]:
    """Return every message of a text in order, repeated ones once; other text is one unknown message."""
    found = _all(text)
    if _missed(found):
        # A terminal broke the lines, perhaps within words, or an editor did at blanks.
        rows = text.strip("\r\n").splitlines()
        width = max(map(len, rows), default=0)
        if width >= _NARROWEST:
            joined = "".join(row + ("" if len(row) == width else "\n") for row in rows)
            found = min(found, _all(joined), _all(_FOLDED.sub(" ", "\n".join(rows))), key=_missed)
    return found


def seconds(age: str) -> float:
    """Return an age as `kubectl` prints it in seconds."""
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)(\w)", age))


_FOLDED = re.compile(r"\n *(?=[a-z(\[{\"]|[A-Z]\w{1,60},)(?!\w{1,40}:)")
_UNITS = dict(zip("smhdy", (1, 60, 3600, 86400, 31536000), strict=True))
_NARROWEST = 20  # columns of a text with broken lines


def _missed(found: tuple[Message, ...]) -> int:
    return sum(item.is_cut + len(item.not_understood) for item in found)


def _all(text: str) -> tuple[Message, ...]:
    pasted = pasted_text(text)
    places = message_places(pasted.plain)
    if not places:
        rest = tuple(" ".join(line.split()) for line in _SHOWN.sub("", pasted.written).splitlines() if line.strip())
        return (Message(Component.UNKNOWN, "unknown", " ".join(rest), not_understood=rest),)
    found: list[Message] = []
    before = unread_lines(pasted, 0, line_start(pasted.plain, places[0].start))
    shown = _SHOWN.findall(pasted.plain)  # by `kubectl describe`: which of several is described is not known
    for at, place in enumerate(places):
        following = places[at + 1].start if at + 1 < len(places) else len(pasted.plain)
        row = pasted.plain[line_start(pasted.plain, place.start, max(0, place.start - _MOST_BEFORE)) : place.start]
        times, age, pod, source = (next(reversed(pattern.findall(row)), "") for pattern in _COLUMNS)
        message = _message(pasted, place, following)
        pod = pod or dict(message.details).get("pod") or "/".join(reversed(next(iter(shown), ())))
        found.append(
            message._replace(times=int(times or 1), age=age, pod=pod if len(shown) < 2 else None, source=source)
        )
    first = found[0]
    found[0] = first._replace(not_understood=(*before, *first.not_understood))
    if _OF_PROVISIONERS.search(text) and "nodepool" not in text.lower():
        found = [item._replace(of_provisioners=item.component is Component.KARPENTER) for item in found]
    if found[-1].not_understood and found[-1].not_understood[-1].endswith(_ELLIPSES):
        found[-1] = found[-1]._replace(is_cut=True)
    if len(text) > MOST_CHARACTERS:
        unread = f"(what follows the first {MOST_CHARACTERS} characters was not read)"
        found[-1] = found[-1]._replace(not_understood=(*found[-1].not_understood, unread))
    return _once(found)


# Words of Karpenter before 0.33. Its `controller.provisioner` and `"controller":"provisioner"` have their names still.
_OF_PROVISIONERS = re.compile(
    r"(?:incompatible with|limits for|no|ignoring) provisioners?\b|karpenter\.sh/provisioner-name|provisioner limits"
    r"|\"provisioner\": ?\"|\bmachine/|\bAWSNodeTemplate|controller\.provisioning\b"
)


_MOST_BEFORE = 300  # characters of a line before a message that are looked at
_COLUMNS = (
    re.compile(r"\(x(\d{1,9})\s+over\s+[\w.]+\)"),
    re.compile(r"(?<!\S)((?:\d{1,9}[smhdy])+)(?=\s)(?! \d)"),  # of two ages, it is not known which is the last
    re.compile(r"(?<!\S)[Pp]od/([\w.-]{1,253})"),
    re.compile(r"(?<!\S)(?!default-)([\w./-]{1,100}-scheduler)(?=\s)"),
)
_SHOWN = re.compile(r"^Name: *([\w.-]{1,253})\nNamespace: *([\w.-]{1,63})$", re.MULTILINE)


def _message(pasted: PastedText, place: MessageStart, following: int) -> Message:
    """Return the message that begins at a place, with the unread text up to the next one."""
    end = following
    line = line_start(pasted.plain, following, place.end)
    if following < len(pasted.plain) and line > place.end:
        end = line  # text before the next message in its line belongs to that message
    if place.form is not None:
        # `kubectl rollout status` ends its own sentence with an ellipsis.
        sentence = pasted.plain[place.start : place.end].rstrip("\"'`)]} ")
        return Message(
            component=place.form.component,
            form=place.form.name,
            text=pasted.quote(place.start, place.end),
            details=tuple((place.details or {}).items()),
            is_cut=place.form.component is not Component.KUBECTL and sentence.endswith(_ELLIPSES),
            not_understood=unread_lines(pasted, place.end, end),
        )
    reader = _Reader(pasted, place.end, end, is_of_groups=place.kind == "notScaled")
    parts = reader.parts()
    listed = pasted.quote(place.start, place.end + reader.at)
    dots = reader.take(_DOTS)
    words, preemption = reader.post_filter() if place.kind != "notScaled" else ((), None)
    text = pasted.quote(place.start, place.end + reader.at)
    reader.take(_DOTS)
    is_cut = reader.is_cut or bool(dots and dots.group().strip() in _ELLIPSES)
    header = pasted.plain[place.start : place.end].lower()
    is_cut |= bool(place.total) and not parts and "available" not in header
    before = pasted.plain[line_start(pasted.plain, place.start) : place.start].strip(" []")
    is_cut |= before.startswith(_ELLIPSES) or before.endswith(_ELLIPSES)
    rest, quote = place.end + reader.at, pasted.plain[place.start - 1 : place.start]
    if quote and quote in "`'\"" and pasted.plain.startswith(quote, rest):
        # A message in quotation marks: the rest of its line is no part of it.
        rest = line_end if (line_end := pasted.plain.find("\n", rest)) >= 0 else len(pasted.plain)
    component = _COMPONENTS[place.kind]
    if parts and all(part.kind in OF_AUTOSCALER for part in parts):
        component = Component.CLUSTER_AUTOSCALER
    return Message(
        component=component,
        form="notScaled" if component is Component.CLUSTER_AUTOSCALER else "nodes",
        text=text,
        total=place.total,
        free=place.free,
        parts=parts,
        post_filter=words,
        preemption=preemption,
        listed=listed,
        era=reader.era if component is Component.SCHEDULER and reader.era != EVERY_MINOR else None,
        is_cut=is_cut,
        not_understood=(*reader.not_understood, *unread_lines(pasted, min(rest, end), end)),
    )


_COMPONENTS = {
    "nodes": Component.SCHEDULER,
    "bare": Component.SCHEDULER,
    "volcano": Component.VOLCANO,
    "notScaled": Component.CLUSTER_AUTOSCALER,
}


def _once(found: list[Message]) -> tuple[Message, ...]:
    """Merge equal messages and count them."""
    out: dict[object, Message] = {}
    for item in found:
        key = item._replace(times=1, not_understood=(), age="", pod="", source="")
        known = out.get(key)
        if known is None:
            out[key] = item
            continue
        rest = tuple(dict.fromkeys((*known.not_understood, *item.not_understood)))
        out[key] = known._replace(
            times=known.times + item.times,
            not_understood=rest,
            age=min(known.age, item.age, key=seconds) if known.age and item.age else "",
            pod=known.pod if known.pod == item.pod else None,
        )
    return tuple(out.values())


class _Reader:
    """A reader of one message's text, from left to right; its attributes hold the result."""

    def __init__(self, pasted: PastedText, at: int, end: int, *, is_of_groups: bool = False) -> None:
        self.is_of_groups = is_of_groups
        self.text = pasted.plain[at:end]
        self.pasted, self.begin = pasted, at
        self.at = 0
        self.end = end - at
        self.era = EVERY_MINOR
        self.is_cut = False
        self.not_understood: list[str] = []

    def quote(self, start: int, end: int) -> str:
        """Return the original text between two places."""
        return self.pasted.quote(self.begin + start, self.begin + end)

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
        first, last = max(self.era.least, since), min(self.era.most, until)
        if first <= last:
            self.era = Range(first, last)

    def parts(self) -> tuple[Part, ...]:
        """Read `2 Insufficient cpu, 1 Too many pods`, or a reason without a count; skip an ellipsis between reasons."""
        out: list[Part] = []
        while True:
            self.take(_SPACES)
            is_elided = self._skip_ellipsis()
            start = self.at
            counted = self.take(_COUNT)
            number = number_in(counted, 1)
            is_alone = not (out or is_elided or self.is_of_groups) or match(self.text, self.at) is not None
            if not counted and (not is_alone or self.is_over(self.at) or PREEMPTION.match(self.text, self.at)):
                self.at = start
                break
            if counted and self._skip_ellipsis():
                part: Optional[Part] = Part(number, "", ReasonKind.CUT, is_cut=True)
            else:
                part = self._part(number)
            if part is None:
                self.at = start
                break
            bracketed = self.take(_BRACKETED) if number is None else None
            out.append(part._replace(number=number_in(bracketed, 1)) if bracketed else part)
            if bracketed and bracketed[2]:
                continue
            if not self.take(_SEPARATOR) and not _ELLIPSIS.match(self.text, self.at):
                self.is_cut |= _OPEN_END.match(self.text, self.at) is not None
                break
        return tuple(out)

    def _skip_ellipsis(self) -> bool:
        """Skip `...`, `[...]`, `etc.` or `... and 2 more`; return whether there was one."""
        found = self.take(_ELLIPSIS)
        self.is_cut |= found is not None
        return found is not None

    def _part(self, count: Optional[int]) -> Optional[Part]:
        start = self.at
        found = match(self.text, start)
        if found is None:
            return self._unknown(count)
        self.at = found.end
        repeated = self.take(_REPEATED)
        if repeated:
            self.wrote(EVERY_MINOR.least, 21)
        reason = self.quote(start, self.at)
        wording = found.wording
        if without_space(reason) == without_space(wording.text) and reason.lower() != wording.text.lower():
            reason = wording.text  # a terminal broke a word
        kind = (
            ReasonKind.TOO_MANY_PODS
            if (wording.kind, found.subject) == (ReasonKind.RESOURCES, "pods")
            else wording.kind
        )
        is_name_cut = kind is ReasonKind.RESOURCES and found.subject not in _COMMON_RESOURCES
        # The text may end with an ellipsis here, within a reason and not after it.
        dots = _ELLIPSIS.match(self.text, self.at)
        is_elided = dots is not None and "," not in dots.group() and self.is_over(dots.end())
        is_cut = is_elided and (is_name_cut or begins_longer_wording(self.text[start : found.end]))
        begun = None if is_cut or kind is not ReasonKind.SPREAD else _LABEL_BEGUN.match(self.text, self.at)
        if begun and _MISSING_LABEL.startswith(without_space(begun.group(1))):
            self.at = begun.end()
            is_cut, kind = True, ReasonKind.SPREAD_LABEL
        self.is_cut |= is_cut
        if not is_cut:
            self.wrote(wording.since, wording.until)
            if wording.is_of_pod and count is not None:
                self.wrote(EVERY_MINOR.least, PRE_FILTER_MESSAGE_ONCE.minors(_OLDEST)[1])
        may_go_on = kind is ReasonKind.SPREAD and not is_cut and _ENDS_OPEN.match(self.text, self.at) is not None
        return Part(count, reason, kind, found.subject, is_cut, may_go_on)

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
                clause = self._preemption()
                if _HAS_SUCCEEDED.match(clause.verdict):
                    self.wrote(*PREEMPTION_SUCCESS_IN_MESSAGE.minors(_NEWEST))
                elif not words and "terminating" not in clause.verdict:
                    self.wrote(PREEMPTION_IN_MESSAGE.minors(_NEWEST)[0], CLAIMS.minors(_OLDEST)[1])
                return tuple(words), clause
            if self.take(_STATE):
                self.wrote(*CLAIMS.minors(_NEWEST))
                return (*words, STATE_NOT_FOUND), None
            if not self.take(_POST_FILTER):
                # In a text that is cut off, a preemption clause or the words before it may have begun.
                rest = without_space(self.text[self.at : self.at + _MOST_BEGUN]).rstrip(".…\"'`")
                phrases = (without_space(NO_CLAIMS), "stillnotschedulable", "preemption:")
                if len(rest) < 2 or not any(phrase.startswith(rest) for phrase in phrases):
                    return tuple(words), None
                self.at, self.is_cut = self.end, True
                return tuple(words), Preemption(is_cut=True)
            self.wrote(*CLAIMS.minors(_NEWEST))
            words.append(self.quote(start, self.at))
            self.take(_COMMA)

    def _preemption(self) -> Preemption:
        header = self.take(HEADER)
        if header:
            total = number_in(header, "total")
            if "available" not in header.group().lower():
                self.is_cut = True
                return Preemption(total, is_cut=True)
            parts = self.parts()
            dots = self.take(_DOTS)
            if dots and dots.group().strip() == ".." and self.is_over(self.at):
                self.wrote(*SECOND_DOT.minors(SECOND_DOT.eras[1].since))
            return Preemption(total, parts, is_cut=self.is_cut)
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


_COMMON_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_ELLIPSES = ("...", "…")
_MISSING_LABEL = "(missingrequiredlabel)"
_LABEL_BEGUN = re.compile(r"\s*(\([a-z ]{0,30})(?:\.{2,}|…)?[\"'`]*\s*\Z", re.IGNORECASE)
_ENDS_OPEN = re.compile(r"[\s\"'`)\]}]*\Z")
_NOTHING_LEFT = re.compile(r"[ .…\n\"'`)\]}]*\Z")
_CLAUSE_BEGUN = re.compile(r"0(?:/\d*(?: [a-z]+)*)?|not eli[a-z ]*|no candi[a-z ]*|", re.IGNORECASE)
_SENTENCE_END = re.compile(r"\n|\.(?=\s|$)")
_MOST_BEGUN = 80  # characters that may be the beginning of a preemption clause
_SPACES = re.compile(r"\s*(?:[-*•]\s+(?=\d))?")
_COUNT = re.compile(r"(\d+)(?:\s+|(?=\s*\Z)|(?=node\(s\))|(?=\.{2,}|…))")
_BRACKETED = re.compile(r"\s*\((\d+)\)(\s*,\s*)?")  # before 1.10: `Insufficient cpu (2), Insufficient memory (1)`
_SEPARATOR = re.compile(r"\s*(?:[,;]\s*(?:and\s+)?|\s+and\s+|\s+)(?:[-*•]\s+)?(?=\d+\s*(?:[^\s\d,./:]|\Z|\.{2,}|…))")
_REASON_END = re.compile(
    r"\s*[,;]\s*(?=\d+\s+[^\s\d])|;\s(?=retrying|waiting)|\.(?=\s|\.|[\"'`)]|$)|…"
    r"|(?<![\"'`])[\"'`]+\s*$|(?=\n\s*\n)|\n(?=\S+\s*:)"
)
_FULL_STOP = re.compile(r"\.(?![.…])")
_REPEATED = re.compile(r"\s*\(rep\w+\s+\d+\s+times\)")
_ELLIPSIS = re.compile(
    r"\s*,?\s*(?:\[?(?:\.{3,}|…)\]?|\betc\b\.?|[\[(<]truncated[\])>])(?:\s*(?:and\s+)?\(?\d{1,9}\s+more\b\)?)?\s*,?\s*",
    re.IGNORECASE,
)
_OPEN_END = re.compile(r"\s*,[\s\"'`]*\Z")  # the text stops after a comma
_DOTS = re.compile(r"\s*[.…]+")
_BEFORE_CLAUSE = re.compile(r"[,;](?=\s*(?:preemption|no new claims|still not))", re.IGNORECASE)
_COMMA = re.compile(r"\s*[,.;]?\s*")
_STATE = re.compile(r"not\s+found(?=[\s.\"'`]|$)", re.IGNORECASE)
_POST_FILTER = re.compile(
    r"no\s+new\s+claims\s+to\s+deallocate|still\s+not\s+schedulable|deallocation\s+of\s+ResourceClaim\s+completed|"
    r"plugin\s+disabled|found\s+schedulable\s+node[^\n,.]*",
    re.IGNORECASE,
)
_HAS_SUCCEEDED = re.compile(r"found\s+a\s+potential\s+placement", re.IGNORECASE)
_VERDICT = re.compile(
    r"found\s+a\s+potential\s+placement\s+for\s+pod\s+on\s+node\s+\S+,\s+preempting\s+\d+\s+victims"
    r"|not\s+eligible\s+due\s+to\s+(?:preemptionPolicy\s*=\s*\w+|a\s+terminating\s+pod\s+on\s+the\s+nominated\s+node|"
    r"workload\s+aware\s+preemption\s+enabled|placement-based\s+pod\s+group\s+scheduling\s+limitation)"
    r"|no\s+candidate\s+node\s+for\s+preemption|pod\s+group\s+for\s+pod\s+not\s+found",
    re.IGNORECASE,
)
