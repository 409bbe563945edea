"""The way to an outcome, told step by step."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from kubectl_spread.report.simulation.words import name
from kubectl_spread.report.simulation.words import plural
from kubectl_spread.timeline.answer import Event
from kubectl_spread.timeline.state import Kind


def sentences(events: Sequence[Event], text: str) -> list[str]:
    """Return one sentence for each thing that happened; equal ones that follow each other are one.

    Args:
        events: in the order they happen.
        text: the step as the user wrote it.
    """
    found: list[tuple[str, int]] = []
    told = False
    for event in events:
        if event.kind is Kind.DONE:
            if not told and text:
                found.append((f"`{text}` is accepted.", 1))
            told = True
            continue
        sentence = _sentence(event)
        if found and found[-1][0] == sentence:
            found[-1] = (sentence, found[-1][1] + 1)
        else:
            found.append((sentence, 1))
    return [sentence if times == 1 else _several(sentence, times) for sentence, times in found]


def _several(sentence: str, times: int) -> str:
    return f"{sentence.removesuffix('.')}; {times} times."


def _sentence(event: Event) -> str:
    maker = _SENTENCES[event.kind]
    return maker(event)


def _pod(event: Event) -> str:
    """Return what a pod is called; new pods of most kinds have no name that is known before."""
    owner = event.owner
    if owner is None:
        return f"pod {event.pod}"
    if event.pod.endswith("-*"):
        return f"a new pod of {owner.name} (revision {event.revision})"
    return f"{event.pod} (revision {event.revision})" if event.revision else event.pod


def _start(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith("a new") else text


def _created(event: Event) -> str:
    if event.owner is None:
        return f"{_pod(event)} is created."
    return f"{name(event.owner)} creates {_pod(event)}."


def _scheduled(event: Event) -> str:
    others = ""
    if event.others:
        others = f"; {plural(event.others, 'other node')} {'was' if event.others == 1 else 'were'} as good"
    return f"{_start(_pod(event))} goes to {event.node}{others}."


def _ready(event: Event) -> str:
    return f"{_start(_pod(event))} on {event.node} becomes ready."


def _deleted(event: Event) -> str:
    where = f" on {event.node}" if event.node else ", which is Pending,"
    return f"{_start(_pod(event))}{where} is deleted."


def _gone(event: Event) -> str:
    return f"{_start(_pod(event))} on {event.node} is gone."


def _scaled(event: Event) -> str:
    return f"{name(event.owner)} scales revision {event.revision} to {plural(event.size, 'pod')}."


def _evicted(event: Event) -> str:
    return f"{_start(_pod(event))} is evicted from {event.node}."


def _refused(event: Event) -> str:
    return f"The eviction of {_pod(event)} on {event.node} stays refused: {event.text}."


def _preempted(event: Event) -> str:
    return f"{_start(_pod(event))} on {event.node} is preempted by a pod of higher priority."


_SENTENCES = {
    Kind.CREATED: _created,
    Kind.SCHEDULED: _scheduled,
    Kind.READY: _ready,
    Kind.DELETED: _deleted,
    Kind.GONE: _gone,
    Kind.SCALED: _scaled,
    Kind.EVICTED: _evicted,
    Kind.REFUSED: _refused,
    Kind.PREEMPTED: _preempted,
}


def numbered(parts: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the sentences of all parts with their numbers."""
    at = 0
    for part in parts:
        for sentence in part:
            at += 1
            yield f"{at}. {sentence}"
