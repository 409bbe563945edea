"""Possible next moves in a state.

A state's steps are: the scheduler binds a waiting pod, or evicts others for it. Pods become ready, and a controller
that waited for them continues. A deletion finishes. Old pods make room in a rollout. The user's next command or
eviction takes effect. A taint removes a pod. Moves without a choice follow at once: controllers create missing pods.

`reductions` tells which of them are left out, and why no outcome is lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Optional

from kubectl_spread.engine import budgets, claims, doing, nodes, reductions, steps
from kubectl_spread.engine.controllers import daemonset, deployment, job, replicaset, statefulset
from kubectl_spread.engine.draft import Creation, Draft
from kubectl_spread.engine.oracle import Oracle, PreemptionOption
from kubectl_spread.engine.reductions import Reduction
from kubectl_spread.engine.refusals import has_quota
from kubectl_spread.engine.search.symmetry import distinct, first_twins, Twins
from kubectl_spread.engine.state import (
    Deletion,
    ENDING,
    EventKind,
    Move,
    NO_ORDINAL,
    NodeStatus,
    of_owner,
    P,
    PENDING,
    present,
    slot,
    State,
    Step,
    to_be_ready,
    Way,
)
from kubectl_spread.engine.world import World
from kubectl_spread.objects.keys import NamespacedName
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.selectors import ZONE

_MOST_ACTS = 1_000  # Times that a controller acts in one step, besides once for each pod; then it has no end.
CONTROLLERS: dict[type, Any] = {  # by what they remember
    deployment.DeploymentState: deployment,
    statefulset.StatefulSetState: statefulset,
    daemonset.DaemonSetState: daemonset,
    replicaset.ReplicaSetState: replicaset,
    job.JobState: job,
}


class Moves:
    """Possible steps of every state of one world."""

    def __init__(
        self,
        world: World,
        oracle: Oracle,
        *,
        is_hasty: bool = False,
        keeps_ordinals: bool = False,
        twins: Callable[[State], Twins] = lambda _: (),
        reduced: frozenset[Reduction] = reductions.ALL,
    ) -> None:
        """Set up the moves of a world.

        Args:
            world: nodes and workloads.
            oracle: the scheduler.
            is_hasty: for random runs, every deletion may finish at any time, even if the order does not matter.
            keeps_ordinals: whether a later step may depend on the nodes of the ordinals of StatefulSets.
            twins: returns pairs of interchangeable nodes with equal pods; of equal choices, one is enough.
            reduced: the reductions of the search.
        """
        self._reductions = reduced
        self._is_hasty = is_hasty
        self._keeps_ordinals = keeps_ordinals
        self.is_cut = False  # whether only some of the choices of pods to delete were returned
        self.repeating: list[State] = []  # in which nothing is left but that taints evict pods of this step
        self._priorities = (0, False)  # number of known classes, and whether their priorities differ
        self._twins = twins
        self._world = world
        self._oracle = oracle

    def settle(self, draft: Draft, owners: Optional[Collection[int]] = None, *, are_late: bool = False) -> Step:
        """Return the step after controllers have made all changes without a choice.

        It ends in any case: a controller that goes on for ever leaves a step that is not settled.

        Args:
            draft: a state after a move.
            owners: the controllers; None for all.
            are_late: whether other moves had their turn before the controllers.
        """
        if Reduction.CONTROLLERS not in self._reductions:
            return draft.step()
        indices = range(len(draft.sets)) if owners is None else [owner for owner in owners if owner >= 0]
        if not are_late and any(reductions.may_be_overtaken(self._world, draft, owner) for owner in indices):
            return self._before_controllers(draft)
        if not self._world.facts[draft.facts].cluster.quotas:
            is_settled = _act(draft, owners)
            return draft.step()._replace(is_settled=is_settled)
        before = Draft(self._world, draft.state())
        before.moves = list(draft.moves)
        is_settled = _act(draft)
        if draft.is_contended(reductions.later_creations(self._world, draft)):
            draft = before
            draft.allowed = []
            is_settled = _act(draft)
        return draft.step()._replace(is_settled=is_settled)

    def begin(self, state: State) -> Step:
        """Return the beginning of the user's steps; if controllers have work to do, the user may be faster."""
        step = self.settle(Draft(self._world, state), are_late=True)
        return step if step.state == state else self._before_controllers(Draft(self._world, state))

    def _created(self, state: State) -> list[Way]:
        """Return ways to create one of several different pods, of which a quota admits some: each may be the first."""
        if not self._world.facts[state.facts].cluster.quotas or Reduction.CONTROLLERS not in self._reductions:
            return []
        draft = Draft(self._world, state)
        draft.allowed = []
        _act(draft)
        found = [item for item in dict.fromkeys(draft.postponed) if draft.would_admit(item)]
        return [partial(self._created_one, state, item) for item in found]

    def _created_one(self, state: State, creation: Creation) -> Step:
        draft = Draft(self._world, state)
        draft.allowed = [creation]
        _act(draft)
        draft.allowed = None
        return self.settle(draft)

    def after(self, begun: State) -> Iterable[Way]:
        """Return every step of a state, each computed when it is taken; an empty list if the state is steady."""
        state = begun
        deciding = self._decided(state)
        if deciding:
            return deciding
        created = self._created(state)
        if created:
            may_join = reductions.later_creations(self._world, Draft(self._world, state))
            return [*created, *self._victims(state), *(self._free(state) if may_join else self._by_user(state))]
        state = self._with_tried(state)
        victims = self._victims(state)
        if victims:
            # The scheduler, kubelets and the user may be faster than the ReplicaSet.
            others = (
                find(state) for find in (self._ended, self._by_user, self._autoscaled, self._acted, self._lagging)
            )
            return [*victims, *self._scheduled(state), *itertools.chain.from_iterable(others)]
        lagging = self._lagging(state) or self._provisioned(state)
        if lagging:
            return lagging
        free = self._free(state)
        for way in free:  # The others are found when they are taken.
            return itertools.chain([way], free)
        # All remaining pods become ready, or else all remaining deletions finish.
        bound = to_be_ready(state.pods)
        if bound:
            return [partial(self._ready, state, bound)]
        if self._ending(state):
            return [partial(self.finish_deletions, state)]
        again = list(self._by_nodes(state, are_last=True))
        self.repeating += [begun] if again else []
        if again:
            return again
        # A provisioner adds nodes for pods that find none, after everything else has happened.
        provided = [partial(self._with_nodes, state, new) for new in nodes.additions(self._world, state)]
        return provided or self._given_up(state)

    def _free(self, state: State) -> Iterator[Way]:
        """Yield the steps that may come in any order."""
        yield from self._scheduled(state)
        for find in (self._ended, self._went_on, self._by_user, self._by_nodes, self._autoscaled, self._acted):
            yield from list(find(state))

    def _acted(self, state: State) -> Iterator[Way]:
        """Yield ways in which one controller makes one change, unless they all act at once."""
        for owner, own in enumerate(state.sets if Reduction.CONTROLLERS not in self._reductions else ()):
            draft = Draft(self._world, state)
            draft.most_created = 1
            if own is not None and CONTROLLERS[type(own)].act(draft, owner):
                yield draft.step

    def _decided(self, state: State) -> list[Way]:
        """Return ways to decide which pod has an ordinal that matters now to the controller of a StatefulSet."""
        for owner, own in enumerate(state.sets):
            if isinstance(own, statefulset.StatefulSetState) and own.free:
                pods = of_owner(state.pods, owner)
                ordinal = statefulset.undecided_ordinal(self._world, own, pods)
                item = next(iter(reductions.open_items(state)), None)
                op = self._world.ops[item[1]] if item is not None and item[0] == "op" else None
                match = op.match if isinstance(op, (steps.DeleteSome, steps.PatchSome)) else None
                if ordinal is None and match is not None and self._world.owner_at.get(match.key) == owner:
                    # The command may name an ordinal whose pod is still any one of its group.
                    named = (item for item in match.ordinals if statefulset.group_of(own.free, item) >= 0)
                    ordinal = next(named, None)
                if ordinal is not None:
                    group = own.free[statefulset.group_of(own.free, ordinal)]
                    chosen = statefulset.candidates(self._world, group, pods)
                    return [partial(self._with_ordinal, state, owner, ordinal, pod) for pod in chosen]
        return []

    def _with_ordinal(self, state: State, owner: int, ordinal: int, chosen: Optional[P]) -> Step:
        draft = Draft(self._world, state)
        statefulset.decide(draft, owner, ordinal, chosen=chosen)
        return self.settle(draft, (owner,))

    def _victims(self, state: State) -> list[Way]:
        """Return ways in which the ReplicaSets of one controller delete pods, or choose the pods that they delete."""
        for owner, own in enumerate(state.sets):
            if not isinstance(own, (deployment.DeploymentState, replicaset.ReplicaSetState, job.JobState)):
                continue
            pods = of_owner(state.pods, owner)
            chosen = [pod for pod in pods if pod.is_chosen and not pod.end]
            shrinking: list[replicaset.Shrinking] = CONTROLLERS[type(own)].excess(self._world, pods, own)
            if not (chosen or shrinking):
                continue
            if Reduction.SNAPSHOT in self._reductions and reductions.deletes_at_once(shrinking, chosen):
                # Together, if all of them delete all of their pods.
                first = [tuple(chosen)] if chosen else self._distinct(state, shrinking[0].choices)
                rest = [pod for item in shrinking[1:] for pod in item.choices[0]]
                return [partial(self._without_surplus, state, (*pods, *rest)) for pods in first]
            # While others have yet to choose, they see each deletion alone.
            deleted = [(pod,) for pod in dict.fromkeys(chosen)] if shrinking else [tuple(chosen)]
            return [
                *(partial(self._without_surplus, state, pods) for pods in deleted),
                *(
                    partial(self._chosen, state, pods)
                    for item in shrinking
                    for pods in self._distinct(state, item.choices)
                ),
            ]
        return []

    def _distinct(self, state: State, choices: Sequence[tuple[P, ...]]) -> Sequence[tuple[P, ...]]:
        """Return one of the choices that differ only in interchangeable nodes."""
        self.is_cut = self.is_cut or len(choices) >= replicaset.MOST_CHOICES
        return choices if len(choices) < 2 else distinct(choices, self._twins(state))

    def _chosen(self, state: State, pods: tuple[P, ...]) -> Step:
        draft = Draft(self._world, state)
        for pod in pods:
            draft.replace(pod, pod._replace(is_chosen=True))
        return draft.step()

    def _without_surplus(self, state: State, pods: tuple[P, ...]) -> Step:
        """Delete pods that their own controller has chosen."""
        draft = Draft(self._world, state)
        draft.delete(pods)
        namespaces = {self._world.keys[pod.owner].namespace for pod in pods}
        is_limited = any(has_quota(self._world, state.facts, item) for item in namespaces)
        if self._world.may_lag and reductions.open_items(state) and is_limited:
            return self._before_controllers(draft)  # The pods of the user's next command may be created first.
        return self.settle(draft, {pod.owner for pod in pods})

    def _deleted(
        self,
        state: State,
        pods: tuple[P, ...],
        kind: EventKind = EventKind.DELETED,
        *,
        is_disruption: bool = False,
    ) -> Step:
        """Delete pods that their own controller wants to keep."""
        draft = Draft(self._world, state)
        job.count_failed(draft, pods, is_disruption=is_disruption or kind is EventKind.EVICTED)
        draft.delete(pods, kind)
        return self._without_pods(state, draft, pods)

    def _waiting(self, state: State) -> list[P]:
        """Return one waiting pod of each kind; pods of one kind only differ in their ordinals."""
        found: dict[_Kind, P] = {}
        last = None
        for pod in [pod for pod in state.pods if pod.node == PENDING and not pod.end]:
            if pod != last:  # perf: most waiting pods are equal, and next to each other
                found.setdefault(self._kind(state, pod), pod)
            last = pod
        return list(found.values())

    def _kind(self, state: State, pod: P) -> _Kind:
        """Return the fields of a waiting pod that decide its attempts.

        The ordinal of a StatefulSet's pod may matter later; equal pods of a group have one number.
        """
        own, number = state.sets[pod.owner] if pod.owner >= 0 else None, NO_ORDINAL
        if isinstance(own, statefulset.StatefulSetState):
            spec = self._world.specs[own.spec]
            if self._keeps_ordinals or not (own.current == spec.rev or spec.is_on_delete):
                group = statefulset.group_of(own.free, pod.ordinal)
                number = pod.ordinal if group < 0 else own.free[group][0]
        return (pod.owner, pod.rev, self._world.shape(pod.cls), pod.nominated, pod.is_new, pod.is_tried, number)

    def _scheduled(self, state: State) -> Iterator[Way]:
        """Yield the scheduler's attempts: pods wait for those of higher priority that it has not tried yet."""
        return (way for _, ways in self._attempts(state) for way in ways)

    def _attempts(self, state: State) -> Iterator[tuple[P, list[Way]]]:
        """Yield waiting pods whose turn it may be, of each kind one, with the possible ends of an attempt."""
        limit: Optional[int] = None
        classes = self._world.classes
        waiting = self._waiting(state)
        if len(waiting) > 1:
            waiting.sort(key=lambda pod: -classes[pod.cls].priority)  # Of one priority, in the order of the pods.
        for pod in waiting:
            priority = classes[pod.cls].priority
            if limit is None or priority >= limit or pod.is_tried:
                ways = self._tried(state, pod)
                if ways and limit is None and not (pod.is_tried or self._may_come_later(pod)):
                    limit = priority
                yield pod, ways

    def _may_come_later(self, pod: P) -> bool:
        return Reduction.CONTROLLERS in self._reductions and reductions.may_come_later(pod)

    def _with_tried(self, state: State) -> State:
        """Return the state after the scheduler has tried the pods that it refuses now.

        This matters only if pods of several priorities wait: those of lower priority need not wait any longer.
        """
        classes = self._world.classes
        if len(classes) != self._priorities[0]:
            self._priorities = (len(classes), any(cls.priority != classes[0].priority for cls in classes))
        if not self._priorities[1]:
            return state
        refused = {
            self._kind(state, pod)
            for pod, ways in self._attempts(state)
            if not ways and not (pod.is_tried or self._may_come_later(pod))
        }
        if not refused:
            return state
        pods = [
            pod._replace(is_tried=True) if _is_waiting(pod) and self._kind(state, pod) in refused else pod
            for pod in state.pods
        ]
        return state._replace(pods=tuple(sorted(pods)))

    def _tried(self, state: State, pod: P) -> list[Way]:
        hosts = self._oracle.hosts(pod, state)
        if hosts:
            others = len(hosts) - 1
            chosen = hosts if not others else first_twins(hosts, self._twins(state))
            return [partial(self._oracle.bind, state, pod, node, others=others) for node in chosen]
        options = self._oracle.evictions(pod, state)
        if not options and pod.nominated != PENDING and self._oracle.loses_nomination(pod, state):
            return [partial(self._not_nominated, state, pod)]
        return [partial(self._preempted, state, pod, way) for way in options]

    def _not_nominated(self, state: State, pod: P) -> Step:
        draft = Draft(self._world, state)
        draft.replace(pod, pod._replace(nominated=PENDING))
        return draft.step()

    def _preempted(self, state: State, pod: P, way: PreemptionOption) -> Step:
        draft = Draft(self._world, state)
        priorities = [cls.priority for cls in self._world.classes]
        for other in [item for item in draft.pods if item.nominated == way.node and _is_waiting(item)]:
            if priorities[other.cls] < priorities[pod.cls]:  # The preemptor takes their place.
                draft.replace(other, other._replace(nominated=PENDING))
        draft.replace(pod, pod._replace(nominated=way.node))
        job.count_failed(draft, way.victims, is_disruption=True)
        draft.delete(way.victims, EventKind.PREEMPTED)
        return self.settle(draft, {victim.owner for victim in way.victims})

    def _ended(self, state: State) -> Iterator[Way]:
        """Yield ways in which deletions finish that a controller or a waiting pod depends on."""
        every = self._ending(state)
        if not every:
            return
        awaited = dict.fromkeys(every)
        if Reduction.ENDINGS in self._reductions:
            awaited = {pod: None for pod in awaited if reductions.is_awaited(self._world, state, pod)}
        others = [pod for pod in every if pod not in awaited]
        for pods in [*([pod] for pod in awaited), *(self._noticed(state, others) if others else ())]:
            yield partial(self._gone, state, pods)

    def _ending(self, state: State) -> list[P]:
        """Return the pods whose deletion finishes."""
        world, facts = self._world, state.facts
        return [pod for pod in state.pods if pod.end and world.ends(facts, pod)]

    def _noticed(self, state: State, every: list[P]) -> list[list[P]]:
        """Return the deletions whose end lets a waiting pod find other nodes: all together, and each decisive one."""
        ending = list(dict.fromkeys(every))
        if self._is_hasty:
            single = [[pod] for pod in ending] if len(every) > 1 else []
            return [every, *single] if self._waiting(state) else []
        waiting = self._waiting(state)
        now = [set(self._oracle.hosts(pod, state)) for pod in waiting]
        then = [set(self._oracle.hosts(pod, state, without=tuple(every))) for pod in waiting]
        found = [every] if now != then else []
        for pod in ending if len(every) > 1 else ():
            if now != [set(self._oracle.hosts(item, state, without=(pod,))) for item in waiting]:
                found.append([pod])
        return found

    def _lagging(self, state: State) -> list[Way]:
        """Return ways in which the user, a garbage collector, a taint or an autoscaler precedes a controller."""
        if not self._world.may_lag:
            return []
        step = self.settle(Draft(self._world, state), are_late=True)
        if step.state == state:
            return []
        return [*self._by_user(state), *self._by_nodes(state), *self._autoscaled(state), lambda: step]

    def _before_controllers(self, draft: Draft) -> Step:
        """Return a step to which controllers have not reacted yet, because the user's next step may be faster."""
        self._world.may_lag = True
        return draft.step()

    def _provisioned(self, state: State) -> list[Way]:
        """Return ways to provision a volume, in any zone, for a claim that does not wait for a pod."""
        for namespace, name, value in state.claims:
            key = NamespacedName(namespace, name)
            if value == claims.NEW and claims.is_made_at_once(self._world, key):
                nodes = self._world.facts[state.facts].cluster.nodes
                one_of = {node.labels.get(ZONE, node.name): node.name for node in nodes}
                return [partial(self._made_volume, state, key, node) for node in one_of.values()]
        return []

    def _made_volume(self, state: State, claim: NamespacedName, node: str) -> Step:
        draft = Draft(self._world, state)
        claims.put(draft, claim, f"node/{node}")
        return draft.step()

    def _gone(self, state: State, pods: list[P]) -> Step:
        draft = Draft(self._world, state)
        for pod in pods:
            is_missing = self._world.node_status(state.facts, pod.node) is NodeStatus.MISSING
            job.count_failed(draft, [pod], is_disruption=is_missing)
            draft.remove(pod)
        return self._without_pods(state, draft, pods)

    def _without_pods(self, before: State, draft: Draft, pods: Iterable[P]) -> Step:
        """Return the step after the deletion of pods; if some are gone, the user may be faster than the controllers."""
        has_next = len(draft.pods) < len(before.pods) and len(reductions.open_items(before)) > 1
        if has_next and reductions.may_overtake_controllers(self._world, before):
            return self._before_controllers(draft)
        return self.settle(draft, {pod.owner for pod in pods})

    def _went_on(self, state: State) -> Iterator[Way]:
        """Yield ways in which pods become ready whose controllers then continue."""
        for owner, own in enumerate(state.sets):
            if isinstance(own, deployment.DeploymentState):
                yield from self._rolled(state, owner)
            elif isinstance(own, statefulset.StatefulSetState):
                for pod in statefulset.waits_for_ready(self._world, of_owner(state.pods, owner), own)[:1]:
                    yield partial(self._ready, state, [pod])
            elif isinstance(own, daemonset.DaemonSetState):
                for choice in daemonset.updates(self._world, state, owner):
                    # A quota may refuse the new pods.
                    if choice[0] or self._updated(state, owner, choice).state != state:
                        yield partial(self._updated, state, owner, choice)
                if any(pod.rev != self._world.specs[own.spec].rev for pod in of_owner(state.pods, owner)):
                    yield from self._ready_each(state, of_owner(state.pods, owner))
        if Reduction.READINESS not in self._reductions or reductions.may_overtake_kubelets(self._world, state):
            yield from self._ready_each(state, state.pods)

    def _rolled(self, state: State, owner: int) -> Iterator[Way]:
        """Make a number of pods ready, and then scale down old ReplicaSets."""
        own: deployment.DeploymentState = state.sets[owner]
        pods = of_owner(state.pods, owner)
        bound = to_be_ready(pods)
        for count, sets in deployment.scale_downs(self._world.specs[own.spec], own, pods):
            if count and Reduction.READINESS not in self._reductions:
                return
            if self._is_hasty or Reduction.SNAPSHOT not in self._reductions:
                yield partial(self._made_room, state, owner, bound[:count], sets)
            else:
                yield from self._shrunk(state, self._made_room(state, owner, bound[:count], sets))

    def _shrunk(self, before: State, step: Step) -> Iterator[Way]:
        """Yield ways after old ReplicaSets have got another size: their pods go at once, or new ones are faster."""
        victims = [] if reductions.has_new_pods(before, step.state) else self._victims(step.state)
        if not victims:
            yield lambda: step
        for way in victims:
            yield partial(_joined, step, way)

    def _made_room(self, state: State, owner: int, ready: list[P], sets: tuple[deployment.Set, ...]) -> Step:
        draft = Draft(self._world, state)
        for pod in ready:
            draft.make_ready(pod)
        deployment.put(draft, owner, sets)
        return self.settle(draft, (owner,))

    def _ready(self, state: State, pods: list[P]) -> Step:
        draft = Draft(self._world, state)
        for pod in pods:
            draft.make_ready(pod)
        return self.settle(draft, {pod.owner for pod in pods})

    def _ready_each(self, state: State, pods: Sequence[P]) -> Iterator[Way]:
        for pod in dict.fromkeys(to_be_ready(pods)):
            yield partial(self._ready, state, [pod])

    def _updated(self, state: State, owner: int, choice: daemonset.Choice) -> Step:
        gone, more = choice
        draft = Draft(self._world, state)
        draft.delete(gone)
        rev = self._world.specs[state.sets[owner].spec].rev
        for at in more:
            draft.create(rev, at)
        return self.settle(draft, (owner,))

    def _by_user(self, state: State) -> Iterator[Way]:
        """Yield ways to continue with the user's steps."""
        item = next(iter(reductions.open_items(state)), None)
        if item is None:
            return
        if item[0] == "op":
            is_slow = reductions.may_overtake_controllers(self._world, state)
            for draft in doing.do(self._world, _without(state, item), self._world.ops[item[1]]):
                draft.moves.insert(0, Move(EventKind.DONE, number=item[1]))
                is_begun = len(draft.todo) >= len(state.todo)  # It consists of deletions or evictions, which follow.
                yield partial(self._before_controllers if is_slow or is_begun else self.settle, draft)
        elif item[0] == "delete":
            yield from self._deletions(state, item)
        else:
            yield from self._evictions(state, item)

    def _deletions(self, state: State, item: Any) -> Iterator[Way]:
        """Yield ways to delete one of several pods; pods that are gone already are skipped."""
        left = present(state.pods, item[1])
        if not left:
            yield partial(Step, (), _without(state, item))
        for pod in dict.fromkeys(left):
            after = _without_slot(state, item, pod)
            is_at_once = item[2] and pod.end != Deletion.HELD  # Finalizers keep a pod in any case.
            yield partial(self._gone, after, [pod]) if is_at_once else partial(self._deleted, after, (pod,))

    def _evictions(self, state: State, item: Any) -> Iterator[Way]:
        left = self._to_evict(state, item)
        if not left and not self._to_evict(state, item, are_leaving=True):
            yield partial(Step, (), _without(state, item))
        for pod in dict.fromkeys(left):
            if item[0] == "drain" and item[2].is_deleting:  # It deletes pods, and asks no budget.
                yield partial(self._deleted, state, (pod,))
            elif not budgets.refusal(self._world, state, pod):
                after = state if item[0] == "drain" else _without_slot(state, item, pod)
                yield partial(self._deleted, after, (pod,), EventKind.EVICTED)

    def _to_evict(self, state: State, item: Any, *, are_leaving: bool = False) -> list[P]:
        """Return the pods that a command evicts; with `are_leaving`, the leaving pods that a drain waits for."""
        if item[0] == "evict":
            return [] if are_leaving else [pod for pod in present(state.pods, item[1]) if not pod.end]
        taken = []
        for pod in state.pods:
            cls, selector = self._world.classes[pod.cls], item[2].selector
            is_kept = cls.owner is not None and cls.owner.kind in ("DaemonSet", "Node")  # a Node's are mirror pods
            if pod.node == item[1] and bool(pod.end) == are_leaving and not is_kept:
                taken += [pod] if selector is None or selector.matches(dict(cls.labels)) else []
        return taken

    def may_repeat(self, state: State) -> bool:
        """Return whether taints can evict pods in a state."""
        return bool(self._world.evicting(state.facts))

    def _by_nodes(self, state: State, *, are_last: bool = False) -> Iterator[Way]:
        """Yield ways in which the garbage collector or taints remove pods.

        `are_last`: yield only the evictions that `Reduction.EVICTIONS` leaves to the end.
        """
        taken = self._world.evicting(state.facts)
        if not taken:
            return
        is_last = not any(item[0] == "op" for item in state.todo)
        takes_away = partial(nodes.takes_away, self._world)
        for pod in dict.fromkeys(pod for pod in state.pods if pod.node in taken):
            # The user's commands follow each other at once: tolerationSeconds end before the last one only if the taint
            # was there at the start.
            is_over = is_last or takes_away(0, pod, patience_s=self._world.patience_s)
            is_late = pod.is_new and Reduction.EVICTIONS in self._reductions
            is_late = is_late and not takes_away(state.facts, pod, patience_s=0)
            if is_late != are_last or not takes_away(
                state.facts, pod, patience_s=self._world.patience_s if is_over else 0
            ):
                continue
            if self._world.node(state.facts, pod.node) is None:
                yield partial(self._gone, state, [pod])
            else:
                yield partial(self._deleted, state, (pod,), is_disruption=True)

    def _autoscaled(self, state: State) -> Iterator[Way]:
        """Yield ways in which an autoscaler takes a workload back into its range, which takes it up to 15 seconds."""
        for owner, replicas in replicaset.out_of_range(self._world, state):
            yield partial(self._scaled, state, owner, replicas)

    def _scaled(self, state: State, owner: int, replicas: int) -> Step:
        key = self._world.keys[owner]
        (draft,) = doing.do(self._world, state, steps.Scale(key, replicas))
        scaler = self._world.facts[state.facts].cluster.autoscalers[key]
        draft.moves.append(Move(EventKind.SCALED, owner=owner, number=replicas, text=scaler.name))
        return self.settle(draft, (owner,))

    def finish_deletions(self, state: State) -> Step:
        """Return the step in which all deletions finish."""
        return self._gone(state, self._ending(state))

    def _with_nodes(self, state: State, new: tuple[Node, ...]) -> Step:
        """Let nodes join; they are not Ready before the pods of DaemonSets run on them."""
        draft = Draft(self._world, state)
        nodes.join(draft, new)
        _act(draft)
        joined = {move.node for move in draft.moves}
        for pod in list(draft.pods):
            is_daemon = pod.owner >= 0 and isinstance(draft.sets[pod.owner], daemonset.DaemonSetState)
            if _is_waiting(pod) and is_daemon and pod.ordinal in joined:
                draft.bind(pod, pod.ordinal)
        return draft.step()

    def _given_up(self, state: State) -> list[Way]:
        """Return ways to end a command whose pods do not leave, and to continue with the next.

        kubectl waits for ever, and a drain does not reach the next node. It goes on after an eviction that fails, which
        kubectl does not repeat, and if it has a timeout.
        Source: staging/src/k8s.io/kubectl/pkg/drain/drain.go, evictPods; pkg/cmd/drain/drain.go, RunDrain (v1.36.2).
        """
        item = next(iter(reductions.open_items(state)), None)
        if item is None:
            return []
        draft = Draft(self._world, state)
        staying = [(pod, budgets.refusal(self._world, state, pod)) for pod in self._to_evict(state, item)]
        staying = [(pod, text) for pod, text in staying if text]
        ends = True
        if item[0] == "drain":
            leaving = [] if item[2].skips_terminating else self._to_evict(state, item, are_leaving=True)
            staying += [(pod, _STAYS) for pod in leaving]
            ends = item[2].is_timed or all(text == budgets.SEVERAL for _, text in staying)
        others = tuple(other for other in state.todo if other is not item and (ends or other[0] != "drain"))
        draft.todo = (*others, *(("blocked", slot(pod), text) for pod, text in staying))
        draft.moves += [Move(EventKind.REFUSED, pod, pod.node, text=text) for pod, text in staying]
        return [draft.step]


