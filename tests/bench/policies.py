"""Compare verdicts on policies with the judge, and replay ways: `python -m tests.bench.policies [FIRST [LAST]]`.

Each case is compared in each regime. `surge` or `shards` as the first word leaves only rollouts with more surge than
replicas, or workloads that come and go as a whole: `python -m tests.bench.policies surge 0 1500`."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tests.guarantee import cases
from tests.guarantee.agreement import compared
from tests.guarantee.twin import REGIMES


def has_large_surge(case: cases.Plain) -> bool:
    """Return whether a rollout of the case may create more pods than the workload has."""
    return any(spec.get("surge", 0) > spec["replicas"] for spec in case["workloads"].values())


def has_shards(case: cases.Plain) -> bool:
    """Return whether workloads of the case come and go as a whole."""
    return "shards" in case


_FAMILIES: dict[str, tuple[Callable[[cases.Plain], bool], tuple[str, ...]]] = {
    "surge": (has_large_surge, ("rollouts",)),
    "shards": (has_shards, ("scaling", "disruptions")),
}


def main(words: list[str]) -> int:
    """Compare all cases of a range, regime by regime."""
    is_wanted, regimes = _FAMILIES.get(words[0] if words else "", (lambda _: True, REGIMES))
    numbers = [int(word) for word in words if word not in _FAMILIES] or [300]
    first, last = [0, *numbers] if len(numbers) == 1 else numbers
    number = sum([_compared(regime, first, last, is_wanted) for regime in regimes])
    return 1 if number else 0


def _compared(regime: str, first: int, last: int, is_wanted: Callable[[cases.Plain], bool]) -> int:
    """Print the differences in a regime, and return their number."""
    number = skipped = wrong = ways = 0
    for seed in range(first, last):
        if not is_wanted(cases.case(seed, regime)):
            continue
        found = compared(seed, regime=regime)
        if found is None:
            skipped += 1
            continue
        number += 1
        ways += found.ways
        wrong += len(found.differences)
        for line in found.differences:
            print(line, flush=True)
    told = f"{number} cases compared, {skipped} too large for the judge, {ways} ways replayed"
    print(f"{regime}: {told}, {wrong} differences", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
