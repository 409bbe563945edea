"""Pasted text: made plain, with the begin of each message, and the text around messages.

People paste whole outputs: `kubectl describe`, objects as YAML or JSON, rows of events, lines of logs. What a message
can be in is read, and the rest of such an output is no part of the text.
"""

from __future__ import annotations

import bisect
import functools
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.explain.messages.catalogue import Component, Form, FORMS

MOST_CHARACTERS = 50_000  # an event has 1,024; the rest is not read, and the message says so


class PastedText(NamedTuple):
    """A text as written, and the same with plain quotes and spaces: place by place the same characters."""

    written: str
    plain: str

    def quote(self, start: int, end: int) -> str:
        return " ".join(self.written[start:end].split())


_PLAIN = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "′": "'", "´": "'", "`": "`", "“": '"', "”": '"', "：": ":"})
_ESCAPED = (
    (re.compile(r"\x1b\[[0-9;?]*[A-Za-z]"), ""),
    (re.compile(r"[\u200b\u200c\u200d\ufeff\u00ad]"), ""),
    (re.compile(r"(?<=\w)''(?=\w)"), "'"),
    (re.compile(r"(?<!\\)\\+n(?=\s|\d|\\)"), "\n"),
    (re.compile(r"(?<!\\)\\+([\"'])"), r"\1"),
    (re.compile(r"\\u0027|&#0?39;|&apos;|&rsquo;"), "'"),
    (re.compile(r"\\u0022|&quot;|&#34;"), '"'),
    (re.compile(r"(?mi)(?<![ \t])[ \t]{2,}\((?:cut|taints|first|truncated|shortened)\b[^()\n]*\)[ \t]*$"), ""),
    (re.compile(r"\*\*"), ""),  # bold in Markdown
    (
        re.compile(r"(?m)^(?:\(\w{1,40}\) )?\[[^\s@\]]{1,60}@[^\]\n]{1,200}\][#$] [^\n│]*│?\n?"),
        "",
    ),  # a prompt of a shell
    (re.compile(r"(?m)^([^<>\n]*\w)>$"), r"\1…"),  # a row that `less -S` cuts
    (re.compile(r"(?i)\bplugin \w+ predicates failed (?=node)"), ""),  # of Volcano, before a reason
    (re.compile(r"(?i)\. Received status: Status\([^\n]*"), "."),  # of the Java client
)
_BLANKS = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r"\n{3,}")
_MARGIN = " |│┃"  # of quotes and tables
HEADER = re.compile(
    r"(?:\b(?P<free>\d{1,9})/(?:(?P<total>\d+)|[A-Za-z]{1,3}|[…?])\s+nodes?(?:\s+are)?"
    r"(?:\s+(?P<un>un)?available\b\s*:?|(?:\s+a\w*)?\s*(?:\.{2,}|…)\s*\Z"
    r"|\s+a\w*\s*\Z)"
    r"|\bno\s+nodes\s+are\s+available\s+that\s+match\s+all\s+of\s+the\s+(?:following\s+)?predicates\s*:+"
    r"|(?<![\w/])nodes\s+are\s+(?P<un2>un)?available\s*:|\bcannot\s+schedule\s+pods\s*:(?!\s*(?:no\s+nodes|0/)))",
    re.IGNORECASE,
)
_REASONS = (
    r"(?:node\(s\)\s|insufficient\s+\w|too many pods|pod has unbound|persistentvolumeclaim\s+(?:is not bound: )?\"|"
    r"no preemption victims|preemption is not helpful|preemption: not eligible|cannot allocate all claims|"
    r"max node group size reached|in backoff after failed)"
)
_BARE = re.compile(rf"(?:\b\d+\s+)?{_REASONS}", re.IGNORECASE)
_BARE_EVENT = re.compile(
    rf"\b(?:FailedScheduling|error scheduling|error selecting node)\b[^\n]{{0,200}}?(?P<bare>(?:\b\d+ )?{_REASONS})",
    re.IGNORECASE,
)
PREEMPTION = re.compile(r"preemption\s*:\s*", re.IGNORECASE)
_IN_CLAUSE = re.compile(r"preemption\s*:\s*\Z", re.IGNORECASE)
_NEW_LINES = re.compile(r"\r\n?")


