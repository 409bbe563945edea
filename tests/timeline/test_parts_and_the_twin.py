"""The answer of a step's parts holds in every outcome that the slow controllers find, on small random clusters.

Two workloads are independent by construction, or almost: they share a small node, a budget or a quota, one has a higher
priority, or a constraint counts the pods of both. With an odd seed, a node takes few pods of some workloads. `python -m
tests.bench.parts 0 1000` compares 1,000 clusters.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Optional

import pytest

from kubectl_spread.cluster.build import cluster_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.results.summary import summarize, Verdict, WorkloadSummary
from kubectl_spread.engine.run import StepAnswer
from kubectl_spread.objects.keys import ObjectKey
from tests.judge import living
from tests.naive import objects
from tests.naive.controllers import actions, explore
from tests.naive.controllers.world import is_ready
from tests.timeline.test_independent_parts import answer_by_parts, World, ZONE

Plain = dict[str, Any]
_FEW = 2_500  # moments of the slow controllers


def script_of(ops: tuple[steps.Op, ...]) -> tuple[actions.Action, ...]:
    """Return a step in the words of the slow controllers; none if it has no such words."""
    op = ops[-1]
    if isinstance(op, steps.Drain):
        return (("drain", list(op.nodes)),)
    if not isinstance(op, (steps.Scale, steps.Restart)):
        return ()
    reference = {"kind": op.key.kind, "name": op.key.name, "namespace": op.key.namespace}
    if isinstance(op, steps.Scale):
        return (("scale", {**reference, "replicas": op.replicas}),)
    return (("restart", {**reference, "value": "1"}),)


def compare(seed: int) -> Optional[list[str]]:
    """Return what the parts say wrongly; None if the step has no parts, or too many moments."""
    world = World(seed, is_limited=seed % 2 == 1)
    cluster = cluster_of(world.items)
    ops = world.ops(cluster)
    script = script_of(ops)
    answer = answer_by_parts(cluster, ops, {"_FEW_NODES": 0, "_FEW_NEW": -1})
    if not script or not answer.parts:
        return None
    slow = living.world_of(world.items)
    slow.script = script
    space = explore.explore([slow], limit=_FEW)
    if not space.is_complete:
        return None
    zones = {item["metadata"]["name"]: item["metadata"]["labels"][ZONE] for item in world.items[: len(world.names)]}
    ends = [ending(end, zones) for end in space.steady]
    return [text for end in ends for text in wrong(answer, end, replicas(slow, ops))]


def replicas(slow: Any, ops: tuple[steps.Op, ...]) -> dict[ObjectKey, int]:
    """Return the replicas of each workload after a step."""
    scaled = {op.key: op.replicas for op in ops if isinstance(op, steps.Scale)}
    items = [*slow.list("Deployment"), *slow.list("StatefulSet")]
    found = {ObjectKey(item["kind"], "shop", objects.name_of(item)): item["spec"]["replicas"] for item in items}
    return {**found, **scaled}


def ending(end: Any, zones: dict[str, str]) -> dict[ObjectKey, tuple[int, Counter[str]]]:
    """Return the ready pods of each workload, and its pods by zone; empty for those without a node."""
    ready: Counter[ObjectKey] = Counter()
    places: dict[ObjectKey, Counter[str]] = {}
    for pod in end.pods():
        key = ObjectKey(*_owner(end, pod))
        places.setdefault(key, Counter())[zones.get(pod["spec"].get("nodeName") or "", "")] += 1
        ready[key] += is_ready(pod)
    return {key: (ready[key], found) for key, found in places.items()}


def _owner(end: Any, pod: Plain) -> tuple[str, str, str]:
    kind, name = actions.owner_of(end, pod)
    return kind, "shop", name


def wrong(
    answer: StepAnswer, end: dict[ObjectKey, tuple[int, Counter[str]]], wanted: dict[ObjectKey, int]
) -> list[str]:
    """Return what the parts say that is not so at one end."""
    found: list[str] = []
    summary = summarize(answer, {key for item in answer.parts for key in item.part.workloads})
    of_key: dict[ObjectKey, WorkloadSummary] = {item.key: item for item in summary.workloads}
    for part in answer.parts:
        for key in sorted(part.part.workloads & of_key.keys()):
            item, (ready, places) = of_key[key], end.get(key, (0, Counter()))
            is_complete = ready == wanted[key] == places.total()
            if item.verdict is not Verdict.NOT_KNOWN and (item.verdict is Verdict.COMPLETES) != is_complete:
                found.append(f"{key.name}: {item.verdict}, but {ready} ready, {dict(places)}")
            if not part.answer.is_exact:
                continue
            if not item.ready.allows(ready) or not item.pending.allows(places[""]):
                found.append(f"{key.name}: ready {item.ready}, pending {item.pending}, but {ready}, {places['']}")
            for spread in item.spreads:
                if spread.topology_key == ZONE:
                    found += [
                        f"{key.name}: {one.value} {one.after}, but {places[one.value]}"
                        for one in spread.domains
                        if not one.after.allows(places[one.value])
                    ]
    return found


@pytest.mark.parametrize("seed", range(1_000, 1_020))
def test_parts_hold_for_the_slow_controllers(seed: int) -> None:
    assert not compare(seed)
