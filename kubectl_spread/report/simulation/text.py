"""A simulation's answer for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

from kubectl_spread.engine.results.answer import TraceEvent
from kubectl_spread.engine.results.domain_pods import DomainPods
from kubectl_spread.engine.results.summary import (
    Ending,
    PlayedStep,
    Simulation,
    StepSummary,
    Verdict,
    WorkloadSpread,
    WorkloadSummary,
)
from kubectl_spread.engine.state import EventKind
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.report.table import paint, table, wrap
from kubectl_spread.text.wording import safe

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
        revisions: dict[Optional[ObjectKey], set[int]] = {}
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


def extremes(summary: StepSummary, key: ObjectKey, spread: WorkloadSpread) -> str:
    """Return `best outcome: a=1 b=1; worst: a=2 b=0`; empty if the outcomes are equally good."""
    values = [domain.value for domain in spread.domains]
    found = [item for item in summary.endings if spread.topology_key in item.counts.get(key, {})]
    if len(found) < 2 or not 0 < len(values) <= _MOST_DOMAINS:
        return ""
    ranked = sorted((_rank(item, _numbers_extremes(item, key, spread, values)), at) for at, item in enumerate(found))
    (best, first), (worst, last) = ranked[0], ranked[-1]
    if best == worst:
        return ""
    texts = [_text(found[at], values, _numbers_extremes(found[at], key, spread, values)) for at in (first, last)]
    return f"best outcome: {texts[0]}; worst: {texts[1]}"


def _numbers_extremes(ending: Ending, key: ObjectKey, spread: WorkloadSpread, values: list[str]) -> list[int]:
    counts = ending.counts[key][spread.topology_key]
    return [sum(counts.get(value, {}).values()) for value in values]


def _rank(ending: Ending, numbers: list[int]) -> tuple[bool, int, int]:
    """Return a number that is lower for a better outcome: complete, with more pods, evenly spread."""
    return (not ending.is_complete, -sum(numbers), max(numbers) - min(numbers))


def _text(ending: Ending, values: list[str], numbers: list[int]) -> str:
    counts = " ".join(f"{safe(value)}={number}" for value, number in zip(values, numbers, strict=True))
    return counts if ending.is_complete else f"{counts}, incomplete"


VERDICTS = {
    Verdict.COMPLETES: "completes",
    Verdict.NOT_KNOWN: "not known",
    Verdict.MAY_GET_STUCK: "may get stuck",
    Verdict.GETS_STUCK: "gets stuck",
}


def plural(number: int, noun: str) -> str:
    """Return `1 pod`, `2 pods`, with commas between thousands."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def pods(found: Range) -> str:
    """Return `1 pod`, `1 to 2 pods`."""
    return f"{found} pod" if found == Range(1, 1) else f"{found} pods"


def name(key: Optional[ObjectKey]) -> str:
    """Return `Deployment shop/web`."""
    return "" if key is None else f"{key.kind} {key.namespace}/{key.name}"


def share(part: int, whole: int) -> str:
    """Return the share of outcomes: `in 2 of 3 outcomes`; empty if there is only one outcome."""
    if whole < 2:
        return ""
    return "in every outcome" if part == whole else f"in {part:,} of {whole:,} outcomes"


def depends_on(gap: str) -> str:
    """Return a line about something that makes the verdict `not known`."""
    return f"not simulated, and the outcome depends on it: {gap}"


def sampled(step: StepSummary) -> str:
    """Return the words before numbers that hold for some outcomes only; empty if all outcomes are known."""
    return "" if step.is_exact else "in the sampled runs " if step.runs > 1 else "in one sampled run "


def certainty(step: StepSummary) -> str:
    """Return the extent of the search, and the limits of its answer."""
    visited = f"({plural(step.states, 'state')} visited)"
    if not step.endings:
        return f"The search ended before it found an outcome {visited}."
    if step.is_exact:
        return f"{_found(step)} {visited}."
    if not step.runs:
        return f"Other outcomes are possible {visited}."
    most = max(step.endings, key=lambda ending: ending.runs)
    how = f"{most.runs:,} of {step.runs:,} sampled runs end" if step.runs > 1 else "The one sampled run ends"
    return f"{how} {_numbers(most)}; other outcomes are possible {visited}."


