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

from kubectl_spread.advice.change import Change
from kubectl_spread.advice.plan import HypotheticalCluster, Plan, start_of
from kubectl_spread.advice.problem import CREATING_AT_WILL, PendingPodProblem
from kubectl_spread.advice.recreate import recreated_pod
from kubectl_spread.advice.suggestion import Effect, Setback, SpreadChange, Why
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.engine import reading
from kubectl_spread.engine.results.answer import Outcome, PodState
from kubectl_spread.engine.run import Answer, Limits, Mode, play, StepAnswer
from kubectl_spread.engine.search.node_tree import required_node
from kubectl_spread.explain.constraints.report import hard_counts
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import soft_counts

Counts = dict[str, dict[str, int]]  # topology key -> value -> pods

QUICK = Limits(mode=Mode.FIRST, has_messages=False)
_ALL = Limits(mode=Mode.ALL, samples=12, has_messages=False)
_STATES = 6000  # Budget for states, divided by the nodes and pods of a state.
_FEWEST_STATES, _MOST_STATES = 150, 800
_SOME = Limits(mode=Mode.SAMPLE, samples=3, has_messages=False)
_PLAYED = 40  # Largest workload, in pods, that is simulated move by move.
_SMALL = 30  # Largest cluster, in nodes, with a search for all outcomes.
_LARGE = 300  # Largest cluster, in nodes, with a random sample of outcomes.
_HUGE = 1000  # Largest cluster, in nodes, that is simulated move by move.


