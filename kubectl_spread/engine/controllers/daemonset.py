"""DaemonSet: one pod for each eligible node, even if the node lacks room.

The ordinal of such a pod is the index of its node.
Source: pkg/controller/daemon/daemon_controller.go, podsShouldBeOnNode, NodeShouldRunDaemonPod; update.go, rollingUpdate
(v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Optional

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine.controllers.replicaset import choices
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.state import of_owner, P, Stage, State
from kubectl_spread.engine.world import template_pod, World
from kubectl_spread.objects.node import NO_EXECUTE, Node
from kubectl_spread.objects.releases.behaviours import DAEMONSET_SURGE_LEAVES
from kubectl_spread.objects.resources import scaled_value
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


@cached_method
def verdicts(world: World, facts: int, rev: int) -> tuple[DaemonVerdict, ...]:
    """Return the verdict of a revision on each node; nothing changes on nodes that do not exist."""
    verdict_on = verdict_of(world.revisions[rev].workload)
    gone = DaemonVerdict(runs=False, stays=True)
    return tuple(gone if node is None else verdict_on(node) for node in world.facts[facts].nodes)


def verdict_of(workload: Workload) -> Callable[[Node], DaemonVerdict]:
    """Return the function that says whether a node gets a pod of a DaemonSet, and whether an existing one may stay.

    The pod's own affinity is replaced when it is created, so that only the controller looks at it.
    """
    pod = template_pod(workload)
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
        if says.runs and at not in covered:
            done |= draft.create(spec.rev, at)
        elif not says.stays:
            pods = [pod for pod in mine if pod.ordinal == at and not pod.end]
            draft.delete(pods)
            done |= bool(pods)
    return done


Choice = tuple[tuple[P, ...], tuple[int, ...]]  # old pods to delete, and nodes that get a new pod next to the old one


def updates(world: World, state: State, owner: int) -> list[Choice]:
    """Return every choice of old pods to delete now, and of nodes that get a new pod while the old one runs.

    The nodes are those with a pod, also a terminating one, whether or not the DaemonSet would create a pod there.
    """
    spec: DaemonSetSpec = world.specs[state.sets[owner].spec]
    mine = of_owner(state.pods, owner)
    if spec.is_on_delete or all(pod.rev == spec.rev for pod in mine):
        return []
    nodes = {pod.ordinal for pod in mine}
    new = {pod.ordinal: pod for pod in mine if not pod.end and pod.rev == spec.rev}
    old = {pod.ordinal: pod for pod in mine if not pod.end and pod.rev != spec.rev}
    broken = [pod for at, pod in old.items() if at not in new and not _is_available(pod)]
    candidates = [pod for at, pod in old.items() if at not in new and _is_available(pod)]
    eligible = eligible_nodes(world, state, spec.rev)
    surge = scaled_value(spec.surge, len(eligible), round_up=True) or 0
    if not surge:
        most = scaled_value(spec.unavailable, len(eligible), round_up=True) or 0
        most -= sum(not _is_available(new.get(at) or old.get(at)) for at in nodes)
        return [((*broken, *rest), ()) for rest in _some(candidates, most) if broken or rest]
    replaced = [old[at] for at, pod in new.items() if at in old and _is_available(pod)]
    surge -= len(old.keys() & new.keys()) - len(replaced)
    surging = eligible if DAEMONSET_SURGE_LEAVES.of(world.release) else nodes
    leaving = [pod for pod in candidates if pod.ordinal not in surging]
    spare = sum(_is_available(old.get(at) or new.get(at)) for at in nodes) - len(eligible)
    replaced += [pod for pod in broken if pod.ordinal not in surging]
    # New pods next to unavailable old ones do not count towards maxSurge when they are created, only afterwards.
    at_once = [pod.ordinal for pod in broken if pod.ordinal in surging]
    return [
        ((*replaced, *gone), (*at_once, *(pod.ordinal for pod in rest)))
        for gone in _some(leaving, spare)
        for rest in _some([pod for pod in candidates if pod.ordinal in surging], surge)
        if replaced or gone or at_once or rest
    ]


def _some(pods: list[P], count: int) -> Iterator[tuple[P, ...]]:
    """Return the choices of a number of pods, of all if there are not as many."""
    return choices(pods, min(max(0, count), len(pods)))


def eligible_nodes(world: World, state: State, rev: int) -> list[int]:
    """Return the nodes that get a pod of a revision."""
    return [at for at, says in enumerate(verdicts(world, state.facts, rev)) if says.runs]


def _is_available(pod: Optional[P]) -> bool:
    return pod is not None and pod.stage == Stage.READY


def is_complete(world: World, state: State, owner: int) -> bool:
    """Return whether every eligible node has a ready pod, of this revision unless the user deletes the old ones."""
    spec: DaemonSetSpec = world.specs[state.sets[owner].spec]
    ready = {
        pod.ordinal
        for pod in of_owner(state.pods, owner)
        if (spec.is_on_delete or pod.rev == spec.rev) and not pod.end and _is_available(pod)
    }
    return ready.issuperset(eligible_nodes(world, state, spec.rev))
