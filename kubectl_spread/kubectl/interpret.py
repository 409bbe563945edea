"""Translation of a command to operations of the simulation, after earlier commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kubectl_spread.kubectl import applying, changing, deletion, nodes, workloads
from kubectl_spread.kubectl.parsing import Command
from kubectl_spread.kubectl.situation import CommandEffect, Situation

_HANDLERS: dict[str, Callable[[Command, Situation], CommandEffect]] = {
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
    found = _HANDLERS[command.verb.name](command, situation)
    situation.settle()
    return found
