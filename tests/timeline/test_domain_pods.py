"""Ranges of pods per domain are those that a count of every domain of every outcome gives."""

from __future__ import annotations

import pytest

from kubectl_spread.engine import steps
from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.engine.results.domain_pods import domain_pods
from kubectl_spread.engine.run import StepAnswer
from kubectl_spread.objects.selectors import HOSTNAME
from tests.timeline.test_run import deployment, node, run, THREE_ZONES, WEB, ZONE


def ranges(found: list[list[int]]) -> tuple[int, int]:
    """The lowest and the highest number; 0 and 0 without any."""
    every = [number for item in found for number in item] or [0]
    return min(every), max(every)


def by_hand(step: StepAnswer, key: str, value: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """The range of a domain before the step, and the one of all domains like it afterwards."""
    return ranges([of_alike(item, key, value) for item in step.before]), ranges(
        [of_alike(item, key, value) for item in step.outcomes]
    )


def of_alike(outcome: Outcome, key: str, value: str) -> list[int]:
    """The pods of all domains like one, in an outcome."""
    kinds = outcome.interchange.alike(key)
    kind = kinds.get(value, value)
    return [pods for other, pods in outcome.counts([WEB], key).items() if kinds.get(other, other) == kind]


@pytest.mark.parametrize("key", [ZONE, HOSTNAME])
@pytest.mark.parametrize("replicas", [1, 3])
def test_ranges_over_all_outcomes(replicas: int, key: str) -> None:
    """Of a larger workload, and of the loss of a zone; an outcome that lacks a domain has no pods in it."""
    nodes = [*THREE_ZONES, node("a2", "a")]
    settled: tuple[steps.Op, ...] = ()
    answer = run([*nodes, deployment(replicas)], settled, steps.Scale(WEB, 5), steps.DeleteNodes(("c1",)))

    for step in answer.steps:
        values = sorted({value for item in (*step.before, *step.outcomes) for value in item.domain_values(key)})
        found = domain_pods(values, (step.before, step.outcomes), [WEB], topology_key=key)

        assert values == [item.value for item in found]
        assert [by_hand(step, key, value) for value in values] == [(tuple(i.before), tuple(i.after)) for i in found]
        assert all(sum(one.most for one in item.revisions.values()) >= item.after.most for item in found)


def test_a_domain_that_exists_in_no_outcome_has_no_pods() -> None:
    answer = run([*THREE_ZONES, deployment(3)], (), steps.DeleteNodes(("c1",)))
    step = answer.last
    found = domain_pods(["a", "b", "c"], (step.before, step.outcomes), [WEB], topology_key=ZONE)

    assert [(item.value, *item.before) for item in found] == [("a", 1, 1), ("b", 1, 1), ("c", 1, 1)]
    assert (0, 0) == tuple(found[2].after)


def test_the_range_before_a_step_is_the_one_after_the_step_before() -> None:
    """One restart leaves 0 to 2 pods in any of the three zones; a second one begins there."""
    answer = run([*THREE_ZONES, deployment(3)], (), steps.Restart(WEB), steps.Restart(WEB))
    *_, first, second = (
        domain_pods(["a", "b", "c"], (step.before, step.outcomes), [WEB], topology_key=ZONE) for step in answer.steps
    )

    assert [(0, 2)] * 3 == [item.after for item in first] == [item.before for item in second]