def pasted_text(text: str) -> PastedText:
    text = _without_objects(_NEW_LINES.sub("\n", text[:MOST_CHARACTERS]))
    for pattern, plain in _ESCAPED:
        text = pattern.sub(plain, text)
    written = collapse_blanks(text)
    return PastedText(written, written.translate(_PLAIN))


def _without_objects(text: str) -> str:
    """Replace objects (JSON, YAML, the output of `kubectl describe`) by the texts in them that can hold a message."""
    whole = _json(text)
    if whole is not None:
        return "\n".join(_texts(whole))
    out: list[str] = []
    inside = ""  # the first word of the object that the lines belong to
    indent = -1  # of a `message:` whose lines go on
    lines = text.split("\n")
    for number, line in enumerate(lines):
        content = line.lstrip(" >")
        begins = _OBJECT_BEGINS.match(line)
        if begins and (begins.group() != "Name:" or "".join(lines[number + 1 : number + 2]).startswith("Namespace:")):
            inside = begins.group()
        elif content.startswith("Events:") if inside == "Name:" else line[:1].strip() and not _YAML_LINE.match(line):
            inside = ""
        width = len(line) - len(content)
        goes_on = indent >= 0 and width > indent and bool(content)
        if not goes_on:
            indent = width if _MESSAGE_KEY.match(content) else -1
        if goes_on:
            out[-1] += f" {content}"
        elif not inside or indent >= 0 or line.startswith(("Name:", "Namespace:")):
            out.append(_of_log(line))
    return "\n".join(out)


def _of_log(line: str) -> str:
    """Return a line of a log with the texts of its JSON fields, the error first, instead of the JSON."""
    at = line.find('{"')
    fields = _json(line[at:]) if at >= 0 and line[at - 1 : at] != "=" else None
    if fields is None:
        return _LOG_FIELDS.sub("", line)
    texts = list(_texts(fields))
    level = str(fields.get("level", "")).upper()
    return f"{level} {line[:at]}" + "\n".join(texts) if texts else line[:at]