_STAYS = "it stays Terminating, and kubectl waits for it"


def _act(draft: Draft, owners: Optional[Iterable[int]] = None) -> bool:
    """Let controllers make all changes without a choice; return False if one goes on without an end."""
    for owner in range(len(draft.sets)) if owners is None else {owner for owner in owners if owner >= 0}:
        for _ in range(_MOST_ACTS + len(draft.pods)):
            own, moves = draft.sets[owner], len(draft.moves)
            if own is None or not CONTROLLERS[type(own)].act(draft, owner):
                break
            if own is draft.sets[owner] and moves == len(draft.moves):
                return False  # It reports a change and has changed nothing.
        else:
            return False
    return True


def refusals(world: World, state: State) -> dict[int, str]:
    """Return the API server's message for each workload of which it refuses a pod now."""
    draft = Draft(world, state)
    _act(draft)
    for owner, own in enumerate(state.sets):
        if isinstance(own, daemonset.DaemonSetState):
            for _, more in daemonset.updates(world, state, owner):
                for at in more:
                    draft.create(world.specs[own.spec].rev, at)
    return {world.revisions[rev].owner: text for (rev, _), text in {**draft.refused, **draft.rejected}.items()}


_Kind = tuple[int, int, int, int, bool, bool, int]


def _joined(first: Step, then: Way) -> Step:
    """Return two steps as one."""
    second = then()
    return Step(first.moves + second.moves, second.state, first.is_settled and second.is_settled)


def _is_waiting(pod: P) -> bool:
    return pod.node == PENDING and not pod.end


def without_ending(state: State) -> State:
    """Return the state without the pods whose deletion finishes; the same one if there are none."""
    pods = tuple([pod for pod in state.pods if pod.end not in ENDING])
    return state if len(pods) == len(state.pods) else state._replace(pods=pods)


def _without_slot(state: State, item: Any, pod: P) -> State:
    """Return the state in which a command no longer names a pod; an equal pod may stay."""
    slots = list(item[1])
    slots.remove(slot(pod))
    return _without(state, item, *([(item[0], tuple(slots), *item[2:])] if slots else ()))


def _without(state: State, item: Any, *others: Any) -> State:
    """Return the state with others instead of one of the remaining commands."""
    at = state.todo.index(item)
    return state._replace(todo=(*state.todo[:at], *others, *state.todo[at + 1 :]))
