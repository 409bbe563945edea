"""Words that messages of several rules share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # 10 ms, and --help needs none of it
    from kubectl_spread.objects.workload import Workload

_NAMED = 3


def called(workload: Workload) -> str:
    """What a message calls a workload."""
    return f"{workload.kind} `{workload.name}`"


def named(names: Iterable[str]) -> str:
    """Up to three names, and how many more there are."""
    listed = [f"`{name}`" for name in names]
    more = len(listed) - _NAMED
    if more > 0:
        return f"{', '.join(listed[:_NAMED])} and {more} more"
    return ", ".join(listed)


def counted(number: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
