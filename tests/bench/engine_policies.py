"""Compare verdicts on policies with the engine of `simulate`: `python -m tests.bench.engine_policies [FIRST [LAST]]`.

Each case is compared in each regime. Ways with a Deployment's rollout are not replayed, because the proofs merge its
events; its outcomes are compared.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.guarantee.engine import compared, Replayed
from tests.guarantee.twin import REGIMES


def main(first: int, last: int) -> int:
    """Compare all cases of a range, regime by regime."""
    number = sum([_compared(regime, first, last) for regime in REGIMES])
    return 1 if number else 0


def _compared(regime: str, first: int, last: int) -> int:
    """Print the differences in a regime, and return their number."""
    replayed: Counter[Replayed] = Counter()
    outcomes = skipped = wrong = 0
    for seed in range(first, last):
        found = compared(seed, regime)
        replayed += found.replayed
        outcomes += found.outcomes
        skipped += not found.outcomes
        wrong += len(found.differences)
        for line in found.differences:
            print(line, flush=True)
    ways = ", ".join(f"{number} {how.value}" for how, number in replayed.items())
    print(
        f"{regime}: {last - first} cases; ways to violations: {ways}; {outcomes} outcomes, {skipped} cases with too "
        f"many; {wrong} differences",
        flush=True,
    )
    return wrong


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]] or [30]
    sys.exit(main(*([0, *numbers] if len(numbers) == 1 else numbers)))
