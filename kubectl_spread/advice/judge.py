"""Judgement of a change: its commands are simulated over time until the cluster has settled.

    the workload has a pod that waits, in some outcome ── yes ──▶ dropped
    a pod of others waits that would not have waited ── yes ──▶ dropped

`kubectl_spread.engine` simulates controllers, preemption and the scheduler's ties. Each change is compared with the
same cluster left alone. So a change gets no credit for a preemption or a rollout that is already under way.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, Optional, Union

from kubectl_spread.advice import effect
from kubectl_spread.advice import plan as plans
from kubectl_spread.advice.change import Change, Damage, Ladder
from kubectl_spread.advice.plan import start_of
from kubectl_spread.advice.problem import CREATING_AT_WILL, PendingPodProblem
from kubectl_spread.advice.recreate import recreated_pod
from kubectl_spread.advice.scene import HypotheticalCluster
from kubectl_spread.advice.suggestion import Setback, Why
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import reading
from kubectl_spread.engine.results.answer import Outcome, PodState
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.run import Answer, Limits, Mode, play, StepAnswer
from kubectl_spread.engine.search.node_tree import required_node
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins import names

QUICK = Limits(mode=Mode.FIRST, has_messages=False)
_ALL = Limits(mode=Mode.ALL, samples=12, has_messages=False)
_STATES = 6000  # Budget for states, divided by the nodes and pods of a state.
_FEWEST_STATES, _MOST_STATES = 150, 800
_SOME = Limits(mode=Mode.SAMPLE, samples=3, has_messages=False)
_PLAYED = 40  # Largest workload, in pods, that is simulated move by move.
_SMALL = 30  # Largest cluster, in nodes, with a search for all outcomes.
_LARGE = 300  # Largest cluster, in nodes, with a random sample of outcomes.
_HUGE = 1000  # Largest cluster, in nodes, that is simulated move by move.


class PendingAtRest(NamedTuple):
    """Number of waiting pods at rest, the highest of all outcomes: the workload's own, and others per workload."""

    own: int
    others: Counter[Optional[ObjectKey]]


class JudgedChange(NamedTuple):
    """Simulated result of a change.

    outcomes: number of different outcomes found; basis: whether there are others. restarts: running pods of the
    workload that are replaced, the most in any outcome. placed: pods of the workload that end up on a node. nodes:
    nodes of the problem's pod, or of its replacement, in all outcomes; the first outcome's come first. counts: from the
    first outcome. ranges, skews: over all outcomes. lost: names of pods that end and that no controller creates again.
    not_followed: effects that were not simulated. waiting: the workload's pods that still wait, the most in any
    outcome; the problem's pod is not one of them. is_followed: the effects left out do not decide whether the change
    helps.
    """

    outcomes: int
    basis: Basis
    restarts: int
    placed: int
    nodes: tuple[str, ...]
    counts: effect.Counts
    ranges: effect.Ranges
    skews: effect.Skews
    lost: tuple[str, ...]
    not_followed: tuple[str, ...]
    waiting: int = 0
    is_followed: bool = True


