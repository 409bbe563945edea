"""Translation of a command to operations of the simulation, after earlier commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from kubectl_spread.engine import steps
from kubectl_spread.engine.steps import direct_references
from kubectl_spread.errors import RefusedError
from kubectl_spread.kubectl import applying, changing, deletion, nodes, workloads
from kubectl_spread.kubectl.parsing import Command
from kubectl_spread.kubectl.situation import Part, Situation
from kubectl_spread.objects.keys import ObjectKey


class CommandEffect(NamedTuple):
    """Effect of a command: operations of the simulation, and the workloads concerned.

    refusal: kubectl's message if it stops halfway. notes: hints for the user about the command. labelled: workloads of
    pods that get labels or annotations, which may change nothing else.
    """

    ops: tuple[steps.Op, ...] = ()
    concerns: frozenset[ObjectKey] = frozenset()
    refusal: str = ""
    notes: tuple[str, ...] = ()
    labelled: frozenset[ObjectKey] = frozenset()


_HANDLERS: dict[str, Callable[[Command, Situation], Iterable[Part]]] = {
    "rollout restart": workloads.restart,
    "rollout undo": workloads.undo,
    "rollout pause": partial(workloads.pause, is_paused=True),
    "rollout resume": partial(workloads.pause, is_paused=False),
    "scale": workloads.scale,
    "set image": workloads.set_image,
    "set resources": workloads.set_resources,
    "set env": workloads.set_env,
    "apply": applying.apply,
    "create": applying.create,
    "delete": deletion.delete,
    "patch": changing.patch,
    "label": changing.label,
    "annotate": changing.annotate,
    "drain": nodes.drain,
    "cordon": nodes.cordon,
    "uncordon": partial(nodes.cordon, is_cordoned=False),
    "taint": nodes.taint,
    "lose": nodes.lose,
    "restore": nodes.restore,
    "add-nodes": nodes.add_nodes,
}


def effect(command: Command, situation: Situation) -> CommandEffect:
    """Return the effect of a command, and update the situation as if the command was accepted and has settled.

    Raises:
        StepError: kubectl would print its usage.
        RefusedError: kubectl or the API server would refuse it.
        ClusterError: the cluster facts lack something.
    """
    situation.namespace = command.value("namespace") or situation.default_namespace
    return combine(_HANDLERS[command.verb.name](command, situation), situation)


def combine(parts: Iterable[Part], situation: Situation) -> CommandEffect:
    """Return the effect of a command from what it yields, and let the situation settle."""
    cluster, found = situation.cluster, list(parts)
    situation.settle()
    ops = [item for item in found if not isinstance(item, (str, ObjectKey, RefusedError))]
    keys: tuple[list[steps.Op], list[steps.Op]] = ([], [])
    for op in ops:
        keys[isinstance(op, (steps.LabelPods, steps.SetCost))].append(op)
    changed, labelled = (direct_references(cluster, of_kind)[0] for of_kind in keys)
    return CommandEffect(
        tuple(ops),
        changed.union(
            (item for item in found if isinstance(item, ObjectKey)),
            (op.key for op in ops if isinstance(op, steps.ON_WORKLOADS)),  # also a Job of a CronJob
        ),
        next((str(item) for item in found if isinstance(item, RefusedError)), ""),
        tuple(dict.fromkeys(item for item in found if isinstance(item, str))),
        labelled,
    )
