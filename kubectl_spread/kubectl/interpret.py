"""Translation of a command to operations of the simulation, after earlier commands."""

from __future__ import annotations

from collections.abc import Callable

from kubectl_spread.kubectl import containers, creation, deletion, domains, drain, nodes, rollout, workloads
from kubectl_spread.kubectl.editing import costs, labels, manifests, patching
from kubectl_spread.kubectl.parsing import Command
from kubectl_spread.kubectl.situation import CommandEffect, Situation

Handler = Callable[[Command, Situation], CommandEffect]

_HANDLERS: dict[str, Handler] = {
    "rollout restart": rollout.restart,
    "rollout undo": rollout.undo,
    "rollout pause": rollout.pause,
    "rollout resume": rollout.resume,
    "scale": workloads.scale,
    "set image": containers.set_image,
    "set resources": containers.set_resources,
    "set env": containers.set_env,
    "apply": manifests.apply,
    "create": creation.create,
    "delete": deletion.delete,
    "patch": patching.patch,
    "drain": drain.drain,
    "cordon": nodes.cordon,
    "uncordon": nodes.uncordon,
    "taint": labels.taint,
    "label": labels.label,
    "annotate": costs.annotate,
    "lose": domains.lose,
    "restore": domains.restore,
    "add-nodes": domains.add_nodes,
}


def effect(command: Command, situation: Situation) -> CommandEffect:
    """Return the effect of a command, and update the situation as if the command was accepted.

    Args:
        command: the command.
        situation: is changed.

    Raises:
        StepError: kubectl would print its usage.
        RefusedError: kubectl or the API server would refuse it.
        ClusterError: the cluster facts lack something.
    """
    situation.namespace = command.value("namespace") or situation.default_namespace
    return _HANDLERS[command.verb.name](command, situation)
