"""Comparison of verdicts with those of the judge, on random cases; `tests/bench/policies.py` compares many."""

from __future__ import annotations

from typing import NamedTuple, Optional

from kubectl_spread.engine.search.explore import Limit
from kubectl_spread.guarantee.policy import GroupSpec, Policy, Regime
from kubectl_spread.guarantee.prove import prove
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus
from kubectl_spread.report.guarantee import document
from tests.guarantee import cases, replay
from tests.guarantee.twin import REGIMES, Twin

MOST_STATES = 30_000  # of the judge; larger cases are skipped


class Comparison(NamedTuple):
    """Differences in one case, and the number of ways that were replayed."""

    differences: list[str]
    ways: int


def regime_of(seed: int) -> str:
    """Return the regime of a case."""
    return REGIMES[seed % len(REGIMES)]


def compared(seed: int, *, regime: str = "", most: int = MOST_STATES) -> Optional[Comparison]:
    """Compare one case with the judge, and replay its ways; None if it is too large for the judge."""
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
        limit=Limit(max_states=1_000_000),
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
            is_longer = item.witness is not None and not item.witness.is_shortest and (events or 0) > (fewest or 0)
            if item.verdict is not expected or (events != fewest and not is_longer):
                told = f"{rule}: {item.verdict.value} by {item.basis}, judge: {fewest}"
                found.append(f"{told}, {events} events")
    ways, impossible = _replayed(result, case)
    return Comparison([f"{seed} {regime} {text}" for text in (*found, *impossible)], ways)


def _replayed(result: GroupResult, case: cases.Plain) -> tuple[int, list[str]]:
    """Replay the ways of the JSON report."""
    policy = Policy((GroupSpec(tuple(cases.rules(case))),), name="random")
    (group,) = document(policy, [(result, None)], verdict=result.verdict)["groups"]
    workloads = [cases.manifest(name, spec) for name, spec in case["workloads"].items() if not spec.get("is_extra")]
    return replay.replayed(group, workloads, cases.nodes(case))
