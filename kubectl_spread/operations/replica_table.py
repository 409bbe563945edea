"""The outcomes of a command for each number of replicas of a workload; loads numpy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Optional

from kubectl_spread.engine.run import Limits, Watch
from kubectl_spread.errors import RefusedError, SourceError
from kubectl_spread.kubectl.interpret import effect
from kubectl_spread.kubectl.kinds import full_name
from kubectl_spread.kubectl.parsing import Command, parse, StepError
from kubectl_spread.kubectl.workloads import MOST_REPLICAS, SCALED
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.operations.simulate import simulate, SimulateInputs, SimulationSetup, unreadable_first
from kubectl_spread.report.replicas import ReplicaCountRow, ReplicaTable

_RANGE = re.compile(r"([0-9]{1,20})\.\.([0-9]{1,20})\Z")
_MOST_ROWS = 1000
_LEAST_S = 1.0  # for each row


def counts(text: str) -> Range:
    """Return the numbers of a range as `1..50`.

    Raises:
        StepError: it is none.
    """
    match = _RANGE.match(text)
    if match is None:
        raise StepError(f"--replicas takes a range, such as 1..50, not {text or 'empty'}")
    found = Range(int(match[1]), int(match[2]))
    if found.least > found.most:
        raise StepError(
            f"--replicas {text}: {found.least} is greater than {found.most}: write {found.most}..{found.least}"
        )
    if found.most > MOST_REPLICAS:
        raise StepError(f"--replicas {text}: the largest number is {MOST_REPLICAS:,}")
    if found.most - found.least >= _MOST_ROWS:
        raise StepError(f"--replicas={text} are more than {_MOST_ROWS:,} numbers")
    return found


def range_in(commands: Sequence[Command]) -> str:
    """Return the range of a `scale` among the commands; empty if there is none."""
    found = (command.value("replicas") for command in commands if command.verb.name == "scale")
    return next((text for text in found if ".." in text), "")


def table(
    read: SimulateInputs,
    commands: Sequence[Command],
    limits: Limits,
    *,
    wanted: Optional[Range],
    watch: Optional[Watch] = None,
) -> ReplicaTable:
    """Return a row for each number of replicas.

    Args:
        read: the cluster, and the objects that are created first.
        commands: the steps; a `scale` with a range only names the workload.
        limits: of the search, for all rows together.
        wanted: the numbers of replicas; None for the range of the workload's autoscaler.
        watch: shows the progress of the search, and can end it.

    Raises:
        StepError: the commands name no workload that can be scaled, or several.
        RefusedError: kubectl would refuse a command, or the workload has no autoscaler.
    """
    watch = watch or Watch()
    key = _workload(read, commands)
    numbers = wanted or _autoscaled(key, read)
    rest = [command for command in commands if ".." not in command.value("replicas")]
    rows: list[ReplicaCountRow] = []
    errors: tuple[SourceError, ...] = ()
    each = _each(limits, numbers.most - numbers.least + 1)
    for replicas in range(numbers.least, numbers.most + 1):
        first = parse(["scale", f"{full_name(key.kind)}/{key.name}", f"--replicas={replicas}", "-n", key.namespace])
        found = simulate(read, [first, *rest], each, watch=watch)
        rows.append(ReplicaCountRow(replicas, found.simulation.steps[0], found.simulation.steps[1:]))
        errors = found.errors
        if watch.is_stopped:
            break
    return ReplicaTable(key, tuple(command.text for command in rest), tuple(rows), errors, watch.is_stopped)


def _each(limits: Limits, rows: int) -> Limits:
    seconds = None if limits.seconds is None else max(_LEAST_S, limits.seconds / rows)
    return limits._replace(seconds=seconds, has_messages=False)


def _workload(read: SimulateInputs, commands: Sequence[Command]) -> ObjectKey:
    """Return the only workload that commands name and that can be scaled."""
    scene = SimulationSetup(read)
    with unreadable_first(scene):
        found = dict.fromkeys(key for command in commands for key in _named(command, scene))
    found = found or dict.fromkeys(key for key in sorted(scene.created.concerns) if key.kind in SCALED)
    if len(found) != 1:
        names = ", ".join(f"{key.kind.lower()}/{key.name}" for key in found)
        raise StepError(
            "a table needs steps about one workload that can be scaled"
            + (f", and these are about {len(found)}: {names}" if found else "")
        )
    return next(iter(found))


def _named(command: Command, scene: SimulationSetup) -> Iterator[ObjectKey]:
    given = command
    if ".." in command.value("replicas"):
        given = command._replace(flags={**command.flags, "replicas": ("1",)})
    for key in sorted(effect(given, scene.situation).concerns):
        if key.kind in SCALED:
            yield key


def _autoscaled(key: ObjectKey, read: SimulateInputs) -> Range:
    scene = SimulationSetup(read)
    found = scene.situation.cluster.autoscalers.get(key)
    if found is None:
        what = f'HorizontalPodAutoscaler of {full_name(key.kind)} "{key.name}"'
        with unreadable_first(scene):
            raise RefusedError(f"error: the cluster facts hold no {what}; name the range with --replicas MIN..MAX")
    return Range(found.min_replicas, max(found.min_replicas, found.max_replicas))
