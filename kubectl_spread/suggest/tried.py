"""A change that was simulated and helps, and what came of it."""

from __future__ import annotations

from typing import NamedTuple

from kubectl_spread.suggest.change import Change
from kubectl_spread.suggest.change import Damage
from kubectl_spread.suggest.scene import Scene
from kubectl_spread.suggest.trial import Trial


class Tried(NamedTuple):
    """A change that helps; `pending`: how many of the workload's pods still wait."""

    change: Change
    scene: Scene
    trial: Trial
    pending: int

    @property
    def damage(self) -> Damage:
        """The worst that it does, the restart of the object it is made to included."""
        problem = self.scene.problem
        ends_running = self.change.is_of_manifest and problem.target.is_live and not problem.target.makes_revisions
        if ends_running and problem.given.running:
            return max(self.change.damage, Damage.KILLS)
        return self.change.damage
