"""Charts of constraints: a bar for each domain, the global minimum, and the limit for new pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Optional

from kubectl_spread.objects.constraints.constraint import DO_NOT_SCHEDULE
from kubectl_spread.simulate.running.status import ConstraintState, ConstraintStatus
from kubectl_spread.text.wording import count_noun

_MOST_BARS = 24  # more domains with equal counts share a bar
_MOST_NAMES = 12


class Bar(NamedTuple):
    """A domain, or `number` domains with the same count. over: the pods above the limit."""

    names: tuple[str, ...]
    pods: int
    over: int
    number: int = 1


class Chart(NamedTuple):
    """A constraint with its bars. scale: the count that fills a bar; limit: None without domains."""

    title: str
    badge: str
    tone: str
    skew: str
    reason: str
    bars: tuple[Bar, ...]
    scale: int
    minimum: int
    limit: Optional[int]
    is_hard: bool
    least_words: str = "global minimum"
    limit_words: str = ""


_LIMITS = {
    True: "a new pod may go to a domain that then has at most this many",
    False: "domains above it get a lower score",
}
_BADGES = {
    ConstraintState.OK: ("ok", "good"),
    ConstraintState.VIOLATED: ("violated", "bad"),
    ConstraintState.UNEVEN: ("uneven", "warn"),
    ConstraintState.NO_EFFECT: ("no effect", "soft"),
    ConstraintState.PARTLY_COUNTED: ("partly counted", "bad"),
    ConstraintState.UNKNOWN: ("unknown", "warn"),
}


def badge(state: ConstraintState) -> tuple[str, str]:
    """Return the words for a state, and their tone: good, warn, bad or soft."""
    return _BADGES[state]


def chart(item: ConstraintStatus) -> Chart:
    """Return the chart of a constraint."""
    words, tone = badge(item.state)
    limit = None if item.skew is None else item.global_minimum + item.max_skew
    is_hard = item.when_unsatisfiable == DO_NOT_SCHEDULE
    return Chart(
        f"{item.topology_key}, maxSkew {item.max_skew}, {item.when_unsatisfiable}"
        f"{' (default constraint)' if item.is_default else ''}",
        words,
        tone,
        _skew(item),
        item.reason,
        tuple(bars(item.counts.domains, limit)),
        max(item.counts.most, limit or 0, 1),
        item.global_minimum,
        limit,
        is_hard,
        limit_words=_LIMITS[is_hard],
    )


def _skew(item: ConstraintStatus) -> str:
    """Return the arithmetic of the skew, `skew 2 = 3 - 1, at most 1 is allowed`; empty without domains."""
    if item.skew is None:
        return ""
    allowed = "allowed" if item.when_unsatisfiable == DO_NOT_SCHEDULE else "preferred"
    few = ""
    if item.counts.is_below_min_domains:
        few = f". The minimum is 0, because {count_noun(len(item.counts.domains), 'domain')} are fewer than minDomains"
    return (
        f"Skew {item.skew}: the fullest domain has {item.counts.most}, the global minimum is {item.global_minimum}. "
        f"At most {item.max_skew} is {allowed}{few}."
    )


def bars(counts: Mapping[str, int], limit: Optional[int]) -> list[Bar]:
    """Return a bar for each domain; of many domains, those with equal counts share one."""
    ceiling = max(counts.values(), default=0) if limit is None else limit
    if len(counts) <= _MOST_BARS:
        return [Bar((value,), pods, max(0, pods - ceiling)) for value, pods in counts.items()]
    groups: dict[int, list[str]] = {}
    for value, pods in counts.items():
        groups.setdefault(pods, []).append(value)
    return [
        Bar(tuple(same[:_MOST_NAMES]), pods, max(0, pods - ceiling), len(same))
        for pods, same in sorted(groups.items(), reverse=True)
    ]
