"""Comparison of verdicts with those of the judge, on random cases; `tests/bench/policies.py` compares many."""

from __future__ import annotations

from typing import Optional

from kubectl_spread.guarantee.prove import prove
from kubectl_spread.guarantee.verdict import Effort, ProofStatus
from kubectl_spread.policy.policy import Regime
from tests.guarantee import cases
from tests.guarantee.twin import REGIMES, Twin

MOST_STATES = 30_000  # of the judge; larger cases are skipped


def regime_of(seed: int) -> str:
    """Return the regime of a case."""
    return REGIMES[seed % len(REGIMES)]


def differences(seed: int, *, regime: str = "", most: int = MOST_STATES) -> Optional[list[str]]:
    """Return the differences in one case; None if it is too large for the judge."""
    regime = regime or regime_of(seed)
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
    for rule, verdict, distance, settled in zip(case["rules"], verdicts, *wanted, strict=True):
        if verdict.verdict is ProofStatus.NOT_APPLICABLE:
            continue
        answers = [(verdict, distance)]
        if rule["kind"] in ("share", "separate"):
            answers.append((verdict.once_settled, settled))
        for item, fewest in answers:
            expected = ProofStatus.PROVED if fewest is None else ProofStatus.REFUTED
            events = None if item.witness is None else len(item.witness.events)
            if item.verdict is not expected or events != fewest:
                told = f"{seed} {regime} {rule}: {item.verdict.value} by {item.method.value}, judge: {fewest}"
                found.append(f"{told}, {events} events")
    return found
