"""How far an answer of the engine holds. Every command takes it from here."""

from __future__ import annotations

from enum import Enum


class Basis(Enum):
    """Reason to trust an answer, or reason why there is none."""

    ALL_OUTCOMES = "allOutcomes"  # every reachable state was visited
    ENOUGH_ROOM = "enoughRoom"  # every new pod finds a node, wherever the other pods are
    NO_ORDER = "noOrder"  # fewer pods than wanted can have a node, wherever the others are
    EVERY_ORDER = "everyOrder"  # independent parts were visited whole; ranges hold, but not each number occurs
    SAMPLE = "sample"  # some runs were simulated; other outcomes are possible
    STATE_LIMIT = "stateLimit"  # the limit was reached before any outcome was found
    NOT_SIMULATED = "notSimulated"  # the outcome depends on a feature that is not simulated

    @property
    def is_exact(self) -> bool:
        """Return whether the answer holds for every possible outcome."""
        return self in (Basis.ALL_OUTCOMES, Basis.ENOUGH_ROOM, Basis.NO_ORDER, Basis.EVERY_ORDER)

    @property
    def is_known(self) -> bool:
        """Return whether there is an answer."""
        return self.is_exact or self is Basis.SAMPLE


class Certainty(Enum):
    """Whether what is shown is the only outcome."""

    CERTAIN = "certain"
    POSSIBLE = "possible"
    NOT_PREDICTABLE = "notPredictable"  # it depends on a feature that is not evaluated


def certainty(basis: Basis, outcomes: int) -> Certainty:
    """Return the certainty of an outcome that is one of some."""
    if basis is Basis.NOT_SIMULATED:
        return Certainty.NOT_PREDICTABLE
    # Parts of a step are shown by one run, and others may end differently.
    is_only = basis.is_exact and basis not in (Basis.EVERY_ORDER, Basis.NO_ORDER) and outcomes == 1
    return Certainty.CERTAIN if is_only else Certainty.POSSIBLE
