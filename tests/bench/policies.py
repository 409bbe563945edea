"""Compare verdicts on policies with the judge, and replay ways: `python -m tests.bench.policies [FIRST [LAST]]`.

Each case is compared in each regime."""

from __future__ import annotations

import sys

from tests.guarantee.agreement import compared
from tests.guarantee.twin import REGIMES


def main(first: int, last: int) -> int:
    """Compare all cases of a range, regime by regime."""
    number = sum([_compared(regime, first, last) for regime in REGIMES])
    return 1 if number else 0


def _compared(regime: str, first: int, last: int) -> int:
    """Print the differences in a regime, and return their number."""
    number = skipped = wrong = ways = 0
    for seed in range(first, last):
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
    numbers = [int(word) for word in sys.argv[1:]] or [300]
    sys.exit(main(*([0, *numbers] if len(numbers) == 1 else numbers)))
