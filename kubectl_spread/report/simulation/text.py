"""A simulation's answer for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_spread.report.simulation import story
from kubectl_spread.report.simulation.extremes import extremes
from kubectl_spread.report.simulation.words import (
    certainty,
    depends_on,
    name,
    plural,
    pods,
    sampled,
    share,
    span,
    VERDICTS,
)
from kubectl_spread.report.table import paint, table, wrap
from kubectl_spread.timeline.results.domain_pods import DomainPods, Range
from kubectl_spread.timeline.results.summary import (
    PlayedStep,
    Simulation,
    StepSummary,
    Verdict,
    WorkloadSpread,
    WorkloadSummary,
)

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
        rows = [(domain.value, span(domain.before), span(domain.after), *(_revisions(domain, revision) if old else ()))
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
        lines = story.way_to_get_stuck(self.played, self.simulation.steps[: self.at - 1])
        begin = story.places_before(self.played)
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
    parts = [f"{span(item.ready)} of {plural(wanted, 'pod')} ready"]
    if item.fewest_ready < min(item.ready_before.least, item.ready.least):
        parts.append(f"as few as {item.fewest_ready} on the way")
    if item.restarted.most:
        parts.append(f"{_earlier(item.restarted)} gone")
    if item.pending.most:
        parts.append(f"{span(item.pending)} Pending")
    if item.not_created.most:
        parts.append(f"{span(item.not_created)} not created")
    return f"{sampled(step)}{', '.join(parts)}"


def _held_back(item: WorkloadSummary) -> str:
    """Return what a paused Deployment does not do: one without any ReplicaSet creates no pods."""
    return "its changed template is not rolled out" if item.updated.most or item.ready.most else "it creates no pods"


def _earlier(found: Range) -> str:
    """Return `1 earlier pod is`, `1 to 2 earlier pods are`."""
    return f"{span(found)} earlier pod is" if found == Range(1, 1) else f"{span(found)} earlier pods are"


def _is_mixed(spread: WorkloadSpread, revision: int) -> bool:
    """Return whether some outcome has pods of an earlier revision."""
    return any(
        number != revision and found.most for domain in spread.domains for number, found in domain.revisions.items()
    )


def _revisions(domain: DomainPods, revision: int) -> tuple[str, str]:
    old = [found for number, found in domain.revisions.items() if number != revision]
    new = domain.revisions.get(revision, Range(0, 0))
    return span(Range(sum(found.least for found in old), sum(found.most for found in old))), span(new)


def skew(spread: WorkloadSpread, step: StepSummary) -> str:
    """Return `skew: 1 before, at most 2 on the way, 1 at the end`."""
    parts = [f"{span(spread.before)} before", f"{span(spread.after)} at the end"]
    if spread.on_the_way is not None:
        parts.insert(1, f"at most {spread.on_the_way} on the way")
    return f"skew: {sampled(step)}{', '.join(parts)}"
