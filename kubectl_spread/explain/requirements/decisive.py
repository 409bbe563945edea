"""The cause for the first sentence: requirements that narrow the nodes down, and all refusals of the remaining nodes.

A conflict names one reason for each node that matters. A node may have more, and each of them keeps the pod Pending
after the first is repaired, so all of them are here.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kubectl_spread.cluster.columns import Bools
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementId, RequirementKind
from kubectl_spread.objects.node import OUTAGES

MAX_SETS = 20  # in the answer
MAX_STEPS = 20_000  # of the search: a tenth of a second
MAX_COUNTED = 1_000


class Conflict(NamedTuple):
    """Requirements that no node meets together. Each proper subset of them is met by some node.

    `arithmetic`: for each of the `requirements`, why it refuses the nodes that the earlier ones leave. It is empty
    if the caller needs no words.
    """

    requirements: tuple[Requirement, ...]
    arithmetic: tuple[str, ...]


def conflict_sets(found: Sequence[Requirement], *, has_words: bool) -> tuple[tuple[Conflict, ...], int, bool]:
    """Return irredundant sets of requirements that leave no node, the smallest first; none if a node meets all.

    Also return how many further sets are left out, and whether no others can exist.
    """
    if not found:
        return (), 0, True
    failing = ~np.array([requirement.allowed for requirement in found], np.bool_)  # (R, N)
    packed = np.packbits(failing, axis=0, bitorder="little").T  # (N, bytes)
    # The requirements that refuse each node, as bits of a number, without rows that contain another row
    rows: list[int] = []
    for row in sorted(
        {int.from_bytes(row.tobytes(), "little") for row in packed}, key=lambda row: (row.bit_count(), row)
    ):
        if not any(other & row == other for other in rows):
            rows.append(row)
    if not rows or 0 in rows:
        return (), 0, True
    chosen_sets, is_complete = _hitting_sets(rows, len(found))
    ordered = sorted(chosen_sets, key=lambda chosen: (len(chosen), chosen))
    sets = []
    for chosen in ordered[:MAX_SETS]:
        left, words = np.ones_like(found[0].allowed), list[str]()
        for at in chosen if has_words else ():
            words.append(found[at].why(left & ~found[at].allowed))
            left &= found[at].allowed
        sets.append(Conflict(tuple(found[at] for at in chosen), tuple(words)))
    return tuple(sets), len(ordered) - len(sets), is_complete


def _hitting_sets(rows: Sequence[int], count: int) -> tuple[list[tuple[int, ...]], bool]:
    """Return minimal hitting sets, and whether there are no others. Rows and requirements are bits of numbers.

    All sets of one requirement are extended to sets of two, and so on. `critical`: for each chosen requirement, the
    rows that only it hits. `left`: the rows that none hits.
    """
    hits = [sum(1 << at for at, row in enumerate(rows) if row >> item & 1) for item in range(count)]
    every, found, steps = (1 << len(rows)) - 1, list[tuple[int, ...]](), 0
    level: list[tuple[tuple[int, ...], list[int], int, int]] = [((), [], every, (1 << count) - 1)]
    while level and steps <= MAX_STEPS and len(found) < MAX_COUNTED:
        following = []
        for chosen, critical, left, candidates in level:
            if not left:
                found.append(tuple(sorted(chosen)))
                continue
            row = rows[(left & -left).bit_length() - 1]
            open_to = candidates & ~row
            for item in (item for item in range(count) if row & candidates & 1 << item):
                steps += 1
                still = [own & ~hits[item] for own in critical]
                if all(still):
                    following.append(((*chosen, item), [*still, left & hits[item]], left & ~hits[item], open_to))
                open_to |= 1 << item
            if steps > MAX_STEPS:
                break
        level = following
    found += [tuple(sorted(chosen)) for chosen, _, left, _ in level if not left]
    if not found:  # One set, perhaps not the smallest: drop each requirement that the rest does not need.
        kept = list(range(count))
        for item in reversed(kept.copy()):
            others = [other for other in kept if other != item]
            if functools.reduce(int.__or__, (hits[other] for other in others), 0) == every:
                kept = others
        found.append(tuple(kept))
    return found, not level


def merge_causes(requirements: Sequence[Requirement]) -> list[Requirement]:
    """Merge requirements of one cause, each at the place of its first.

    Taints that differ only in their effect are merged if the same nodes have them. Then a conflict remains a
    conflict. The taints of an outage are always merged.
    """
    groups: dict[object, list[Requirement]] = {}
    for at, item in enumerate(requirements):
        is_outage = item.taint is not None and item.taint.key in OUTAGES and not item.taint.value
        cause: object = item.cause if is_outage else (item.cause, item.allowed.tobytes())
        groups.setdefault(cause if item.cause else at, []).append(item)
    found = []
    for group in groups.values():
        first, taints = group[0], [item.taint for item in group if item.taint is not None]
        text = first.text
        if taints:
            text = f"taint {taints[0]._replace(effect=','.join(taint.effect for taint in taints))}"
        merged = first._replace(
            text=text,
            allowed=np.logical_and.reduce([item.allowed for item in group]),
            why=functools.partial(_why, group),
            parts=tuple(group),
        )
        found.append(merged if len(group) > 1 else first)
    return found


def _why(group: list[Requirement], refused: Bools) -> str:
    """Return the reason of the first part that refuses one of the nodes; all parts have the same cause."""
    of_parts = ((item, refused & ~item.allowed) for item in group)
    return next((item.why(nodes) for item, nodes in of_parts if nodes.any()), "")


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
    why: str


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
    if rest is None:
        return (first,)
    others = [item for item in found if item.id not in first.ids]
    return first, _cause(rest, others, names, has_words=has_words)


def _cause(conflict: Conflict, found: Sequence[Requirement], names: Sequence[str], *, has_words: bool) -> Cause:
    # Those that choose among nodes, spread constraints first; none of a single requirement
    narrowing = [item for item in conflict.requirements if item.position is not None]
    if not narrowing and len(conflict.requirements) > 1:
        narrowing = [item for item in conflict.requirements if item.kind in _CHOOSING]
    decisive = np.logical_and.reduce([item.allowed for item in narrowing]) if narrowing else np.ones(len(names), bool)
    of_conflict = {item.id for item in conflict.requirements}
    chosen = {item.id for item in narrowing}
    refusing: list[tuple[Requirement, Bools]] = []
    for item in found:
        refused = decisive & ~item.allowed
        # If one requirement leaves no node, only others like it matter; else every refusal of a node does.
        matters = refused.any() if len(conflict.requirements) > 1 or narrowing else decisive.any() and refused.all()
        if matters and item.id not in chosen:
            refusing.append((item, refused))
    refusing.sort(key=lambda pair: (-int(pair[1].sum()), pair[0].id not in of_conflict))
    return Cause(
        tuple(narrowing),
        _named(decisive, names),
        tuple(
            UnmetRequirement(item, _named(refused, names), item.why(refused) if has_words else "")
            for item, refused in refusing
        ),
    )


def _named(mask: Bools, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names[at] for at in np.flatnonzero(mask).tolist())