class Judge:
    """Simulator of changes for one problem."""

    def __init__(self, problem: PendingPodProblem) -> None:
        self.problem = problem
        self._start = start_of(problem)
        self._key = key_of(problem, self._start)
        self._others: Counter[Optional[ObjectKey]] = Counter()  # pods of each other workload that wait in any case
        if self._is_large:
            return
        plan = Plan(problem, self._start)
        if not problem.exists:  # A manifest that is not applied yet is applied unchanged.
            plan.create_written()
        self._before = self._play(self._start, plan, QUICK).last
        self._others = self._rested(self._before.outcomes)[1]
        if problem.is_contended:  # The order decides which pod waits, so no other pod must wait.
            outcomes = self._play(self._start, plan, self._limits).last.outcomes
            self._others = functools.reduce(operator.and_, (self._rested([item])[1] for item in outcomes))

    def _play(self, start: Cluster, plan: Plan, limits: Limits) -> Answer:
        problem = self.problem
        return play(start, problem.profiles, [tuple(plan.ops)], limits=limits, bound=problem.columns)

    def judge(self, change: Change, scene: HypotheticalCluster, limits: Limits = QUICK) -> Union[Effect, Setback]:
        """Simulate a change; the result is a setback if a pod stays Pending that should not."""
        if self._is_large:
            return self._in_batches(change, scene) or Setback(Why.OWN_WAIT)
        plan = Plan(self.problem, self._start)
        try:
            for action in change.ordered_actions:
                action.plan(plan, scene)
            if not self.problem.exists and not plan.has_new_template:
                plan.create_written()
        except (KeyError, IndexError, TypeError, ValueError):  # The command would be refused.
            return Setback(Why.NOT_APPLICABLE)
        last = self._play(plan.start, plan, limits).last
        if not last.outcomes or last.is_endless or not all(outcome.is_steady for outcome in last.outcomes):
            return Setback(Why.NOT_SETTLED)
        waiting, others = self._rested(last.outcomes)
        for key, number in others.items():
            if number > self._others[key]:
                return Setback(Why.OTHERS_WAIT, number - self._others[key], key)
        found = self._effect(change, scene, plan, last)._replace(pending_after=waiting)
        has_own = self._key is not None or all(
            len(self._own_placed(item)) == len(self.problem.own) for item in last.outcomes
        )
        if has_own and (not waiting or self._is_partial(last.outcomes, found)):
            return found
        return Setback(Why.OWN_WAIT, waiting, self._key)

    def _is_partial(self, outcomes: Sequence[Outcome], found: Effect) -> bool:
        """Return whether a change places more pods of the workload and restarts none, although others still wait.

        A pod with a name of its own must be among them; a ReplicaSet's pods stand for each other.
        """
        name, running = self.problem.pod.name, len(self.problem.running)
        has_more = all(len(self._own_placed(outcome)) > running for outcome in outcomes)
        still = any(pod.name == name and not pod.node for outcome in outcomes for pod in outcome.pods)
        return has_more and not found.restarts and (not still or self.problem.owner.kind in CREATING_AT_WILL)

    def thorough(self, change: Change, scene: HypotheticalCluster) -> Union[Effect, Setback]:
        """Simulate a change in all its outcomes, or in as many as time allows."""
        return self.judge(change, scene, self._limits)

    def _in_batches(self, change: Change, scene: HypotheticalCluster) -> Optional[Effect]:
        """Return the effect of a change of many pods, placed in batches."""
        problem = self.problem
        found = find_final_state(scene, [*scene.evicted])
        if found is None:
            return None
        model = next((pod for pod in scene.own() if pod.key == problem.pod.key), problem.pod)
        nodes = tuple(found.placed.values())
        return self._unsimulated(change, found.restarts)._replace(
            placed_after=len(nodes) + (0 if scene.is_recreated else len(problem.running)),
            nodes=(found.placed[model.key],) if model.key in found.placed else nodes[:1],
            spreads=spreads(self._counts_before, [count_pods(model, found.scheduler)]),
            not_followed=(phrase_of_omissions(scene, found),),
        )

    def _unsimulated(self, change: Change, restarts: int) -> Effect:
        """Return the effect of a change as far as it is known without a simulation."""
        problem = self.problem
        return Effect(
            placed_before=len(problem.running) + len(problem.own) - problem.pending,
            placed_after=0,
            pending_before=problem.pending,
            pending_after=0,
            nodes=(),
            without_node=len(problem.own) if problem.is_contended else problem.pending,
            restarts=restarts,
            under_way=min(restarts, len(problem.outdated_pods)),
            is_new=change.edits_template,
            running=len(problem.running),
        )

    @property
    def _limits(self) -> Limits:
        """Return the simulation limits that the size of the problem leaves time for."""
        if self.problem.columns.n > _LARGE:
            return QUICK
        if self.problem.columns.n > _SMALL:
            return _SOME
        size = self.problem.columns.n + len(self.problem.own) + len(self.problem.running)
        return _ALL._replace(max_states=min(_MOST_STATES, max(_FEWEST_STATES, _STATES // size)))

    def _rested(self, outcomes: Iterable[Outcome]) -> tuple[int, Counter[Optional[ObjectKey]]]:
        """Count the waiting pods of the workload, and of each other one, the most in any outcome.

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
        return own, others

    @cached_property
    def _alone(self) -> int:
        """Return the number of waiting pods without a workload that are not the problem's."""
        own = {pod.key for pod in self.problem.own}
        known = self._start.controllers
        pending = (pod for pod in self._start.pending() if not pod.terminating)
        waiting = (pod for pod in pending if self._start.top_owner(pod) not in known)
        return sum(pod.key not in own for pod in waiting)

    def _effect(self, change: Change, scene: HypotheticalCluster, plan: Plan, answer: StepAnswer) -> Effect:
        problem, outcomes = self.problem, answer.outcomes
        model = next((pod for pod in scene.own() if pod.key == problem.pod.key), problem.pod)
        found = [self._counts(outcome, model) for outcome in outcomes]
        restarts = max(self._restarts(outcome, plan) for outcome in outcomes)
        own = len(self._own_placed(outcomes[0]))
        return self._unsimulated(change, restarts)._replace(
            placed_after=own + (len(problem.running) if self._key is None else 0),
            nodes=() if problem.pod.key in scene.ended else self._nodes(answer),
            spreads=spreads(self._counts_before, found, answer),
            outcomes=len(outcomes),
            basis=answer.basis_for((self._key,)),
            lost=tuple(sorted({name for outcome in outcomes for name in self._lost(outcome, plan)})),
            not_followed=tuple(plan.not_followed),
            is_followed=plan.is_followed,
        )

    def _own_placed(self, outcome: Outcome) -> list[PodState]:
        """Return the workload's pods with a node; for bare pods, the ones that waited at the start."""
        placed = [pod for pod in outcome.pods if pod.owner == self._key and pod.node and not pod.is_terminating]
        if self._key is None:
            keys = {(pod.namespace, pod.name) for pod in self.problem.own}
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
        ran = {other.name for other in self.problem.running}
        for outcome in answer.outcomes:
            placed = self._own_placed(outcome)
            came = [other for other in placed if not other.is_original or other.name not in ran]
            same = [other for other in came if other.name == pod.name and (other.is_original or self._key is None)]
            if same and len(self.problem.own) > 1 and self._key is not None:  # Any of them may come first.
                same = [other for other in came if other.is_original and other.revision == same[0].revision]
            found |= dict.fromkeys(other.node for other in same or came)
        return tuple(dict.fromkeys(other for name in found for other in answer.symmetry.alike_nodes(name)))

    @cached_property
    def _bare(self) -> list[Pod]:
        """Return the running pods that no controller would create again."""
        start = self._start
        running = (pod for pod in start.pods if pod.node_name and pod.is_visible)
        return [pod for pod in running if start.top_owner(pod) not in start.controllers]

    def _restarts(self, outcome: Outcome, plan: Plan) -> int:
        """Return how many running pods of the workload are gone in an outcome."""
        if self._key is None:
            return 0
        own = [pod for pod in outcome.pods if pod.owner == self._key]
        there = sum(pod.is_original and not pod.is_terminating for pod in own)
        waiting = len(self.problem.own) if self.problem.exists else 0
        gone = len(self.problem.running) + waiting - there
        return max(0, gone - (waiting if plan.replaces_waiting else 0))

    def _lost(self, outcome: Outcome, plan: Plan) -> Iterator[str]:
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
        problem = self.problem
        return len(problem.own) + len(problem.running) > _PLAYED or self.problem.columns.n > _HUGE

    @cached_property
    def _counts_before(self) -> Counts:
        """Return the matching pods per domain of the pod's constraints without any change."""
        problem = self.problem
        if self._is_large:
            columns = problem.columns.copy_for_cluster(problem.cluster._replace(pods=()))
            return count_pods(problem.pod, Scheduler(columns, problem.profiles, all_nodes=True))
        return self._counts(self._before.outcomes[0], problem.pod)

    def _counts(self, outcome: Outcome, model: Pod) -> Counts:
        return count_pods(model, scheduler_of(self.problem, outcome.cluster()))


def count_pods(pod: Pod, scheduler: Scheduler) -> Counts:
    """Return the matching pods per domain of the pod's constraints, for the domains that they count."""
    filtered = scheduler.filter(pod)
    soft = soft_counts(pod.cls, scheduler.columns, filtered.feasible & False, release=filtered.release)
    found: Counts = {}
    for counts in (*hard_counts(filtered), *soft):
        found.setdefault(counts.constraint.topology_key, dict(counts.now().domains))
    return found


def spreads(before: Counts, found: Sequence[Counts], answer: Optional[StepAnswer] = None) -> tuple[SpreadChange, ...]:
    """Return the counts per topology key before and after a change.

    Args:
        before: the counts before.
        found: the counts in each outcome.
        answer: the outcomes; with it, the ranges over all of them are known. Interchangeable domains share a range.
    """
    return tuple(_spread(key, before, found, answer) for key in dict.fromkeys((*found[0], *before)))


def _spread(key: str, before: Counts, found: Sequence[Counts], answer: Optional[StepAnswer]) -> SpreadChange:
    change = SpreadChange(key, before.get(key, {}), found[0].get(key, {}))
    if answer is None:
        return change
    alike = answer.symmetry.alike(key)
    numbers: dict[object, list[int]] = {}
    for value, number in (item for counts in found for item in counts.get(key, {}).items()):
        numbers.setdefault(alike.get(value, value), []).append(number)
    same = {value: numbers[alike.get(value, value)] for value in change.after}
    skews = [skew for counts in found if (skew := ConstraintCounts(counts.get(key, {})).skew) is not None]
    return change._replace(
        ranges={value: (min(own), max(own)) for value, own in same.items()},
        skews=(min(skews), max(skews)) if skews else None,
    )


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
        self._old = [pod for pod in problem.running if pod.uid not in scene.gone]
        self._fresh = self._new_pods(problem)
        self._replicas = len(self._fresh)
        self._bound: list[Pod] = []

    def _new_pods(self, problem: PendingPodProblem) -> list[Pod]:
        """Return the wanted number of pods of the new template, the waiting ones first."""
        running = [pod for pod in (recreated_pod(pod, problem.cluster) for pod in problem.running) if pod is not None]
        wanted = max(problem.replicas, 1) if problem.owner.kind != "DaemonSet" else len(running) + len(problem.own)
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
        if kind in _AT_ONCE or settings.is_recreate:
            return 0, self._replicas
        settings = settings._replace(replicas=self._replicas)
        return (0, 1) if kind == "StatefulSet" else (settings.max_surge, settings.max_unavailable)

    def _now(self) -> HypotheticalCluster:
        there = {pod.uid for pod in self._old}
        gone = {pod.uid for pod in self._problem.running if pod.uid not in there}
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
