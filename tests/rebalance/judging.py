"""Plans of varied clusters, carried out by the slow controllers in all outcomes and compared with what they promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kubectl_spread.advice.rebalance.goals import is_broken
from kubectl_spread.advice.rebalance.plan import Eviction, EvictionPlan, Rebalance, Repair, RepairVerdict, RestartPlan
from kubectl_spread.advice.rebalance.planner import RepairRequest
from kubectl_spread.advice.rebalance.repair import rebalance
from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.explain.status import statuses
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.scheduler.profiles import profiles
from tests.naive import objects
from tests.naive.controllers import actions, disruption, explore
from tests.naive.controllers.world import is_active, is_ready, World
from tests.rebalance import varied

Plain = dict[str, Any]
_LIMIT = 20_000


class BrokenPromiseError(Exception):
    """A plan that does not do what it says."""


class TooManyError(Exception):
    """More worlds than are visited."""


def plan_for(world: World, *, soft: bool) -> Rebalance:
    """Return the repairs of all workloads of a world."""
    return rebalance(facts(world), profiles(), RepairRequest(has_soft=soft))


def facts(world: World) -> Cluster:
    """Return the cluster facts of a world."""
    return cluster_of(varied.facts(world))


def carry_out(world: World, repairs: Iterable[Repair], *, soft: bool) -> None:
    """Carry out all plans in their order.

    Raises:
        BrokenPromiseError: a plan does not do what it says.
        TooManyError: there are too many worlds.
    """
    worlds = settled([world])
    before = _broken(worlds)
    done: list[ObjectKey] = []
    for repair in repairs:
        if repair.verdict is RepairVerdict.NO_PLAN:
            continue
        if repair.verdict is RepairVerdict.EVICT and repair.plan is not None:
            worlds = _evict(worlds, repair, repair.plan)
        else:
            _restart(worlds, repair.restarts, repair.keys, soft=soft)
            continue  # the plans after it begin where it did
        done += repair.keys
        for item in worlds:
            _compare(item, repair.plan, done, soft=soft, before=before)


def settled(worlds: list[World], low: Any = None) -> list[World]:
    """Return every world at rest; `low` keeps the fewest ready pods of each workload on the way."""
    found = explore.explore(worlds, limit=_LIMIT, visit=low)
    if not found.is_complete:
        raise TooManyError
    if not found.steady:
        raise BrokenPromiseError("the cluster does not come to rest")
    return found.steady


def _evict(worlds: list[World], repair: Repair, plan: EvictionPlan) -> list[World]:
    fewest: Counter[ObjectKey] = Counter()
    for item in plan.evictions:
        after: list[World] = []
        for world in worlds:
            found = settled([_evicted(world, item.pod)], lambda seen: _note(seen, repair.keys, fewest))
            for end in found:
                _check_step(world, end, item)
            after += found
        worlds = list({world.key(): world for world in after}.values())
    for key, number in fewest.items():
        if 1_000_000 - number < plan.fewest_ready[key]:
            raise BrokenPromiseError(f"{1_000_000 - number} ready, {plan.fewest_ready[key]} promised")
    return worlds


def _note(world: World, keys: Iterable[ObjectKey], fewest: Counter[ObjectKey]) -> None:
    for key in keys:
        pods = [pod for pod in world.pods(key.namespace) if _owner(world, pod) == key]
        ready = sum(is_ready(pod) and is_active(pod) for pod in pods)
        fewest[key] = max(fewest[key], 1_000_000 - ready)


def _owner(world: World, pod: Plain) -> ObjectKey:
    kind, name = actions.owner_of(world, pod)
    return ObjectKey(kind, objects.namespace_of(pod), name)


def _evicted(world: World, name: str) -> World:
    (pod,) = [item for item in world.list("Pod") if objects.name_of(item) == name and is_active(item)]
    found = disruption.evict(world, pod)
    if found is None:
        raise BrokenPromiseError(f"the eviction of {name} is refused")
    return found


def _check_step(before: World, after: World, eviction: Eviction) -> None:
    """Check one eviction: all other pods stay, a ready replacement lands where the plan says, and none waits longer."""
    old = {objects.uid_of(pod): pod for pod in before.list("Pod") if is_active(pod)}
    new = {objects.uid_of(pod): pod for pod in after.list("Pod") if is_active(pod)}
    gone = [objects.name_of(pod) for uid, pod in old.items() if uid not in new and pod["spec"].get("nodeName")]
    if gone != [eviction.pod]:
        raise BrokenPromiseError(f"the eviction of {eviction.pod} moves {gone}")
    mine = {uid: pod for uid, pod in new.items() if _owner(after, pod) == eviction.owner}
    if eviction.owner.kind == "StatefulSet":
        mine = {uid: pod for uid, pod in mine.items() if objects.name_of(pod) == eviction.pod}
    landed = [pod["spec"].get("nodeName") for uid, pod in mine.items() if uid not in old]
    landed += [name for uid, pod in mine.items() if uid in old and (name := _landing(old[uid], pod))]
    if not [name for name in landed if name] or not set(landed) <= {None, *eviction.nodes}:
        raise BrokenPromiseError(f"the replacement of {eviction.pod} lands on {landed}, not on {eviction.nodes}")
    if _waiting(after) > _waiting(before):
        raise BrokenPromiseError(f"after the eviction of {eviction.pod} more pods wait")
    ready = sum(map(is_ready, new.values())), sum(map(is_ready, old.values()))
    if ready[0] < ready[1]:
        raise BrokenPromiseError(f"after the eviction of {eviction.pod} fewer pods are ready")


def _landing(before: Plain, after: Plain) -> str:
    """Return the node that a pod that waited got meanwhile."""
    return "" if before["spec"].get("nodeName") else str(after["spec"].get("nodeName") or "")


def _waiting(world: World) -> int:
    return sum(is_active(pod) and not pod["spec"].get("nodeName") for pod in world.list("Pod"))


def _broken(worlds: Iterable[World]) -> dict[tuple[ObjectKey, int], int]:
    """Return the largest skew of each constraint that is violated."""
    found: dict[tuple[ObjectKey, int], int] = {}
    for world in worlds:
        for status in statuses(facts(world), profiles()):
            for item in status.constraints:
                if is_broken(item, has_soft=True):
                    place = (status.key, item.position)
                    found[place] = max(found.get(place, 0), item.skew or 0)
    return found


def _compare(
    world: World, plan: EvictionPlan, keys: Sequence[ObjectKey], *, soft: bool, before: dict[tuple[ObjectKey, int], int]
) -> None:
    """Check the constraints at the end."""
    found = {status.key: status for status in statuses(facts(world), profiles())}
    for key, status in found.items():
        for item in status.constraints:
            if not is_broken(item, has_soft=soft):
                continue
            if key in keys:
                raise BrokenPromiseError(f"{key.name}: {item.topology_key} is violated at the end")
            if (item.skew or 0) > before.get((key, item.position), 0):
                raise BrokenPromiseError(f"{key.name}: {item.topology_key} is worse at the end")
    for change in plan.changes:
        counts = dict(found[change.owner].constraints[change.status.position].counts.domains)
        for domain in change.domains:
            span = domain.after
            if span is None or not span.least <= counts.get(domain.value, 0) <= span.most:
                raise BrokenPromiseError(f"{counts.get(domain.value, 0)} pods in {domain.value}, not {span}")


def _restart(worlds: list[World], restarts: Sequence[RestartPlan], keys: Iterable[ObjectKey], *, soft: bool) -> None:
    for restart in restarts:
        key = restart.key
        started = []
        for world in worlds:
            after = world.copy()
            after.script = (("restart", {**key._asdict(), "value": "1"}),)
            started.append(after)
        worlds = settled(started)
    for world in worlds:
        found = {status.key: status for status in statuses(facts(world), profiles())}
        if any(is_broken(item, has_soft=soft) for key in keys for item in found[key].constraints):
            raise BrokenPromiseError("a constraint is violated after the restart")
        if any(not is_ready(pod) for key in keys for pod in world.list("Pod") if _owner(world, pod) == key):
            raise BrokenPromiseError("a pod is not ready after the restart")


def shortest(world: World, repair: Repair, *, soft: bool, most: int) -> int:
    """Return the length of the shortest list that repairs a group, found by trying all; `most + 1` if none is found."""
    start = settled([world])
    before = _broken(start)
    waiting = max(map(_waiting, start))
    tried: dict[tuple[str, ...], list[World]] = {(): start}
    for length in range(most + 1):
        for worlds in tried.values():
            if all(_holds(item, repair.keys, soft=soft, before=before) for item in worlds):
                return length
        if length == most:
            break
        following: dict[tuple[str, ...], list[World]] = {}
        for names, worlds in tried.items():
            for name in _evictable(worlds[0], repair.keys):
                if name not in names and (found := _all_after(worlds, name, waiting)):
                    following[(*names, name)] = found
        tried = following
    return most + 1


def _evictable(world: World, keys: Iterable[ObjectKey]) -> list[str]:
    pods = [pod for pod in world.list("Pod") if _owner(world, pod) in keys and pod["spec"].get("nodeName")]
    return sorted(objects.name_of(pod) for pod in pods if is_active(pod))


def _all_after(worlds: list[World], name: str, waiting: int) -> list[World]:
    found = []
    for world in worlds:
        try:
            ends = settled([_evicted(world, name)])
        except (BrokenPromiseError, ValueError):
            return []
        old = {objects.uid_of(pod) for pod in world.list("Pod") if is_active(pod)}
        for end in ends:
            new = {objects.uid_of(pod): pod for pod in end.list("Pod") if is_active(pod)}
            ready = sum(map(is_ready, new.values()))
            if len(old - new.keys()) != 1 or len(new) < len(old) or _waiting(end) > waiting:
                return []
            if ready < sum(is_ready(pod) for pod in world.list("Pod") if is_active(pod)):
                return []
        found += ends
    return list({item.key(): item for item in found}.values())


def _holds(world: World, keys: Iterable[ObjectKey], *, soft: bool, before: dict[tuple[ObjectKey, int], int]) -> bool:
    for status in statuses(facts(world), profiles()):
        for item in status.constraints:
            if is_broken(item, has_soft=soft) and (
                status.key in keys or (item.skew or 0) > before.get((status.key, item.position), 0)
            ):
                return False
    return True