def _numbers(ending: Ending) -> str:
    """Return the pods in each domain, `2-2-2`, if the ending is about one workload with few domains; else `so`."""
    for by_key in list(ending.counts.values())[:1] if len(ending.counts) == 1 else ():
        for topology_key, counts in by_key.items():
            values = ending.domains[topology_key]
            if len(values) <= _MOST_DOMAINS:
                return "-".join(str(sum(counts.get(value, {}).values())) for value in values)
    return "so"


def _found(step: StepSummary) -> str:
    number = len(step.endings)
    if number > 1:
        return f"There are {number:,} different outcomes, all of them found"
    ranges = [domain.after for item in step.workloads for spread in item.spreads for domain in spread.domains]
    if any(found.least < found.most for found in ranges):
        return "There is one outcome, apart from the names of interchangeable domains"
    return "There is one outcome"


_STYLES = {
    Verdict.COMPLETES: "green",
    Verdict.NOT_KNOWN: "yellow",
    Verdict.MAY_GET_STUCK: "yellow",
    Verdict.GETS_STUCK: "red",
}
_MOST_DOMAINS = 12
_MOST_WORKLOADS = 2  # with a table each; of more there is one table for all together
_MOST_SENTENCES = 40
_ENDS = 15  # of a long story, from its beginning and from its end


def render(simulation: Simulation, *, width: int, colour: bool, is_wide: bool = False) -> str:
    """Return the answer; `is_wide`: long lists are complete."""
    blocks: list[list[str]] = []
    for at, step in enumerate(simulation.steps, 1):
        number = f"Step {at}: " if len(simulation.steps) > 1 else ""
        blocks += _Step(step, simulation, at=at, width=width, colour=colour, is_wide=is_wide).blocks(number)
    if simulation.is_interrupted:
        blocks.append(wrap("The search was interrupted: this is what is known so far.", width))
    said = {text for step in simulation.steps for text in step.summary.gaps}
    notes = [note for note in simulation.notes if note not in said]
    if notes:
        lines = [line for note in notes for line in wrap(note, width, indent="  ", hanging="  ")]
        blocks.append(["Not simulated:", *lines])
    return "\n\n".join("\n".join(block) for block in blocks)


