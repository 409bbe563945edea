"""Comparison of a cluster's message with the scheduler's present one, and with the refusals of the present nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, Optional, Union

from kubectl_spread.explain.messages.catalogue import Component, ReasonKind, without_space
from kubectl_spread.explain.messages.parse import Message, parse, Part, Preemption

_FIRST_WITH_CLAUSE = 24  # the first minor version with a preemption clause in messages


class ComparisonResult(Enum):
    """The result of comparing two messages."""

    SAME = "same"
    SAME_BUT_WORDING = "same-but-wording"  # the same counts in another release's words
    DIFFERENT = "different"
    INCOMPARABLE = "incomparable"  # one of them is not the scheduler's, not understood, or cut off


class CountChange(NamedTuple):
    """The number of nodes with a reason, then and now; `reason` is in the present words if they contain it."""

    kind: ReasonKind
    reason: str
    then: int
    now: int


class Comparison(NamedTuple):
    """Two messages. `changes` compare the lists of nodes, `preemption` compares the clauses if both have one."""

    outcome: ComparisonResult
    total_then: Optional[int]
    total_now: Optional[int]
    changes: tuple[CountChange, ...] = ()
    preemption: tuple[CountChange, ...] = ()


_Key = tuple[ReasonKind, str]


def compare(reported: str, now: str) -> Comparison:
    """Compare a message of the cluster with the present one."""
    old, new = parse(reported), parse(now)
    if not (_is_comparable(old) and _is_comparable(new)):
        return Comparison(ComparisonResult.INCOMPARABLE, old.total, new.total)
    if _plain(old) == _plain(new):
        return Comparison(ComparisonResult.SAME, old.total, new.total)
    changes, preemption = _changes(old, new), tuple[CountChange, ...]()
    if old.preemption is not None and new.preemption is not None:
        preemption = _changes(old.preemption, new.preemption)
    is_same = not (changes or preemption or _has_other_clause(old, new)) and old.total == new.total
    outcome = ComparisonResult.SAME_BUT_WORDING if is_same else ComparisonResult.DIFFERENT
    return Comparison(outcome, old.total, new.total, changes, preemption)


class Disagreement(NamedTuple):
    """The parts of the scheduler's message, if some nodes fit by the cluster facts.

    unexplained: parts that count more nodes than this program finds for that reason; else all parts.
    """

    parts: tuple[Part, ...]
    unexplained: tuple[Part, ...]


def disagreement(message: str, refusals: Iterable[tuple[str, ...]]) -> Optional[Disagreement]:
    """Return the refusals in a message; None unless it is the scheduler's refusal of every node.

    `refusals` are the reasons of the nodes that do not fit here, one item for each node.
    """
    old = parse(message)
    if old.component is not Component.SCHEDULER or not old.is_of_nodes or not old.parts:
        return None
    reasons = Counter(reason for of_node in refusals for reason in of_node)
    texts = ", ".join(f"{number} {reason}" for reason, number in reasons.items())
    now = _counts(parse(f"0/{reasons.total()} nodes are available: {texts}.").parts, 0, are_named=False)
    then = _counts(old.parts, 0, are_named=False)
    more = {key for key, (_, number) in then.items() if number > now.get(key, ("", 0))[1]}
    unexplained = (part for part in old.parts if part.number is None or _key(part, are_named=False) in more)
    return Disagreement(old.parts, tuple(unexplained) or old.parts)


def _has_other_clause(old: Message, new: Message) -> bool:
    """Return whether preemption had another result; releases without the clause do not differ."""
    first, second = old.preemption, new.preemption
    if first is not None and second is not None:
        return without_space(first.verdict) != without_space(second.verdict)
    silent = old if first is None else new
    return first is not second and (silent.era is None or silent.era.most >= _FIRST_WITH_CLAUSE)


def _is_comparable(message: Message) -> bool:
    return (
        message.component is Component.SCHEDULER
        and message.is_of_nodes
        and message.total is not None
        and not message.is_cut
    )


def _plain(message: Message) -> str:
    return message.text.rstrip(". ").replace("..", ".")


def _changes(old: Union[Message, Preemption], new: Union[Message, Preemption]) -> tuple[CountChange, ...]:
    are_named = all(part.subject for part in (*old.parts, *new.parts) if part.kind is ReasonKind.TAINT)
    then, now = (_counts(item.parts, item.total, are_named=are_named) for item in (old, new))
    found = []
    for key in dict.fromkeys((*then, *now)):
        (old_words, before), (new_words, after) = then.get(key, ("", 0)), now.get(key, ("", 0))
        if before != after:
            found.append(CountChange(key[0], new_words or old_words, before, after))
    return tuple(found)


def _counts(parts: tuple[Part, ...], total: Optional[int], *, are_named: bool) -> dict[_Key, tuple[str, int]]:
    """Return the words and count of each reason; a reason without a count applies to all nodes."""
    out: dict[_Key, tuple[str, int]] = {}
    special = {ReasonKind.POD_AFFINITY, ReasonKind.POD_ANTI_AFFINITY, ReasonKind.EXISTING_ANTI_AFFINITY}
    has_special = any(part.kind in special for part in parts)
    for part in parts:
        if part.kind is ReasonKind.ANY_POD_AFFINITY and has_special:
            continue  # it repeats the special reason for the same nodes
        key = _key(part, are_named=are_named)
        count = part.number if part.number is not None else total or 0
        reason = "node(s) had untolerated taint(s)" if key == (ReasonKind.TAINT, "") else part.reason
        out[key] = (reason, count + out.get(key, ("", 0))[1])
    return out


def _key(part: Part, *, are_named: bool) -> _Key:
    """Return the identity of a reason; taints by name only if both messages name them."""
    if part.kind is ReasonKind.NARROWED and part.subject.strip("[]") == "NodeAffinity":
        return (ReasonKind.NODE_AFFINITY, "")
    if part.kind is ReasonKind.TAINT:
        return (ReasonKind.TAINT, "".join(part.subject.split()) if are_named else "")
    if part.kind in (ReasonKind.UNKNOWN, ReasonKind.DEVICES, ReasonKind.NODE_CONDITION):
        return (part.kind, part.reason)
    return (part.kind, part.subject)
