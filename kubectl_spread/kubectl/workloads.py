"""The command `kubectl scale`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/scale/scale.go (v1.36.2).
"""

from __future__ import annotations

from typing import Any

from kubectl_spread.engine import steps
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import rollout, targets
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, controller_of, plain_of, Situation
from kubectl_spread.objects.keys import ObjectKey

SCALED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
_NO_COUNT = "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"
MOST_REPLICAS = 100_000


def scale(command: Command, situation: Situation) -> CommandEffect:
    """Change the number of replicas."""
    replicas = count_of(command)
    found = targets.find_targets(command, situation).targets
    done = CommandEffect()
    for target in found:
        if target.kind not in SCALED:
            raise RefusedError("Error from server (NotFound): the server could not find the requested resource")
        _check_current(command, target, situation)
        done += scale_workload(target, situation, replicas)
    return done


def count_of(command: Command) -> int:
    """Return the number of --replicas.

    Raises:
        StepError: it is missing, no number, or too large.
    """
    text = command.value("replicas")
    if not text:
        raise StepError(_NO_COUNT)
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        raise StepError(f'invalid argument "{text}" for "--replicas" flag: it takes a number')
    significant = digits.lstrip("0") or "0"
    if text.startswith("-") and significant != "0":
        raise StepError(_NO_COUNT)
    if len(significant) > len(str(MOST_REPLICAS)) or int(significant) > MOST_REPLICAS:
        raise StepError(f"--replicas={text}: the largest number simulated is {MOST_REPLICAS:,}")
    return int(significant)


def _check_current(command: Command, target: ObjectKey, situation: Situation) -> None:
    wanted = command.value("current-replicas", "-1")
    now = situation.cluster.controllers[target].workload.replicas
    if wanted != "-1" and wanted != str(now):
        raise RefusedError(f"error: Expected replicas to be {wanted}, was {now}")


def scale_workload(target: ObjectKey, situation: Situation, replicas: int) -> CommandEffect:
    """Return the effect of scaling a workload."""
    if target in situation.cluster.owners:
        rollout.workload_object(target, situation)
    plain = plain_of(situation.cluster.controllers[target])
    after = controller_of({**plain, "spec": {**plain["spec"], "replicas": replicas}})
    situation.put(_like(after, situation.cluster.controllers[target]))
    scaler = situation.cluster.autoscalers.get(target)
    notes = () if scaler is None else (scaler.note,)
    return CommandEffect((steps.Scale(target, replicas),), frozenset([target]), notes=notes)


def _like(after: Any, before: Any) -> Any:
    return after._replace(
        conditions=before.conditions, labels=before.labels, annotations=before.annotations, revision=before.revision
    )
