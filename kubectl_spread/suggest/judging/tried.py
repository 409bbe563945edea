"""A simulated change that helps, and its result."""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.suggest.change import Change, Damage, Ladder
from kubectl_spread.suggest.judging.hypothetical import HypotheticalCluster
from kubectl_spread.suggest.judging.judge import JudgedChange


class TriedChange(NamedTuple):
    """A change that helps at this moment, applied to the cluster.

    waiting: how many of the workload's pods wait right after it. ladder, at: its ladder and its step there. judged: its
    simulated result; None until it is simulated to the end. equals: equivalent changes of other objects, which are
    shown with this one. is_rough: a smaller step may be enough.
    """

    change: Change
    scene: HypotheticalCluster
    waiting: int
    ladder: Ladder
    at: int
    judged: Optional[JudgedChange] = None
    equals: tuple[TriedChange, ...] = ()
    is_rough: bool = False

    @property
    def comes_late(self) -> bool:
        """Return whether the change loosens a rule and also restarts pods that would otherwise keep running."""
        problem = self.scene.problem
        restarts = problem.target.replaces_its_pods and len(problem.given.running) > len(problem.outdated_pods)
        is_restarting = restarts if self.change.edits_template else True
        return is_restarting and not self.change.is_gentle

    @property
    def damage(self) -> Damage:
        """Return the worst effect; re-creating a Job or a bare pod ends its running pods."""
        problem, damage = self.scene.problem, self.change.damage
        if self.judged is not None and self.judged.lost:
            damage = max(damage, Damage.EVICTS)
        target = problem.target
        ends_running = self.change.is_of_manifest and target.is_live and target.ends_its_pods
        return max(damage, Damage.KILLS) if ends_running and problem.given.running else damage
