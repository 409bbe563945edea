"""A change that was simulated and helps, and what came of it."""

from __future__ import annotations

from typing import NamedTuple
from typing import Optional

from kubectl_spread.suggest.change import Change
from kubectl_spread.suggest.change import Damage
from kubectl_spread.suggest.change import Ladder
from kubectl_spread.suggest.hypothetical import HypotheticalCluster
from kubectl_spread.suggest.judge import JudgedChange


class Tried(NamedTuple):
    """A change that helps at this moment, as it was applied.

    waiting: how many of the workload's pods wait right after it. ladder, at: where it stands among those of its kind.
    judged: what it comes to in the end; None before anybody looked. equals: changes of other objects that come to the
    same, which are told with this one. is_rough: a smaller step may do as much.
    """

    change: Change
    scene: HypotheticalCluster
    waiting: int
    ladder: Ladder
    at: int
    judged: Optional[JudgedChange] = None
    equals: tuple[Tried, ...] = ()
    is_rough: bool = False

    @property
    def comes_late(self) -> bool:
        """Whether the change loosens a rule and restarts pods for it that nothing else would restart."""
        problem = self.scene.problem
        restarts = problem.target.replaces_its_pods and len(problem.given.running) > len(problem.outdated)
        is_restarting = restarts if self.change.edits_template else True
        return is_restarting and not self.change.is_gentle

    @property
    def damage(self) -> Damage:
        """The worst that it does: a Job or a bare pod that is created anew ends its running pods."""
        problem, damage = self.scene.problem, self.change.damage
        if self.judged is not None and self.judged.lost:
            damage = max(damage, Damage.EVICTS)
        target = problem.target
        ends_running = self.change.is_of_manifest and target.is_live and target.ends_its_pods
        return max(damage, Damage.KILLS) if ends_running and problem.given.running else damage
