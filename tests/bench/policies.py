"""Compare verdicts on policies with those of the judge: `python -m tests.bench.policies [FIRST [LAST]]`.

Each case is compared in each regime."""

from __future__ import annotations

import sys

from tests.guarantee.agreement import differences
from tests.guarantee.twin import REGIMES


def main(first: int, last: int) -> int:
    """Compare all cases of a range, regime by regime."""
    number = sum([_compared(regime, first, last) for regime in REGIMES])
    return 1 if number else 0


def _compared(regime: str, first: int, last: int) -> int:
    """Print the differences in a regime, and return their number."""
    compared = skipped = wrong = 0
    for seed in range(first, last):
        found = differences(seed, regime=regime)
        skipped += found is None
        compared += found is not None
        wrong += len(found or ())
        for line in found or ():
            print(line, flush=True)
    print(f"{regime}: {compared} cases compared, {skipped} too large for the judge, {wrong} differences", flush=True)
    return wrong


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]] or [300]
    sys.exit(main(*([0, *numbers] if len(numbers) == 1 else numbers)))
