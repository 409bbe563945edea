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
    for rule, verdict, distance in zip(case["rules"], verdicts, wanted, strict=True):
        if verdict.verdict is ProofStatus.NOT_APPLICABLE:
            continue
        expected = ProofStatus.PROVED if distance is None else ProofStatus.REFUTED
        told = f"{seed} {regime} {rule}: {verdict.verdict.value} by {verdict.method.value}, judge: {distance}"
        events = None if verdict.witness is None else len(verdict.witness.events)
        if verdict.verdict is not expected or not _is_as_short(events, distance, case=case, regime=regime):
            found.append(f"{told}, {events} events")
    return found


def _is_as_short(events: Optional[int], distance: Optional[int], *, case: cases.Plain, regime: str) -> bool:
    """Return whether a way is as short as the judge's, whose events of a Deployment's rollout are finer."""
    if events is None or distance is None:
        return events is distance
    is_finer = regime in REGIMES[2:] and not all(item["stateful"] for item in case["workloads"].values())
    return events <= distance if is_finer else events == distance
