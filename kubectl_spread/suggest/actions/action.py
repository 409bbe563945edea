"""An action: one thing to do, which can be simulated, printed as commands, and written as a value for programs."""

from __future__ import annotations

from typing import Any
from typing import Protocol

from kubectl_spread.suggest.hypothetical import HypotheticalCluster
from kubectl_spread.suggest.plan import Plan

Plain = dict[str, Any]


class Action(Protocol):
    """One thing to do."""

    @property
    def is_of_manifest(self) -> bool:
        """Whether it is done to the pod's manifest; else to the cluster."""

    def apply(self, scene: HypotheticalCluster) -> HypotheticalCluster:
        """The scene once it is done."""

    def plan(self, plan: Plan, scene: HypotheticalCluster) -> None:
        """Add what it does over time to a plan; `scene` is the one after the whole change."""

    def lines(self, scene: HypotheticalCluster) -> list[str]:
        """What changes, a line each, in terms of the object's fields."""

    def commands(self, scene: HypotheticalCluster) -> list[str]:
        """The command lines that do it, if some do."""

    def documents(self, scene: HypotheticalCluster) -> list[Plain]:
        """What a program needs to do it, an entry for each object."""


def object_of(kind: str, namespace: str, name: str) -> Plain:
    """Return the fields that name an object."""
    return {"kind": kind, "namespace": namespace, "name": name}