def _json(text: str) -> Optional[dict[str, Any]]:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found, end = json.JSONDecoder().raw_decode(text := text.replace("\n", "").lstrip())
    except (ValueError, RecursionError):
        return None
    return None if re.search(r"\w", text[end:]) else found


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a JSON value that can be messages; beside an error, a message is only its summary."""
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, list):
            stack += reversed(top)
        elif isinstance(top, dict):
            found = [key for key in _TEXT_KEYS if isinstance(top.get(key), str)]
            yield from (top[key] for key in (found[:1] if found[:1] in (["error"], ["err"]) else found))
            stack += [item for item in reversed(top.values()) if isinstance(item, (dict, list))]


_TEXT_KEYS = ("error", "err", "message", "msg", "note")
_OBJECT_BEGINS = re.compile(r"Name:(?=\s)|(?:- )?(?:apiVersion|kind|metadata|spec|status):(?=\s|$)")
_YAML_LINE = re.compile(r"-(?: |$)|\"?[\w./-]+\"?:(?: |$)")
_MESSAGE_KEY = re.compile(r"(?:- )?\"?message\"?:", re.IGNORECASE)
_LOG_FIELDS = re.compile(r"(?<!\s)\s+\{\"(?:commit|controller)\":.*")


def collapse_blanks(text: str) -> str:
    """Reduce each run of white space to one blank, one new line, or one empty line.

    The margins of quotes and tables go, too. Then the cost of matching does not depend on the length of such runs.
    """
    lines = (line.rstrip(_MARGIN + "\\").lstrip(_MARGIN + ">#") for line in _BLANKS.sub(" ", text).split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines))


class MessageStart(NamedTuple):
    """The beginning of a message in a text: a header, a bare list, or a whole sentence with its form and details."""

    start: int
    end: int
    kind: str
    total: Optional[int] = None
    free: int = 0
    form: Optional[Form] = None
    details: Optional[dict[str, str]] = None


_NOT_SCALED = re.compile(
    r"pod\s+didn't\s+trigger\s+scale-?\s*up(?:\s*\(it\s+wouldn't\s+fit\s+if\s+a\s+new\s+node\s+is\s+added\))?\s*:?",
    re.IGNORECASE,
)

_COUNTS = re.compile(r"\b(counts|podDomains|nodeDomains) ?= ?")
_COMPILED = tuple(
    (form, re.compile(form.shape.replace(" *", r"[^\S\n]*").replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE))
    for form in FORMS
)


def _sentences(text: str) -> list[MessageStart]:
    """Return the known sentences of a text in order; of overlapping ones the first, or the more specific."""
    found: list[tuple[int, int, MessageStart]] = []
    for rank, (form, shape) in enumerate(_COMPILED):
        for at in shape.finditer(text):
            place = MessageStart(at.start(), at.end(), "sentence", form=form, details=_details(at))
            found.append((at.start(), rank, place))
    found.sort(key=lambda item: item[:2])
    out: list[MessageStart] = []
    pool: dict[str, str] = {}
    end = 0
    for start, _, item in found:
        if start < end or item.end == start:
            continue
        # A list of invalid fields names their object once, before the first.
        if out and item.details and "path" in item.details and _BETWEEN_FIELDS.fullmatch(text, end, start):
            last = (out[-1].details or {}).get("object")
            if last:
                item.details.setdefault("object", last)
        # Karpenter names a pool once, before its reasons.
        if item.form and item.form.component is Component.KARPENTER and item.details is not None:
            if "pool" in item.details:
                pool = {"pool": f"{item.details['what']} {item.details['pool']}"}
            elif item.form.name == "karpenterLimit" or "\n" in text[end:start]:
                pool = {}
            else:
                item.details.update(pool)
        out.append(item)
        end = item.end
    return out


_BETWEEN_FIELDS = re.compile(r"[\s,*#]*")


def _details(at: re.Match[str]) -> dict[str, str]:
    """Return the names in a sentence; `claim2` is another group for `claim`; Karpenter's counts are three details."""
    found: dict[str, str] = {}
    for group, value in at.groupdict().items():
        text = " ".join((value or "").split())
        if group == "counts":  # `counts = a: 1, podDomains = x Exists, nodeDomains = x In [a]`
            parts = _COUNTS.split(text.rstrip(" )"))[1:]
            pairs = zip(parts[::2], parts[1::2], strict=True)
            found.update((name, part.strip(" ,")) for name, part in pairs if part.strip(" ,"))
        elif text:
            found[group.rstrip("0123456789")] = text
    return found


def message_places(plain: str) -> list[MessageStart]:
    """Return the begin of each message, except in a preemption clause or in a list."""
    places: list[MessageStart] = []
    for header in HEADER.finditer(plain):
        if _IN_CLAUSE.search(plain, max(0, header.start() - 40), header.start()):
            continue
        free = number_in(header, "free") or 0
        if free and not header.group().rstrip().endswith(":"):
            continue  # no list follows: a sentence about nodes that are available
        kind = "volcano" if header.group("un") or header.group("un2") else "nodes"
        places.append(MessageStart(header.start(), header.end(), kind, number_in(header, "total"), free))
    places += [MessageStart(at.start(), at.end(), "notScaled") for at in _NOT_SCALED.finditer(plain)]
    line = functools.partial(bisect.bisect_left, [at for at, char in enumerate(plain) if char == "\n"])
    lists: dict[int, int] = {}  # the first list of each line; what follows it in the line belongs to it
    for start in sorted(place.start for place in places):
        lists.setdefault(line(start), start)
    places += [place for place in _sentences(plain) if place.start < lists.get(line(place.start), len(plain))]
    in_lines = {line(place.start) for place in places}
    for event in _BARE_EVENT.finditer(plain):
        if line(event.start()) not in in_lines:
            places.append(MessageStart(event.start("bare"), event.start("bare"), "bare"))
    if not places:
        bare = _BARE.search(plain)
        if bare:
            places.append(MessageStart(bare.start(), bare.start(), "bare"))
    return sorted(places, key=lambda place: place.start)


def number_in(found: Optional[re.Match[str]], group: Union[int, str]) -> Optional[int]:
    """Return the number that a group of a match has, up to nine digits; None without one."""
    digits = found.group(group) if found else None
    return int(digits[:9]) if digits else None


