"""Interface of an action, which can be simulated, printed as commands, and written as a value for programs."""

from __future__ import annotations

from typing import Any, Protocol

from kubectl_spread.suggest.judging.hypothetical import HypotheticalCluster
from kubectl_spread.suggest.judging.plan import Plan

Plain = dict[str, Any]


class Action(Protocol):
    """A single change of the manifest or of the cluster."""

    @property
    def is_of_manifest(self) -> bool:
        """Return whether the action changes the pod's manifest, not the cluster."""

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        """Return the hypothetical cluster after the action."""

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:
        """Add the steps of the action to a plan; `scene` is the cluster after the whole change."""

    def lines(self, scene: HypotheticalCluster) -> list[str]:
        """Return the changes in terms of the object's fields, one line each."""

    def commands(self, scene: HypotheticalCluster) -> list[str]:
        """Return the command lines that carry out the action; empty if there are none."""

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:
        """Return the action for programs, one entry per object."""


def object_of(kind: str, namespace: str, name: str) -> Plain:
    """Return the fields that name an object."""
    return {"kind": kind, "namespace": namespace, "name": name}
