"""Copies of one object, which are applied to different clusters.

```
clusters/dev/web.yaml   Deployment web        ─┐
clusters/dev/hpa.yaml   autoscaler of web     ─┴─▶ one variant
clusters/prod/web.yaml  Deployment web again  ───▶ another
clusters/common.yaml    ServiceAccount        ───▶ in both
```

Two files or directories with the same object are rivals: no cluster gets both. A variant holds all that fits together.
If several rivals fit, it takes the one whose path has most words in common with its own.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, Optional, Union

_WORD = r"[A-Za-z0-9]+"


class CopyPath(NamedTuple):
    """An object that may have copies: the steps of its path, and its identity; None if it has none."""

    steps: tuple[str, ...]
    key: Optional[Hashable]


class _Variant(NamedTuple):
    """A set of compatible objects, by number, and the words in the paths of objects that have rivals."""

    members: tuple[int, ...]
    words: frozenset[str] = frozenset()


class _Unit(NamedTuple):
    """A file or directory: its name, the keys of its objects, and its variants."""

    name: str
    keys: frozenset[Hashable]
    variants: tuple[_Variant, ...]


class Variants(NamedTuple):
    """Sets of objects, by number, without two of one key; each object is in at least one.

    `rivals` are the paths of the outermost files and directories that have rivals, by the objects in them.
    """

    sets: list[list[int]]
    rivals: dict[int, tuple[str, ...]]


def variants(placed: Sequence[CopyPath]) -> Variants:
    """Return the largest sets of objects that fit together."""
    keys = [item.key for item in placed if item.key is not None]
    if len(set(keys)) == len(keys):
        return Variants([list(range(len(placed)))], {})
    rivals: dict[int, tuple[str, ...]] = {}
    unit = _unit("", range(len(placed)), placed, depth=0, found=rivals)
    return Variants([sorted(variant.members) for variant in unit.variants], rivals)


def _unit(
    name: str, numbers: Iterable[int], placed: Sequence[CopyPath], *, depth: int, found: dict[int, tuple[str, ...]]
) -> _Unit:
    """Return the file or directory at a depth of a path; record the objects with rivals in `found`."""
    numbers = list(numbers)
    keys = [key for number in numbers if (key := placed[number].key) is not None]
    if len(set(keys)) == len(keys):
        return _Unit(name, frozenset(keys), (_Variant(tuple(numbers)),))
    inner: dict[Union[str, int], list[int]] = {}
    for number in numbers:
        steps = placed[number].steps
        inner.setdefault(steps[depth] if depth < len(steps) else number, []).append(number)
    units = [
        _unit(step, members, placed, depth=depth + 1, found=found) if isinstance(step, str) else _single(placed, step)
        for step, members in inner.items()
    ]
    rivals = _rivals(units)
    for members, others in zip(inner.values(), rivals, strict=True):
        if others:
            found.update((number, placed[number].steps[: depth + 1]) for number in members)
    return _Unit(name, frozenset(keys), tuple(_joined(units, rivals)))


def _single(placed: Sequence[CopyPath], number: int) -> _Unit:
    key = placed[number].key
    return _Unit("", frozenset(() if key is None else (key,)), (_Variant((number,)),))


def _joined(units: list[_Unit], rivals: list[set[int]]) -> list[_Variant]:
    """Return the variants of a directory, from the variants of its entries."""
    found: list[_Variant] = []
    covered: set[tuple[int, int]] = set()
    for at, unit in enumerate(units):
        is_free = not rivals[at] and len(unit.variants) == 1
        for which in range(0 if is_free else len(unit.variants)):
            if (at, which) not in covered:
                chosen = _chosen(units, rivals, at=at, which=which)
                covered.update(chosen.items())
                found.append(_union(units, rivals, chosen))
    return found or [_union(units, rivals, dict.fromkeys(range(len(units)), 0))]


def _rivals(units: list[_Unit]) -> list[set[int]]:
    """Return, for each unit, the numbers of the units that share a key with it."""
    owners: dict[Hashable, list[int]] = {}
    for at, unit in enumerate(units):
        for key in unit.keys:
            owners.setdefault(key, []).append(at)
    shared = {frozenset(group) for group in map(tuple, owners.values()) if len(group) > 1}
    rivals: list[set[int]] = [set() for _ in units]
    for group in shared:
        for at in group:
            rivals[at] |= group
    for at, found in enumerate(rivals):
        found.discard(at)
    return rivals


def _chosen(units: list[_Unit], rivals: list[set[int]], *, at: int, which: int) -> dict[int, int]:
    """Return the variant of each other unit that fits a variant of one unit best."""
    words = units[at].variants[which].words | (_words(units[at].name) if rivals[at] else frozenset())
    chosen = {at: which}
    blocked = {at, *rivals[at]}
    open_ones = [other for other in range(len(units)) if other not in blocked]
    for other in sorted(open_ones, key=lambda item: -_likeness(units[item], words) if rivals[item] else 1):
        if other in blocked:
            continue
        choices = units[other].variants
        chosen[other] = max(range(len(choices)), key=lambda item: len(choices[item].words & words))
        blocked |= rivals[other]
    return chosen


def _likeness(unit: _Unit, words: frozenset[str]) -> int:
    return len(_words(unit.name) & words)


def _union(units: list[_Unit], rivals: list[set[int]], chosen: dict[int, int]) -> _Variant:
    members: list[int] = []
    words: set[str] = set()
    for at, which in sorted(chosen.items()):
        members += units[at].variants[which].members
        words |= units[at].variants[which].words
        words |= _words(units[at].name) if rivals[at] else frozenset()
    return _Variant(tuple(members), frozenset(words))


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(_WORD, name.lower()))
