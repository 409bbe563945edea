"""From the facts and the steps to the answer of `simulate`; loads numpy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import NamedTuple
from typing import Union

from kubectl_spread.cli.options import Facts
from kubectl_spread.errors import SourceError
from kubectl_spread.sources.files import Input
from kubectl_spread.sources.step_objects import StepObjects
from kubectl_spread.timeline.commands import manifests
from kubectl_spread.timeline.commands.interpret import effect
from kubectl_spread.timeline.commands.parsing import Command
from kubectl_spread.timeline.commands.situation import Situation
from kubectl_spread.timeline.run import Limits
from kubectl_spread.timeline.run import play
from kubectl_spread.timeline.run import Watch
from kubectl_spread.timeline.summary import Played
from kubectl_spread.timeline.summary import Simulation
from kubectl_spread.timeline.summary import summarize

Plain = dict[str, Any]


class Asked(NamedTuple):
    """What is simulated, how far, and for which namespace."""

    commands: tuple[Command, ...]
    limits: Limits
    namespace: str


class Found(NamedTuple):
    """The answer, and what could not be read."""

    simulation: Simulation
    errors: tuple[SourceError, ...]


def simulate(known: Facts, given: Iterable[Union[Input, SourceError]], asked: Asked, watch: Watch) -> Found:
    """Play the steps.

    Args:
        known: the cluster.
        given: manifests whose objects are created first.
        asked: the steps.
        watch: shows how far the search is.

    Raises:
        StepError: kubectl would print its usage.
        RefusedError: kubectl or the API server would refuse a step.
    """
    reader = StepObjects()
    situation = Situation(known.cluster, reader, asked.namespace)
    start = situation.cluster
    objects = reader.of_inputs(given, asked.namespace)
    before = [manifests.applied(objects, situation).ops] if objects else []
    effects = [effect(command, situation) for command in asked.commands]
    written = [*before, *(item.ops for item in effects)]
    answer = play(start, known.profiles, written, limits=asked.limits, watch=watch)
    told = tuple(
        Played(command.text, summarize(step, done.concerns, number=at), done.refusal, done.notes)
        for at, (command, done, step) in enumerate(
            zip(asked.commands, effects, answer.steps[len(before) :], strict=True), 1
        )
    )
    return Found(Simulation(told, answer.notes, watch.is_stopped), (*known.errors, *reader.errors))
