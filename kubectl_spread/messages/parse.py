"""Messages about Pending pods as people paste them: their component, and the meaning of each part.

The grammar of kube-scheduler's messages (FitError.Error of pkg/scheduler/framework/types.go, 1.16 to 1.36):

    message    = "0/" total " nodes are available:" [ " " list "." | " " reason "." ] [ " " postfilter ]
    list       = count " " reason { ", " count " " reason }
    postfilter = [ words ", " ] "preemption: " ( message | "not eligible due to " ... )

Text around a message is ignored: the columns of `kubectl describe`, quotes, YAML or JSON.
Other unrecognized text is kept word for word and reported.
"""

from __future__ import annotations

from kubectl_spread.messages.form import Component, RecognizedSentence
from kubectl_spread.messages.message import Message, MinorRange, Part
from kubectl_spread.messages.pasted_text import (
    line_start,
    message_places,
    MessageStart,
    MOST_CHARACTERS,
    pasted_text,
    PastedText,
    times_seen,
    unread_lines,
)
from kubectl_spread.messages.reader import DOTS, Reader
from kubectl_spread.messages.reason_kind import ReasonKind
from kubectl_spread.messages.scheduler_reasons import FIRST_MINOR, LAST_MINOR


def parse(text: str) -> Message:
    """Return the first message of a text."""
    return parse_all(text)[0]


def parse_all(text: str) -> tuple[Message, ...]:
    """Return every message of a text in order, repeated ones once; other text is one unknown message."""
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
    pasted = pasted_text(text)
    places = message_places(pasted.plain)
    if not places:
        rest = tuple(" ".join(line.split()) for line in pasted.written.splitlines() if line.strip())
        return (Message(Component.UNKNOWN, "unknown", " ".join(rest), not_understood=rest),)
    found: list[Message] = []
    before = unread_lines(pasted, 0, line_start(pasted.plain, places[0].start))
    for at, place in enumerate(places):
        following = places[at + 1].start if at + 1 < len(places) else len(pasted.plain)
        found.append(_message(pasted, place, following))
    first = found[0]
    found[0] = first._replace(not_understood=(*before, *first.not_understood))
    if len(text) > MOST_CHARACTERS:
        unread = f"(what follows the first {MOST_CHARACTERS} characters was not read)"
        found[-1] = found[-1]._replace(not_understood=(*found[-1].not_understood, unread))
    return _once(found)


def _message(pasted: PastedText, place: MessageStart, following: int) -> Message:
    """Return the message that begins at a place, with the unread text up to the next one."""
    end = following
    line = line_start(pasted.plain, following, place.end)
    if following < len(pasted.plain) and line > place.end:
        end = line  # text before the next message in its line belongs to that message
    if place.found is not None:
        return _sentence(pasted, place, place.found, end)
    reader = Reader(pasted, place.end, end)
    parts = reader.parts()
    dots = reader.take(DOTS)
    words, preemption = reader.post_filter() if place.kind != "notScaled" else ((), None)
    text = pasted.quote(place.start, place.end + reader.at)
    reader.take(DOTS)
    is_cut = reader.is_cut or bool(dots and dots.group().strip() in ("...", "…"))
    is_scheduler = place.kind != "notScaled" and not all(part.kind in _OF_AUTOSCALER for part in parts or (_NONE,))
    era = MinorRange(reader.first, reader.last) if is_scheduler and _tells(reader) else None
    return Message(
        component=Component.SCHEDULER if is_scheduler else Component.CLUSTER_AUTOSCALER,
        form="nodes" if is_scheduler else "notScaled",
        text=text,
        total=place.total,
        parts=parts,
        post_filter=words,
        preemption=preemption,
        era=era,
        times=times_seen(pasted.plain, place.start),
        is_cut=is_cut,
        not_understood=(*reader.not_understood, *unread_lines(pasted, place.end + reader.at, end)),
    )


_NONE = Part(None, "", ReasonKind.UNKNOWN)
_OF_AUTOSCALER = {
    ReasonKind.GROUP_FULL,
    ReasonKind.GROUP_BACKOFF,
    ReasonKind.GROUP_NOT_READY,
    ReasonKind.CLUSTER_LIMIT,
    ReasonKind.GROUP_OTHER,
}


def _tells(reader: Reader) -> bool:
    return (reader.first, reader.last) != (FIRST_MINOR, LAST_MINOR)


def _sentence(pasted: PastedText, place: MessageStart, found: RecognizedSentence, end: int) -> Message:
    return Message(
        component=found.form.component,
        form=found.form.name,
        text=pasted.quote(place.start, place.end),
        details=tuple(found.details.items()),
        times=times_seen(pasted.plain, place.start),
        not_understood=unread_lines(pasted, place.end, end),
    )


def _once(found: list[Message]) -> tuple[Message, ...]:
    """Merge equal messages and count them."""
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
