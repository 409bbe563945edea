"""Comparison of verdicts with those of the judge, on random cases: `python -m tests.guarantee.agreement [FIRST [LAST]]`."""

from __future__ import annotations

import sys
from typing import Any, Optional

from kubectl_spread.guarantee.prove import Effort, prove, Verdict
from kubectl_spread.policy.policy import Regime
from tests.guarantee import cases
from tests.guarantee.twin import REGIMES, Twin

MOST_STATES = 30_000  # of the judge; larger cases are skipped


def regime_of(seed: int) -> str:
    """Return the regime of a case."""
    return REGIMES[seed % len(REGIMES)]


def differences(seed: int, *, most: int = MOST_STATES) -> Optional[list[str]]:
    """Return the differences in one case; None if it is too large for the judge."""
    regime = regime_of(seed)
    case = cases.case(seed, regime)
    wanted = Twin(case, regime).distances(most)
    if wanted is None:
        return None
    result = prove(
        cases.members(case),
        cases.cluster(case),
        cases.profiles(),
        cases.rules(case),
        regimes=[Regime(regime)],
        effort=Effort(max_states=1_000_000),
    )
    found: list[str] = []
    verdicts = result.results[0].rules
    for rule, verdict, distance in zip(case["rules"], verdicts, wanted, strict=True):
        if verdict.verdict is Verdict.NOT_APPLICABLE:
            continue
        expected = Verdict.PROVED if distance is None else Verdict.REFUTED
        if verdict.verdict is not expected:
            found.append(
                f"{seed} {regime} {rule}: {verdict.verdict.value} by {verdict.method.value}, judge: {distance}"
            )
        elif distance is not None and verdict.witness is not None and regime in ("creation", "restarts"):
            if len(verdict.witness.events) != distance:
                found.append(f"{seed} {regime} {rule}: {len(verdict.witness.events)} events, judge: {distance}")
    return found


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
    print(f"{compared} cases compared, {skipped} too large, {len(wrong)} differences")
    return 1 if wrong else 0


def _numbers(words: list[Any]) -> tuple[int, int]:
    numbers = [int(word) for word in words]
    return (0, 300) if not numbers else (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])


if __name__ == "__main__":
    sys.exit(main(*_numbers(sys.argv[1:])))
