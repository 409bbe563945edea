"""What is suggested, and what was found of it when it was simulated."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.simulate.placement import Certainty
from kubectl_spread.suggest.managed import Manager

Plain = dict[str, Any]


class SpreadChange(NamedTuple):
    """Matching pods by the value of a constraint's key, before the change and after it.

    Values that the constraint does not count are left out. A skew is the most less the least; None where nothing is
    counted, or where there was no such constraint. `after` is one outcome; `ranges` has the fewest and the most of all,
    `skews` the least skew and the greatest.
    """

    topology_key: str
    before: dict[str, int]
    after: dict[str, int]
    skew_before: Optional[int]
    skew_after: Optional[int]
    ranges: dict[str, tuple[int, int]] = {}  # noqa: RUF012 (never written to)
    skews: Optional[tuple[int, int]] = None


class Effect(NamedTuple):
    """The workload's pods with a node and those that wait, where nothing is done and once the change has come to rest.

    node: of the pod that was asked about, or of one that took its place. without_node: pods of the workload that have
    none now, also those for which the scheduler finds one anyway.
    """

    placed_before: int
    placed_after: int
    pending_before: int
    pending_after: int
    node: str
    spreads: tuple[SpreadChange, ...] = ()
    without_node: int = 0


class Rollout(NamedTuple):
    """What was simulated of a change.

    outcomes: different ends that were found; is_exact: there are no others. restarts: running pods of the workload that
    are replaced, the most in any outcome. not_followed: what is not simulated of it. under_way: of `restarts`, those
    that a rollout replaces which has begun already. is_new: the change begins another rollout. running: pods of the
    workload that run now.
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

    changes: for programs. lines: the fields that change, as they would be written. is_of_manifest: the cluster stays as
    it is. certainty: POSSIBLE where there is more than one outcome, or not all were looked at. managed_by: what writes
    the object that is changed, and would undo it. verified: it was simulated to its end; else its controller is not
    simulated, and only the pods that wait were.
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
