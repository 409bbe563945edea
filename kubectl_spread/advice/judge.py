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
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Optional, Union

from kubectl_spread.advice.change import Change, Effect, Rank, Setback, SpreadChange, Why
from kubectl_spread.advice.plan import HypotheticalCluster, Plan, start_of
from kubectl_spread.advice.problem import CREATING_AT_WILL, PendingPodProblem
from kubectl_spread.advice.recreate import recreated_pod
from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import key_of
from kubectl_spread.engine import reading
from kubectl_spread.engine.results.answer import Outcome, PodState, released
from kubectl_spread.engine.results.domain_pods import merged_ranges
from kubectl_spread.engine.run import Answer, Limits, Mode, play, StepAnswer
from kubectl_spread.engine.search.node_tree import required_node
from kubectl_spread.engine.world import Provisioner
from kubectl_spread.objects.constraints.constraint import ConstraintCounts
from kubectl_spread.objects.keys import ObjectKey, range_of
from kubectl_spread.objects.pod import Pod
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import filter_topology_spread_constraints
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import PreFilterState, soft_counts
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread

Counts = dict[str, ConstraintCounts]  # by topology key
_NOTHING = ConstraintCounts({})

QUICK = Limits(mode=Mode.FIRST, has_messages=False)
_ALL = Limits(mode=Mode.ALL, samples=12, has_messages=False)
_STATES = 12_000  # Budget for states, divided by the nodes and pods of a state.
_FEWEST_STATES, _MOST_STATES = 150, 800
_SOME = Limits(mode=Mode.SAMPLE, samples=3, has_messages=False)
_PLAYED = 40  # Largest workload, in pods, that is simulated move by move.
_SMALL = 30  # Largest cluster, in nodes, with a search for all outcomes.
_CROWD = 100  # Most other waiting pods, or pods before the steps of the past, with a search for all outcomes.
_LARGE = 300  # Most nodes, or such pods, with a random sample of outcomes.
_HUGE = 1000  # Largest cluster, in nodes, that is simulated move by move.


_MOST_TURNS = 400  # of a rollout in batches


