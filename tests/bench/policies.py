"""Compare verdicts on policies with those of the judge: `python -m tests.bench.policies [FIRST [LAST]]`."""

from __future__ import annotations

import sys

from tests.guarantee.agreement import differences


def main(first: int, last: int) -> int:
    """Compare all cases of a range."""
    compared = skipped = 0
    wrong: list[str] = []
    for seed in range(first, last):
        found = differences(seed)
        if found is None:
            skipped += 1
            continue
        compared += 1
        wrong += found
        for line in found:
            print(line, flush=True)
    print(f"{compared} cases compared, {skipped} too large for the judge, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]] or [300]
    sys.exit(main(*([0, *numbers] if len(numbers) == 1 else numbers)))
