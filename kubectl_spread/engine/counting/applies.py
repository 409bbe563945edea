"""States in which one Deployment rolls out and nothing else can happen."""

from __future__ import annotations

from typing import Optional

from kubectl_spread.engine.controllers import scale
from kubectl_spread.engine.controllers.deployment import DeploymentSpec, DeploymentState
from kubectl_spread.engine.draft import Draft
from kubectl_spread.engine.moves import Moves
from kubectl_spread.engine.refusals import has_quota
from kubectl_spread.engine.state import Deletion, of_owner, P, PENDING, Stage, State
from kubectl_spread.engine.world import World

_QUIET = (Stage.READY, Stage.UNREADY)


class Alone:
    """Finds the only Deployment of a state that rolls out."""

    def __init__(self, world: World, moves: Moves) -> None:
        self._world = world
        self._moves = moves
        self._are_quiet: dict[State, bool] = {}

    def owner(self, state: State) -> Optional[int]:
        """Return the index of the Deployment; None if other things can happen, or its pods are of unusual kinds."""
        world = self._world
        if state.todo or state.claims or world.facts[state.facts].down or world.evicting(state.facts):
            return None
        owner = self._moving(state)
        if owner is None or not self._is_usual(state, owner) or self._may_preempt(state, owner):
            return None
        return owner if self._is_quiet(others(state, owner)) else None

    def _moving(self, state: State) -> Optional[int]:
        """Return the only workload that has pods of an old revision, or pods that have yet to change."""
        revs = [self._world.specs[own.spec].rev if isinstance(own, DeploymentState) else None for own in state.sets]
        found = {
            pod.owner
            for pod in state.pods
            if _is_moving(pod) or (pod.owner >= 0 and revs[pod.owner] is not None and pod.rev != revs[pod.owner])
        }
        owner = found.pop() if len(found) == 1 else -1
        return owner if owner >= 0 and revs[owner] is not None else None

    def _is_usual(self, state: State, owner: int) -> bool:
        """Return whether only pods of the newest revision wait or become ready, and all deleted pods end.

        The API server admits every new pod, and no autoscaler changes their number.
        Pods whose template names a node do not wait, because they bypass the scheduler.
        """
        spec: DeploymentSpec = self._world.specs[state.sets[owner].spec]
        if any(scale.out_of_range(self._world, state)):
            return False
        namespace = self._world.keys[owner].namespace
        if has_quota(self._world, state.facts, namespace) or self._world.lasting_refusal(spec.rev, state.facts):
            return False
        pods = of_owner(state.pods, owner)
        revisions = self._world.revisions
        if self._world.classes[self._world.cls_of(spec.rev)].node_name:
            return False
        if spec.is_recreate or not all(revisions[rev].ends for rev in {spec.rev, *(pod.rev for pod in pods)}):
            return False
        return all(_is_countable(pod, spec.rev) for pod in pods)

    def _may_preempt(self, state: State, owner: int) -> bool:
        """Return whether waiting pods have a higher priority than some bound pod."""
        rev = self._world.specs[state.sets[owner].spec].rev
        cls = self._world.cls_of(rev, admission=self._world.admission(state.facts))
        classes = self._world.classes
        priority = classes[cls].priority
        return self._world.lowest < priority or any(classes[pod.cls].priority < priority for pod in state.pods)

    def _is_quiet(self, rest: State) -> bool:
        """Return whether nothing can happen without the Deployment."""
        found = self._are_quiet.get(rest)
        if found is None:
            settled = self._moves.settle(Draft(self._world, rest)).state
            found = self._are_quiet[rest] = settled == rest and not self._moves.after(rest)
        return found


def others(state: State, owner: int) -> State:
    """Return a state without a workload and its pods."""
    pods = tuple(pod for pod in state.pods if pod.owner != owner)
    sets = tuple(None if at == owner else own for at, own in enumerate(state.sets))
    return state._replace(pods=pods, sets=sets)


def _is_moving(pod: P) -> bool:
    return pod.stage not in _QUIET or pod.end not in (Deletion.ALIVE, Deletion.HELD)


def _is_countable(pod: P, newest: int) -> bool:
    if pod.end == Deletion.TERMINATING:
        return pod.node != PENDING and pod.rev != newest
    if pod.end != Deletion.ALIVE or pod.nominated != PENDING:
        return False
    if pod.rev != newest:
        return pod.stage in _QUIET and pod.node != PENDING
    return pod.is_new or pod.node != PENDING
