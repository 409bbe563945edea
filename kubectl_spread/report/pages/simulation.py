"""The page of `simulate -o html`: the outcomes of each step side by side, and one run, event by event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.engine.results.answer import Moment, PodState
from kubectl_spread.engine.results.summary import (
    Ending,
    PlayedStep,
    Simulation,
    StepFrames,
    WorkloadSummary,
)
from kubectl_spread.engine.state import EventKind
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors import NODE_POOL
from kubectl_spread.report import documents, scenarios
from kubectl_spread.report import simulation as words
from kubectl_spread.report.explain import suggestions
from kubectl_spread.report.pages import page
from kubectl_spread.report.pages.drawing import (
    ADDED,
    Chart,
    draw,
    Drawing,
    drawn_nodes,
    DrawnPod,
    frames_of,
    letter,
    Look,
    map_key,
    notes_of,
    order,
    Shape,
)
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
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint
from kubectl_spread.text.wording import count_noun, first_of

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
    title = f"{count_noun(len(simulation.steps), 'step')}: {', '.join(counts)}"
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


def render_table(found: scenarios.ReplicaTable, source: page.PageSource) -> str:
    """Return the page of `simulate --replicas`."""
    head, *rows = scenarios.table_rows(found)
    return page.render(
        "table.html",
        source,
        title=scenarios.table_heading(found),
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
        "legend": artist.legend,
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
        shown = first_of(sentences, _MOST_SENTENCES, lambda left: f"{count_noun(left, 'more event')}.")
        yield moment_of(shown, together[-1].moment, before)
        before = together[-1].moment


class Artist:
    """Draws the moments of a step, all with the same looks and the same boxes.

    A workload has a letter and a colour. The shape of a dot says the revision and the state of a pod.
    """

    def __init__(self, frames: StepFrames, workloads: Sequence[WorkloadSummary]) -> None:
        """Choose the looks, the topology key of the map, and the nodes that always have a box.

        Args:
            frames: the moments.
            workloads: those whose pods are drawn.
        """
        self._first = {node.name for node in frames.before.nodes}
        self._revision = {item.key: item.revision for item in workloads}
        self._order = {item.key: at for at, item in enumerate(workloads)}
        numbers: dict[object, set[int]] = {}
        moments = [frames.before, *(frame.moment for frame in frames.run), *frames.endings]
        for pod in (pod for moment in moments for pod in moment.pods):
            numbers.setdefault(pod.owner, set()).add(pod.number)
        self._has_revisions = {owner for owner, own in numbers.items() if len(own) > 1}
        shown = (frames.before, *frames.endings)
        wanted = [item.topology_key for moment in shown for _, item, _, _ in self._counts(moment)]
        nodes = [node for moment in shown for node in moment.nodes]
        self.key = map_key(wanted, nodes)
        every = [pod for moment in moments for pod in self._shown(moment.pods)]
        self._keep = frozenset(pod.node for pod in every if pod.node)
        self.legend = tuple(sorted({self._look(pod) for pod in every}, key=order))

    def drawing(self, moment: Moment, before: Optional[Moment] = None) -> Drawing:
        """Return the drawing of a moment; nodes that changed since `before` are marked."""
        nodes = drawn_nodes(moment.nodes, self.key, lambda node: self._notes(node, moment))
        pods = [DrawnPod(pod.name, pod.node, self._look(pod)) for pod in self._shown(moment.pods)]
        marked = set[str]()
        if before is not None:
            now, then = (
                Counter((pod.node, self._look(pod)) for pod in self._shown(there.pods)) for there in (moment, before)
            )
            marked = {node for node, _ in ((now - then) + (then - now)) if node}
            notes = {node.name: self._notes(node, before) for node in before.nodes}
            marked |= {node.name for node in moment.nodes if notes.get(node.name) != self._notes(node, moment)}
        return draw(self.key, nodes, pods, keep=self._keep, marked=marked)

    def charts(self, moment: Moment) -> list[Chart]:
        """Return the pods per domain of each constraint of the workloads."""
        charts = []
        for key, constraint, is_hard, counts in self._counts(moment):
            skew = counts.skew or 0
            name = "" if len(self._order) == 1 else f"{key.name}: "
            tone = "good" if skew <= constraint.max_skew else "bad" if is_hard else "warn"
            charts.append(
                Chart(
                    f"{name}{constraint.topology_key}, maxSkew {constraint.max_skew}",
                    counts.domains,
                    badge=(f"skew {skew}", tone),
                    limit=counts.minimum + constraint.max_skew if counts.domains else None,
                    is_hard=is_hard,
                    words=("emptiest domain", "emptiest domain + maxSkew"),
                )
            )
        return charts

    def skews(self, moment: Moment) -> list[tuple[str, int, int]]:
        """Return the topology key, the skew and maxSkew of each constraint of a single workload."""
        if len(self._order) != 1:
            return []
        return [(item.topology_key, counts.skew or 0, item.max_skew) for _, item, _, counts in self._counts(moment)]

    def _shown(self, pods: Iterable[PodState]) -> Iterable[PodState]:
        return (pod for pod in pods if pod.owner is None or pod.owner in self._order)

    def _look(self, pod: PodState) -> Look:
        """Return the look of a pod, which pods in the same state share."""
        is_old = pod.owner is not None and pod.number != self._revision[pod.owner]
        shape = Shape.OTHER if pod.owner is None else Shape.EARLIER if is_old else Shape.CURRENT
        if pod.is_terminating or not pod.node:
            shape = Shape.TERMINATING if pod.is_terminating else Shape.PENDING
        elif not pod.is_ready:
            shape = Shape.STARTING
        if pod.owner is None:
            return Look("pod without a controller", shape, hue=5)
        has_revisions = pod.owner in self._has_revisions
        parts = [f"{'earlier' if is_old else 'new'} revision"] if has_revisions else []
        parts += [_STATES.get(shape, "ready")]
        if len(self._order) > 1:
            mark, hue = letter(self._order[pod.owner], is_small=is_old)
            return Look(", ".join([pod.owner.name, *parts]), shape, mark, hue)
        mark = str(pod.number) if has_revisions and pod.number < 10 else ""
        return Look(", ".join(parts), shape, mark, int(is_old))

    def _notes(self, node: Node, moment: Moment) -> tuple[str, ...]:
        notes = ("does not answer",) if node.name in moment.down else notes_of(node)
        is_new = NODE_POOL in node.labels and node.name not in self._first
        return (*notes, ADDED) if is_new else notes

    def _counts(self, moment: Moment) -> Iterator[tuple[ObjectKey, Constraint, bool, ConstraintCounts]]:
        """Yield the constraints of each workload, whether they are hard, and the pods that they count."""
        for key in self._order:
            for item, counts in moment.counts.get(key, ()):
                if not item.is_default:
                    yield key, item.constraint, item.is_hard, counts


_STATES = {Shape.STARTING: "starting", Shape.TERMINATING: "terminating", Shape.PENDING: "Pending"}
