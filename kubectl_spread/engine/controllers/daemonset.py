"""DaemonSet: one pod for each eligible node, even if the node lacks room.

The ordinal of such a pod is the index of its node.
Source: pkg/controller/daemon/daemon_controller.go, podsShouldBeOnNode, NodeShouldRunDaemonPod; update.go, rollingUpdate
(v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.controllers.replicaset import choices
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import Deletion, of_owner, P, Stage, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.amounts.quantity import scaled_value
from kubectl_spread.objects.node import NO_EXECUTE, Node
from kubectl_spread.objects.reading import read
from kubectl_spread.objects.workloads.replica import daemon
from kubectl_spread.objects.workloads.workload import Workload


class DaemonSetSpec(NamedTuple):
    """Spec of a DaemonSet; surge and unavailable are numbers or percentages as written."""

    rev: int
    surge: object = 0
    unavailable: object = 1
    is_on_delete: bool = False


class DaemonSetState(NamedTuple):
    """State that a DaemonSet's controller remembers."""

    spec: int


class DaemonVerdict(NamedTuple):
    """Verdict of a DaemonSet on one node: whether a pod should run there, and whether an existing one may stay."""

    runs: bool
    stays: bool


def verdicts(world: World, facts: int, rev: int) -> tuple[Optional[DaemonVerdict], ...]:
    """Return the verdict of a revision on each node; None for nodes that do not exist."""
    found = world.daemon_verdicts.get((facts, rev))
    if found is None:
        verdict_on = verdict_of(world.revisions[rev].workload)
        found = tuple(None if node is None else verdict_on(node) for node in world.facts[facts].nodes)
        world.daemon_verdicts[facts, rev] = found
    return found


def verdict_of(workload: Workload) -> Callable[[Node], DaemonVerdict]:
    """Return the function that says whether a node gets a pod of a DaemonSet, and whether an existing one may stay.

    The pod's own affinity is replaced when it is created, so that only the controller looks at it.
    """
    pod = read.pod({"metadata": {"namespace": workload.namespace}, "spec": workload.pod_spec})
    tolerations = daemon(workload, "").cls.tolerations

    def verdict_on(node: Node) -> DaemonVerdict:
        if pod.node_name not in ("", node.name) or not pod.cls.node_requirement.matches(node.labels, node.name):
            return DaemonVerdict(runs=False, stays=False)
        untolerated = {
            taint.effect
            for taint in node.taints
            if taint.repels and not any(item.tolerates(taint) for item in tolerations)
        }
        return DaemonVerdict(not untolerated, NO_EXECUTE not in untolerated)

    return verdict_on


def wanted_nodes(owner: Workload, cluster: Cluster) -> list[Node]:
    """Return the nodes for which the controller creates a pod, before the scheduler decides."""
    verdict_on = verdict_of(owner)
    return [node for node in cluster.nodes if verdict_on(node).runs]


def act(draft: Draft, owner: int) -> bool:
    """Create the missing pods of eligible nodes, and delete pods from nodes that should have none."""
    spec: DaemonSetSpec = draft.world.specs[draft.sets[owner].spec]
    mine = draft.of(owner)
    covered = {pod.ordinal for pod in mine}
    done = False
    for at, says in enumerate(verdicts(draft.world, draft.facts, spec.rev)):
        if says is None:
            continue
        if says.runs and at not in covered:
            done |= draft.create(spec.rev, at, node=draft.world.node_names[at])
        elif not says.stays:
            pods = [pod for pod in mine if pod.ordinal == at and pod.end == Deletion.ALIVE]
            draft.delete(pods)
            done = done or bool(pods)
    return done


Choice = tuple[tuple[P, ...], tuple[int, ...]]  # old pods to delete, and nodes that get a new pod next to the old one


