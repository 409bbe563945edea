"""Moments of a simulation as drawings: a letter and a colour for each workload, a shape for revision and state.

Differences between the drawings of one run: a domain that looks as one frame before is not drawn again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Optional

from kubectl_spread.engine.results.answer import PodState
from kubectl_spread.engine.results.frames import Moment, StepFrames
from kubectl_spread.engine.results.summary import WorkloadSummary
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors.labels import HOSTNAME, ZONE
from kubectl_spread.report.pages.drawing import (
    bars,
    Chart,
    DomainBox,
    draw,
    Drawing,
    DrawnNode,
    DrawnPod,
    Look,
    order,
    Shape,
)
from kubectl_spread.report.pages.pods import notes_of

_HUES = 6


class Artist:
    """Draws the moments of a step, all with the same looks and the same boxes."""

    def __init__(self, frames: StepFrames, workloads: Sequence[WorkloadSummary]) -> None:
        """Choose the looks, the topology key of the map, and the nodes that always have a box.

        Args:
            frames: the moments.
            workloads: those whose pods are drawn.
        """
        self._frames = frames
        self._revision = {item.key: item.revision for item in workloads}
        self._order = {item.key: at for at, item in enumerate(workloads)}
        self._has_revisions = {item.key for item in workloads if len(self._revisions(item.key)) > 1}
        self.key = self._map_key()
        self._keep = frozenset(pod.node for moment in self._moments() for pod in self._shown(moment.pods) if pod.node)

    def drawing(self, moment: Moment, before: Optional[Moment] = None) -> Drawing:
        """Return the drawing of a moment; nodes that changed since `before` are marked."""
        nodes = [
            DrawnNode(node.name, node.labels.get(self.key) if self.key else "", self._notes(node, moment))
            for node in moment.nodes
        ]
        marked = frozenset[str]() if before is None else self._changed(moment, before)
        return draw(self.key, nodes, self._drawn(moment), keep=self._keep, marked=marked)

    def legend(self) -> tuple[Look, ...]:
        """Return the looks of all dots in all moments."""
        looks = {self._look(pod) for moment in self._moments() for pod in self._shown(moment.pods)}
        return tuple(sorted(looks, key=order))

    def charts(self, moment: Moment) -> list[Chart]:
        """Return the pods per domain of each constraint of the workloads."""
        found = []
        for key in self._order:
            for constraint in self._frames.constraints.get(key, ()):
                counts = self._counts(moment, key, constraint.topology_key)
                name = "" if len(self._order) == 1 else f"{key.name}: "
                title = f"{name}{constraint.topology_key}, maxSkew {constraint.max_skew}"
                found.append(_chart(title, counts, constraint.max_skew, is_hard=constraint.is_hard))
        return found

    def skews(self, moment: Moment) -> list[tuple[str, int, int]]:
        """Return the topology key, the skew and maxSkew of each constraint of a single workload."""
        if len(self._order) != 1:
            return []
        (key,) = self._order
        found = []
        for constraint in self._frames.constraints.get(key, ()):
            counts = self._counts(moment, key, constraint.topology_key).values()
            skew = max(counts, default=0) - min(counts, default=0)
            found.append((constraint.topology_key, skew, constraint.max_skew))
        return found

    def _moments(self) -> Iterable[Moment]:
        return (self._frames.before, *(frame.moment for frame in self._frames.run), *self._frames.endings)

    def _shown(self, pods: Iterable[PodState]) -> Iterable[PodState]:
        return (pod for pod in pods if pod.owner is None or pod.owner in self._order)

    def _revisions(self, key: ObjectKey) -> set[int]:
        return {pod.number for moment in self._moments() for pod in moment.pods if pod.owner == key}

    def _map_key(self) -> str:
        wanted = [item.topology_key for key in self._order for item in self._frames.constraints.get(key, ())]
        nodes = [node for moment in (self._frames.before, *self._frames.endings) for node in moment.nodes]
        known = {key for node in nodes for key in (*wanted, ZONE) if key in node.labels}
        return next((key for key in (*wanted, ZONE) if key in known and key != HOSTNAME), "")

    def _drawn(self, moment: Moment) -> list[DrawnPod]:
        looks: dict[tuple[object, ...], Look] = {}
        found = []
        for pod in self._shown(moment.pods):
            state = (pod.owner, pod.number, pod.is_ready, pod.is_terminating, bool(pod.node))
            if state not in looks:
                looks[state] = self._look(pod)
            found.append(DrawnPod(pod.name, pod.node, looks[state]))
        return found

    def _look(self, pod: PodState) -> Look:
        if pod.owner is None:
            return Look("pod without a controller", _shape(pod, Shape.OTHER), hue=5)
        at = self._order[pod.owner]
        is_old = pod.number != self._revision[pod.owner]
        parts = [] if len(self._order) == 1 else [pod.owner.name]
        if pod.owner in self._has_revisions:
            parts.append(f"{'earlier' if is_old else 'new'} revision")
        shape = _shape(pod, Shape.EARLIER if is_old else Shape.CURRENT)
        parts += [_STATES[shape]] if shape in _STATES else ["ready"]
        mark = self._mark(pod, at, is_old=is_old)
        hue = (at if len(self._order) > 1 else int(is_old)) % _HUES
        return Look(", ".join(parts), shape, mark, hue)

    def _mark(self, pod: PodState, at: int, *, is_old: bool) -> str:
        """Return a letter for one of several workloads, a small one for an earlier revision; else the revision."""
        if len(self._order) > 1:
            return chr(ord("a" if is_old else "A") + at % 26)
        return str(pod.number) if pod.owner in self._has_revisions and pod.number < 10 else ""

    def _notes(self, node: Node, moment: Moment) -> tuple[str, ...]:
        if node.name in moment.down:
            return ("does not answer",)
        return notes_of(node)

    def _changed(self, moment: Moment, before: Moment) -> frozenset[str]:
        now, then = self._places(moment), self._places(before)
        pods = {node for node, _ in ((now - then) + (then - now)) if node}
        notes = {node.name: self._notes(node, before) for node in before.nodes}
        noted = {node.name for node in moment.nodes if notes.get(node.name) != self._notes(node, moment)}
        return frozenset(pods | noted)

    def _places(self, moment: Moment) -> Counter[tuple[str, Look]]:
        return Counter((pod.node, self._look(pod)) for pod in self._shown(moment.pods))

    def _counts(self, moment: Moment, key: ObjectKey, topology_key: str) -> dict[str, int]:
        domains = {node.name: node.labels[topology_key] for node in moment.nodes if topology_key in node.labels}
        found = dict.fromkeys(sorted(set(domains.values())), 0)
        for pod in moment.pods:
            if pod.owner == key and not pod.is_terminating and pod.node in domains:
                found[domains[pod.node]] += 1
        return found


_STATES = {Shape.STARTING: "starting", Shape.TERMINATING: "terminating", Shape.PENDING: "Pending"}


def _shape(pod: PodState, ready: Shape) -> Shape:
    if pod.is_terminating:
        return Shape.TERMINATING
    if not pod.node:
        return Shape.PENDING
    return ready if pod.is_ready else Shape.STARTING


def _chart(title: str, counts: dict[str, int], max_skew: int, *, is_hard: bool) -> Chart:
    least, most = min(counts.values(), default=0), max(counts.values(), default=0)
    skew = most - least
    is_met = skew <= max_skew
    tone = "good" if is_met else "bad" if is_hard else "warn"
    return Chart(
        title,
        f"skew {skew}",
        tone,
        "",
        "",
        tuple(bars(counts, least + max_skew)),
        max(most, least + max_skew, 1),
        least,
        least + max_skew if counts else None,
        is_hard,
        "emptiest domain",
        "maxSkew above it",
    )


class DrawnFrame(NamedTuple):
    """A drawing in a run, with the number of each domain. same: numbers of domains that look as one frame before."""

    drawing: Drawing
    numbers: tuple[int, ...]
    same: frozenset[int] = frozenset()


def frames(drawings: Iterable[Drawing]) -> Iterator[DrawnFrame]:
    """Yield drawings of one run; a domain has one number in all of them."""
    numbers: dict[tuple[Optional[str], ...], int] = {}
    last: dict[int, DomainBox] = {}
    for drawing in drawings:
        own = tuple(numbers.setdefault(box.names, len(numbers)) for box in drawing.domains)
        now = dict(zip(own, map(_unmarked, drawing.domains), strict=True))
        marked = {number for number, box in zip(own, drawing.domains, strict=True) if box is not now[number]}
        yield DrawnFrame(drawing, own, frozenset(at for at in own if at not in marked and last.get(at) == now[at]))
        last = now


def frames_of(moments: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the moments of a run, each with the frame of its `drawing`."""
    found = list(moments)
    made = frames(moment["drawing"] for moment in found)
    return [{**moment, "frame": frame} for moment, frame in zip(found, made, strict=True)]


def _unmarked(box: DomainBox) -> DomainBox:
    """Return a domain without marked nodes; the same object if there are none."""
    if not any(node.is_marked for node in box.boxes):
        return box
    return box._replace(boxes=tuple(node._replace(is_marked=False) for node in box.boxes))
