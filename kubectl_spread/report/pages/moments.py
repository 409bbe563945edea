"""Moments of a simulation as drawings: a letter and a colour for each workload, a shape for revision and state.

Differences between the drawings of one run: a domain that looks as one frame before is not drawn again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional

from kubectl_spread.engine.results.answer import Moment, PodState
from kubectl_spread.engine.results.summary import StepFrames, WorkloadSummary
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors import NODE_POOL
from kubectl_spread.report.pages.drawing import (
    ADDED,
    Chart,
    DomainBox,
    draw,
    Drawing,
    drawn_nodes,
    DrawnPod,
    letter,
    Look,
    map_key,
    notes_of,
    order,
    Shape,
)
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint


class Artist:
    """Draws the moments of a step, all with the same looks and the same boxes."""

    def __init__(self, frames: StepFrames, workloads: Sequence[WorkloadSummary]) -> None:
        """Choose the looks, the topology key of the map, and the nodes that always have a box.

        Args:
            frames: the moments.
            workloads: those whose pods are drawn.
        """
        self._frames = frames
        self._first = {node.name for node in frames.before.nodes}
        self._revision = {item.key: item.revision for item in workloads}
        self._order = {item.key: at for at, item in enumerate(workloads)}
        numbers: dict[object, set[int]] = {}
        for pod in (pod for moment in self._moments() for pod in moment.pods):
            numbers.setdefault(pod.owner, set()).add(pod.number)
        self._has_revisions = {owner for owner, own in numbers.items() if len(own) > 1}
        shown = (frames.before, *frames.endings)
        wanted = [item.topology_key for moment in shown for _, item, _, _ in self._counts(moment)]
        nodes = [node for moment in shown for node in moment.nodes]
        self.key = map_key(wanted, nodes)
        self._keep = frozenset(pod.node for moment in self._moments() for pod in self._shown(moment.pods) if pod.node)

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

    def legend(self) -> tuple[Look, ...]:
        """Return the looks of all dots in all moments."""
        looks = {self._look(pod) for moment in self._moments() for pod in self._shown(moment.pods)}
        return tuple(sorted(looks, key=order))

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

    def _moments(self) -> Iterable[Moment]:
        return (self._frames.before, *(frame.moment for frame in self._frames.run), *self._frames.endings)

    def _shown(self, pods: Iterable[PodState]) -> Iterable[PodState]:
        return (pod for pod in pods if pod.owner is None or pod.owner in self._order)

    def _look(self, pod: PodState) -> Look:
        """Return the look of a pod, which pods in the same state share."""
        if pod.owner is None:
            return Look("pod without a controller", _shape(pod, Shape.OTHER), hue=5)
        is_old = pod.number != self._revision[pod.owner]
        has_revisions = pod.owner in self._has_revisions
        shape = _shape(pod, Shape.EARLIER if is_old else Shape.CURRENT)
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


def _shape(pod: PodState, ready: Shape) -> Shape:
    if pod.is_terminating:
        return Shape.TERMINATING
    if not pod.node:
        return Shape.PENDING
    return ready if pod.is_ready else Shape.STARTING


def frames_of(moments: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the moments of a run, with the numbers of the domains in each `drawing`.

    A domain has one number in the whole run. `same`: numbers of those that look as one moment before.
    """
    numbers: dict[tuple[Optional[str], ...], int] = {}
    last: dict[int, DomainBox] = {}
    frames = []
    for moment in moments:
        boxes = {numbers.setdefault(box.names, len(numbers)): box for box in moment["drawing"].domains}
        unmarked = {
            number: box._replace(boxes=tuple(node._replace(is_marked=False) for node in box.boxes))
            for number, box in boxes.items()
        }
        same = {number for number, box in boxes.items() if box == unmarked[number] == last.get(number)}
        frames.append({**moment, "numbers": list(boxes), "same": same})
        last = unmarked
    return frames
