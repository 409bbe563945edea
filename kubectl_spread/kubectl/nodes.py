"""The commands `kubectl cordon` and `kubectl uncordon`."""

from __future__ import annotations

from kubectl_spread.engine import steps
from kubectl_spread.engine.nodes import set_cordon
from kubectl_spread.kubectl import targets
from kubectl_spread.kubectl.kinds import kind_of
from kubectl_spread.kubectl.parsing import Command, StepError
from kubectl_spread.kubectl.situation import CommandEffect, Situation
from kubectl_spread.objects.keys import ObjectKey


def named_nodes(command: Command, situation: Situation) -> tuple[str, ...]:
    """Return the names of the nodes to cordon, uncordon or drain; `node/NAME` is accepted, too.

    Raises:
        StepError: no node is named, or names are combined with a selector.
        RefusedError: a node does not exist.
    """
    words = command.arguments
    if command.has("selector"):
        if words:
            raise StepError("error: cannot specify both a node name and a --selector option".removeprefix("error: "))
        wanted = targets.selector(command.value("selector"))
        return tuple(node.name for node in situation.cluster.nodes if wanted.matches(node.labels))
    if not words:
        raise StepError(f"name a node: `{command.verb.name} {command.verb.arguments}`")
    names = tuple(_name(word) for word in words)
    for name in names:
        targets.require(ObjectKey("Node", "", name), situation.cluster)
    return names


def _name(word: str) -> str:
    kind, slash, name = word.partition("/")
    if slash and (kind_of(kind) != "Node" or not name):
        raise StepError(f"{word} is not a node")
    return name if slash else word


def cordon(command: Command, situation: Situation) -> CommandEffect:
    """Cordon nodes."""
    return cordoning(named_nodes(command, situation), situation, is_cordoned=True)


def uncordon(command: Command, situation: Situation) -> CommandEffect:
    """Uncordon nodes."""
    return cordoning(named_nodes(command, situation), situation, is_cordoned=False)


def cordoning(names: tuple[str, ...], situation: Situation, *, is_cordoned: bool) -> CommandEffect:
    """Return the effect of cordoning or uncordoning nodes."""
    situation.put_nodes(set_cordon(situation.node(name), is_cordoned=is_cordoned) for name in names)
    return CommandEffect((steps.Cordon(names, is_cordoned),))