class _Step:
    def __init__(
        self, played: PlayedStep, simulation: Simulation, *, at: int, width: int, colour: bool, is_wide: bool
    ) -> None:
        self.played = played
        self.summary: StepSummary = played.summary
        self.simulation = simulation
        self.at = at
        self.width = width
        self.colour = colour
        self.is_wide = is_wide

    def blocks(self, number: str) -> Iterator[list[str]]:
        """Yield the parts that have lines."""
        yield [f"{number}{self.played.text}: {self._verdict()}"]
        gaps = map(depends_on, self.summary.gaps)
        parts: list[Iterable[str]] = [self._wrapped(gaps), self._refusal()]
        parts.append(self.played.notes and self._wrapped(self.played.notes))
        parts += [self._workload(item) for item in self.summary.workloads if item.is_concerned]
        parts += [
            self._together(),
            self._scheduled(),
            self._nothing(),
            self._others(),
            self._waiting(),
            self._refused(),
            self._lost(),
            self._story(),
        ]
        parts.append(wrap(certainty(self.summary), self.width))
        for part in parts:
            lines = list(part)
            if lines:
                yield lines

    def _verdict(self) -> str:
        verdict = self.summary.verdict
        if self.played.refusal:
            return paint("kubectl stops before the command is complete", "red", colour=self.colour)
        return paint(VERDICTS[verdict], _STYLES[verdict], colour=self.colour)

    def _wrapped(self, texts: Iterable[str]) -> list[str]:
        return [line for text in texts for line in wrap(text, self.width, hanging="  ")]

    def _refusal(self) -> list[str]:
        return self._wrapped(self.played.refusal.splitlines())

    def _workload(self, item: WorkloadSummary) -> Iterator[str]:
        verdict = paint(VERDICTS[item.verdict], _STYLES[item.verdict], colour=self.colour)
        if item.is_deleted:
            yield f"{name(item.key)} is deleted; {pods(item.restarted)} gone"
            return
        paused = f"; it is paused, so {_held_back(item)}" if item.is_paused else ""
        yield f"{name(item.key)} {verdict}{paused}"
        yield from wrap(numbers(item, self.summary), self.width, indent="  ", hanging="  ")
        if item.has_failed:
            yield f"  {FAILED}"
        if item.refusal:
            yield from wrap(f"the API server refuses new pods: {item.refusal}", self.width, indent="  ", hanging="  ")
        if self._is_brief and not self.is_wide:
            return
        for spread in item.spreads:
            yield ""
            yield from self._spread(spread, item.revision)
            yield from wrap(extremes(self.summary, item.key, spread), self.width, indent="  ", hanging="  ")

    @property
    def _is_brief(self) -> bool:
        concerned = sum(item.is_concerned and not item.is_deleted for item in self.summary.workloads)
        return concerned > _MOST_WORKLOADS and bool(self.summary.together)

    def _together(self) -> Iterator[str]:
        if not self.summary.together:
            return
        yield "All of them together"
        for spread in self.summary.together:
            yield ""
            yield from self._spread(spread)

    def _spread(self, spread: WorkloadSpread, revision: int = 0) -> list[str]:
        """Return a table. With a revision, add the number of its pods if some outcome also has pods of others."""
        if not spread.domains:
            return [f"  no node has the label {spread.topology_key}"]
        old = bool(revision) and _is_mixed(spread, revision)
        before = "before" if self.summary.is_start_exact else "before (sampled)"
        after = "after" if self.summary.is_exact else "after (sampled)"
        head = (spread.topology_key, before, after, *(("old", "new") if old else ()))
        rows = [(domain.value, str(domain.before), str(domain.after), *(_revisions(domain, revision) if old else ()))
                for domain in spread.domains]  # fmt: skip
        shown = rows
        if len(rows) > _MOST_DOMAINS and not self.is_wide:
            used = [row for row in rows if set(row[1:]) != {"0"}]
            shown = used[:_MOST_DOMAINS]
        lines = table([head, *shown], self.width, indent="  ")
        if len(shown) < len(rows):
            lines.append(f"  and {plural(len(rows) - len(shown), 'more domain')}")
        return [*lines, *wrap(skew(spread, self.summary), self.width, indent="  ", hanging="  ")]

    def _scheduled(self) -> list[str]:
        return self._wrapped(f"pod {pod} goes to {' or '.join(nodes)}" for pod, nodes in self.summary.scheduled)

    def _nothing(self) -> list[str]:
        summary = self.summary
        is_told = any(item.is_concerned for item in summary.workloads) or self.played.refusal or summary.scheduled
        if is_told or not summary.endings:
            return []
        return ["No workload changes."]

    def _others(self) -> list[str]:
        stuck = [
            name(item.key)
            for item in self.summary.workloads
            if not item.is_concerned and item.verdict is not Verdict.COMPLETES
        ]
        if not stuck:
            return []
        return wrap(f"Already incomplete before this step, and not changed by it: {', '.join(stuck)}", self.width)

    def _waiting(self) -> Iterator[str]:
        if self.summary.waiting:
            yield "Pending:"
        for item in self.summary.waiting:
            whose = f"{pods(item.pods)} of {name(item.owner)}" if item.owner is not None else f"pod {item.pod}"
            yield from wrap(f"{whose}{self._share(item.outcomes)}", self.width, indent="  ", hanging="  ")
            if item.message:
                yield from wrap(item.message, self.width, indent="    ")

    def _share(self, outcomes: int) -> str:
        found = share(outcomes, len(self.summary.endings))
        return f", {found}" if found else ""

    def _refused(self) -> Iterator[str]:
        if self.summary.refused:
            yield "Evictions that stay refused:"
        for item in self.summary.refused:
            sentence = f"{item.pod} on {item.node}{self._share(item.outcomes)}: {item.cause}"
            yield from wrap(sentence, self.width, indent="  ", hanging="  ")
        if self.summary.refused and self.played.text.startswith("drain "):
            nodes = sorted({item.node for item in self.summary.refused})
            stay = "stays" if len(nodes) == 1 else "stay"
            yield from self._wrapped([f"{', '.join(nodes)} {stay} cordoned."])

    def _lost(self) -> list[str]:
        if not self.summary.lost:
            return []
        return self._wrapped([f"Gone, and no controller creates them again: {', '.join(self.summary.lost)}"])

    def _story(self) -> Iterator[str]:
        if not self.summary.witness:
            return
        lines = way_to_get_stuck(self.played, self.simulation.steps[: self.at - 1])
        begin = places_before(self.played)
        yield "The shortest way to get stuck:" if self.summary.is_exact else "A way to get stuck:"
        if begin:
            yield from wrap(begin, self.width, indent="  ", hanging="  ")
        numbered = [f"{number}. {line}" for number, line in enumerate(lines, 1)]
        if len(numbered) > _MOST_SENTENCES and not self.is_wide:
            cut = len(numbered) - 2 * _ENDS
            numbered = [*numbered[:_ENDS], f"... {cut} more; --wide prints all of them", *numbered[-_ENDS:]]
        for line in numbered:
            yield from wrap(line, self.width, indent="  ", hanging="   ")


