"""The solver and its naive twin agree on random clusters."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.provisioners.solve import Outcome
from tests.karpenter import naive, random_cases
from tests.karpenter.worlds import World

CASES, PER_TEST, DRAWS, AT_ONCE = 150, 50, 3, 100  # most of them take minutes


def shown(outcome: Outcome) -> dict[str, Any]:
    """An outcome in the form of the twin."""

    def workloads(names: Any) -> list[str]:
        return sorted(name.rpartition("-")[0] for name in names)

    return {
        "new": sorted(
            [node.pool, list(node.types), list(node.zones), workloads(pod.name for pod in node.pods)]
            for node in outcome.nodes
        ),
        "existing": {name: workloads(pod.name for pod in placed) for name, placed in outcome.existing.items()},
        "failed": workloads(key.partition("/")[2] for key in outcome.errors),
    }


@pytest.mark.parametrize(
    "first", [pytest.param(at, marks=pytest.mark.slow if at >= AT_ONCE else ()) for at in range(0, CASES, PER_TEST)]
)
def test_every_drawn_round_of_the_twin_is_an_outcome(first: int) -> None:
    """Whatever the twin draws, its round is among the predicted outcomes; if there is one, it is that."""
    for number in range(first, first + PER_TEST):
        objects, table = random_cases.case(number)
        solution = World(*objects, table={"*": table}).solution
        predicted = [shown(outcome) for outcome in solution.outcomes]
        for seed in range(DRAWS):
            drawn = naive.Twin(objects, table, seed).run()
            assert drawn in predicted or not solution.is_complete, (number, seed)
