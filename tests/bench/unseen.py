"""Predicted outcomes that no run of the recordings had, and whether the slow controllers allow them.

`python -m tests.bench.unseen FOLDER [PREFIX ...]` looks at the recordings of a folder whose id begins so and that have
many runs. It prints the engine's trace of each outcome that the slow controllers of `tests/naive` do not reach, and
exits with 1 where there is any.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.timeline import recordings
from tests.timeline.unseen import is_allowed, MANY_RUNS, predict


def main(folder: str, *prefixes: str) -> int:
    predicted, unseen, refused = 0, 0, 0
    for plain in recordings.read_folder(Path(folder)):
        if len(plain["runs"]) < MANY_RUNS or (prefixes and not plain["id"].startswith(prefixes)):
            continue
        found = predict(plain, max_states=6000)
        wrong = [item for item in found.unseen if not is_allowed(plain, item)]
        predicted, unseen, refused = predicted + found.predicted, unseen + len(found.unseen), refused + len(wrong)
        if found.unseen:
            print(f"{plain['id']}: {len(found.unseen)} of {found.predicted} never seen, {len(wrong)} not allowed")
        for item in wrong:
            print("\n    ".join((f"  step {item.step + 1}", *item.trace)), flush=True)
    print(f"{unseen} of {predicted} predicted outcomes were never seen, {refused} of them are not allowed")
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
