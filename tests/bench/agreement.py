"""Compare the engine over time with the slow controllers of `tests/naive` on 300 random scenarios.

`python -m tests.bench.agreement [FIRST LAST [FAMILY ...]]` prints what only one of them sees, and exits with 1 if there
is any. A family is one of `tests.judge.families`, `daemons`, or `mixed`, which is what it looks at without any; `all`
stands for each of them.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.judge import agreement, families
from tests.judge.agreement import Scenario

LIMIT = 5000
NAMES = ("mixed", "daemons", *families.FAMILIES)


def scenario(family: str, seed: int) -> Scenario | None:
    if family in ("mixed", "daemons"):
        return agreement.scenario(seed, daemons=family == "daemons")
    return families.scenario(family, seed)


def compare(family: str, first: int, last: int) -> Counter[str]:
    """Count the scenarios of a family by what came out, and print the differences."""
    counts: Counter[str] = Counter()
    for seed in range(first, last):
        found = scenario(family, seed)
        if found is None:
            counts["no scenario"] += 1
            continue
        sides = agreement.both(found, limit=LIMIT)
        if sides.slow is None or sides.engine is None:
            counts["too large"] += 1
        elif sides.slow == sides.engine:
            counts["the same"] += 1
        else:
            counts["different"] += 1
            print(f"{family} {seed}: {found.text[:300]}\n{agreement.difference(sides)}", flush=True)
    return counts


def main(first: int = 0, last: int = 300, *names: str) -> int:
    is_different = False
    for family in NAMES if "all" in names else names or NAMES[:1]:
        counts = compare(family, first, last)
        print(f"{family}: " + ", ".join(f"{text}: {count}" for text, count in sorted(counts.items())), flush=True)
        is_different = is_different or counts["different"] > 0
    return int(is_different)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:]))
