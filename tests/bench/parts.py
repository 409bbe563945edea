"""Parts of a step against the slow controllers: `python -m tests.bench.parts 0 1000` compares 1,000 small clusters.

Exits with 1 if an answer of parts does not hold at some end of the slow controllers.
"""

from __future__ import annotations

import sys

from tests.timeline.test_parts_and_the_twin import compare


def main(first: int, last: int) -> int:
    """Compare the clusters of some seeds."""
    compared = failed = 0
    for seed in range(first, last):
        texts = compare(seed)
        compared += texts is not None
        failed += bool(texts)
        if texts:
            print(f"seed {seed}: {texts[:3]}")
    print(f"{compared} of {last - first} clusters have parts and few moments, {failed} differ")
    return int(failed > 0 or not compared)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
