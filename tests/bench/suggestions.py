"""Carry out every suggestion for the cases, the examples, 300 generated clusters and 300 of each family.

Print what does not hold.

The workloads of the generated clusters are also applied as manifests that a suggestion edits.

`python -m tests.bench.suggestions [FIRST LAST]` takes a range of generated clusters, and leaves the files out then.
Exits with 1 where a suggestion does not hold.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.judge import before_applying, clusters, judging, pending_families
from tests.judge.test_suggestions import EXAMPLES, lived, snapshots

SUGGESTIONS = 8
WAYS = 6


def subjects(first: int, last: int, *, has_files: bool) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Names and objects of snapshots."""
    for name, path in snapshots().items() if has_files else ():
        yield name, judging.load(path)
    for folder in EXAMPLES if has_files else ():
        yield folder.name, lived(folder) or []
    for seed in range(first, last):
        items = clusters.generated(seed)
        if items is not None:
            yield f"generated {seed}", items
        for family in pending_families.FAMILIES:
            items = pending_families.generated(family, seed)
            if items is not None:
                yield f"{family} {seed}", items


def main(first: int = 0, last: int = 300, *, has_files: bool = True) -> int:
    os.environ["KUBECONFIG"] = os.devnull
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, items in subjects(first, last, has_files=has_files):
            count += 1
            problems = list(judging.judged(items, Path(folder), most=SUGGESTIONS, walks=WAYS))
            if name.startswith("generated"):
                parts = before_applying.taken_out(items)
                found = before_applying.judged(*parts, Path(folder), most=SUGGESTIONS, walks=WAYS)
                problems += [f"applied anew: {problem}" for problem in found]
            failed += bool(problems)
            for problem in problems:
                print(f"{name}: {problem}", flush=True)
    print(f"{count} snapshots; in {failed} a suggestion does not hold")
    return int(failed > 0)


if __name__ == "__main__":
    given = list(map(int, sys.argv[1:3]))
    sys.exit(main(*given, has_files=not given))