class Judge:
    """Simulator of changes for one problem."""

    def __init__(self, problem: PendingPodProblem) -> None:
        self.problem = problem
        self._start = start_of(problem)
        self._key = key_of(problem, self._start)
        if self._is_large:
            self.rested = PendingAtRest(len(problem.given.own), Counter())
            return
        self.before = self._baseline()
        self.rested = self._rested(self.before.outcomes)
        if problem.given.is_contended:  # The order decides which pod waits, so no other pod must wait.
            self.rested = PendingAtRest(self.rested.own, self._fewest())

    def _baseline(self) -> StepAnswer:
        """Simulate the cluster without the change; a manifest that is not applied yet is applied unchanged."""
        plan = plans.Plan(self.problem, self._start)
        if not self.problem.exists:
            plan.create_written()
        return self._play(self._start, plan, QUICK).last

    def _play(self, start: Cluster, plan: plans.Plan, limits: Limits) -> Answer:
        problem = self.problem
        return play(start, problem.profiles, [tuple(plan.ops)], limits=limits, bound=problem.columns)

    def plan_of(self, change: Change, scene: HypotheticalCluster) -> plans.Plan:
        """Return the steps of a change.

        Raises:
            KeyError, IndexError, TypeError, ValueError: it does not fit the objects.
        """
        plan = plans.Plan(self.problem, self._start)
        for action in effect.merge_edits(change.actions):
            action.plan(plan, scene)
        if not self.problem.exists and not plan.has_new_template:
            plan.create_written()
        return plan

    def judge(self, change: Change, scene: HypotheticalCluster, limits: Limits = QUICK) -> Union[JudgedChange, Setback]:
        """Simulate a change; the result is a setback if a pod stays Pending that should not."""
        if self._is_large:
            return self._in_batches(scene) or Setback(Why.OWN_WAIT)
        try:
            plan = self.plan_of(change, scene)
        except (KeyError, IndexError, TypeError, ValueError):  # The command would be refused.
            return Setback(Why.NOT_APPLICABLE)
        last = self._play(plan.start, plan, limits).last
        if not last.outcomes or last.is_endless or not all(outcome.is_steady for outcome in last.outcomes):
            return Setback(Why.NOT_SETTLED)
        after = self._rested(last.outcomes)
        for key, number in after.others.items():
            if number > self.rested.others[key]:
                return Setback(Why.OTHERS_WAIT, number - self.rested.others[key], key)
        found = self._judged(last, plan, scene)._replace(waiting=after.own)
        has_own = self._key is not None or all(
            len(self._own_placed(item)) == len(self.problem.given.own) for item in last.outcomes
        )
        if has_own and (not after.own or self._is_partial(last.outcomes, found)):
            return found
        return Setback(Why.OWN_WAIT, after.own, self._key)

    def _is_partial(self, outcomes: Sequence[Outcome], found: JudgedChange) -> bool:
        """Return whether a change places more pods of the workload and restarts none, although others still wait.

        A pod with a name of its own must be among them; a ReplicaSet's pods stand for each other.
        """
        name, running = self.problem.pod.name, len(self.problem.given.running)
        has_more = all(len(self._own_placed(outcome)) > running for outcome in outcomes)
        still = any(pod.name == name and not pod.node for outcome in outcomes for pod in outcome.pods)
        return has_more and not found.restarts and (not still or self.problem.owner.kind in CREATING_AT_WILL)

    def thorough(self, change: Change, scene: HypotheticalCluster) -> Union[JudgedChange, Setback]:
        """Simulate a change in all its outcomes, or in as many as time allows."""
        return self.judge(change, scene, self._limits)

    def _in_batches(self, scene: HypotheticalCluster) -> Optional[JudgedChange]:
        """Return the result of a change of many pods, placed in batches."""
        problem = self.problem
        found = find_final_state(scene, [*scene.evicted])
        if found is None:
            return None
        model = next((pod for pod in scene.own() if pod.key == problem.pod.key), problem.pod)
        counts = effect.count_pods(model, found.scheduler)
        stays = 0 if scene.is_recreated else len(problem.given.running)
        nodes = tuple(found.placed.values())
        return JudgedChange(
            outcomes=1,
            basis=Basis.SAMPLE,
            restarts=found.restarts,
            placed=len(nodes) + stays,
            nodes=(found.placed[model.key],) if model.key in found.placed else nodes[:1],
            counts=counts,
            ranges={},
            skews={},
            lost=(),
            not_followed=(phrase_of_omissions(scene, found),),
        )

    def _fewest(self) -> Counter[Optional[ObjectKey]]:
        """Count the pods of other workloads that wait in every outcome."""
        plan = plans.Plan(self.problem, self._start)
        outcomes = self._play(self._start, plan, self._limits).last.outcomes
        found = [self._rested([outcome]).others for outcome in outcomes]
        return found[0] if not found[1:] else functools.reduce(operator.and_, found)

    @property
    def _limits(self) -> Limits:
        """Return the simulation limits that the size of the problem leaves time for."""
        if self.problem.columns.n > _LARGE:
            return QUICK
        if self.problem.columns.n > _SMALL:
            return _SOME
        size = self.problem.columns.n + len(self.problem.given.own) + len(self.problem.given.running)
        return _ALL._replace(max_states=min(_MOST_STATES, max(_FEWEST_STATES, _STATES // size)))

    def _rested(self, outcomes: Iterable[Outcome]) -> PendingAtRest:
        """Count the waiting pods per workload, the most in any outcome.

        If the problem's pod has no workload, it shares a count with the other bare pods. The count above their number
        is the problem's.
        """
        own, others = 0, Counter[Optional[ObjectKey]]()
        for outcome in outcomes:
            waiting = Counter(pod.owner for pod in outcome.pods if not pod.node and not pod.is_terminating)
            state = None if self._key is None else outcome.workloads.get(self._key)
            held_back = 0 if state is None else state.not_created
            mine = waiting.pop(self._key, 0)
            if self._key is None:
                others[None] = max(others[None], min(mine, self._alone))
                mine = max(0, mine - self._alone)
            own = max(own, mine + held_back)
            for key, number in waiting.items():
                others[key] = max(others[key], number)
        return PendingAtRest(own, others)

    @cached_property
    def _alone(self) -> int:
        """Return the number of waiting pods without a workload that are not the problem's."""
        own = {pod.key for pod in self.problem.given.own}
        known = self._start.controllers
        pending = (pod for pod in self._start.pending() if not pod.terminating)
        waiting = (pod for pod in pending if self._start.top_owner(pod) not in known)
        return sum(pod.key not in own for pod in waiting)

    def _judged(self, answer: StepAnswer, plan: plans.Plan, scene: HypotheticalCluster) -> JudgedChange:
        first = answer.outcomes[0]
        own = self._own_placed(first)
        model = next((pod for pod in scene.own() if pod.key == self.problem.pod.key), self.problem.pod)
        found = [self._counts(outcome, model) for outcome in answer.outcomes]
        return JudgedChange(
            outcomes=len(answer.outcomes),
            basis=answer.basis_for((self._key,)),
            restarts=max(self._restarts(outcome, plan) for outcome in answer.outcomes),
            placed=len(own) + (len(self.problem.given.running) if self._key is None else 0),
            nodes=() if self.problem.pod.key in scene.ended else self._nodes(answer),
            counts=found[0],
            ranges=ranges_of(found, answer),
            skews=effect.skews(found),
            lost=tuple(sorted({name for outcome in answer.outcomes for name in self._lost(outcome, plan)})),
            not_followed=tuple(plan.not_followed),
            is_followed=plan.is_followed,
        )

    def _own_placed(self, outcome: Outcome) -> list[PodState]:
        """Return the workload's pods with a node; for bare pods, the ones that waited at the start."""
        placed = [pod for pod in outcome.pods if pod.owner == self._key and pod.node and not pod.is_terminating]
        if self._key is None:
            keys = {(pod.namespace, pod.name) for pod in self.problem.given.own}
            return [pod for pod in placed if (pod.namespace, pod.name) in keys]
        return placed

    def _nodes(self, answer: StepAnswer) -> tuple[str, ...]:
        """Return the nodes of the problem's pod in all outcomes, also on interchangeable nodes.

        The pod keeps its name until it is replaced. A DaemonSet's pod stays bound to its node, and a replaced pod of
        another workload may be any pod that did not run at the start.
        """
        pod, found = self.problem.pod, dict[str, None]()
        pinned = required_node(pod.cls)
        if pinned is not None:
            return (pinned,)
        ran = {other.name for other in self.problem.given.running}
        for outcome in answer.outcomes:
            placed = self._own_placed(outcome)
            came = [other for other in placed if not other.is_original or other.name not in ran]
            same = [other for other in came if other.name == pod.name and (other.is_original or self._key is None)]
            if same and len(self.problem.given.own) > 1 and self._key is not None:  # Any of them may come first.
                same = [other for other in came if other.is_original and other.revision == same[0].revision]
            found |= dict.fromkeys(other.node for other in same or came)
        return tuple(dict.fromkeys(other for name in found for other in answer.symmetry.alike_nodes(name)))

    @cached_property
    def _bare(self) -> list[Pod]:
        """Return the running pods that no controller would create again."""
        return [pod for pod in self._start.pods if self._is_bare(pod)]

    def _is_bare(self, pod: Pod) -> bool:
        above = self._start.top_owner(pod)
        is_alone = above is None or above not in self._start.controllers
        return bool(pod.node_name) and pod.is_visible and is_alone

    def _restarts(self, outcome: Outcome, plan: plans.Plan) -> int:
        """Return how many running pods of the workload are gone in an outcome."""
        if self._key is None:
            return 0
        own = [pod for pod in outcome.pods if pod.owner == self._key]
        there = sum(pod.is_original and not pod.is_terminating for pod in own)
        waiting = len(self.problem.given.own) if self.problem.exists else 0
        gone = len(self.problem.given.running) + waiting - there
        return max(0, gone - (waiting if plan.replaces_waiting else 0))

    def _lost(self, outcome: Outcome, plan: plans.Plan) -> Iterator[str]:
        """Yield the names of pods without a controller that run at the start but not at the end."""
        if not self._bare:
            return
        there = {(pod.namespace, pod.name) for pod in outcome.pods if pod.owner is None and not pod.is_terminating}
        known = {pod.uid for pod in outcome.cluster().pods} | plan.ended | plan.deleted  # Others took no part.
        for pod in self._bare:
            if not pod.terminating and pod.uid not in known and (pod.namespace, pod.name) not in there:
                yield pod.name

    @property
    def _is_large(self) -> bool:
        given = self.problem.given
        return len(given.own) + len(given.running) > _PLAYED or self.problem.columns.n > _HUGE

    @cached_property
    def counts_before(self) -> effect.Counts:
        """Return the matching pods per domain of the pod's constraints without any change."""
        if self._is_large:
            columns = self.problem.columns.copy_for_cluster(self.problem.cluster._replace(pods=()))
            return effect.count_pods(self.problem.pod, Scheduler(columns, self.problem.profiles, all_nodes=True))
        return self._counts(self.before.outcomes[0], self.problem.pod)

    def _counts(self, outcome: Outcome, model: Pod) -> effect.Counts:
        return effect.count_pods(model, scheduler_of(self.problem, outcome.cluster()))


def scheduler_of(problem: PendingPodProblem, cluster: Cluster) -> Scheduler:
    """Return a scheduler for a cluster that shares most pods with the problem's."""
    known = {pod.uid for pod in problem.columns.bound_pods}
    bound = [pod for pod in cluster.pods if pod.node_name and pod.is_visible]
    there = {pod.uid for pod in bound}
    columns = problem.columns.copy_for_cluster(cluster._replace(pods=()), known - there)
    for pod in bound:
        at = columns.index.get(pod.node_name)
        if pod.uid not in known and at is not None:
            columns.bind(pod, at)
    return Scheduler(columns, _counting(problem.profiles), all_nodes=True)


def _counting(profiles: Mapping[str, Profile]) -> dict[str, Profile]:
    """Return profiles that only count pods for constraints."""
    only = names.POD_TOPOLOGY_SPREAD
    return {
        name: profile._replace(
            pre_filter=tuple(plugin for plugin in profile.pre_filter if plugin.name == only), filter_order=(only,)
        )
        for name, profile in profiles.items()
    }


def ranges_of(found: Sequence[effect.Counts], answer: StepAnswer) -> effect.Ranges:
    """Return the fewest and most pods per domain over all outcomes; interchangeable domains share a range."""
    ranges: effect.Ranges = {}
    for key in found[0]:
        alike = answer.symmetry.alike(key)
        by_kind: dict[object, tuple[int, int]] = {}
        for counts in found:
            for value, number in counts.get(key, {}).items():
                kind = alike.get(value, value)
                least, most = by_kind.get(kind, (number, number))
                by_kind[kind] = (min(least, number), max(most, number))
        ranges[key] = {value: by_kind[alike.get(value, value)] for value in found[0][key]}
    return ranges


def key_of(problem: PendingPodProblem, start: Cluster) -> Optional[ObjectKey]:
    """Return the workload's key in the simulation; None for a bare pod or an unknown controller."""
    key = _named(problem)
    if not problem.exists:
        return key if key is not None and key.kind in reading.KINDS else None
    return key if key in start.controllers else None


def _named(problem: PendingPodProblem) -> Optional[ObjectKey]:
    owner = problem.owner
    if owner.kind == "Pod":
        return None
    if owner.kind == "CronJob" and problem.pod.owner is not None:
        return ObjectKey("Job", problem.pod.namespace, problem.pod.owner.name)
    return ObjectKey(owner.kind, owner.namespace, owner.name)


_REPLACED = "other orders in which {pods} pods may be replaced: they were placed in batches"
_PLACED = "other orders in which {pods} pods may be placed, and other nodes of equal score"
_AT_ONCE = ("Job", "CronJob", "Pod")
_MOST_TURNS = 400


class FinalState(NamedTuple):
    """Final state: nodes of the workload's pods by pod key, and the number of running pods that were replaced."""

    scheduler: Scheduler
    placed: dict[str, str]
    restarts: int


def find_final_state(scene: HypotheticalCluster, others: Sequence[Pod]) -> Optional[FinalState]:
    """Return the final state of a change; None if a pod of the workload or of the others stays Pending.

    Args:
        scene: after the change.
        others: pods of other workloads that need a node, too.
    """
    if not scene.is_recreated:
        own = list(scene.own())
        return _settled(scene, _with_more(own, len(own) + scene.problem.missing), others)
    return _Batches(scene, others).run()


def _with_more(pods: list[Pod], wanted: int) -> list[Pod]:
    """Return the wanted number of pods; pods that the controller has yet to create are modelled on the first."""
    model = pods[0]
    names = ((f"{model.name}-{at}", f"{model.uid}-{at}") for at in range(len(pods), wanted))
    return [*pods, *(model._replace(name=name, uid=uid) for name, uid in names)][:wanted]


def _settled(
    scene: HypotheticalCluster, own: Sequence[Pod], others: Sequence[Pod], restarts: int = 0
) -> Optional[FinalState]:
    placed = scene.place([*own, *others])
    if placed.refused:
        return None
    return FinalState(placed.scheduler, {pod.key: placed.bound[pod.key].node_name for pod in own}, restarts)


def phrase_of_omissions(scene: HypotheticalCluster, found: FinalState) -> str:
    """Return a phrase for the outcomes that placing in batches leaves out."""
    words = _REPLACED if scene.is_recreated else _PLACED
    return words.format(pods=len(found.placed))


class _Batches:
    def __init__(self, scene: HypotheticalCluster, others: Sequence[Pod]) -> None:
        problem = self._problem = scene.problem
        self._scene, self._others = scene, others
        self._made = scene.recreation().pod
        self._old = [pod for pod in problem.given.running if pod.uid not in scene.gone]
        self._fresh = self._new_pods(problem)
        self._replicas = len(self._fresh)
        self._bound: list[Pod] = []

    def _new_pods(self, problem: PendingPodProblem) -> list[Pod]:
        """Return the wanted number of pods of the new template, the waiting ones first."""
        running = [
            pod for pod in (recreated_pod(pod, problem.cluster) for pod in problem.given.running) if pod is not None
        ]
        wanted = (
            max(problem.replicas, 1) if problem.owner.kind != "DaemonSet" else len(running) + len(problem.given.own)
        )
        return _with_more([*self._scene.own(), *map(self._made, running)], wanted)

    def run(self) -> Optional[FinalState]:
        restarts = len(self._old)
        surge, unavailable = self._limits()
        for _ in range(_MOST_TURNS):
            if not self._old and not self._fresh:
                return _settled(self._now(), self._bound, self._others, restarts)
            room = self._replicas + surge - len(self._old) - len(self._bound)
            is_moved = self._place(self._fresh[: max(0, room)])
            spare = len(self._old) + len(self._bound) - (self._replicas - unavailable)
            is_moved |= self._remove(min(spare, len(self._old)))
            if not is_moved:
                return None
        return None

    def _limits(self) -> tuple[int, int]:
        problem = self._problem
        kind, settings = problem.owner.kind, self._scene.rollout or problem.rollout
        if kind in _AT_ONCE or settings.type == "Recreate":
            return 0, self._replicas
        return (0, 1) if kind == "StatefulSet" else settings.limits(self._replicas)

    def _now(self) -> HypotheticalCluster:
        there = {pod.uid for pod in self._old}
        gone = {pod.uid for pod in self._problem.given.running if pod.uid not in there}
        return self._scene._replace(gone=self._scene.gone | gone)

    def _place(self, pods: Sequence[Pod]) -> bool:
        """Place new pods, and return whether any found a node."""
        if not pods:
            return False
        bound = self._now().place([*self._bound, *pods]).bound
        found = [pod for pod in pods if pod.key in bound]
        self._bound += [pod._replace(node_name=bound[pod.key].node_name) for pod in found]
        keys = {pod.key for pod in found}
        self._fresh = [pod for pod in self._fresh if pod.key not in keys]
        return bool(found)

    def _remove(self, count: int) -> bool:
        """Delete old pods, first pods that share a node with most others; the last ordinal of a StatefulSet first."""
        if count <= 0:
            return False
        if self._problem.owner.kind == "StatefulSet":
            ranked = sorted(self._old, key=lambda pod: (len(pod.name), pod.name), reverse=True)
        else:
            ranks = Counter(pod.node_name for pod in (*self._old, *self._bound))
            ranked = sorted(self._old, key=lambda pod: (-ranks[pod.node_name], pod.name))
        gone = {pod.uid for pod in ranked[:count]}
        self._old = [pod for pod in self._old if pod.uid not in gone]
        return True


class TriedChange(NamedTuple):
    """A change that helps at this moment, applied to the cluster.

    waiting: how many of the workload's pods wait right after it. ladder, at: its ladder and its step there. judged: its
    simulated result; None until it is simulated to the end. equals: equivalent changes of other objects, which are
    shown with this one. is_rough: a smaller step may be enough.
    """

    change: Change
    scene: HypotheticalCluster
    waiting: int
    ladder: Ladder
    at: int
    judged: Optional[JudgedChange] = None
    equals: tuple[TriedChange, ...] = ()
    is_rough: bool = False

    @property
    def comes_late(self) -> bool:
        """Return whether the change loosens a rule and also restarts pods that would otherwise keep running."""
        problem = self.scene.problem
        restarts = problem.target.replaces_its_pods and len(problem.given.running) > len(problem.outdated_pods)
        is_restarting = restarts if self.change.edits_template else True
        return is_restarting and not self.change.is_gentle

    @property
    def damage(self) -> Damage:
        """Return the worst effect; re-creating a Job or a bare pod ends its running pods."""
        problem, damage = self.scene.problem, self.change.damage
        if self.judged is not None and self.judged.lost:
            damage = max(damage, Damage.EVICTS)
        target = problem.target
        ends_running = self.change.is_of_manifest and target.is_live and target.ends_its_pods
        return max(damage, Damage.KILLS) if ends_running and problem.given.running else damage
