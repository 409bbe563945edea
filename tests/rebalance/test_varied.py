"""Plans for clusters with everything that can hinder them, carried out by the slow controllers.

`python -m tests.bench.rebalance varied FIRST LAST` does the same for many more of them, and looks for shorter lists.
"""

from __future__ import annotations

import pytest

from kubectl_spread.advice.rebalance.plan import RepairVerdict
from kubectl_spread.advice.rebalance.planner import RepairRequest
from kubectl_spread.advice.rebalance.repair import rebalance
from kubectl_spread.scheduler.profiles import profiles
from tests.rebalance import descheduler, executing, generated, judging, varied

# Budgets over other pods, rollouts and scale-downs under way, pods that end, pods of several revisions, volumes, Jobs.
PLANNED = (479, 677, 700, 725, 845, 3012, 3014, 3036, 3046, 3052, 3058, 3064, 3066, 3067, 3078, 3080, 3111, 3117, 3130)
# A budget that allows nothing, and changes under way.
REFUSED = {77: "refused", 205: "refused", 495: "unsettled", 527: "unsettled", 1013: "unsettled", 3241: "unsettled"}
SMALL = (3036, 3046, 3052, 3058, 3066, 3074, 3080, 3117)
# A descheduler evicts in each round, and the constraints stay violated.
LOOPS = {12: 3, 122: 2, 314: None, 360: 3, 416: None}  # length of our plan


def is_soft(seed: int) -> bool:
    """Return whether ScheduleAnyway constraints of a cluster are repaired, too."""
    return seed % 3 == 0


@pytest.mark.parametrize("seed", PLANNED)
def test_a_plan_does_what_it_says(seed: int) -> None:
    """No eviction is refused, no other pod moves, new pods land where they should, and the counts are as promised."""
    world = varied.world(seed)
    found = judging.plan_for(world, soft=is_soft(seed))

    assert any(item.is_repaired for item in found.repairs)
    judging.carry_out(world, found.repairs, soft=is_soft(seed))


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "reason"), REFUSED.items())
def test_without_a_plan_brute_force_finds_none(seed: int, reason: str) -> None:
    """A change under way is not compared, as it decides itself which pods it removes."""
    world = varied.world(seed)
    (*_, repair) = judging.plan_for(world, soft=is_soft(seed)).repairs

    assert [item.kind.value for item in repair.obstacles] == [reason]
    if reason != "unsettled":
        assert judging.shortest(world, repair, soft=is_soft(seed), most=2) == 3


@pytest.mark.parametrize("seed", SMALL)
def test_brute_force_finds_no_shorter_list(seed: int) -> None:
    world = varied.world(seed)
    (repair,) = judging.plan_for(world, soft=is_soft(seed)).repairs
    assert repair.plan is not None
    length = len(repair.plan.evictions)

    assert judging.shortest(world, repair, soft=is_soft(seed), most=length) == length


@pytest.mark.parametrize(("seed", "length"), LOOPS.items())
def test_where_a_descheduler_loops_a_plan_ends_or_there_is_none(seed: int, length: int | None) -> None:
    """Its new pods return to the same nodes in every round; ours is carried out in all outcomes."""
    world = generated.world(seed, soft=True)
    start = executing.cluster_in(world)
    (repair,) = rebalance(start, profiles(), RepairRequest(has_soft=True)).repairs
    rounds = descheduler.rounds(start, repair.keys[0], most=6)

    assert [bool(item.evicted) for item in rounds] == [True] * 6
    assert all(executing.is_violated(item.after, repair.keys[0], has_soft=True) for item in rounds)
    assert (None if repair.plan is None else len(repair.plan.evictions)) == length
    if repair.plan is not None and repair.verdict is RepairVerdict.EVICT:
        worlds = executing.by_slow_controllers(world, [item.pod for item in repair.plan.evictions])
        ends = [executing.cluster_in(item) for item in worlds]
        assert not any(executing.is_violated(item, repair.keys[0], has_soft=True) for item in ends)
