"""Plans, executed eviction by eviction in all outcomes: by the engine, and by the slow controllers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kubectl_spread.advice.rebalance.goals import is_broken
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import steps
from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.engine.run import Limits, play
from kubectl_spread.explain.status import statuses
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from tests.naive import objects
from tests.naive.controllers import disruption, explore
from tests.naive.controllers.world import is_active, is_ready, World
from tests.rebalance import generated

Plain = dict[str, Any]


class BrokenPlanError(Exception):
    """A plan that does not end as it says."""


def by_engine(cluster: Cluster, uids: Iterable[str]) -> Iterator[Outcome]:
    """Yield every outcome at the end; each step waits until the cluster is at rest.

    Raises:
        BrokenPlanError: an eviction is refused, a pod stays Pending, or the outcomes are too many.
    """
    ops = [steps.Evict((uid,)) for uid in uids]
    answer = play(cluster, profiles(), [(), *ops], limits=Limits(max_states=100_000))
    for step in answer.steps:
        if not step.is_exact:
            raise BrokenPlanError("too many outcomes")
        if not step.is_complete:
            raise BrokenPlanError("an outcome does not complete")
    yield from answer.last.outcomes


def is_violated(cluster: Cluster, key: ObjectKey, *, has_soft: bool = False) -> bool:
    """Return whether `status` shows a violated constraint of a workload."""
    (status,) = statuses(cluster, profiles(), wants=lambda found, _: found == key)
    return any(is_broken(item, has_soft=has_soft) for item in status.constraints)


def by_slow_controllers(start: World, names: Iterable[str], *, limit: int = 20_000) -> list[World]:
    """Return every world at rest at the end.

    Raises:
        BrokenPlanError: an eviction is refused, a pod stays Pending, or there are too many worlds.
    """
    worlds = [start]
    for name in names:
        after = []
        for world in worlds:
            (pod,) = [item for item in world.list("Pod") if item["metadata"]["name"] == name and is_active(item)]
            evicted = disruption.evict(world, pod)
            if evicted is None:
                raise BrokenPlanError(f"the eviction of {name} is refused")
            after.append(evicted)
        space = explore.explore(after, limit=limit)
        if not space.is_complete:
            raise BrokenPlanError("too many worlds")
        worlds = space.steady
        for world in worlds:
            if not all(map(is_ready, world.list("Pod"))):
                raise BrokenPlanError(f"after the eviction of {name} a pod is not ready")
    return worlds


def cluster_in(world: World) -> Cluster:
    """Return the cluster facts of a world."""
    return cluster_of(generated.objects(world))


def places(world: World) -> dict[str, str]:
    """Return the node of each pod."""
    return {objects.name_of(pod): pod["spec"].get("nodeName", "") for pod in world.list("Pod")}


def smallest(start: World, key: ObjectKey, *, most: int) -> int:
    """Return the length of the shortest list of evictions that repairs a workload, found by trying all lists.

    Returns `most + 1` if no list of up to `most` evictions does.
    """
    names = sorted(places(start))
    tried: dict[tuple[str, ...], list[World]] = {(): [start]}
    for length in range(most + 1):
        for worlds in tried.values():
            if not any(is_violated(cluster_in(world), key) for world in worlds):
                return length
        tried = {
            (*before, name): found
            for before, worlds in tried.items()
            for name in names
            if name not in before and (found := _after(worlds, name))
        }
    return most + 1


def _after(worlds: list[World], name: str) -> list[World]:
    """Return the worlds after one more eviction; none if it is not acceptable."""
    try:
        return [after for world in worlds for after in by_slow_controllers(world, [name])]
    except BrokenPlanError:
        return []
