"""The engine over time and the slow controllers see the same outcomes of the same steps."""

from __future__ import annotations

import pytest

from tests.judge import agreement, families

# `python -m tests.bench.agreement` looks at 300, and `python -m tests.bench.agreement 0 200 all` at each family.
ADOPTED = (31, 172)  # a ReplicaSet has adopted a pod that is not like its template
SEEDS = (*range(0, 90, 3), *ADOPTED)
WITH_DAEMONS = range(0, 60, 3)
_LIMIT = 3000
ONE_ENDING_DECIDES = ("adoptions", 79)  # of three terminating pods, one alone gives a new pod another node
JOB_WAITS = ("jobs", 87)  # a Job replaces its pod once it is gone, while another workload's deleted pod still runs
SCALED_BACK = ("autoscalers", 91116)  # an autoscaler removes ordinals that a scale has just created
KEPT_IN_TIME = ("autoscalers", 94009)  # an autoscaler wants a pod before its StatefulSet deletes it
DRAINED_ON = ("no-grace", 95004)  # a drain goes on to the next node before a StatefulSet creates its pods again
NAMED_AS_IT_WAITED = (("jobs", 8010), ("dead-nodes", 8111))  # a pod gets a node before the command deletes it
COUNTED_BEFORE = ("dead-nodes", 8016)  # a Job has counted a pod that is still terminating
STILL_THERE = ("priorities", 10164)  # two deletions are not over when a third one makes room
NO_ORPHAN = ("jobs", 7009)  # a terminating pod without a node is no disruption
FAMILIES = tuple(sorted(families.FAMILIES))


@pytest.mark.parametrize(
    ("seed", "daemons"),
    [
        *(pytest.param(seed, False, id=f"{seed}") for seed in SEEDS),
        *(pytest.param(seed, True, id=f"{seed} with a DaemonSet") for seed in WITH_DAEMONS),
    ],
)
def test_both_models_end_in_the_same_states(seed: int, daemons: bool) -> None:
    """The engine sees nothing that cannot be, and everything that can."""
    scenario = agreement.scenario(seed, daemons=daemons)
    if scenario is None:
        return
    sides = agreement.both(scenario, limit=_LIMIT)

    if sides.slow is None or sides.engine is None:
        return
    assert sides.engine == sides.slow, f"{scenario.text} {agreement.difference(sides)}"


@pytest.mark.parametrize(
    ("family", "seed"),
    [
        *((family, seed) for family in FAMILIES for seed in range(8)),
        ONE_ENDING_DECIDES,
        JOB_WAITS,
        SCALED_BACK,
        KEPT_IN_TIME,
        DRAINED_ON,
        *NAMED_AS_IT_WAITED,
        COUNTED_BEFORE,
        NO_ORPHAN,
        STILL_THERE,
    ],
)
def test_both_models_agree_on_a_family(family: str, seed: int) -> None:
    """The engine sees nothing that cannot be, and everything that can, also where controllers race."""
    scenario = families.scenario(family, seed)
    if scenario is None:
        return
    sides = agreement.both(scenario, limit=_LIMIT)

    if sides.slow is None or sides.engine is None:
        return
    assert sides.engine == sides.slow, f"{scenario.text} {agreement.difference(sides)}"


def test_the_seeds_are_worth_asking() -> None:
    """Most of them are scenarios that both look at completely."""
    found = [scenario for seed in SEEDS if (scenario := agreement.scenario(seed)) is not None]

    assert len(found) > 0.9 * len(SEEDS)
    assert len({scenario.script[0][0] for scenario in found}) >= 5
