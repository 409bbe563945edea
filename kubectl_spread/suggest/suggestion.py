"""What is suggested, and what was found of it when it was simulated."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.simulate.placement import Certainty

Plain = dict[str, Any]


class Spread(NamedTuple):
    """Matching pods by the value of a constraint's key, before the change and after it.

    Values that the constraint does not count are left out. A skew is the most less the least; None where nothing is
    counted, or where there was no such constraint.
    """

    topology_key: str
    before: dict[str, int]
    after: dict[str, int]
    skew_before: Optional[int]
    skew_after: Optional[int]


class Effect(NamedTuple):
    """The workload's pods that had no node: how many get one without the change, and with it."""

    placed_before: int
    placed_after: int
    pending_before: int
    pending_after: int
    node: str  # of the pod that was asked about
    spreads: tuple[Spread, ...] = ()


class Suggestion(NamedTuple):
    """A change that was simulated, and lets the pod be placed.

    changes: for programs. lines: the fields that change, as they would be written. is_of_manifest: the cluster stays as
    it is. certainty: POSSIBLE where the scheduler had to choose among equal nodes.
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
    verified: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether none of the workload's pods stays Pending."""
        return not self.effect.pending_after


class Suggestions(NamedTuple):
    """The best first.

    tried: changes that were simulated; verified: how many helped; not_tried: how many were not. harmful: of those that
    helped and are not among the items, how many end or restart running pods, or lose data.
    """

    items: tuple[Suggestion, ...] = ()
    tried: int = 0
    verified: int = 0
    not_tried: int = 0
    harmful: int = 0
