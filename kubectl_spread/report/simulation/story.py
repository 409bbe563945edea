"""The way to an outcome, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.report.simulation.words import name, plural
from kubectl_spread.timeline.results.answer import TraceEvent
from kubectl_spread.timeline.results.summary import PlayedStep
from kubectl_spread.timeline.state import EventKind

_MOST_PLACES = 12


def way_to_get_stuck(played: PlayedStep, before: Sequence[PlayedStep]) -> list[str]:
    """Return the way to get stuck, sentence by sentence.

    Args:
        played: the step that may get stuck.
        before: the steps before it; a step with only one outcome becomes one sentence.
    """
    steps = [*before, played][-len(played.summary.witness) :]
    found: list[str] = []
    names = EventNames(event for part in played.summary.witness for event in part)
    for step, events in zip(steps, played.summary.witness, strict=True):
        is_plain = step is not played and len(step.summary.endings) == 1
        found += names.sentences(() if is_plain else events, step.text)
    return [*found, *_ends(played)]


def _ends(played: PlayedStep) -> list[str]:
    """Return which pods have no node at the end."""
    named = Counter((pod.owner, pod.name) for pod in played.summary.stuck)
    found = []
    for (owner, pod), number in named.items():
        if owner is not None and pod.endswith("-*"):
            found.append(f"{number} new {'pod' if number == 1 else 'pods'} of {owner.name} {_finds(number)}")
        else:
            found.append(f"Pod {pod} {_finds(number)}")
    return found


def _finds(number: int) -> str:
    return "finds no node, and stays Pending." if number == 1 else "find no node, and stay Pending."


def places_before(played: PlayedStep) -> str:
    """Return the places of the pods that a step concerns, before it begins; empty if there are many."""
    concerned = {item.key for item in played.summary.workloads if item.is_concerned}
    places = Counter((pod.owner, pod.node) for pod in played.summary.begin if pod.owner in concerned)
    if not 0 < len(places) <= _MOST_PLACES:
        return ""
    parts = [
        f"{plural(number, 'pod')} of {owner.name if owner else ''} {f'on {node}' if node else 'Pending'}"
        for (owner, node), number in sorted(places.items(), key=lambda item: (str(item[0][0]), item[0][1]))
    ]
    return f"At the start: {', '.join(parts)}."


class EventNames:
    """Names of pods. They include the revision only if there are several."""

    def __init__(self, events: Iterable[TraceEvent]) -> None:
        revisions: dict[Optional[OwnerKey], set[int]] = {}
        for event in events:
            revisions.setdefault(event.owner, set()).add(event.revision)
        self._mixed = {owner for owner, found in revisions.items() if len(found - {0}) > 1}

    def sentences(self, events: Iterable[TraceEvent], text: str) -> list[str]:
        """Return one sentence for each event; merge equal sentences that follow each other."""
        found = [(f"`{text}` is accepted.", 1)]
        for event in events:
            if event.kind is EventKind.DONE:
                continue
            sentence = self.sentence(event)
            if found[-1][0] == sentence:
                found[-1] = (sentence, found[-1][1] + 1)
            else:
                found.append((sentence, 1))
        return [sentence if times == 1 else f"{sentence[:-1]} ({times} times)." for sentence, times in found]

    def sentence(self, event: TraceEvent) -> str:
        """Return the sentence about an event that is not a step of the user."""
        sentence = _SENTENCES[event.kind](event, self._pod(event))
        return f"{sentence[0].upper()}{sentence[1:]}" if sentence.startswith(("a pod of ", "pod ")) else sentence

    def _pod(self, event: TraceEvent) -> str:
        owner = event.owner
        if owner is None:
            return f"pod {event.pod}"
        revision = f" (revision {event.revision})" if owner in self._mixed and event.revision else ""
        return f"{f'a pod of {owner.name}' if event.pod.endswith('-*') else f'pod {event.pod}'}{revision}"


def _created(event: TraceEvent, pod: str) -> str:
    return f"{pod} is created." if event.owner is None else f"{name(event.owner)} creates {pod}."


def _scheduled(event: TraceEvent, pod: str) -> str:
    if not event.others:
        return f"{pod} goes to {event.node}."
    return f"{pod} goes to {event.node}, which scores the same as {plural(event.others, 'other node')}."


def _ready(event: TraceEvent, pod: str) -> str:
    return f"{pod} on {event.node} becomes ready."


def _deleted(event: TraceEvent, pod: str) -> str:
    return f"{pod} on {event.node} is deleted." if event.node else f"{pod}, which is Pending, is deleted."


def _gone(event: TraceEvent, pod: str) -> str:
    return f"{pod} on {event.node} is gone."


def _scaled(event: TraceEvent, _pod: str) -> str:
    if event.text:
        return f"Autoscaler {event.text} scales {name(event.owner)} to {plural(event.size, 'pod')}."
    return f"{name(event.owner)} scales revision {event.revision} to {plural(event.size, 'pod')}."


def _evicted(event: TraceEvent, pod: str) -> str:
    return f"{pod} is evicted from {event.node}."


def _refused(event: TraceEvent, pod: str) -> str:
    return f"The eviction of {pod} on {event.node} is refused forever: {event.text}."


def _preempted(event: TraceEvent, pod: str) -> str:
    return f"{pod} on {event.node} is preempted by a pod of higher priority."


_SENTENCES = {
    EventKind.CREATED: _created,
    EventKind.SCHEDULED: _scheduled,
    EventKind.READY: _ready,
    EventKind.DELETED: _deleted,
    EventKind.GONE: _gone,
    EventKind.SCALED: _scaled,
    EventKind.EVICTED: _evicted,
    EventKind.REFUSED: _refused,
    EventKind.PREEMPTED: _preempted,
}
