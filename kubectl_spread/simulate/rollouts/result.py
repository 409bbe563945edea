"""Results of simulated rollouts."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.summary import PlayedStep, StepSummary, Verdict
from kubectl_spread.engine.state import EventKind
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.objects.keys import ObjectKey


class RolloutKind(Enum):
    """Rollout in question."""

    CREATION = "creation"  # new workloads are created together
    CHANGE = "change"  # a manifest changes a running workload
    CURRENT = "current"  # has begun already
    NEXT = "next"  # `kubectl rollout restart`, once the workload is complete


class RolloutResult(NamedTuple):
    """Verdict on a rollout.

    keys: the workloads; several only if they are created together. because: reason why the verdict is not known.
    played: the simulated step, with the shortest way to get stuck. explanation: of a pod that stays Pending at the end
    of that way. old: number of pods that a current rollout has to replace.
    """

    keys: tuple[ObjectKey, ...]
    kind: RolloutKind
    verdict: Verdict
    basis: Basis
    because: str = ""
    played: Optional[PlayedStep] = None
    explanation: Optional[Explanation] = None
    old: int = 0

    @property
    def key(self) -> ObjectKey:
        return self.keys[0]

    @property
    def is_creation(self) -> bool:
        return self.kind is RolloutKind.CREATION

    @property
    def is_stuck(self) -> bool:
        """Return whether the rollout gets stuck in some outcome or in all."""
        return self.verdict in (Verdict.MAY_GET_STUCK, Verdict.GETS_STUCK)

    @property
    def is_exact(self) -> bool:
        """Return whether the verdict holds for every possible outcome."""
        return self.basis.is_exact

    @property
    def summary(self) -> Optional[StepSummary]:
        return None if self.played is None else self.played.summary

    @property
    def first_removed_pod(self) -> str:
        """Return the name of the old pod that is deleted before a pod stays Pending; empty if none is."""
        witness = () if self.summary is None else self.summary.witness
        deleted = (event.pod for part in witness for event in part if event.kind is EventKind.DELETED)
        return next((name for name in deleted if not name.endswith("-*")), "")