def updates(world: World, state: State, owner: int) -> list[Choice]:
    """Return every choice of old pods to delete now, and of nodes that get a new pod while the old one runs."""
    spec: DaemonSetSpec = world.specs[state.sets[owner].spec]
    mine = of_owner(state.pods, owner)
    if spec.is_on_delete or all(pod.rev == spec.rev for pod in mine):
        return []
    nodes = _eligible(world, state, spec.rev)
    surge = scaled_value(spec.surge, len(nodes), round_up=True) or 0
    update = _update(nodes, [pod for pod in mine if pod.end == Deletion.ALIVE], spec.rev)
    if surge:
        return _surging(update, surge)
    return _in_turn(update, scaled_value(spec.unavailable, len(nodes), round_up=True) or 0)


def _eligible(world: World, state: State, rev: int) -> list[int]:
    """Return the nodes that get a pod of a revision."""
    return [at for at, says in enumerate(verdicts(world, state.facts, rev)) if says is not None and says.runs]


class _Progress(Enum):
    """Progress of the update of an old pod."""

    REPLACED = "replaced"  # The new pod of its node is available.
    SURGING = "surging"  # The new pod of its node is not available yet.
    AVAILABLE = "available"  # Its node has no new pod, and it is available itself.
    UNAVAILABLE = "unavailable"  # Its node has no new pod, and it is not available either.


def _progress(old: P, new: Optional[P]) -> _Progress:
    if new is None:
        return _Progress.AVAILABLE if _is_available(old) else _Progress.UNAVAILABLE
    return _Progress.REPLACED if _is_available(new) else _Progress.SURGING


class _Update(NamedTuple):
    """Old pods of the eligible nodes, by their progress, and the number of nodes without an available pod."""

    pods: dict[_Progress, list[P]]
    unavailable: int


def _update(nodes: Iterable[int], alive: Iterable[P], rev: int) -> _Update:
    new: dict[int, P] = {}
    old: dict[int, P] = {}
    for pod in alive:
        (new if pod.rev == rev else old)[pod.ordinal] = pod
    pods: dict[_Progress, list[P]] = {one: [] for one in _Progress}
    unavailable = 0
    for at in nodes:
        unavailable += not _is_available(new.get(at) or old.get(at))
        if at in old:
            pods[_progress(old[at], new.get(at))].append(old[at])
    return _Update(pods, unavailable)


def _in_turn(update: _Update, most: int) -> list[Choice]:
    """Return the choices of old pods to delete: all unavailable ones, and others within maxUnavailable."""
    at_once, candidates = update.pods[_Progress.UNAVAILABLE], update.pods[_Progress.AVAILABLE]
    count = min(max(0, most - update.unavailable), len(candidates))
    if not count and not at_once:
        return []
    return [((*at_once, *rest), ()) for rest in choices(candidates, count)]


def _surging(update: _Update, surge: int) -> list[Choice]:
    """Return the choices of nodes for new pods: where the old pod is unavailable, and others within maxSurge."""
    replaced, candidates = tuple(update.pods[_Progress.REPLACED]), update.pods[_Progress.AVAILABLE]
    at_once = [pod.ordinal for pod in update.pods[_Progress.UNAVAILABLE]]
    # New pods next to unavailable old ones do not count towards maxSurge when they are created, only afterwards.
    count = min(max(0, surge - len(update.pods[_Progress.SURGING])), len(candidates))
    if not (replaced or at_once or count):
        return []
    return [(replaced, (*at_once, *(pod.ordinal for pod in rest))) for rest in choices(candidates, count)]


def _is_available(pod: Optional[P]) -> bool:
    return pod is not None and pod.stage == Stage.READY


def is_complete(world: World, state: State, owner: int) -> bool:
    """Return whether every eligible node has a ready pod of this revision."""
    spec: DaemonSetSpec = world.specs[state.sets[owner].spec]
    ready = {
        pod.ordinal
        for pod in of_owner(state.pods, owner)
        if pod.rev == spec.rev and pod.end == Deletion.ALIVE and pod.stage == Stage.READY
    }
    return ready.issuperset(_eligible(world, state, spec.rev))
