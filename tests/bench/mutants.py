"""Many broken manifests: no traceback, and none takes longer than its budget; `make fuzz` runs it.

usage: mutants.py [NUMBER]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from hypothesis import given, HealthCheck, Phase, settings

sys.path.insert(0, str(Path(__file__).parents[2]))

from kubectl_spread.text.source import SourceFile
from tests.lint import test_mutations

MOST_SECONDS = 1.0  # of CPU, for any input under 100 kB


def main() -> int:
    """Judge and mend so many mutants; 1 where one takes too long. A fault is a traceback with the mutant."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    worst = 0.0

    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(test_mutations.mutants())
    def run(text: str) -> None:
        nonlocal worst
        begun = time.process_time()
        test_mutations.judged([test_mutations.read(SourceFile("mutant.yaml", text))])
        worst = max(worst, time.process_time() - begun)
        test_mutations.assert_reported(text)
        test_mutations.assert_mended(text, with_unsafe=True)

    run()
    print(f"{number} mutants: the slowest took {1000 * worst:.0f} ms of CPU, budget {1000 * MOST_SECONDS:.0f} ms")
    return int(worst > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
