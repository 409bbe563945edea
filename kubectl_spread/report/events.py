"""Events of a simulation as sentences, and the way to get stuck as a list of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Optional

from kubectl_spread.engine.results.answer import TraceEvent
from kubectl_spread.engine.results.summary import PlayedStep
from kubectl_spread.engine.state import EventKind
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.report.wording import find_no_node, name, plural, without_repeats

_MOST_PLACES = 12


def way_to_get_stuck(played: PlayedStep, before: Sequence[PlayedStep]) -> list[str]:
    """Return the way to get stuck, sentence by sentence.

    Args:
        played: the step that may get stuck.
        before: the steps before it; a step with only one outcome becomes one sentence.
    """
    steps = [*before, played][-len(played.summary.witness) :]
    sentences: list[str] = []
    names = EventNames(event for part in played.summary.witness for event in part)
    for step, events in zip(steps, played.summary.witness, strict=True):
        is_plain = step is not played and len(step.summary.endings) == 1
        told = [] if is_plain else [names.sentence(event) for event in events if event.kind is not EventKind.DONE]
        sentences += without_repeats([f"`{step.text}` is accepted.", *told])
    for (owner, pod), number in Counter((pod.owner, pod.name) for pod in played.summary.stuck).items():
        is_any = owner is not None and pod.endswith("-*")
        who = f"{plural(number, 'new pod')} of {owner.name}" if owner is not None and is_any else f"Pod {pod}"
        sentences.append(f"{who} {find_no_node(number)}")
    return sentences


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
        revisions: dict[Optional[ObjectKey], set[int]] = {}
        for event in events:
            revisions.setdefault(event.owner, set()).add(event.revision)
        self._mixed = {owner for owner, numbers in revisions.items() if len(numbers - {0}) > 1}

    def sentence(self, event: TraceEvent) -> str:
        """Return the sentence about an event that is not a step of the user."""
        pod = f"pod {event.pod}"
        if event.owner is not None:
            pod = f"a pod of {event.owner.name}" if event.pod.endswith("-*") else pod
            pod += f" (revision {event.revision})" if event.owner in self._mixed and event.revision else ""
        sentence = _SENTENCES[event.kind](event, pod)
        return f"{sentence[0].upper()}{sentence[1:]}" if sentence.startswith(("a pod of ", "pod ")) else sentence


def _scheduled(event: TraceEvent, pod: str) -> str:
    same = f", which scores the same as {plural(event.others, 'other node')}" if event.others else ""
    return f"{pod} goes to {event.node}{same}."


def _scaled(event: TraceEvent, _pod: str) -> str:
    who = f"Autoscaler {event.text} scales {name(event.owner)}"
    if not event.text:
        who = f"{name(event.owner)} scales revision {event.revision}"
    return f"{who} to {plural(event.size, 'pod')}."


_SENTENCES: dict[EventKind, Callable[[TraceEvent, str], str]] = {
    EventKind.CREATED: lambda event, pod: (
        f"{pod} is created." if event.owner is None else f"{name(event.owner)} creates {pod}."
    ),
    EventKind.SCHEDULED: _scheduled,
    EventKind.READY: lambda event, pod: f"{pod} on {event.node} becomes ready.",
    EventKind.DELETED: lambda event, pod: (
        f"{pod} on {event.node} is deleted." if event.node else f"{pod}, which is Pending, is deleted."
    ),
    EventKind.GONE: lambda event, pod: f"{pod} on {event.node} is gone.",
    EventKind.SCALED: _scaled,
    EventKind.EVICTED: lambda event, pod: f"{pod} is evicted from {event.node}.",
    EventKind.REFUSED: lambda event, pod: f"The eviction of {pod} on {event.node} is refused forever: {event.text}.",
    EventKind.PREEMPTED: lambda event, pod: f"{pod} on {event.node} is preempted by a pod of higher priority.",
}
