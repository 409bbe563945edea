"""Suggestions and their simulated effects."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, Optional

from kubectl_spread.advice.target import Manager
from kubectl_spread.engine.results.certainty import Certainty
from kubectl_spread.objects.keys import ObjectKey

Plain = dict[str, Any]


class SpreadChange(NamedTuple):
    """Matching pods per domain of a constraint, before and after the change.

    Domains that the constraint does not count are left out. A skew is the highest count minus the lowest; None if no
    domain is counted or the constraint did not exist. `after` is one outcome. `ranges` has the lowest and highest count
    of all outcomes, `skews` the lowest and highest skew.
    """

    topology_key: str
    before: dict[str, int]
    after: dict[str, int]
    skew_before: Optional[int]
    skew_after: Optional[int]
    ranges: dict[str, tuple[int, int]] = {}  # noqa: RUF012 (never written to)
    skews: Optional[tuple[int, int]] = None


class Effect(NamedTuple):
    """Numbers of placed and waiting pods of the workload, without the change and at rest after it.

    nodes: nodes of the problem's pod, or of its replacement, in the outcomes found. without_node: the workload's pods
    that have no node now, including pods that the scheduler can place without a change.
    """

    placed_before: int
    placed_after: int
    pending_before: int
    pending_after: int
    nodes: tuple[str, ...]
    spreads: tuple[SpreadChange, ...] = ()
    without_node: int = 0


class Rollout(NamedTuple):
    """Simulated rollout of a change.

    outcomes: number of different outcomes found; is_exact: there are no others. restarts: running pods of the workload
    that are replaced, the most in any outcome. not_followed: effects that were not simulated. under_way: how many of
    the `restarts` belong to a rollout that has already begun. is_new: the change begins another rollout. running:
    number of the workload's pods that run now.
    """

    outcomes: int = 1
    restarts: int = 0
    is_exact: bool = False
    not_followed: tuple[str, ...] = ()
    under_way: int = 0
    is_new: bool = False
    running: int = 0


class Suggestion(NamedTuple):
    """A change after which no pod of the workload waits.

    changes: for programs. lines: the changed fields, as they would be written. is_of_manifest: the cluster does not
    change. certainty: POSSIBLE if there are several outcomes, or not all were simulated. managed_by: tool that manages
    the changed object and would revert the change. verified: the change was simulated to its end. If not, its
    controller is unknown, and only the waiting pods were simulated.
    """

    title: str
    changes: tuple[Plain, ...]
    lines: tuple[str, ...]
    commands: tuple[str, ...]
    effect: Effect
    gives_up: str
    notes: tuple[str, ...]
    certainty: Certainty
    is_of_manifest: bool
    rollout: Rollout = Rollout()
    managed_by: Optional[Manager] = None
    verified: bool = True

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
