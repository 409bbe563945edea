"""Words and lists that the answers of several commands share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Optional

from kubectl_spread.containers import grouped
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.node import NodesOfPool
from kubectl_spread.text.wording import comma_list, count_noun, first_of, join_with_and, safe

_MOST_NAMED = 3
MOST_ALIKE = 3  # equal answers about different objects that are shown one by one
INTERRUPTED = "The search was interrupted: this is what is known so far."


def counted(number: Range, noun: str) -> str:
    """Return `1 node`, `1 to 2 nodes`."""
    return f"{number} {noun}" if number == Range(1, 1) else f"{number} {noun}s"


def pods(number: Range) -> str:
    """Return `1 pod`, `1 to 2 pods`."""
    return counted(number, "pod")


def dashed(numbers: Range) -> str:
    """Return `2`, or `1-2` if outcomes differ."""
    return str(numbers.least) if numbers.is_single else f"{numbers.least}-{numbers.most}"


def name(key: Optional[ObjectKey]) -> str:
    """Return `Deployment shop/web`."""
    return "" if key is None else f"{key.kind} {key.namespace}/{key.name}"


def short_name(key: Optional[ObjectKey]) -> str:
    """Return `Deployment web`."""
    return "" if key is None else f"{key.kind} {key.name}"


def resource(key: ObjectKey) -> str:
    """Return `deployment/web`, as kubectl names it."""
    return f"{key.kind.lower()}/{key.name}"


@lru_cache(1_000)  # perf: thousands of pods share a message
def without_preemption(message: str) -> str:
    """Return a message of the scheduler up to its part on preemption."""
    from kubectl_spread.explain.messages.parse import parse  # regular expressions: 20 ms

    found = parse(message)
    return message if found.preemption is None else found.listed


def also_counted(keys: Sequence[ObjectKey]) -> str:
    """Return `pods of Deployment web-canary are counted, too`; empty without any."""
    return f"pods of {series(map(short_name, keys), most=_MOST_NAMED)} are counted, too" if keys else ""


def names(keys: Iterable[ObjectKey]) -> str:
    """Return `Deployment shop/a and Deployment shop/b`."""
    return series([name(key) for key in keys])


def together(entries: Iterable[tuple[Hashable, str, list[str]]]) -> Iterator[str]:
    """Yield the lines about workloads; of many with one reason, those of the first, and the names of the others."""
    for same in grouped((reason, (name, lines)) for reason, name, lines in entries).values():
        shown = same[: 1 if len(same) > MOST_ALIKE else MOST_ALIKE]
        yield from (line for _, lines in shown for line in lines)
        others = [name for name, _ in same[len(shown) :]]
        if others:
            yield f"  also {count_noun(len(others), 'more workload')}: {comma_list(others)}"


def series(texts: Iterable[str], last: str = "and", *, most: int = 99_999) -> str:
    """Return `a`, `a and b`, `a, b and c`, without control characters; beyond `most` the number: `a, b and 9 more`."""
    return join_with_and(first_of([*map(safe, texts)], most, lambda left: f"{left} more"), word=last)


def nodes_of_pools(added: Iterable[NodesOfPool], sampled: str = "") -> str:
    """Return `2 nodes of pool general (1 in zone a, 1 in zone b) and 1 node of pool gpu (zone a or b)`.

    sampled: words before a number that holds for some outcomes only.
    """
    texts = []
    for item in added:
        zones = {zone: number for zone, number in item.zones.items() if zone}
        where = ", ".join(f"{number} in zone {zone}" for zone, number in zones.items())
        if item.number == Range(1, 1) or not all(number.is_single for number in zones.values()):
            where = f"zone{'s' if item.number.most > 1 and len(zones) > 1 else ''} {series(zones, 'or')}"
        where = f" ({where})" if zones else ""
        texts.append(f"{sampled}{counted(item.number, 'node')} of pool {item.pool}{where}")
    return series(texts)


def share(part: int, whole: int) -> str:
    """Return the share of outcomes: `in 2 of 3 outcomes`; empty if it is every outcome."""
    return "" if part == whole else f"in {part:,} of {whole:,} outcomes"


def pods_by_domain(counts: Mapping[str, object], *, most: Optional[int] = None) -> str:
    """Return `a=3 b=2`, and how many domains there are beyond `most`; a domain without a name is quoted."""
    parts = [f"{safe(value) or chr(34) * 2}={number}" for value, number in counts.items()]
    return " ".join(first_of(parts, len(parts) if most is None else most, lambda left: f"and {left} more"))


def find_no_node(number: int) -> str:
    """Return the end of a sentence about so many pods."""
    return "finds no node, and stays Pending." if number == 1 else "find no node, and stay Pending."


def without_repeats(sentences: Iterable[str]) -> list[str]:
    """Merge equal sentences that follow each other into one, which ends with `(3 times)`."""
    merged: list[tuple[str, int]] = []
    for sentence in sentences:
        times = 1
        if merged and merged[-1][0] == sentence:
            times += merged.pop()[1]
        merged.append((sentence, times))
    return [sentence if times == 1 else f"{sentence[:-1]} ({times} times)." for sentence, times in merged]


_ENDS = 4  # sentences of a long way, from its beginning and from its end


def numbered(sentences: Sequence[str], *, where: str = "") -> list[str]:
    """Return sentences with numbers; of many those at both ends, if something else prints all: `where`."""
    lines = [f"{number}. {sentence}" for number, sentence in enumerate(sentences, 1)]
    if not where or len(lines) <= 2 * _ENDS:
        return lines
    return [*lines[:_ENDS], f"... {len(lines) - 2 * _ENDS} more; {where}", *lines[-_ENDS:]]
