"""A change that was simulated and helps, and what came of it."""

from __future__ import annotations

from typing import NamedTuple
from typing import Optional

from kubectl_spread.suggest.change import Change
from kubectl_spread.suggest.change import Damage
from kubectl_spread.suggest.change import Ladder
from kubectl_spread.suggest.hypothetical import Scene
from kubectl_spread.suggest.judge import Judged


class Tried(NamedTuple):
    """A change that helps at this moment, as it was applied.

    waiting: how many of the workload's pods wait right after it. ladder, at: where it stands among those of its kind.
    judged: what it comes to in the end; None before anybody looked.
    """

    change: Change
    scene: Scene
    waiting: int
    ladder: Ladder
    at: int
    judged: Optional[Judged] = None

    @property
    def damage(self) -> Damage:
        """The worst that it does: a Job or a bare pod that is created anew ends its running pods."""
        problem, damage = self.scene.problem, self.change.damage
        if self.judged is not None and self.judged.lost:
            damage = max(damage, Damage.EVICTS)
        target = problem.target
        ends_running = self.change.is_of_manifest and target.is_live and target.ends_its_pods
        return max(damage, Damage.KILLS) if ends_running and problem.given.running else damage
