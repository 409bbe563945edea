"""The search with its reductions, and without: the same outcomes in small random worlds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import reductions, steps
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.loading import load
from kubectl_spread.engine.moves import Moves
from kubectl_spread.engine.oracle import Oracle
from kubectl_spread.engine.reductions import Reduction
from kubectl_spread.engine.search import explore
from kubectl_spread.engine.search.explore import Budget, Exploration
from kubectl_spread.engine.search.symmetry import Symmetry
from kubectl_spread.engine.state import State
from kubectl_spread.engine.steps import named_nodes
from kubectl_spread.engine.world import World
from kubectl_spread.kubectl.situation import controller_of
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.node import Taint
from kubectl_spread.scheduler.profiles import profiles
from tests.timeline.test_overtaking import apart, container, spread, workload
from tests.timeline.test_run import HOSTNAME, node, run, ZONE

Plain = dict[str, Any]
Outcomes = frozenset[tuple[Any, ...]]

CASES = 200
MOST_STATES = 6_000
NO_REDUCTION: frozenset[Reduction] = frozenset()
HIGH = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
}


class Case(NamedTuple):
    """A cluster, the workloads of the first step, and the commands of the second."""

    objects: list[Plain]
    first: tuple[steps.Op, ...]
    then: tuple[steps.Op, ...]


def random_case(seed: int) -> Case:
    chance = random.Random(seed)
    names = ["a1", "b1", "a2"][: chance.randint(2, 3)]
    nodes = [node(name, name[0], pods=str(chance.randint(1, 3))) for name in names]
    high = {**HIGH, **({"preemptionPolicy": "Never"} if chance.random() < 0.5 else {})}
    workloads = [_workload(name, chance) for name in ["web", "db"][: chance.choice((1, 2, 2))]]
    others = [_budget(chance)] if chance.random() < 0.2 else []
    if chance.random() < 0.2:
        others.append(_quota(chance))
    scaled = [item for item in workloads if item["kind"] != "Job"]
    if scaled and chance.random() < 0.15:
        others.append(_autoscaler(chance.choice(scaled), chance))
    first = tuple(steps.Apply(controller_of(item)) for item in workloads)
    keys = [ObjectKey(item["kind"], "app", item["metadata"]["name"]) for item in workloads]
    then = tuple(_command(chance.choice(keys), names, chance) for _ in range(chance.choice((1, 1, 2))))
    return Case([high, *nodes, *others], first, then)


def _workload(name: str, chance: random.Random) -> Plain:
    kind = chance.choice(("Deployment", "Deployment", "StatefulSet", "Job"))
    spec: Plain = {"replicas": chance.randint(1, 2)}
    if kind == "Deployment":
        surge = chance.randint(0, 1)
        rolling = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": chance.randint(1 - surge, 1)}}
        spec["strategy"] = chance.choice(({"type": "Recreate"}, rolling, rolling))
    elif kind == "StatefulSet":
        spec["podManagementPolicy"] = chance.choice(("OrderedReady", "OrderedReady", "Parallel"))
    else:
        spec = {"parallelism": spec["replicas"], "completions": spec["replicas"]}
    pod: Plain = {"priorityClassName": "high"} if chance.random() < 0.4 else {}
    if kind == "Job":
        pod["restartPolicy"] = "Never"
    if chance.random() < 0.6:
        pod["topologySpreadConstraints"] = [spread(name, chance.choice((ZONE, HOSTNAME)))]
    if chance.random() < 0.4:
        pod["affinity"] = apart(chance.choice(("web", "db")), HOSTNAME)
    return workload(kind, name, spec, pod)


def _budget(chance: random.Random) -> Plain:
    name = chance.choice(("web", "db"))
    selector = {"matchLabels": {"app": name}}
    spec = {"maxUnavailable": chance.randint(0, 1), "selector": selector}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "app"},
        "spec": spec,
    }


def _quota(chance: random.Random) -> Plain:
    spec = {"hard": {"pods": str(chance.randint(2, 3))}}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "app"}, "spec": spec}


def _autoscaler(of: Plain, chance: random.Random) -> Plain:
    target = {"apiVersion": of["apiVersion"], "kind": of["kind"], "name": of["metadata"]["name"]}
    least = chance.randint(1, 2)
    spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": chance.randint(least, 3)}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "hpa", "namespace": "app"},
        "spec": spec,
    }


def _command(key: ObjectKey, nodes: list[str], chance: random.Random) -> steps.Op:
    at = (chance.choice(nodes),)
    on_nodes: list[steps.Op] = [
        steps.Drain(at),
        steps.DeleteNodes(at),
        steps.NodesDown(at),
        steps.TaintNodes(at, Taint("broken", "", "NoExecute")),
    ]
    on_pods: list[steps.Op] = [
        steps.DeleteSome(steps.PodMatch(key), limit=1),
        steps.DeleteSome(steps.PodMatch(key, node=at[0])),
        steps.PatchSome(steps.PodMatch(key), limit=1, is_unready=True),
    ]
    if key.kind == "Job":
        return chance.choice([*on_nodes, *on_pods])
    scaled = steps.Scale(key, chance.randint(0, 3))
    return chance.choice([steps.Restart(key), steps.Restart(key), scaled, scaled, *on_nodes, *on_pods])


def explored(case: Case, *reduced: frozenset[Reduction]) -> Iterator[list[Outcomes]]:
    """Yield the outcomes of each step with each set of reductions, until a step has too many states.

    A step begins from one of the outcomes that the search with the first set has found before.
    """
    loaded = load(cluster_of(case.objects), profiles())
    world, start = loaded.world, loaded.state
    oracle = Oracle(world)
    moves = [Moves(world, oracle, keeps_ordinals=True, reduced=one) for one in reduced]
    for ops in (case.first, case.then):
        first = len(world.ops)
        world.ops += ops
        todo = tuple(("op", first + at) for at in range(len(ops)))
        pods = tuple(sorted(pod._replace(is_new=False, is_tried=False) for pod in start.pods))
        begun = Draft(world, start._replace(pods=pods, todo=todo)).state()
        found = [_everything(one, begun) for one in moves]
        if not all(item.is_exhaustive for item in found):
            return
        yield [frozenset(_told(world, state) for state in item.steady) for item in found]
        start = min(found[0].steady, key=lambda state: repr(_told(world, state)))


def _everything(moves: Moves, start: State) -> Exploration:
    return explore.everything(moves, [start], canonical=lambda state: state, budget=Budget(MOST_STATES))


def _told(world: World, state: State) -> tuple[Any, ...]:
    """Return an outcome without what the search remembers: the pods of each revision on each node.

    One state stands for all ways to share out the ordinals of a Parallel StatefulSet, which are therefore left out.
    """
    specs = [None if own is None else world.specs[own.spec] for own in state.sets]
    shared = {owner for owner, spec in enumerate(specs) if getattr(spec, "is_parallel", False)}
    pods = Counter(
        (
            pod.owner,
            pod.rev,
            None if pod.owner in shared else pod.ordinal,
            pod.node,
            int(pod.stage),
            int(pod.end),
            pod.nominated,
        )
        for pod in state.pods
    )
    return tuple(sorted(pods.items(), key=repr)), tuple(item for item in state.todo if item[0] != "blocked")


@pytest.mark.parametrize("seed", range(CASES // 2))
def test_interchangeable_nodes_lose_no_outcome(seed: int) -> None:
    """Also if one state represents all that differ in interchangeable nodes and in unimportant readiness only."""
    case = random_case(seed)
    loaded = load(cluster_of(case.objects), profiles())
    world = loaded.world
    oracle = Oracle(world)
    start = loaded.state
    for ops in (case.first, case.then):
        first = len(world.ops)
        world.ops += ops
        todo = tuple(("op", first + at) for at in range(len(ops)))
        pods = tuple(sorted(pod._replace(is_new=False, is_tried=False) for pod in start.pods))
        begun = Draft(world, start._replace(pods=pods, todo=todo)).state()
        symmetry = Symmetry(world, begun, named_nodes(ops), keeps_ordinals=True)
        whole = _everything(Moves(world, oracle, keeps_ordinals=True), begun)
        moves = Moves(world, oracle, keeps_ordinals=True, twins=symmetry.twins)
        merged = explore.everything(moves, [begun], canonical=symmetry.canonical, budget=Budget(MOST_STATES))
        if not (whole.is_exhaustive and merged.is_exhaustive):
            return
        found = [{_told(world, symmetry.canonical(state)) for state in item.steady} for item in (whole, merged)]
        assert found[0] == found[1]
        start = min(whole.steady, key=lambda state: repr(_told(world, state)))


@pytest.mark.parametrize("seed", range(CASES))
def test_reductions_lose_no_outcome(seed: int) -> None:
    for whole, reduced in explored(random_case(seed), NO_REDUCTION, reductions.ALL):
        assert whole == reduced


def test_one_deletion_alone_may_decide_although_all_together_do_not() -> None:
    """With both terminating pods and without any, `a` is the emptier node; only without the one of `b`, it is `b`."""
    nodes = [node("a", "a", cpu="4"), node("b", "b", cpu="2")]
    ending = [_ending_pod("x", "a", cpu="2"), _ending_pod("y", "b", cpu="1")]
    web = workload("Deployment", "web", {"replicas": 1}, {"containers": container("1")})

    answer = run([*nodes, *ending, web])

    assert answer.last.is_exact
    assert {pod.node for outcome in answer.last.outcomes for pod in outcome.pods} == {"a", "b"}


def _ending_pod(name: str, at: str, *, cpu: str) -> Plain:
    """Return a pod whose deletion was requested before the first step."""
    metadata = {"name": name, "namespace": "app", "uid": name, "deletionTimestamp": "2026-01-01T00:00:00Z"}
    spec = {"nodeName": at, "containers": container(cpu)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}}
