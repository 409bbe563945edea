"""Plans for generated violations, executed by the engine and by the slow controllers, and compared with brute force.

`python -m tests.bench.rebalance FIRST LAST MOST` does the same for many more of them.
"""

from __future__ import annotations

import pytest

from kubectl_spread.advice.rebalance.plan import Repair
from kubectl_spread.advice.rebalance.planner import RepairRequest
from kubectl_spread.advice.rebalance.repair import rebalance
from kubectl_spread.scheduler.profiles import profiles
from tests.naive.controllers.world import World
from tests.rebalance import executing, generated

PLANNED = (1, 2, 4, 6, 7, 8, 9, 10, 11, 0)
SOFT = (1, 2, 7, 8)


def repair_of(world: World, *, soft: bool = False) -> Repair:
    (found,) = rebalance(executing.cluster_in(world), profiles(), RepairRequest(has_soft=soft)).repairs
    return found


@pytest.mark.parametrize("seed", PLANNED)
def test_every_outcome_of_a_plan_holds(seed: int) -> None:
    """The engine and the slow controllers agree: no eviction is refused, and no outcome violates a constraint."""
    world = generated.world(seed)
    cluster = executing.cluster_in(world)
    found = repair_of(world)
    assert found.plan is not None
    names = [item.pod for item in found.plan.evictions]
    uids = {pod.name: pod.uid for pod in cluster.pods}

    outcomes = list(executing.by_engine(cluster, [uids[name] for name in names]))
    assert not any(executing.is_violated(item.cluster(), found.keys[0]) for item in outcomes)

    worlds = executing.by_slow_controllers(world, names)
    assert not any(executing.is_violated(executing.cluster_in(item), found.keys[0]) for item in worlds)


@pytest.mark.parametrize("seed", SOFT)
def test_every_outcome_of_a_plan_for_soft_constraints_holds(seed: int) -> None:
    """No constraint refuses a node, so that the scores decide where the new pods land."""
    world = generated.world(seed, soft=True)
    found = repair_of(world, soft=True)
    assert found.plan is not None
    names = [item.pod for item in found.plan.evictions]

    worlds = executing.by_slow_controllers(world, names)
    assert not any(executing.is_violated(executing.cluster_in(item), found.keys[0], has_soft=True) for item in worlds)


@pytest.mark.parametrize("seed", PLANNED)
def test_the_new_pods_land_where_the_plan_says(seed: int) -> None:
    """After the first eviction, the slow controllers reach the nodes of the plan, and no other."""
    world = generated.world(seed)
    found = repair_of(world)
    assert found.plan is not None
    first = found.plan.evictions[0]
    before = executing.places(world)
    del before[first.pod]

    landed = set()
    for after in executing.by_slow_controllers(world, [first.pod]):
        placed = executing.places(after)
        (node,) = [node for name, node in placed.items() if before.get(name) != node]
        landed.add(node)
    assert landed == set(first.nodes)


@pytest.mark.parametrize("seed", [1, 2, 4, 6])
def test_no_shorter_list_is_enough(seed: int) -> None:
    """Brute force over all shorter lists finds none."""
    world = generated.world(seed)
    found = repair_of(world)
    assert found.plan is not None
    assert found.plan.is_smallest

    assert executing.smallest(world, found.keys[0], most=len(found.plan.evictions)) == len(found.plan.evictions)
