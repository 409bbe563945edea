"""What an answer of the engine claims about outcomes that it did not visit."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from kubectl_spread.engine import steps
from kubectl_spread.engine.results.certainty import Basis, Certainty, certainty
from kubectl_spread.engine.results.summary import StepSummary, summarize, Verdict
from kubectl_spread.engine.run import Answer
from tests.timeline.test_run import deployment, HOSTNAME, node, run, WEB, ZONE

Plain = dict[str, Any]


class Case(NamedTuple):
    """A cluster with a Deployment, and a step."""

    objects: list[Plain]
    step: steps.Op


def _random_case(seed: int) -> Case:
    draw = random.Random(seed)
    names = ["a1", "b1", "c1", "a2", "b2"][: draw.choice([2, 3, 3, 4, 5])]
    nodes = [node(name, name[0], cpu=draw.choice(["1", "2"])) for name in names]
    replicas = draw.choice([1, 2, 3, 4])
    web = deployment(replicas, hard=draw.choice([ZONE, ZONE, HOSTNAME, None]), cpu=draw.choice(["100m", "600m"]))
    op = draw.choice(
        [steps.Restart(WEB), steps.Scale(WEB, replicas + 2), steps.Scale(WEB, 1), steps.Drain((names[0],)),
         steps.Cordon((names[0],))]
    )  # fmt: skip
    return Case([*nodes, web], op)


def _ends(answer: Answer) -> set[tuple[int, ...]]:
    """Return the numbers of pods in the zones at the end of each outcome, whatever the zones are, and how many wait."""
    outcomes = answer.last.outcomes
    return {(*sorted(item.counts([WEB], ZONE).values()), len(item.pending)) for item in outcomes}


def _unsupported_claims(case: Case, *, max_states: int, max_run: int) -> list[str]:
    """Return what a search with a small limit claims and a search for all outcomes contradicts."""
    whole = run(case.objects, case.step)
    cut = run(case.objects, case.step, max_states=max_states, max_run=max_run, samples=5)
    every, some = (summarize(answer.last, [WEB]) for answer in (whole, cut))
    if not every.is_exact:
        return ["the whole search has a limit, too"]
    return [text for text, is_wrong in _wrong(every, some, _ends(whole), _ends(cut)).items() if is_wrong]


def _wrong(every: StepSummary, some: StepSummary, all_ends: set[Any], ends: set[Any]) -> dict[str, bool]:
    complete = {ending.is_complete for ending in every.endings}
    return {
        "an outcome that cannot happen": not ends <= all_ends,
        "all outcomes, and some are missing": some.is_exact and ends != all_ends,
        "not known, with an outcome": some.verdict is Verdict.NOT_KNOWN and bool(some.endings),
        "numbers without an outcome": not some.endings and bool(some.workloads or some.waiting() or some.together),
        "a verdict without an outcome": not some.endings and some.verdict is not Verdict.NOT_KNOWN,
        "completes, and it never does": some.verdict is Verdict.COMPLETES and True not in complete,
        "gets stuck, and it never does": some.verdict is Verdict.GETS_STUCK and False not in complete,
    }


def test_a_search_that_is_cut_off_claims_no_more_than_it_saw() -> None:
    """A sample of the 300 cases, each with three limits, that were compared once."""
    for seed in range(10):
        for max_states, max_run in ((3, 400_000), (12, 400_000), (3, 6)):
            assert _unsupported_claims(_random_case(seed), max_states=max_states, max_run=max_run) == [], seed


def test_only_one_outcome_among_all_is_certain() -> None:
    every = {(basis, number): certainty(basis, number) for basis in Basis for number in (1, 2)}

    assert {key for key, found in every.items() if found is Certainty.CERTAIN} == {
        (Basis.ALL_OUTCOMES, 1),
        (Basis.ENOUGH_ROOM, 1),
    }
    assert {basis for (basis, _), found in every.items() if found is Certainty.NOT_PREDICTABLE} == {Basis.NOT_SIMULATED}
