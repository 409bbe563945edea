"""The page of `simulate -o html`: the outcomes of each step side by side, and one run, event by event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.engine.results.answer import Moment
from kubectl_spread.engine.results.summary import (
    Ending,
    PlayedStep,
    Simulation,
    StepFrames,
)
from kubectl_spread.engine.state import EventKind
from kubectl_spread.errors import SourceError
from kubectl_spread.report import documents, replicas, scenarios
from kubectl_spread.report import simulation as words
from kubectl_spread.report.explain import suggestions
from kubectl_spread.report.pages import page
from kubectl_spread.report.pages.moments import Artist, frames_of
from kubectl_spread.report.scenarios import ScenarioResult
from kubectl_spread.report.simulation import (
    event_sentence,
    mixed_owners,
    OF_SEVERAL,
    TONES,
    VERDICTS,
    way_title,
    words_of,
)
from kubectl_spread.report.wording import plural
from kubectl_spread.text.wording import first_of

_MOST_BYTES = 2_900_000  # of a page
_MOST_BOXES = 9000  # of nodes, in all drawings of a page together
_FEWEST_BOXES = 240  # for each step
_FEWEST_MOMENTS, _MOST_MOMENTS = 6, 120  # of a run
_MOST_CHARTS = 4  # of a moment; of more constraints, those whose skew is above maxSkew
_MOST_SENTENCES = 6  # for one moment
_MOST_WORKLOADS = 26  # with dots of their own

Plain = dict[str, Any]


def render(
    simulation: Simulation,
    source: page.PageSource,
    *,
    errors: Sequence[SourceError] = (),
    unread: Sequence[Unread] = (),
) -> str:
    """Return the page."""
    numbers = Counter(step.summary.verdict for step in simulation.steps)
    counts = (f"{number} {(VERDICTS if number == 1 else OF_SEVERAL)[verdict]}" for verdict, number in numbers.items())
    title = f"{plural(len(simulation.steps), 'step')}: {', '.join(counts)}"
    if len(simulation.steps) == 1:
        title = f"{simulation.steps[0].text}: {_verdict(simulation.steps[0])}"
    return _fitting(
        lambda boxes: page.render(
            "simulation.html",
            source,
            **_STEPS,
            title=title,
            tone=next((tone for tone in ("bad", "warn") if tone in map(_tone, simulation.steps)), "good"),
            steps=_steps(simulation, boxes),
            notes=simulation.notes,
            is_interrupted=simulation.is_interrupted,
            errors=errors,
            unread=documents.line(unread),
        )
    )


def _fitting(make: Callable[[int], str]) -> str:
    """Return the page with the most boxes of nodes that is small enough; at last one without pictures."""
    text = ""
    for boxes in (_MOST_BOXES, _MOST_BOXES // 4, _MOST_BOXES // 16, _MOST_BOXES // 64, 0):
        text = make(boxes)
        if len(text.encode()) <= _MOST_BYTES:
            break
    return text


def render_scenarios(results: Sequence[ScenarioResult], source: page.PageSource) -> str:
    """Return the page of `simulate run`: a section for each scenario, with the pictures of its steps."""
    return _fitting(
        lambda boxes: page.render(
            "scenarios.html",
            source,
            **_STEPS,
            title=scenarios.total(results),
            tone="good" if all(result.is_fine for result in results) else "bad",
            scenarios=[
                (item, _steps(item.simulation, boxes // len(results), has_run=not item.is_fine)) for item in results
            ],
            sentence_of=scenarios.sentence,
        )
    )


def render_table(found: replicas.ReplicaTable, source: page.PageSource) -> str:
    """Return the page of `simulate --replicas`."""
    head, *rows = replicas.rows(found)
    return page.render(
        "table.html",
        source,
        title=replicas.heading(found),
        kicker="Simulation",
        tone="good" if found.is_fine else "warn",
        header=head,
        rows=rows,
        lines=[str(error) for error in found.errors],
    )


def _tone(step: PlayedStep) -> str:
    return "bad" if step.refusal else TONES[step.summary.verdict]


def _verdict(step: PlayedStep) -> str:
    return "kubectl stops before it is done" if step.refusal else words_of(step.summary.verdict, step.summary)


# What steps.html needs
_STEPS: Plain = {
    "script": "steps.js",
    "words": words,
    "suggestions": suggestions,
    "verdict_of": _verdict,
    "tone_of": _tone,
}


def _steps(simulation: Simulation, boxes: int, *, has_run: bool = True) -> list[tuple[PlayedStep, Plain]]:
    """Return the steps with their pictures."""
    room = boxes and max(_FEWEST_BOXES * boxes // _MOST_BOXES, boxes // max(1, len(simulation.steps)))
    return [(step, _pictures(step, room, has_run=has_run)) for step in simulation.steps]


def _pictures(step: PlayedStep, room: int, *, has_run: bool) -> Plain:
    """Return the outcomes and the moments of a run; nothing to draw without frames.

    Args:
        step: with its frames.
        room: the number of boxes of nodes in all drawings.
        has_run: draw the moments of a run, too.
    """
    frames = step.summary.frames
    if frames is None or not room:
        return {"sides": [], "run": [], "run_title": "", "legend": (), "is_without_pictures": frames is not None}
    concerned = [item for item in step.summary.workloads if item.is_concerned]
    artist = Artist(frames, concerned[:_MOST_WORKLOADS])
    boxes = max(1, sum(len(domain.boxes) for domain in artist.drawing(frames.before).domains))
    shown = max(1, min(len(frames.endings), room // 3 // boxes - 1))
    endings = step.summary.endings
    sides = [_side("Before", None, frames.before, artist)]
    for number, (ending, moment) in enumerate(zip(endings, frames.endings[:shown], strict=False), 1):
        title = "Afterwards" if len(endings) == 1 else f"Outcome {number}"
        sides.append(_side(title, ending, moment, artist))
    return {
        "sides": sides,
        "legend": artist.legend(),
        "more_endings": len(endings) - shown,
        "run": frames_of(_run(step, frames, artist, most=room * 2 // 3 // boxes)) if has_run else [],
        "run_title": f"{way_title(step.summary) if step.summary.witness else 'One run'}, event by event",
        "is_without_pictures": False,
    }


def _side(title: str, ending: Optional[Ending], moment: Moment, artist: Artist) -> Plain:
    charts = artist.charts(moment)
    troubled = [chart for chart in charts if chart.badge[1] != "good"]
    shown = charts if len(charts) <= _MOST_CHARTS else troubled[:_MOST_CHARTS]
    return {
        "title": title,
        "ending": ending,
        "drawing": artist.drawing(moment),
        "charts": shown,
        "more": len(charts) - len(shown),
        "is_within": len(shown) == len(troubled),
    }


def _run(step: PlayedStep, frames: StepFrames, artist: Artist, *, most: int) -> Iterator[Plain]:
    """Yield at most some moments of a run, each with its sentences; if there are more, several events share one."""

    def moment_of(sentences: list[str], moment: Moment, before: Optional[Moment] = None) -> Plain:
        return {"sentences": sentences, "drawing": artist.drawing(moment, before), "skews": artist.skews(moment)}

    yield moment_of([f"Before {step.text}"], frames.before)
    mixed = mixed_owners(event for frame in frames.run for event in frame.events)
    size = -(-len(frames.run) // max(_FEWEST_MOMENTS, min(_MOST_MOMENTS, most))) or 1
    before = frames.before
    for at in range(0, len(frames.run), size):
        together = frames.run[at : at + size]
        sentences = [
            f"{step.text} is accepted." if event.kind is EventKind.DONE else event_sentence(event, mixed)
            for frame in together
            for event in frame.events
        ]
        shown = first_of(sentences, _MOST_SENTENCES, lambda left: f"{plural(left, 'more event')}.")
        yield moment_of(shown, together[-1].moment, before)
        before = together[-1].moment
