"""A condition that a node must meet before it can take a pod, the words that all of them share, and the decisive ones.

Names are as they are: whoever prints them escapes.

The cause for the first sentence has the requirements that narrow the nodes down, and all refusals of the remaining
nodes. A conflict names one reason for each node that matters. A node may have more, and each of them keeps the pod
Pending after the first is repaired, so all of them are here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import NamedTuple, NewType, Optional

import numpy as np

from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.objects import resources
from kubectl_spread.objects.node import OUTAGES, Taint
from kubectl_spread.objects.selectors import EVERY_POD, LabelRequirement, Selector
from kubectl_spread.text.wording import comma_list, first_of

RequirementId = NewType("RequirementId", str)


class RequirementKind(Enum):
    """The origin of a requirement, which determines how it can be changed."""

    CONSTRAINT = "constraint"  # key: the topology key
    CORDON = "cordon"
    NODE_NAME = "nodeName"
    TAINT = "taint"  # key: the taint, `key=value:effect`; of several, the part they share
    ADDED_AFFINITY = "addedAffinity"
    NODE_SELECTOR = "nodeSelector"  # key: the label
    NODE_AFFINITY = "nodeAffinity"  # key: the label of one expression; empty if several terms are one requirement
    NAMED_NODES = "namedNodes"
    PORT = "port"
    PODS = "pods"
    RESOURCE = "resource"  # key: the resource
    CLAIM = "claim"  # key: the claim
    UNBOUND_CLAIMS = "unboundClaims"
    CLAIM_IN_USE = "claimInUse"  # key: the claim
    DISK = "disk"
    VOLUME_LIMIT = "volumeLimit"
    AFFINITY = "affinity"  # key: the topology key
    ANTI_AFFINITY = "antiAffinity"  # key: the topology key
    OTHERS_ANTI_AFFINITY = "othersAntiAffinity"  # key: the topology key
    FEATURE = "feature"  # key: the feature
    NOMINATED = "nominated"
    OTHER = "other"


class Requirement(NamedTuple):
    """A condition that a node must meet.

    allowed: bool (N,), the nodes that meet it.
    text: a name for display; never compared.
    at: index in the pod's own list (constraints, expressions, terms, ports, volumes), if it has one.
    why: returns one sentence, with numbers: why nodes do not meet it; bool (N,), without nodes that meet it. Valid
        until the next pod is bound.
    cause: equal for requirements with the same cause; empty if the cause is its own.
    parts: the requirements that `merge_causes` merged into this one.
    taint: of kind TAINT, unless the requirement covers taints of several keys.
    """

    plugin: str
    text: str
    allowed: Bools
    kind: RequirementKind = RequirementKind.OTHER
    key: str = ""
    at: Optional[int] = None
    why: Callable[[Bools], str] = lambda nodes: ""  # noqa: ARG005
    cause: str = ""
    parts: tuple[Requirement, ...] = ()
    taint: Optional[Taint] = None

    @property
    def position(self) -> Optional[int]:
        """Return the index of a spread constraint; None for other kinds."""
        return self.at if self.kind is RequirementKind.CONSTRAINT else None

    @property
    def arithmetic(self) -> str:
        """Return the explanation for all nodes that do not meet it."""
        return self.why(~self.allowed)

    @property
    def id(self) -> RequirementId:
        """Return a name that stays the same as long as the pod does: `taint/dedicated=x:NoSchedule`, `constraint/0`."""
        if self.parts:
            return RequirementId("+".join(part.id for part in self.parts))
        parts = (self.kind.value, "" if self.at is None else str(self.at), self.key)
        return RequirementId("/".join(part for part in parts if part))


MOST_NAMES = 3
MOST_GROUPS = 3


def short_list(names: Sequence[str], *, of: int = 0) -> str:
    """Return up to three names and the number of the others; `of`: the number of all, if `names` is incomplete."""
    return comma_list([name or '""' for name in names], most=MOST_NAMES, of=of)


def nodes(mask: Bools, columns: Columns) -> str:
    """Return up to three node names and the number of the others."""
    found = np.flatnonzero(mask)
    return short_list([columns.nodes[at].name for at in found[:MOST_NAMES].tolist()], of=len(found))


def summarize_nodes(mask: Bools, columns: Columns) -> str:
    """Return `a1, a2`, or `12 nodes (a1, a2, a3 and 9 more)`."""
    number = int(mask.sum())
    text = nodes(mask, columns)
    return text if number <= MOST_NAMES else f"{number} nodes ({text})"


_MOST_DIGITS = 4


def amount(resource: str, value: int) -> str:
    """Return a quantity in the usual units; bytes that need more than four digits as `97.7Mi`."""
    text = resources.amount(resource, value)
    in_bytes = resource in (resources.MEMORY, resources.EPHEMERAL_STORAGE) or resource.startswith("hugepages-")
    if in_bytes and sum(map(str.isdigit, text)) > _MOST_DIGITS:
        for unit, size in (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20)):
            if value >= 10 * size:
                return f"{value / size:.1f}{unit}"
    return text


def selector_text(selector: Selector) -> str:
    """Return a selector as kubectl writes it, each condition once."""
    if selector.requirements is None:
        return "no label selector (which selects none)"
    if selector.is_empty:
        return "any labels (an empty selector, with which the scheduler counts no pods)"
    if selector == EVERY_POD:
        return "any labels (an empty selector, with which this release counts every pod of the namespace)"
    return ",".join(dict.fromkeys(map(requirement_text, selector.requirements)))


def requirement_text(item: LabelRequirement) -> str:
    """Return one condition on a label as kubectl writes it."""
    if item.operator == "In" and len(item.values) == 1:
        return f"{item.key}={item.values[0]}"
    values = ",".join(item.values)
    forms = {
        "Exists": item.key,
        "DoesNotExist": f"!{item.key}",
        "Gt": f"{item.key} > {values}",
        "Lt": f"{item.key} < {values}",
    }
    return forms.get(item.operator, f"{item.key} {item.operator.lower()} ({values})")


def first_sentences(sentences: Iterable[str]) -> str:
    """Return the first few sentences and the number of the others."""
    return "; ".join(first_of([*sentences], MOST_GROUPS, lambda left: f"and {left} more"))


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