class Judge:
    """Simulator of changes for one problem."""

    def __init__(self, problem: PendingPodProblem) -> None:
        self.problem = problem
        self._start = start_of(problem)
        # The workload's key in the simulation; None for a bare pod or an unknown controller.
        owner = problem.owner
        key = key_of(owner)
        if owner.kind == "CronJob" and problem.pod.owner is not None:
            key = ObjectKey("Job", problem.pod.namespace, problem.pod.owner.name)
        is_known = key in self._start.controllers if problem.exists else key.kind in reading.KINDS
        self._key = key if is_known and owner.kind != "Pod" else None
        self._others: Counter[Optional[ObjectKey]] = Counter()  # pods of each other workload that wait in any case
        self._rivals = len(problem.before) + len(problem.after)
        own = len(problem.own) + len(problem.running)
        self._is_large = own > _PLAYED or self._rivals > _LARGE or problem.columns.n > _HUGE
        if self._is_large:
            return
        plan = Plan(problem, self._start)
        if not problem.exists:  # A manifest that is not applied yet is applied unchanged.
            plan.create_written()
        self._before = self._play(plan, self._limits if problem.past else QUICK).last
        self._others = self._rested(self._before.outcomes)[1]
        if problem.is_contended:  # The order decides which pod waits, so no other pod must wait.
            outcomes = self._play(plan, self._limits).last.outcomes
            self._others = functools.reduce(operator.and_, (self._rested([item])[1] for item in outcomes))

    @property
    def _limits(self) -> Limits:
        """Return the simulation limits that the size of the problem leaves time for."""
        problem, nodes = self.problem, self.problem.columns.n
        size = nodes + len(problem.own) + len(problem.running) + self._rivals
        crowd = max(self._rivals, len(problem.began.pods) if problem.began else 0)
        if nodes > _SMALL or crowd > _CROWD:
            return QUICK if max(nodes, crowd) > _LARGE else _SOME
        return _ALL._replace(max_states=min(_MOST_STATES, max(_FEWEST_STATES, _STATES // size)))

    def _play(self, plan: Plan, limits: Limits) -> Answer:
        problem, provisioner = self.problem, self._provisioner
        start, bound = (plan.start, problem.columns) if problem.began is None else (problem.began, None)
        ops = [*problem.past, plan.ops_after(problem.began)]
        return play(start, problem.profiles, ops, limits=limits, bound=bound, provisioner=provisioner)

    @cached_property
    def _provisioner(self) -> Optional[Provisioner]:
        """Return Karpenter, if the cluster has NodePools: then nodes may join after a change."""
        if not self.problem.cluster.provisioning:
            return None
        from kubectl_spread.provisioners import prospect, reading

        return prospect.provisioner(reading.of_cluster(self.problem.cluster))

    def judge(self, change: Change, scene: HypotheticalCluster, *, is_thorough: bool = False) -> Union[Effect, Setback]:
        """Simulate a change; the result is a setback if a pod stays Pending that should not.

        is_thorough: in all its outcomes, or in as many as time allows.
        """
        problem = self.problem
        if self._is_large:
            return self._in_batches(change, scene) or Setback(Why.OWN_WAIT)
        if is_thorough and problem.past:  # One run may refute it, and nobody asks in how many pods wait at most.
            quick = self.judge(change, scene)
            if isinstance(quick, Setback) and quick.why is not Why.NOT_SETTLED:
                return quick
        plan = Plan(problem, self._start, scene)
        try:
            for action in change.ordered_actions:
                action.plan(plan)
            if not problem.exists and not plan.has_new_template:
                plan.create_written()
        except (KeyError, IndexError, TypeError, ValueError):  # The command would be refused.
            return Setback(Why.NOT_APPLICABLE)
        last = self._play(plan, self._limits if is_thorough else QUICK).last
        if not last.outcomes or last.is_endless or not all(outcome.is_steady for outcome in last.outcomes):
            return Setback(Why.NOT_SETTLED)
        waiting, others = self._rested(last.outcomes)
        for key, number in () if change.rank == Rank.WAIT else others.items():  # That happens in any case.
            if number > self._others[key]:
                return Setback(Why.OTHERS_WAIT, number - self._others[key], key)
        outcomes, placed = last.outcomes, [len(self._own_placed(item)) for item in last.outcomes]
        counts = [self._counts(outcome, scene.model) for outcome in outcomes]
        found = self._unsimulated(change, max(map(self._restarts, outcomes)))._replace(
            placed_after=placed[0] + (len(problem.running) if self._key is None else 0),
            pending_after=waiting,
            nodes=() if problem.pod.key in scene.ended else self._nodes(last),
            spreads=spreads(self._counts_before, counts, last),
            outcomes=len(outcomes),
            basis=last.basis_for((self._key,)),
            lost=self._lost(outcomes, plan),
            volumes=tuple(released(self._before.outcomes, outcomes)),
            not_followed=(*plan.not_followed, *problem.not_predictable),
            is_followed=plan.is_followed,
        )
        if self._key is None and any(number != len(problem.own) for number in placed):
            return Setback(Why.OWN_WAIT, waiting)
        # A change may also place more pods of the workload and restart none, although others still wait. A pod with a
        # name of its own must be among them; a ReplicaSet's pods stand for each other.
        is_partial = min(placed) > len(problem.running) and not found.restarts
        if is_partial and problem.owner.kind not in CREATING_AT_WILL:
            pods = (pod for outcome in outcomes for pod in outcome.pods)
            is_partial = not any(pod.name == _usual_name(problem.pod) and not pod.node for pod in pods)
        return found if not waiting or is_partial else Setback(Why.OWN_WAIT, waiting, self._key)

    def _rested(self, outcomes: Iterable[Outcome]) -> tuple[int, Counter[Optional[ObjectKey]]]:
        """Count the waiting pods of the workload, and of each other one, the most in any outcome.

        If the problem's pod has no workload, it shares a count with the other bare pods. The count above their number
        is the problem's.
        """
        own, others = 0, Counter[Optional[ObjectKey]]()
        for outcome in outcomes:
            waiting = Counter(pod.owner for pod in outcome.pods if not pod.node and not pod.is_terminating)
            state = None if self._key is None else outcome.workloads.get(self._key)
            mine = waiting.pop(self._key, 0)
            if self._key is None:
                waiting[None] = min(mine, self._alone)
                mine = max(0, mine - self._alone)
            own = max(own, mine + (0 if state is None else state.not_created))
            others |= waiting
        return own, others

    @cached_property
    def _alone(self) -> int:
        """Return the number of waiting pods without a workload that are not the problem's."""
        own, start = {pod.key for pod in self.problem.own}, self._start
        waiting = (pod for pod in start.pending() if not pod.terminating and pod.key not in own)
        return sum(start.top_owner(pod) not in start.controllers for pod in waiting)

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

    def _own_placed(self, outcome: Outcome) -> list[PodState]:
        """Return the workload's pods with a node; for bare pods, the ones that waited at the start."""
        keys = {(pod.namespace, pod.name) for pod in self.problem.own}
        return [
            pod
            for pod in outcome.pods
            if pod.owner == self._key and pod.node and not pod.is_terminating
            if self._key is not None or (pod.namespace, pod.name) in keys
        ]

    def _nodes(self, answer: StepAnswer) -> tuple[str, ...]:
        """Return the nodes of the problem's pod in all outcomes, also on interchangeable nodes.

        The pod keeps its name until it is replaced. A DaemonSet's pod stays bound to its node, and a replaced pod of
        another workload may be any pod that did not run at the start. Of a manifest, it is one more pod than without
        the change.
        """
        pod, found = self.problem.pod, dict[str, None]()
        pinned = required_node(pod.cls)
        if pinned is not None:
            return (pinned,)
        usual = () if self.problem.exists else self._own_placed(self._before.outcomes[0])
        for outcome in answer.outcomes:
            came, _ = self._exchanged(self._own_placed(outcome))
            name = _usual_name(pod)
            more = Counter(other.node for other in came) - Counter(other.node for other in usual)
            came = [other for other in came if other.node in more] or came
            same = [other for other in came if other.name == name and (other.is_original or self._key is None)]
            if same and len(self.problem.own) > 1 and self._key is not None:  # Any of them may come first.
                same = [other for other in came if other.is_original and other.revision == same[0].revision]
            found |= dict.fromkeys(other.node for other in same or came)
        return tuple(dict.fromkeys(other for name in found for other in answer.symmetry.alike_nodes(name)))

    def _restarts(self, outcome: Outcome) -> int:
        """Return how many running pods of the workload are gone in an outcome.

        After past steps, pods may run on other nodes than the problem's, which are of one of their outcomes.
        """
        if self._key is None:
            return 0
        placed = self._own_placed(outcome)
        if self.problem.past and outcome.before is not None:
            before = Counter((pod.node, pod.number) for pod in self._own_placed(outcome.before))
            before.subtract((pod.node, pod.number) for pod in placed if pod.is_original)
            return sum(max(0, number) for number in before.values())
        return self._exchanged(placed)[1].total()

    def _exchanged(self, placed: Iterable[PodState]) -> tuple[list[PodState], Counter[tuple[str, str, str]]]:
        """Return the pods that did not run at the start, and the number of those gone by name, node and revision.

        The revision is compared only where pods are interchangeable and share one name.
        """
        label = self.problem.revision_label if self.problem.owner.kind in CREATING_AT_WILL else ""
        gone = Counter((_usual_name(pod), pod.node_name, pod.labels.get(label, "")) for pod in self.problem.running)
        came = []
        for pod in placed:
            at = pod.name, pod.node, pod.revision if label else ""
            if pod.is_original and gone[at] > 0:
                gone[at] -= 1
            else:
                came.append(pod)
        return came, gone

    def _lost(self, outcomes: Iterable[Outcome], plan: Plan) -> tuple[str, ...]:
        """Return the names of pods without a controller that run at the start but not at the end of some outcome."""
        start, lost = self._start, set[str]()
        running = (pod for pod in start.pods if pod.node_name and pod.is_visible and not pod.terminating)
        bare = [pod for pod in running if start.top_owner(pod) not in start.controllers]
        bare = [pod for pod in bare if pod.uid not in plan.ended | plan.deleted]
        if not bare:
            return ()
        for outcome in outcomes:
            there = {(pod.namespace, pod.name) for pod in outcome.pods if pod.owner is None and not pod.is_terminating}
            # The cluster also has the pods that took no part in the simulation.
            there |= {(pod.namespace, pod.name) for pod in outcome.cluster().pods if not pod.terminating}
            lost |= {pod.name for pod in bare if (pod.namespace, pod.name) not in there}
        return tuple(sorted(lost))

    @cached_property
    def _counts_before(self) -> Counts:
        """Return the matching pods per domain now. For the pod of a manifest, the manifest is applied first."""
        problem = self.problem
        if self._is_large or problem.exists:
            return count_pods(problem.pod, problem.columns, problem.profiles)
        return self._counts(self._before.outcomes[0], problem.pod)

    def _counts(self, outcome: Outcome, model: Pod) -> Counts:
        """Return the same in an outcome, whose cluster shares most pods with the problem's."""
        problem, cluster = self.problem, outcome.cluster()
        known = {pod.uid for pod in problem.columns.bound_pods}
        bound = [pod for pod in cluster.pods if pod.node_name and pod.is_visible]
        columns = problem.columns.copy_for_cluster(cluster._replace(pods=()), known - {pod.uid for pod in bound})
        for pod in bound:
            at = columns.index.get(pod.node_name)
            if pod.uid not in known and at is not None:
                columns.bind(pod, at)
        return count_pods(model, columns, problem.profiles)

    # Many pods or nodes.

    def _in_batches(self, change: Change, scene: HypotheticalCluster) -> Optional[Effect]:
        """Return the effect of a change of many pods, placed in batches; None if a pod stays Pending.

        A rollout replaces as many pods at once as its settings allow.
        """
        problem, restarts = self.problem, 0
        own = list(scene.own())
        if scene.is_recreated:
            rolled = _rolled_out(scene)
            if rolled is None:
                return None
            scene, own, restarts = rolled
        else:
            own = _with_more(own, len(own) + problem.missing)
        result = scene.place([*own, *scene.evicted])
        if result.refused:
            return None
        placed = {pod.key: result.bound[pod.key].node_name for pod in own}
        words = "placed, and other nodes of equal score"
        if scene.is_recreated:
            words = "replaced: they were placed in batches"
        return self._unsimulated(change, restarts)._replace(
            placed_after=len(placed) + (0 if scene.is_recreated else len(problem.running)),
            nodes=(placed[scene.model.key],) if scene.model.key in placed else tuple(placed.values())[:1],
            spreads=spreads(self._counts_before, [count_pods(scene.model, result.scheduler.columns, problem.profiles)]),
            not_followed=(f"other orders in which {len(placed)} pods may be {words}",),
        )


def _usual_name(pod: Pod) -> str:
    """Return the name of a pod in outcomes, where equal pods have one name: `web-*` of `web-* 1`."""
    return pod.name.partition(" ")[0]


def _with_more(pods: list[Pod], wanted: int) -> list[Pod]:
    """Return the wanted number of pods; pods that the controller has yet to create are modelled on the first."""
    model = pods[0]
    names = ((f"{model.name}-{at}", f"{model.uid}-{at}") for at in range(len(pods), wanted))
    return [*pods, *(model._replace(name=name, uid=uid) for name, uid in names)][:wanted]


def _rolled_out(scene: HypotheticalCluster) -> Optional[tuple[HypotheticalCluster, list[Pod], int]]:
    """Return the cluster after a rollout, its new pods on nodes, and the number of old pods; None if it stalls."""
    problem = scene.problem
    old = [pod for pod in problem.running if pod.uid not in scene.gone]
    made, restarts = scene.recreation(), len(old)
    again = [made(pod) for item in problem.running if (pod := recreated_pod(item, problem.cluster)) is not None]
    wanted = len(again) + len(problem.own) if problem.owner.kind == "DaemonSet" else max(problem.replicas, 1)
    fresh, bound = _with_more([*scene.own(), *again], wanted), list[Pod]()
    replicas = len(fresh)
    settings = (scene.rollout or problem.rollout)._replace(replicas=replicas)
    surge, unavailable = settings.max_surge, settings.max_unavailable
    if problem.owner.kind in ("Job", "CronJob", "Pod") or settings.is_recreate:
        surge, unavailable = 0, replicas
    elif problem.owner.kind == "StatefulSet":
        surge, unavailable = 0, 1
    for _ in range(_MOST_TURNS):
        gone = {pod.uid for pod in problem.running} - {pod.uid for pod in old}
        now = scene._replace(gone=scene.gone | gone)
        if not old and not fresh:
            return now, bound, restarts
        turn = fresh[: max(0, replicas + surge - len(old) - len(bound))]
        placed = now.place([*bound, *turn]).bound if turn else {}
        came = [pod._replace(node_name=placed[pod.key].node_name) for pod in turn if pod.key in placed]
        bound += came
        fresh = [pod for pod in fresh if pod.key not in placed]
        spare = min(len(old) + len(bound) - (replicas - unavailable), len(old))
        if spare <= 0 and not came:
            return None
        # First pods that share a node with most others; the last ordinal of a StatefulSet first.
        ranks = Counter(pod.node_name for pod in (*old, *bound))
        old.sort(key=lambda pod: (-ranks[pod.node_name], pod.name))
        if problem.owner.kind == "StatefulSet":
            old.sort(key=lambda pod: (len(pod.name), pod.name), reverse=True)
        old = old[max(0, spare) :]
    return None


def count_pods(pod: Pod, columns: Columns, profiles: Mapping[str, Profile]) -> Counts:
    """Return the matching pods per domain of the pod's constraints, for the domains that they count."""
    profile = profiles[pod.cls.scheduler_name]
    plugin = profile.plugin(PodTopologySpread)
    state = None if plugin is None else plugin.pre_filter(pod.cls, columns)
    hard = state.counts if isinstance(state, PreFilterState) else ()
    soft = filter_topology_spread_constraints(pod.cls, hard=False, release=profile.release)
    found: Counts = {}
    for counts in (*hard, *soft_counts(soft, pod.cls, columns)):
        now = counts.now()
        found.setdefault(counts.constraint.topology_key, now._replace(domains=dict(now.domains)))
    return found


def spreads(before: Counts, found: Sequence[Counts], answer: Optional[StepAnswer] = None) -> tuple[SpreadChange, ...]:
    """Return the counts per topology key before and after a change.

    Args:
        before: the counts before.
        found: the counts in each outcome.
        answer: the outcomes; with it, the ranges over all of them are known. Interchangeable domains share a range.
    """
    changes = []
    for key in dict.fromkeys((*found[0], *before)):
        change = SpreadChange(key, before.get(key, _NOTHING), found[0].get(key, _NOTHING))
        if answer is not None:
            of_key = [counts.get(key, _NOTHING) for counts in found]
            values = list(dict.fromkeys(value for counts in of_key for value in counts.domains))
            alike = (item.interchange.alike(key) for item in answer.outcomes)
            ranges = merged_ranges(values, zip((counts.domains for counts in of_key), alike, strict=True))
            skews = [counts.skew for counts in of_key if counts.skew is not None]
            change = change._replace(
                # A document writes them as pairs.
                ranges={value: ranges[value][:2] for value in change.after.domains},
                skews=range_of(skews)[:2] if skews else None,
            )
        changes.append(change)
    return tuple(changes)