def line_start(plain: str, at: int, since: int = 0) -> int:
    """Return the begin of a place's line, or `since` if that is later."""
    return max(since, plain.rfind("\n", since, at) + 1)


_AGE = r"(?:<?(?:unknown|invalid)>?|(?:\d+(?:\.\d+)?(?:ms|[smhdy]))+)"
# Surroundings of messages: rows and columns of kubectl, keys of YAML and JSON, fields of klog, a shell.
_AROUND = re.compile(
    rf"[^a-z0-9]*"
    r"|(?:\S+ ){1,8}(?-i:Normal [A-Z])\w+ .*|\S+:(?:NoSchedule|NoExecute|PreferNoSchedule)(?: op=\S+)?(?: for \d+s)?"
    r"|[\w./-]+=\S*|(?:a|an|\d+)(?: few)? \w+ ago|\d+ times in the last.*|--.*--|failed to fetch .*"
    r"|(?:error selecting node for pod|error scheduling \S+):|pods \S+ ?|status: \S+"
    r"|[A-Z]\w+ (?:true|false|unknown)(?: \w+)?|type status(?: reason)?|(?:namespace )?name ready status .*"
    r"|(?:[\w.-]+ )?[\w.-]+ \d+/\d+ [\w:]+ \d.*"
    r"|(?:type[\s|]+reason|last\s+seen|firstseen|namespace\s+last)\b.*|events\s*:.*"
    rf"|(?:{_AGE}(?: \(x\d+ over {_AGE}\))? |\d{{4}}-\d\d-\d\d\S* |[\w.-]+ (?={_AGE} ))*"
    r"\[?(?:normal\]?(?: .*)?|warning\]? failedscheduling\b(?:(?!\d/\d).)*"
    rf"|warning \w+ {_AGE}(?: \(x\d+ over {_AGE}\))?(?: [\w.-]+)?)"
    rf"|{_AGE}(?:\s+\(x\d+\s+over\s+{_AGE}\))?(?:\s+[\w.-]+)?|\(x\d+\s+over\s+{_AGE}\)"
    r"|evicting pod \S+|(?:pod|node)/\S+ (?:evicted|(?:already )?cordoned|uncordoned|drained|deleted)"
    r"|(?:default-scheduler|cluster-autoscaler|karpenter|persistentvolume-controller)"
    r"|(?:could not|failed to) schedule pod|reconciler error|failed to (?:compare|calculate|perform)\b.*"
    r"|[\s;,.\"]*(?:retrying|waiting)[\s.\"]*|[\s&]*cannot patch \"[^\"]*\" with kind \w+:"
    r"|(?:[^\n]{0,120} )?I\d{4} \d\d:\d\d:\d\d\S* .*|(?:[^\n]{0,200}[ :])?(?:INFO|DEBUG) .*"
    r"|[, ]*\w+=(?:\"[^\"]*\",?|[^\s\"]\S*)(?: \w+=(?:\"[^\"]*\",?|[^\s\"]\S*))* ?"
    r"|[\"'`{\[,;}\])\s]*\"[\w./-]+\"\s*:.*"
    r"|[$%]\s.*|\S+[$#]\s.*|\w{1,8}ctl\s.*",
    re.IGNORECASE,
)
_KEY = re.compile(r"-?\s*\"?[^\W\d_][\w ./()-]{0,40}\"?\s*:(?:\s.*)?|conditions:|status:")
_CONNECTORS = re.compile(r"[\s\"'`.,;:)\]}(\[{]*(?:(?:and|then|or)[\s\"'`.,;:)\]}(\[{]*)?", re.IGNORECASE)


def unread_lines(pasted: PastedText, start: int, end: int) -> tuple[str, ...]:
    """Return the lines that are neither a message nor known surroundings of one, such as heads of columns."""
    out = []
    for number, line in enumerate(pasted.plain[start:end].split("\n")):
        text = line.strip(" `'\"\t\r")
        is_new_line = number > 0 or not start or pasted.plain[start - 1] == "\n"
        if (
            text.isupper()
            or _AROUND.fullmatch(text)
            or _CONNECTORS.fullmatch(text)
            or (is_new_line and _KEY.fullmatch(text))
        ):
            continue
        out.append(" ".join(text.split()))
    return tuple(out)
