"""DaemonSet: one pod for each eligible node, even if the node lacks room.

The ordinal of such a pod is the index of its node.
Source: pkg/controller/daemon/daemon_controller.go, podsShouldBeOnNode, NodeShouldRunDaemonPod; update.go, rollingUpdate
(v1.36.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from kubectl_spread.objects.amounts.int_or_percent import scaled
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.taints import NO_EXECUTE
from kubectl_spread.objects.workloads.replica import daemon
from kubectl_spread.objects.workloads.workload import Workload
from kubectl_spread.records import NamedTuple
from kubectl_spread.timeline.controllers.replicaset import choices
from kubectl_spread.timeline.draft import Draft
from kubectl_spread.timeline.state import Deletion, P, Stage, State
from kubectl_spread.timeline.world import World


class DaemonSetSpec(NamedTuple):
    """Spec of a DaemonSet; surge and unavailable are numbers or percentages as written."""

    rev: int
    surge: object = 0
    unavailable: object = 1
    is_on_delete: bool = False


class DaemonSetState(NamedTuple):
    """State that a DaemonSet's controller remembers."""

    spec: int


class Wanted(NamedTuple):
    """Verdict of a DaemonSet on one node: whether a pod should run there, and whether an existing one may stay."""

    runs: bool
    stays: bool


def wanted(world: World, rev: int, node: Node) -> Wanted:
    """Return whether a node gets a pod of a revision, and whether an existing one may stay."""
    return wanted_on(world.revisions[rev].workload, node)


def wanted_on(workload: Workload, node: Node) -> Wanted:
    """Return whether a node gets a pod of a DaemonSet, and whether an existing one may stay."""
    pod = read.pod({"metadata": {"namespace": workload.namespace}, "spec": workload.template.get("spec") or {}})
    if pod.node_name not in ("", node.name) or not pod.cls.node_requirement.matches(node.labels, node.name):
        return Wanted(runs=False, stays=False)
    tolerations = daemon(workload, "").cls.tolerations
    untolerated = {
        taint.effect for taint in node.taints if taint.repels and not any(item.tolerates(taint) for item in tolerations)
    }
    return Wanted(not untolerated, NO_EXECUTE not in untolerated)


def act(draft: Draft, owner: int) -> bool:
    """Create the missing pods of eligible nodes, and delete pods from nodes that should have none."""
    spec: DaemonSetSpec = draft.world.specs[draft.sets[owner].spec]
    mine = draft.of(owner)
    covered = {pod.ordinal for pod in mine}
    done = False
    for at, node in enumerate(draft.world.facts[draft.facts].nodes):
        if node is None:
            continue
        says = wanted(draft.world, spec.rev, node)
        if says.runs and at not in covered:
            draft.create(spec.rev, at, node=node.name)
            done = True
        elif not says.stays:
            pods = [pod for pod in mine if pod.ordinal == at and pod.end == Deletion.ALIVE]
            draft.delete(pods)
            done = done or bool(pods)
    return done


def updates(world: World, state: State, owner: int) -> list[tuple[tuple[P, ...], tuple[int, ...]]]:
    """Return every choice of old pods to delete now, and of nodes that get a new pod while the old one runs."""
    spec: DaemonSetSpec = world.specs[state.sets[owner].spec]
    mine = [pod for pod in state.pods if pod.owner == owner]
    if spec.is_on_delete or all(pod.rev == spec.rev for pod in mine):
        return []
    nodes = sorted(
        at
        for at, node in enumerate(world.facts[state.facts].nodes)
        if node is not None and wanted(world, spec.rev, node).runs
    )
    surge = scaled(spec.surge, len(nodes), round_up=True) or 0
    most = scaled(spec.unavailable, len(nodes), round_up=True) or 0
    alive = [pod for pod in mine if pod.end == Deletion.ALIVE]
    new = {pod.ordinal: pod for pod in alive if pod.rev == spec.rev}
    old = {pod.ordinal: pod for pod in alive if pod.rev != spec.rev}
    if surge:
        return _surging(nodes, new, old, surge=surge)
    return _in_turn(nodes, new, old, most=most)


def _in_turn(nodes: Sequence[int], new: dict[int, P], old: dict[int, P], *, most: int) -> list[Choice]:
    unavailable = sum(not _is_available(new.get(at) or old.get(at)) for at in nodes)
    at_once = [old[at] for at in nodes if at in old and at not in new and not _is_available(old[at])]
    candidates = [old[at] for at in nodes if at in old and at not in new and _is_available(old[at])]
    count = min(max(0, most - unavailable), len(candidates))
    if not count and not at_once:
        return []
    return [((*at_once, *rest), ()) for rest in choices(candidates, count)]


def _surging(nodes: Sequence[int], new: dict[int, P], old: dict[int, P], *, surge: int) -> list[Choice]:
    replaced = [old[at] for at in nodes if at in old and _is_available(new.get(at))]
    surging = sum(at in new and at in old and not _is_available(new[at]) for at in nodes)
    at_once = [at for at in nodes if at in old and at not in new and not _is_available(old[at])]
    candidates = [old[at] for at in nodes if at in old and at not in new and _is_available(old[at])]
    count = min(max(0, surge - surging - len(at_once)), len(candidates))
    if not replaced and not at_once and not count:
        return []
    return [(tuple(replaced), (*at_once, *(pod.ordinal for pod in rest))) for rest in choices(candidates, count)]


Choice = tuple[tuple[P, ...], tuple[int, ...]]


def _is_available(pod: Optional[P]) -> bool:
    return pod is not None and pod.stage == Stage.READY


def is_complete(world: World, state: State, owner: int) -> bool:
    """Return whether every eligible node has a ready pod of this revision."""
    spec: DaemonSetSpec = world.specs[state.sets[owner].spec]
    ready = {
        pod.ordinal
        for pod in state.pods
        if pod.owner == owner and pod.rev == spec.rev and pod.end == Deletion.ALIVE and pod.stage == Stage.READY
    }
    return all(
        at in ready
        for at, node in enumerate(world.facts[state.facts].nodes)
        if node is not None and wanted(world, spec.rev, node).runs
    )
