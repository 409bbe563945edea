"""Suggestions and their simulated effects."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.advice.target import Manager
from kubectl_spread.engine.results.certainty import Basis, Certainty, certainty
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import Plain


class SpreadChange(NamedTuple):
    """Matching pods per domain of a constraint, before and after the change.

    Domains that the constraint does not count are left out. `after` is one outcome. `ranges` has the lowest and highest
    count of all outcomes, `skews` the lowest and highest skew.
    """

    topology_key: str
    before: ConstraintCounts
    after: ConstraintCounts
    ranges: dict[str, tuple[int, int]] = {}  # noqa: RUF012 (never written to)
    skews: Optional[tuple[int, int]] = None


class Effect(NamedTuple):
    """Simulated effect of a change on the workload, at rest after it.

    placed_before, placed_after, pending_before, pending_after: pods with and without a node; the problem's pod is not
    among those that still wait. nodes: nodes of the problem's pod, or of its replacement, in the outcomes found.
    without_node: the workload's pods that have no node now, including pods that the scheduler can place without a
    change. outcomes: number of different outcomes found; basis: whether there are others. restarts: running pods that
    are replaced, the most in any outcome. under_way: how many of these belong to a rollout that has already begun.
    is_new: the change begins another rollout. running: pods that run now. lost: names of pods that end and that no
    controller creates again. volumes: whose data is lost. not_followed: effects that
    were not simulated. is_followed: these do not decide whether the change helps.
    """

    placed_before: int
    placed_after: int
    pending_before: int
    pending_after: int
    nodes: tuple[str, ...]
    spreads: tuple[SpreadChange, ...] = ()
    without_node: int = 0
    outcomes: int = 1
    basis: Basis = Basis.SAMPLE
    restarts: int = 0
    under_way: int = 0
    is_new: bool = False
    running: int = 0
    lost: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    not_followed: tuple[str, ...] = ()
    is_followed: bool = True

    @property
    def is_exact(self) -> bool:
        """Return whether there are no other outcomes."""
        return self.basis.is_exact

    @property
    def certainty(self) -> Certainty:
        """Return POSSIBLE if there are several outcomes, or not all were simulated."""
        ranges = [ends for spread in self.spreads for ends in spread.ranges.values()]
        alike = sum(least < most for least, most in ranges)  # One outcome also stands for exchanges of equal nodes.
        return certainty(self.basis, self.outcomes + alike)


class Suggestion(NamedTuple):
    """A change after which no pod of the workload waits.

    changes: for programs. lines: the changed fields, as they would be written. is_of_manifest: the cluster does not
    change. managed_by: tool that manages the changed object and would revert the change.
    """

    title: str
    changes: tuple[Plain, ...]
    lines: tuple[str, ...]
    commands: tuple[str, ...]
    effect: Effect
    gives_up: str
    notes: tuple[str, ...]
    is_of_manifest: bool
    managed_by: Optional[Manager] = None

    @property
    def verified(self) -> bool:
        """Return whether the change was simulated to its end; else only the waiting pods were simulated."""
        return self.effect.is_followed

    @property
    def is_complete(self) -> bool:
        """Return whether none of the workload's pods stays Pending."""
        return not self.effect.pending_after


class Why(Enum):
    """Reason why a change does not help."""

    NOT_APPLICABLE = "not applicable"
    POD_WAITS = "the pod still finds no node"
    OWN_WAIT = "pods of the workload wait in the end"
    OTHERS_WAIT = "pods of another workload wait in the end"
    NOT_SETTLED = "the cluster does not come to rest"


class Setback(NamedTuple):
    """Why a change does not help: how many pods of which workload wait, or what the scheduler says about the pod."""

    why: Why
    number: int = 0
    owner: Optional[ObjectKey] = None
    message: str = ""
    title: str = ""


class Suggestions(NamedTuple):
    """Suggestions, best first.

    tried: number of simulated changes. verified: how many of them helped. not_tried: changes that were not simulated.
    harmful: changes that help but are not among the items, because they end or restart running pods or lose data.
    failed: if nothing helps, the most obvious changes, and why they do not help.
    """

    items: tuple[Suggestion, ...] = ()
    tried: int = 0
    verified: int = 0
    not_tried: int = 0
    harmful: int = 0
    failed: tuple[Setback, ...] = ()
