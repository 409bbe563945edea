"""The outcomes of a command for each number of replicas of a workload; loads numpy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Optional

from kubectl_spread.engine.run import Watch
from kubectl_spread.errors import RefusedError, SourceError
from kubectl_spread.kubectl.interpret import effect
from kubectl_spread.kubectl.kinds import full_name
from kubectl_spread.kubectl.parsing import Command, parse, StepError
from kubectl_spread.kubectl.workloads import MOST_REPLICAS, SCALED
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.operations.simulate import (
    simulate_commands,
    SimulateInputs,
    SimulateRequest,
    SimulationSetup,
    unreadable_first,
)
from kubectl_spread.report.replicas import ReplicaCountRow, ReplicaTable

_RANGE = re.compile(r"([0-9]{1,20})\.\.([0-9]{1,20})\Z")
_MOST_ROWS = 1000


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


def table(
    request: SimulateRequest, read: SimulateInputs, *, numbers: Optional[Range], watch: Optional[Watch] = None
) -> ReplicaTable:
    """Return a row for each number of replicas.

    Args:
        request: the steps, of which a `scale` with a range only names the workload; the limits of all rows together.
        read: the cluster, and the objects that are created first.
        numbers: of replicas; None for the range of the workload's autoscaler.
        watch: shows the progress of the search, and can end it.

    Raises:
        StepError: the commands name no workload that can be scaled, or several.
        RefusedError: kubectl would refuse a command, or the workload has no autoscaler.
    """
    watch = watch or Watch()
    scene = SimulationSetup(read)
    scalers = scene.situation.cluster.autoscalers
    with unreadable_first(scene):
        key = _workload(request.commands, scene)
        name = f"{full_name(key.kind)}/{key.name}"
        if numbers is None and key not in scalers:
            what = f'HorizontalPodAutoscaler of {full_name(key.kind)} "{key.name}"'
            raise RefusedError(f"error: the cluster facts hold no {what}; name the range with --replicas MIN..MAX")
    least, most = numbers or Range(scalers[key].min_replicas, scalers[key].max_replicas)
    most = max(least, most)
    rest = tuple(command for command in request.commands if ".." not in command.value("replicas"))
    request = request._replace(limits=request.limits._replace(has_messages=False))
    rows: list[ReplicaCountRow] = []
    errors: tuple[SourceError, ...] = ()
    for replicas in range(least, most + 1):
        first = parse(["scale", name, f"--replicas={replicas}", "-n", key.namespace])
        played = simulate_commands(request._replace(commands=(first, *rest)), watch, read=read)
        rows.append(ReplicaCountRow(replicas, played.simulation.steps[0], played.simulation.steps[1:]))
        errors = played.errors
        if watch.is_stopped:
            break
    return ReplicaTable(key, tuple(command.text for command in rest), tuple(rows), errors, watch.is_stopped)


def _workload(commands: Iterable[Command], scene: SimulationSetup) -> ObjectKey:
    """Return the only workload that commands name and that can be scaled."""
    named: dict[ObjectKey, None] = {}
    for command in commands:
        is_range = ".." in command.value("replicas")
        single = command._replace(flags={**command.flags, "replicas": ("1",)}) if is_range else command
        concerns = effect(single, scene.situation).concerns
        named |= dict.fromkeys(key for key in sorted(concerns) if key.kind in SCALED)
    named = named or dict.fromkeys(key for key in sorted(scene.created.concerns) if key.kind in SCALED)
    if len(named) != 1:
        names = ", ".join(f"{key.kind.lower()}/{key.name}" for key in named)
        raise StepError(
            "a table needs steps about one workload that can be scaled"
            + (f", and these are about {len(named)}: {names}" if named else "")
        )
    return next(iter(named))
