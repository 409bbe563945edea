"""Budgets of `rebalance` in seconds of CPU time, which `make bench` measures; and plans for many generated violations.

`python -m tests.bench.rebalance 1000 1400 200` makes plans for the generated clusters of these seeds until 200 of them
are executed, by the engine and by the slow controllers. `python -m tests.bench.rebalance varied 2000 3000` does so for
clusters with everything that can hinder a plan, and looks for shorter lists by brute force. Exits with 1 if a budget is
missed or a plan does not end well.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from kubectl_spread.advice.rebalance.plan import ObstacleKind, Rebalance, Repair, RepairVerdict
from kubectl_spread.advice.rebalance.repair import rebalance
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.scheduler.profiles import profiles
from tests.bench import simulation
from tests.naive.controllers.world import World
from tests.rebalance import executing, generated, judging, varied

BUDGET_S = 20


def drifted(pods: int, count: int) -> Rebalance:
    """Plan for a Deployment with twice as many pods in one zone as in each of the two others."""
    nodes = simulation.nodes(count)
    names = [item["metadata"]["name"] for item in nodes]
    full = [name for name in names if name.startswith("a")]
    others = [name for name in names if not name.startswith("a")]
    half = pods // 2
    hosts = [full[at % len(full)] for at in range(half)] + [others[at % len(others)] for at in range(pods - half)]
    objects = [*nodes, simulation.deployment("web", pods), *simulation.pods("web", hosts)]
    return rebalance(cluster_of(objects), profiles())


def budget() -> int:
    """Measure a large plan."""
    start = time.process_time()
    (repair,) = drifted(200, 100).repairs
    seconds = time.process_time() - start
    found = "no plan" if repair.plan is None else f"{len(repair.plan.evictions)} evictions"
    exact = repair.plan is not None and repair.plan.coverage.is_exact and repair.plan.is_smallest
    is_over = seconds > BUDGET_S or not exact
    name = "rebalance of 200 pods on 100 nodes"
    print(f"{'MISSED' if is_over else 'ok':6} {name}: {seconds:.1f} s of {BUDGET_S} s ({found}, exact: {exact})")
    return int(is_over)


def judged(first: int, last: int, most: int) -> int:
    """Execute the plans of generated clusters."""
    numbers: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    for seed in range(first, last):
        world = generated.world(seed)
        repairs = rebalance(executing.cluster_in(world), profiles()).repairs
        if not repairs:
            numbers["not violated"] += 1
            continue
        numbers[repairs[0].verdict.value] += 1
        if repairs[0].plan is None:
            continue
        problem = _problem(world, repairs[0])
        lengths[len(repairs[0].plan.evictions)] += 1
        numbers["exact"] += repairs[0].plan.coverage.is_exact
        numbers["smallest"] += repairs[0].plan.is_smallest
        numbers["failed" if problem else "ended well"] += 1
        if problem:
            print(f"seed {seed}: {problem}")
        if numbers["ended well"] == most:
            break
    print(", ".join(f"{name} {number}" for name, number in sorted(numbers.items())))
    print(", ".join(f"{number} plans of {length} evictions" for length, number in sorted(lengths.items())))
    return int(numbers["failed"] > 0)


def _problem(world: World, repair: Repair) -> str:
    """Execute a plan; return what is wrong with it."""
    assert repair.plan is not None
    cluster, key = executing.cluster_in(world), repair.keys[0]
    names = [item.pod for item in repair.plan.evictions]
    uids = {pod.name: pod.uid for pod in cluster.pods}
    try:
        ends = [item.cluster() for item in executing.by_engine(cluster, [uids[name] for name in names])]
        ends += map(executing.cluster_in, executing.by_slow_controllers(world, names))
    except executing.BrokenPlanError as error:
        return str(error)
    return "an outcome violates a constraint" if any(executing.is_violated(item, key) for item in ends) else ""


def varied_plans(first: int, last: int) -> int:
    """Carry out the plans of varied clusters, and compare their length with brute force."""
    numbers: Counter[str] = Counter()
    for seed in range(first, last):
        world, soft = varied.world(seed), seed % 3 == 0
        repairs = judging.plan_for(world, soft=soft).repairs
        numbers.update(item.verdict.value for item in repairs)
        try:
            judging.carry_out(world, repairs, soft=soft)
            numbers["carried out"] += any(item.is_repaired for item in repairs)
            problem = _shorter(world, repairs[0], soft=soft, numbers=numbers) if len(repairs) == 1 else ""
        except judging.BrokenPromiseError as error:
            problem = str(error)
        except judging.TooManyError:
            numbers["too many worlds"] += 1
            continue
        if problem:
            numbers["failed"] += 1
            print(f"seed {seed}: {problem}")
    print(", ".join(f"{name} {number}" for name, number in sorted(numbers.items())))
    return int(numbers["failed"] > 0)


def _shorter(world: World, repair: Repair, *, soft: bool, numbers: Counter[str]) -> str:
    """Try all lists of a small plan's length, or of two evictions if there is no plan; return what is wrong."""
    kinds = {item.kind for item in repair.obstacles}
    if kinds & {ObstacleKind.NO_DOMAIN, ObstacleKind.UNSETTLED, ObstacleKind.UNCOUNTED, ObstacleKind.CONTROLLER}:
        return ""
    length = 3 if repair.plan is None else len(repair.plan.evictions)
    if length > 3 or repair.verdict is RepairVerdict.RESTART:
        return ""
    found = judging.shortest(world, repair, soft=soft, most=2 if repair.plan is None else length)
    numbers["compared with brute force"] += 1
    return "" if found == length else f"{found} evictions instead of {length}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["varied"]:
        sys.exit(varied_plans(int(sys.argv[2]), int(sys.argv[3])))
    numbers = [int(text) for text in sys.argv[1:]]
    sys.exit(judged(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else sys.maxsize) if numbers else budget())
