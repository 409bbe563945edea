"""How many recorded runs of a real control plane the slow controllers of `tests/naive` can follow, by family.

`python -m tests.bench.timeline [PREFIX ...]` looks at every run of the recordings whose id begins so; all of them take
some minutes. Exits with 1 where a run is not a way of the model.
"""

from __future__ import annotations

import re
import sys
from collections import Counter

from tests.naive.controllers import recordings
from tests.naive.test_timeline import scenario_of, TEXTS

WALKS = 150


def main(prefixes: tuple[str, ...]) -> int:
    followed: Counter[str] = Counter()
    runs: Counter[str] = Counter()
    for name in TEXTS:
        if prefixes and not name.startswith(prefixes):
            continue
        scenario = scenario_of(name)
        family = re.split(r"[\d-]", name)[0]
        known: dict[tuple[recordings.State, ...], int] = {}
        for number, run in enumerate(scenario["runs"]):
            states = tuple(map(recordings.recorded, run))
            if states not in known:
                known[states] = recordings.replay(scenario, run, walks=WALKS)
            runs[family] += 1
            followed[family] += known[states] == len(run)
            if known[states] != len(run):
                print(f"{name} run {number}: state {known[states]} was not found", flush=True)
    for family, count in sorted(runs.items()):
        print(f"{family:8} {followed[family]:5} of {count:5} runs")
    return int(followed != runs)


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