FAILED = "the Job fails: Job has reached the specified backoff limit"  # the message of its condition


def numbers(item: WorkloadSummary, step: StepSummary) -> str:
    """Return `3 of 4 pods ready, as few as 2 on the way`."""
    wanted = item.desired.most
    parts = [f"{item.ready} of {plural(wanted, 'pod')} ready"]
    if item.fewest_ready < min(item.ready_before.least, item.ready.least):
        parts.append(f"as few as {item.fewest_ready} on the way")
    if item.restarted.most:
        parts.append(f"{_earlier(item.restarted)} gone")
    if item.pending.most:
        parts.append(f"{item.pending} Pending")
    if item.not_created.most:
        parts.append(f"{item.not_created} not created")
    return f"{sampled(step)}{', '.join(parts)}"


def _held_back(item: WorkloadSummary) -> str:
    """Return what a paused Deployment does not do: one without any ReplicaSet creates no pods."""
    return "its changed template is not rolled out" if item.updated.most or item.ready.most else "it creates no pods"


def _earlier(found: Range) -> str:
    """Return `1 earlier pod is`, `1 to 2 earlier pods are`."""
    return f"{found} earlier pod is" if found == Range(1, 1) else f"{found} earlier pods are"


def _is_mixed(spread: WorkloadSpread, revision: int) -> bool:
    """Return whether some outcome has pods of an earlier revision."""
    return any(
        number != revision and found.most for domain in spread.domains for number, found in domain.revisions.items()
    )


def _revisions(domain: DomainPods, revision: int) -> tuple[str, str]:
    old = [found for number, found in domain.revisions.items() if number != revision]
    new = domain.revisions.get(revision, Range(0, 0))
    return str(Range(sum(found.least for found in old), sum(found.most for found in old))), str(new)


def skew(spread: WorkloadSpread, step: StepSummary) -> str:
    """Return `skew: 1 before, at most 2 on the way, 1 at the end`."""
    parts = [f"{spread.before} before", f"{spread.after} at the end"]
    if spread.on_the_way is not None:
        parts.insert(1, f"at most {spread.on_the_way} on the way")
    return f"skew: {sampled(step)}{', '.join(parts)}"
