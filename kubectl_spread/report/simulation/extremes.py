"""The best and the worst outcome of a step for one workload: complete before incomplete, even before uneven."""

from __future__ import annotations

from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.text.wording import safe
from kubectl_spread.timeline.results.summary import Ending, StepSummary, WorkloadSpread

_MOST_DOMAINS = 12


def extremes(summary: StepSummary, key: OwnerKey, spread: WorkloadSpread) -> str:
    """Return `best outcome: a=1 b=1; worst: a=2 b=0`; empty if the outcomes are equally good."""
    values = [domain.value for domain in spread.domains]
    found = [item for item in summary.endings if spread.topology_key in item.counts.get(key, {})]
    if len(found) < 2 or not 0 < len(values) <= _MOST_DOMAINS:
        return ""
    ranked = sorted((_rank(item, _numbers(item, key, spread, values)), at) for at, item in enumerate(found))
    (best, first), (worst, last) = ranked[0], ranked[-1]
    if best == worst:
        return ""
    texts = [_text(found[at], values, _numbers(found[at], key, spread, values)) for at in (first, last)]
    return f"best outcome: {texts[0]}; worst: {texts[1]}"


def _numbers(ending: Ending, key: OwnerKey, spread: WorkloadSpread, values: list[str]) -> list[int]:
    counts = ending.counts[key][spread.topology_key]
    return [sum(counts.get(value, {}).values()) for value in values]


def _rank(ending: Ending, numbers: list[int]) -> tuple[bool, int, int]:
    """Return a number that is lower for a better outcome: complete, with more pods, evenly spread."""
    return (not ending.is_complete, -sum(numbers), max(numbers) - min(numbers))


def _text(ending: Ending, values: list[str], numbers: list[int]) -> str:
    counts = " ".join(f"{safe(value)}={number}" for value, number in zip(values, numbers, strict=True))
    return counts if ending.is_complete else f"{counts}, incomplete"
