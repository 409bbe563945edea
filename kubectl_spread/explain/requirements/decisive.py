"""The cause for the first sentence: requirements that narrow the nodes down, and all refusals of the remaining nodes.

A conflict names one reason for each node that matters. A node may have more, and each of them keeps the pod Pending
after the first is repaired, so all of them are here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kubectl_spread.cluster.tables.arrays import Bools
from kubectl_spread.explain.requirements.conflicts import Conflict
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementId, RequirementKind

# Requirements that choose among nodes; all others are troubles of a node.
_CHOOSING = frozenset(
    (
        RequirementKind.CONSTRAINT,
        RequirementKind.NODE_NAME,
        RequirementKind.NODE_SELECTOR,
        RequirementKind.NODE_AFFINITY,
        RequirementKind.ADDED_AFFINITY,
        RequirementKind.NAMED_NODES,
        RequirementKind.CLAIM,
        RequirementKind.UNBOUND_CLAIMS,
        RequirementKind.AFFINITY,
    )
)


class UnmetRequirement(NamedTuple):
    """A requirement that decisive nodes do not meet; `why` in words, empty without `has_words`."""

    requirement: Requirement
    nodes: tuple[str, ...]
    why: str = ""


class Cause(NamedTuple):
    """The reasons why no node fits.

    narrowing: requirements that leave only the `decisive` nodes; empty if every node is decisive.
    refusals: the refusals of the decisive nodes, the most frequent first; empty if no node is left to refuse.
    """

    narrowing: tuple[Requirement, ...]
    decisive: tuple[str, ...]
    refusals: tuple[UnmetRequirement, ...]

    @property
    def ids(self) -> frozenset[RequirementId]:
        """Return the requirements that are named."""
        return frozenset(item.id for item in (*self.narrowing, *(refusal.requirement for refusal in self.refusals)))


def causes(
    found: Sequence[Requirement], conflicts: Sequence[Conflict], names: Sequence[str], *, has_words: bool
) -> tuple[Cause, ...]:
    """Return the causes of the first conflict, and of the first conflict that remains after it is repaired.

    Args:
        found: every requirement that some node does not meet, merged by cause.
        conflicts: sets of requirements that leave no node, the smallest first.
        names: of the nodes.
        has_words: also say why nodes are refused; valid until the next pod is bound.
    """
    if not conflicts:
        return ()
    first = _cause(conflicts[0], found, names, has_words=has_words)
    rest = next((item for item in conflicts if first.ids.isdisjoint(part.id for part in item.requirements)), None)
    return (first,) if rest is None else (first, _cause(rest, found, names, has_words=has_words))


def _cause(conflict: Conflict, found: Sequence[Requirement], names: Sequence[str], *, has_words: bool) -> Cause:
    narrowing = _narrowing(conflict)
    decisive = np.logical_and.reduce([item.allowed for item in narrowing]) if narrowing else np.ones(len(names), bool)
    of_conflict = {item.id for item in conflict.requirements}
    chosen = {item.id for item in narrowing}
    refusing = [item for item in found if item.id not in chosen and _refuses(item, decisive, is_part=bool(narrowing))]
    refusing.sort(key=lambda item: (-int((decisive & ~item.allowed).sum()), item.id not in of_conflict))
    return Cause(
        tuple(narrowing),
        _named(decisive, names),
        tuple(_refusal(item, decisive & ~item.allowed, names, has_words=has_words) for item in refusing),
    )


def _narrowing(conflict: Conflict) -> list[Requirement]:
    """Return the requirements of a conflict that choose among nodes, spread constraints first; none of a single one."""
    spread = [item for item in conflict.requirements if item.position is not None]
    if spread:
        return spread
    choosing = [item for item in conflict.requirements if item.kind in _CHOOSING]
    return choosing if len(conflict.requirements) > 1 else []


def _refuses(requirement: Requirement, decisive: Bools, *, is_part: bool) -> bool:
    """Return whether decisive nodes do not meet a requirement: some of a part of the nodes, else all."""
    refused = decisive & ~requirement.allowed
    return bool(refused.any()) if is_part else bool(refused.all()) and bool(decisive.any())


def _refusal(requirement: Requirement, refused: Bools, names: Sequence[str], *, has_words: bool) -> UnmetRequirement:
    return UnmetRequirement(requirement, _named(refused, names), requirement.why(refused) if has_words else "")


def _named(mask: Bools, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names[at] for at in np.flatnonzero(mask).tolist())
