"""Compare the engine over time with the slow controllers of `tests/naive` on 300 random scenarios.

`python -m tests.bench.agreement [FIRST LAST [daemons]]` prints what only one of them sees, and exits with 1 if there is
any.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.judge import agreement

LIMIT = 5000


def main(first: int = 0, last: int = 300, *, daemons: bool = False) -> int:
    counts: Counter[str] = Counter()
    for seed in range(first, last):
        scenario = agreement.scenario(seed, daemons=daemons)
        if scenario is None:
            counts["no scenario"] += 1
            continue
        sides = agreement.both(scenario, limit=LIMIT)
        if sides.slow is None or sides.engine is None:
            counts["too large"] += 1
        elif sides.slow == sides.engine:
            counts["the same"] += 1
        else:
            counts["different"] += 1
            print(f"{seed}: {scenario.text}\n{agreement.difference(sides)}")
    print(", ".join(f"{text}: {count}" for text, count in sorted(counts.items())))
    return int(counts["different"] > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), daemons="daemons" in sys.argv[3:]))
