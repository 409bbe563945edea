"""Moments of a simulation, for drawing: before a step, along one run, and in its outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kubectl_spread.engine.results.answer import Outcome, PodState, TraceEvent
from kubectl_spread.objects.constraints.constraint import TopologySpreadConstraint
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Node


class Moment(NamedTuple):
    """A state in terms of the cluster's objects. down: names of nodes that do not answer."""

    pods: tuple[PodState, ...]
    nodes: tuple[Node, ...]
    down: frozenset[str] = frozenset()


class Frame(NamedTuple):
    """Events that happen at once, and the moment after them."""

    events: tuple[TraceEvent, ...]
    moment: Moment


class StepFrames(NamedTuple):
    """The moments of a step.

    before: the beginning of the run. run: one run, event by event. endings: the first outcomes, in the order of the
    summary. constraints: of each workload's target revision, at the end of the run.
    """

    before: Moment
    run: tuple[Frame, ...]
    endings: tuple[Moment, ...]
    constraints: dict[ObjectKey, tuple[TopologySpreadConstraint, ...]]


def step_frames(followed: Outcome, endings: Sequence[Outcome]) -> StepFrames:
    """Return the moments of a step.

    Args:
        followed: the outcome whose run is drawn.
        endings: the outcomes to draw.
    """
    return StepFrames(
        _moment(followed.before or followed),
        tuple(Frame(events, Moment(*moment)) for events, moment in followed.run()),
        tuple(map(_moment, endings)),
        {key: followed.constraints_of(key) for key in followed.workloads},
    )


def _moment(outcome: Outcome) -> Moment:
    return Moment(outcome.pods, *outcome.nodes())
