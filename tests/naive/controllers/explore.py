"""Walks through the moments that may follow one another: all of them, or some by chance."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional

from tests.naive import objects
from tests.naive.controllers import (
    actions,
    daemon,
    deployment,
    job,
    kubelet,
    limits,
    nodes,
    persistentvolume,
    replicaset,
    scheduling,
    statefulset,
)
from tests.naive.controllers.world import World

Plain = dict[str, Any]
Score = Callable[[World], float]

_CONTROLLERS: dict[str, Callable[[World, Plain], Iterator[World]]] = {
    "Deployment": deployment.sync,
    "ReplicaSet": replicaset.sync,
    "ReplicationController": replicaset.sync,
    "StatefulSet": statefulset.sync,
    "Job": job.sync,
    "DaemonSet": daemon.sync,
    "PersistentVolumeClaim": persistentvolume.sync,
    "Node": nodes.sync,
    "HorizontalPodAutoscaler": limits.autoscale,
}


class Actor(NamedTuple):
    """Somebody who may act next: what sort, and what may come of it."""

    sort: str
    sync: Callable[[], Iterator[World]]


def actors(world: World) -> list[Actor]:
    """Everybody who may have something to do."""
    found = [Actor("user", lambda: actions.sync(world))] if world.script or world.drain is not None else []
    for kind, sync in _CONTROLLERS.items():
        for item in world.list(kind):
            found.append(Actor(kind, _calls(sync, world, item)))
    if world.kinds.get("PersistentVolumeClaim"):
        found.append(Actor("PersistentVolumeClaim", lambda: statefulset.collect_claims(world)))
    found += _of_pods(world)
    found += [Actor("scheduler", _calls(scheduling.sync, world, pod)) for pod in scheduling.next_pods(world)]
    return found


def _of_pods(world: World) -> Iterator[Actor]:
    tainted = {objects.name_of(node) for node in world.list("Node") if _drives_away(node)}
    names = {objects.name_of(node) for node in world.list("Node")}
    seen = set()
    for pod in world.pods():
        name = pod["spec"].get("nodeName")
        if (not name and not objects.is_terminating(pod)) or world.settings.class_of(pod) in seen:
            continue
        seen.add(world.settings.class_of(pod))
        yield Actor("kubelet", _calls(kubelet.sync, world, pod))
        if name in tainted:
            yield Actor("taint-eviction", _calls(nodes.evict_for_taints, world, pod))
        if name not in names or objects.is_terminating(pod):
            yield Actor("podgc", _calls(nodes.collect, world, pod))


def _drives_away(node: Plain) -> bool:
    return any(taint.get("effect") == "NoExecute" for taint in nodes.taints_of(node))


def _calls(sync: Callable[[World, Plain], Iterator[World]], world: World, item: Plain) -> Callable[[], Iterator[World]]:
    return lambda: sync(world, item)


def successors(world: World) -> list[World]:
    """Every moment that may come next."""
    found = [after for actor in actors(world) for after in actor.sync()]
    return found or [after for pod in world.pods() for after in nodes.evict_for_taints(world, pod, is_late=True)]


def is_steady(world: World) -> bool:
    return not any(True for actor in actors(world) for _ in actor.sync())


class Space(NamedTuple):
    """What can be reached: the moments at which nothing moves any more, and whether that is all of them.

    is_endless: from some moment, none of these can be reached.
    """

    steady: list[World]
    visited: int
    is_complete: bool
    is_endless: bool = False


def explore(starts: list[World], *, limit: int = 20_000, visit: Optional[Callable[[World], None]] = None) -> Space:
    """Look at every moment that can be reached; equal ones are looked at once."""
    queue = deque(starts)
    seen = {world.key() for world in starts}
    steady = []
    before: dict[Any, list[Any]] = {}
    while queue and len(seen) <= limit:
        world = queue.popleft()
        if visit is not None:
            visit(world)
        following = successors(world)
        if not following:
            steady.append(world)
        own = world.key()
        for after in following:
            key = after.key()
            before.setdefault(key, []).append(own)
            if key not in seen:
                seen.add(key)
                queue.append(after)
    ends = [world.key() for world in steady]
    reaching = set(ends)
    while ends:
        for key in before.get(ends.pop(), ()):
            if key not in reaching:
                reaching.add(key)
                ends.append(key)
    return Space(steady, len(seen), not queue, len(reaching) < len(seen))


_TEMPOS = (
    {},
    {"kubelet": 20.0},
    {"kubelet": 0.05},
    {"scheduler": 20.0, "kubelet": 10.0},
    {"scheduler": 0.05},
    {"user": 0.1, "kubelet": 5.0, "scheduler": 5.0},
    {"user": 20.0},
)


def walk(
    world: World, chance: random.Random, *, score: Optional[Score] = None, most: int = 3000, keen: float = 0.9
) -> tuple[World, bool]:
    """One way things may go, to the end.

    Args:
        world: where to begin.
        chance: decides.
        score: what is wanted; of the ways one action may end, the best is taken mostly.
        most: steps, as there may be no end.
        keen: how often the best is taken.

    Returns:
        The last moment, and whether nothing moves any more there.
    """
    tempo = chance.choice(_TEMPOS)
    for _ in range(most):
        after = step(world, chance, tempo=tempo, score=score, keen=keen)
        if after is None:
            return world, True
        world = after
    return world, False


def step(
    world: World, chance: random.Random, *, tempo: dict[str, float], score: Optional[Score] = None, keen: float = 0.9
) -> Optional[World]:
    """Let somebody act; None where nobody has anything to do."""
    order = [(chance.expovariate(tempo.get(actor.sort, 1.0)), at, actor) for at, actor in enumerate(actors(world))]
    is_keen = score is not None and chance.random() <= keen
    for _, _, actor in sorted(order, key=lambda item: item[:2]):
        together = [actor]
        if is_keen and actor.sort == "scheduler":
            together = [other for _, _, other in order if other.sort == "scheduler"]
        ways = [way for other in together for way in other.sync()]
        if ways:
            return _best(ways, chance, score if is_keen else None)
    return None


def _best(ways: list[World], chance: random.Random, score: Optional[Score]) -> World:
    if len(ways) == 1 or score is None:
        return chance.choice(ways)
    marks = [score(way) for way in ways]
    highest = max(marks)
    return chance.choice([way for way, mark in zip(ways, marks, strict=True) if mark == highest])
