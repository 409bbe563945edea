"""How many recorded decisions of each release are ours, to the letter.

python -m tests.conformance.measure [FOLDER]
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kubectl_spread.objects.releases.version import release_of
from tests.conformance import replay

Case = dict[str, Any]
SAMPLES = Path(__file__).parent / "recordings" / "releases"


class Count(NamedTuple):
    """Cases and decisions of one release: how many are equal to the letter, and how many lead to the same node."""

    release: str
    cases: int = 0
    decisions: int = 0
    equal: int = 0
    same_node: int = 0

    def __str__(self) -> str:
        numbers = f"{self.cases} cases, {self.decisions} decisions, {self.equal} equal to the letter"
        return f"{self.release}: {numbers}, {self.same_node} on the same node"


def cases(file: Path) -> Iterator[Case]:
    """Yield the cases of a recording."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def measure(file: Path) -> Count:
    """Replay the recording of one release and count."""
    count = Count("")
    for case in cases(file):
        decided = [(_without_name(expected), own) for _, expected, own in replay.decisions(case)]
        count = Count(
            release_of(case["kubernetesVersion"]).text,
            count.cases + 1,
            count.decisions + len(decided),
            count.equal + sum(expected == own for expected, own in decided),
            count.same_node + sum(_node(expected) == _node(own) for expected, own in decided),
        )
    return count


def _without_name(expected: Case) -> Case:
    return {key: value for key, value in expected.items() if key != "pod"}


def _node(decision: Case) -> tuple[Any, Any]:
    return decision.get("placed"), decision.get("nominated")


def main(folder: Path) -> None:
    """Print the numbers of every release in a folder."""
    for file in sorted(folder.glob("v1.*.ndjson.gz")):
        sys.stdout.write(f"{measure(file)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES)
