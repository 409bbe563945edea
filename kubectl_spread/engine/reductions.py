"""Reductions of the search: states that are left out without losing an outcome, each with its condition.

Without reductions, each write of a controller, each pod that becomes ready, each deletion that finishes and each
command is a step of its own, and they come in any order. A test explores small random worlds with and without them.

Three orders are taken for granted in both. A Deployment gives its ReplicaSets their sizes before they create pods. A
ReplicaSet deletes its surplus pods before others become ready. Nothing comes between its deletions, which it requests
all at once, but the choice of a ReplicaSet that shrinks with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import key_of
from kubectl_spread.engine import nodes, steps
from kubectl_spread.engine.controllers import deployment, job, replicaset
from kubectl_spread.engine.controllers.daemonset import DaemonSetState
from kubectl_spread.engine.controllers.statefulset import StatefulSetState
from kubectl_spread.engine.draft import Creation, Draft
from kubectl_spread.engine.refusals import is_short
from kubectl_spread.engine.state import NO_ORDINAL, of_owner, P, PENDING, State
from kubectl_spread.engine.world import World
from kubectl_spread.objects.keys import ObjectKey


class Reduction(Enum):
    """A reduction of the search.

    CONTROLLERS: controllers make all changes without a choice at once, right after the move that lets them. Pods that
    they create may come later (`may_come_later`), the user's next command may come before (`may_overtake_controllers`),
    so may the garbage collector, taints and autoscalers (`may_be_overtaken`), and pods that compete for a quota are
    created one by one (`Draft.is_contended`), before anything but a command unless others may join them
    (`later_creations`).

    SNAPSHOT: a ReplicaSet chooses pods and deletes them in one step, unless others that shrink with it see only a part
    (`deletes_at_once`). A Deployment's ReplicaSets do so in the step that gives them another size, unless new pods may
    be bound before (`has_new_pods`).

    READINESS: a pod becomes ready only if its controller continues because of it, if the effect of a command or of an
    autoscaler depends on it (`may_overtake_kubelets`), or if no other move is left.

    ENDINGS: a deletion finishes only if a controller waits for it (`is_awaited`), if a waiting pod finds other nodes
    after it, or if no other move is left. Several finish together, or one alone if it lets a waiting pod find other
    nodes.

    EVICTIONS: a taint evicts a pod that was created in this step, after its tolerationSeconds, only if no other move is
    left: they are longer than all else takes. Otherwise terminating pods would pile up without end.
    """

    CONTROLLERS = "controllers"
    SNAPSHOT = "snapshot"
    READINESS = "readiness"
    ENDINGS = "endings"
    EVICTIONS = "evictions"


ALL = frozenset(Reduction)


def may_come_later(pod: P) -> bool:
    """Return whether a waiting pod was created by a controller in this step.

    States have it at once, but controllers take their time: pods of lower priority may be bound before it exists.
    """
    return pod.is_new and pod.owner >= 0


def deletes_at_once(shrinking: Sequence[replicaset.Shrinking], chosen: Sequence[P]) -> bool:
    """Return whether it makes no difference that ReplicaSets choose pods at one moment and delete them at another.

    Args:
        shrinking: ReplicaSets of one controller that have too many pods and have not chosen.
        chosen: the pods that others have chosen.
    """
    if not shrinking:
        return True
    return not chosen and (len(shrinking) == 1 or all(item.is_whole for item in shrinking))


def has_new_pods(before: State, after: State) -> bool:
    """Return whether pods of a revision wait that had no waiting pods before.

    Only those need to be faster than the deletion of old pods: others may as well be bound before the step.
    """
    waits = {(pod.owner, pod.rev) for pod in before.pods if pod.node == PENDING}
    return any(pod.node == PENDING and (pod.owner, pod.rev) not in waits for pod in after.pods)


def ranked_by_readiness(world: World, state: State) -> frozenset[int]:
    """Return the Deployments that will delete pods of their newest revision, unready ones first.

    Of all others, it does not matter which pods of the newest revision are ready.
    """
    found = {owner for owner, _ in replicaset.out_of_range(world, state)}
    for owner, own in enumerate(state.sets):
        if isinstance(own, deployment.DeploymentState):
            spec = world.specs[own.spec]
            size = min(next((item.size for item in own.sets if item.rev == spec.rev), 0), spec.replicas)
            if sum(pod.rev == spec.rev and not pod.end for pod in of_owner(state.pods, owner)) > size:
                found.add(owner)
    return frozenset(found)


def is_awaited(world: World, state: State, pod: P) -> bool:
    """Return whether a controller, a quota or a drain waits for a deletion to finish, or its kubelet will stop."""
    ops = [world.ops[item[1]] for item in state.todo if item[0] == "op"]
    dying = {name for op in ops if isinstance(op, steps.NodesDown) for name in op.nodes}
    if is_short(world, state, pod) or (pod.node != PENDING and world.node_names[pod.node] in dying):
        return True
    own = state.sets[pod.owner] if pod.owner >= 0 else None
    if isinstance(own, (StatefulSetState, DaemonSetState)):
        return True
    if isinstance(own, deployment.DeploymentState) and world.specs[own.spec].is_recreate:
        return True
    if isinstance(own, job.JobState) and job.waits_for_end(world, world.specs[own.spec]):
        return True
    return any(item[0] == "drain" and item[1] == pod.node for item in state.todo[:1])


_ON_PODS = (
    steps.DeleteSome,
    steps.DeletePods,
    steps.DeleteSelected,
    steps.Evict,
    steps.PatchSome,
    steps.LabelPods,
    steps.SetCost,
    steps.Drain,
    steps.TaintNodes,
    steps.ChangeNodes,
    steps.DeleteNodes,
    steps.NodesDown,
)


def open_items(state: State) -> list[Any]:
    """Return the remaining commands of the user, without refused evictions."""
    return [item for item in state.todo if item[0] != "blocked"]


def may_overtake_controllers(world: World, state: State) -> bool:
    """Return whether the order matters: the next command, controllers' reactions to it, and the commands after it.

    Most commands of one step commute with the reactions to earlier ones: applying ten new workloads leads to the same
    pods, whether controllers are fast or slow.
    """
    item, *later = open_items(state)
    if later and world.facts[state.facts].cluster.quotas:
        return True  # New pods compete for the quota.
    op = world.ops[item[1]] if item[0] == "op" else None
    acts_on_pods = op is None or isinstance(op, _ON_PODS)
    key = None if op is None else _key(op)
    for other in later:
        then = world.ops[other[1]] if other[0] == "op" else None
        if then is None or isinstance(then, _ON_PODS):
            return True
        if (key is not None and _key(then) == key) or (acts_on_pods and _is_affected(world, state, then)):
            return True
    return False


def later_creations(world: World, draft: Draft) -> list[Creation]:
    """Return pods that controllers may want to create later, and which then compete for a quota with those of now.

    An autoscaler adds replicas, or an OrderedReady StatefulSet creates its next pods once the one before is ready.
    """
    found: list[Creation] = []
    for owner, replicas in replicaset.out_of_range(world, draft):
        spec = world.specs[draft.sets[owner].spec]
        found += [(spec.rev, NO_ORDINAL)] * (replicas - spec.replicas)
    for owner, own in enumerate(draft.sets):
        if isinstance(own, StatefulSetState) and not (spec := world.specs[own.spec]).is_parallel:
            missing = set(spec.ordinals) - {pod.ordinal for pod in draft.of(owner)}
            found += [(spec.rev, ordinal) for ordinal in sorted(missing)]
    return found


def may_be_overtaken(world: World, draft: Draft, owner: int) -> bool:
    """Return whether nodes may take pods away, or an autoscaler want others, before a StatefulSet acts.

    An OrderedReady one creates no pod while a lower one is missing. An autoscaler may want the pods that it deletes.
    """
    own = draft.sets[owner]
    if not isinstance(own, StatefulSetState):
        return False
    if any(scaled == owner for scaled, _ in replicaset.out_of_range(world, draft)):
        return True
    if world.specs[own.spec].is_parallel:
        return False
    if not world.evicting(draft.facts):
        return False
    return any(pod.owner == owner and nodes.takes_away(world, draft.facts, pod) for pod in draft.pods)


def may_overtake_kubelets(world: World, state: State) -> bool:
    """Return whether a command or an autoscaler will act whose effect depends on which pods are ready."""
    if next(replicaset.out_of_range(world, state), None) is not None:
        return True
    return any(
        item[0] in ("drain", "evict") or (item[0] == "op" and _is_affected(world, state, world.ops[item[1]]))
        for item in state.todo
    )


def _is_affected(world: World, state: State, op: steps.Op) -> bool:
    """Return whether a command acts on pods, or on a workload that exists."""
    if isinstance(op, _ON_PODS):
        return True
    key = _key(op)
    return key is not None and world.own(state.sets, key) is not None


def _key(op: steps.Op) -> Optional[ObjectKey]:
    if isinstance(op, steps.Apply):
        return key_of(op.controller.workload)
    return op.key if isinstance(op, steps.ON_WORKLOADS) else None
