"""Rollouts, each simulated at most once within limits, or proven to find room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple, Optional

import numpy as np

from kubectl_spread.cluster.build import admitted_workload, stored_workload
from kubectl_spread.cluster.columns import Bools, Columns, Int64s
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.engine import steps
from kubectl_spread.engine.controllers.daemonset import wanted_nodes
from kubectl_spread.engine.loading import most_alike, stage_of
from kubectl_spread.engine.parts import Splitter
from kubectl_spread.engine.reading import daemonset_spec, is_on_delete, most_pods
from kubectl_spread.engine.refusals import charge, lasting_refusal, usage_at_start
from kubectl_spread.engine.results.answer import Outcome
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.summary import PlayedStep, summarize, Verdict
from kubectl_spread.engine.run import Limits, Mode, play, play_part, StepAnswer
from kubectl_spread.engine.search.limit import Budget
from kubectl_spread.engine.state import Stage
from kubectl_spread.explain.explanation import examine, Explanation
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.constraints.uncounted import find_uncounted
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import created_labels, revision_label
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import hard_counts, passes_all_but_spread
from kubectl_spread.scheduler.unsupported import UNKNOWN_CLAIMS, unsupported_features
from kubectl_spread.simulate.rollouts.result import RolloutKind, RolloutResult
from kubectl_spread.simulate.running.controllers import newest_hash, running_pods

STATES = 16_000  # Most ordinary states for all rollouts of one run; so the load of the machine changes no answer.
_LEAST_STATES = 100  # Fewer states than this are not enough for a rollout.
_LONGEST_RUN = 4_000  # Most ordinary states of one run.
_SMALL, _LARGE = 60, 1_000  # Nodes and pods of a rollout whose states are all visited, and of one that is simulated.
_EFFORTS = ((3, 1_000, 12), (10, 300, 6), (40, 60, 3))  # Up to this many rollouts: states, random runs of each.
_LEAST_EFFORT = (20, 2)
_OF_A_PART = Limits(max_states=1_000)


class RolloutQuestion(NamedTuple):
    """A rollout to simulate.

    controllers: of its workloads, as they are afterwards. old: number of pods that a current rollout has to replace.
    """

    kind: RolloutKind
    controllers: tuple[Controller, ...]
    old: int = 0

    @property
    def keys(self) -> tuple[ObjectKey, ...]:
        return tuple(key_of(item.workload) for item in self.controllers)

    @property
    def ops(self) -> tuple[steps.Op, ...]:
        if self.kind is RolloutKind.NEXT:
            return tuple(map(steps.Restart, self.keys))
        return tuple(map(steps.Apply, self.controllers))

    @property
    def text(self) -> str:
        """Return kubectl's command without `kubectl`."""
        verb = {RolloutKind.NEXT: "rollout restart", RolloutKind.CURRENT: "rollout status"}.get(self.kind)
        return f"{verb} {self.keys[0].kind.lower()}/{self.keys[0].name}" if verb else "apply"

    def result(self, verdict: Verdict, basis: Basis, because: str = "") -> RolloutResult:
        """Return the answer without a simulated step."""
        return RolloutResult(self.keys, self.kind, verdict, basis, because, old=self.old)


def old_pods(key: ObjectKey, controller: Controller, owned: OwnedPods) -> list[Pod]:
    """Return the running pods of an older revision, by label or else by the constraints that do not count them."""
    owner = controller.workload
    own = running_pods(owner, owned)
    newest = newest_hash(owner, own, owned.cluster)
    label, prefix = revision_label(owner), f"{owner.name}-" if key.kind == "StatefulSet" else ""
    values = {pod.uid: pod.labels.get(label, "").removeprefix(prefix) for pod in own}
    if newest and any(values.values()):
        return [pod for pod in own if values[pod.uid] != newest]
    labels = created_labels(owner)
    missed = (find_uncounted(item, own, labels) for item in constraint.constraints(owner.pod_spec))
    names = {name for found in missed if found is not None for name in found.pods}
    return [pod for pod in own if pod.name in names]


_NEW = "new pod"


class RolloutChecker:
    """Current or next rollouts of workloads that run, each asked for at most once."""

    def __init__(
        self,
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        controllers: Mapping[ObjectKey, Controller] = {},
        *,
        number: int = 0,
        budget: Optional[Budget] = None,
    ) -> None:
        """Store the input.

        Args: cluster: the cluster of the workloads. profiles: of the scheduler. controllers: the workloads, in order.
            number: of rollouts that share the budget, if there are others. budget: the states for all of them.
        """
        self._cluster = cluster
        self._profiles = profiles
        self._controllers = controllers
        self._number = number or len(controllers)
        self._owned = OwnedPods(cluster)
        self._budget = budget or Budget(STATES)
        self._known: dict[ObjectKey, Optional[RolloutResult]] = {}

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self._cluster)

    def results(self) -> tuple[RolloutResult, ...]:
        """Return the current or next rollout of each workload that has one."""
        found = map(self.rollout_of, self._controllers)
        return tuple(item for item in found if item is not None)

    def rollout_of(self, key: ObjectKey) -> Optional[RolloutResult]:
        """Return whether the current rollout of a workload completes, or else the next one; None if there is none."""
        controller = self._controllers.get(key)
        if controller is not None and key not in self._known:
            has_pods = controller.workload.replicas or key.kind == "DaemonSet"
            is_idle = not has_pods or not running_pods(controller.workload, self._owned)
            has_none = is_idle or not rolls(key, controller)
            self._known[key] = None if has_none else self._result_of(key, controller)
        return self._known.get(key)

    def _result_of(self, key: ObjectKey, controller: Controller) -> Optional[RolloutResult]:
        old = len(old_pods(key, controller, self._owned))
        if not old:
            return self.answer(RolloutQuestion(RolloutKind.NEXT, (controller,)))
        if key.kind == "DaemonSet":
            return None
        return self.simulate(RolloutQuestion(RolloutKind.CURRENT, (controller,), old), rollouts=self._number)

    def answer(self, question: RolloutQuestion) -> RolloutResult:
        """Answer a question about one workload by a proof, or else by a simulation."""
        controller = question.controllers[0]
        pod_class = self._new_class(controller)
        because = self._unpredictable(pod_class)
        if because:
            return question.result(Verdict.NOT_KNOWN, Basis.NOT_SIMULATED, because)
        is_larger = controller.workload.kind == "DaemonSet" and question.kind is RolloutKind.CHANGE
        if not is_larger and self.has_room(controller, pods=most_pods(controller)):
            return question.result(Verdict.COMPLETES, Basis.ENOUGH_ROOM)
        return self.simulate(question, rollouts=self._number)

    def simulate(self, question: RolloutQuestion, *, rollouts: int = 1) -> RolloutResult:
        """Simulate a rollout; `rollouts` share the states that are left."""
        nodes = len(self._cluster.nodes)  # a DaemonSet has no number of replicas
        pods = sum(nodes if item.workload.replicas is None else item.workload.replicas for item in question.controllers)
        is_small = nodes + pods <= _SMALL
        if not is_small and len(question.controllers) == 1 and pods <= _LARGE:
            part = play_part(self._splitter, question.ops, question.keys[0], limits=_OF_A_PART)
            answer = None if part is None else self._result(question, part)
            if answer is not None and answer.verdict is not Verdict.NOT_KNOWN:
                return answer
        left = int(self._budget.left) // max(1, min(rollouts, 3))
        if left < _LEAST_STATES or pods > _LARGE:
            return question.result(Verdict.NOT_KNOWN, Basis.STATE_LIMIT)
        states, runs = next(((states, runs) for most, states, runs in _EFFORTS if rollouts <= most), _LEAST_EFFORT)
        limits = Limits(
            Mode.ALL if is_small else Mode.SAMPLE,
            min(states, left),
            runs if is_small else min(runs, 2),
            max_run=min(_LONGEST_RUN, left),
        )
        found = play(self._cluster, self._profiles, [question.ops], limits=limits, bound=self._columns).last
        self._budget.spend(pods + nodes, found.states)
        if not found.outcomes:
            return question.result(Verdict.NOT_KNOWN, Basis.STATE_LIMIT)
        return self._result(question, found)

    def _result(self, question: RolloutQuestion, found: StepAnswer) -> RolloutResult:
        summary = summarize(found, question.keys)
        with_pending = (item for item in found.outcomes if any(pod.owner in question.keys for pod in item.pending))
        stuck = next(with_pending, None)
        # A rollout that does not end is no better for having waited before.
        verdict = Verdict.GETS_STUCK if summary.verdict is Verdict.NO_WORSE else summary.verdict
        return question.result(verdict, summary.basis, " and ".join(summary.gaps))._replace(
            played=PlayedStep(question.text, summary),
            explanation=None if stuck is None else self._explained(stuck, question),
        )

    def _explained(self, outcome: Outcome, question: RolloutQuestion) -> Optional[Explanation]:
        """Explain a Pending pod of the rollout."""
        cluster = outcome.cluster()
        names = {pod.name for pod in outcome.pending if pod.owner in question.keys}
        pending = (pod for pod in cluster.pods if pod.name in names and not (pod.node_name or pod.terminating))
        pod = next(pending, None)
        return None if pod is None else examine(pod, cluster, self._profiles).explanation

    def has_room(self, controller: Controller, *, pods: int, others: Iterable[tuple[PodClass, int]] = ()) -> bool:
        """Return whether all new pods find a node, wherever the other pods are.

        Each new pod of a DaemonSet finds the room of the old one without a surge, if nothing but room decides and no
        other pod waits.

        Args:
            controller: of the new pods.
            pods: the most pods of the workload at a time.
            others: pods that are created besides, and their numbers.
        """
        pod_class = self._new_class(controller)
        is_bound_by_others = pod_class.pod_affinity or pod_class.pod_anti_affinity or pod_class.volumes
        if is_bound_by_others or not self._is_free(controller, pods):
            return False
        if controller.workload.kind == "DaemonSet":  # each of its pods has its node from the start
            is_replaced = daemonset_spec(controller).surge in (0, "0%")
            return is_replaced and not (pod_class.constraints or self._waiting)
        filtered = self._scheduler.filter(Pod(_NEW, _NEW, pod_class))
        if filtered.rejection is not None or pod_class.host_ports or pod_class.gates:
            return False
        columns = filtered.columns
        slots: Int64s = columns.slots() - columns.pod_count  # pods that each node has room for, (N,)
        for resource, amount in columns.with_summed_requests(pod_class).requests:
            if amount > 0:
                free = columns.allocatable_of(resource) - columns.requested_of(resource)
                slots = np.minimum(slots, free // amount)
        slots = np.maximum(slots, 0) * passes_all_but_spread(filtered)
        requests = dict(pod_class.requests)
        around, taken = 0, 0  # other pods, and pods of the class that find no room because of them
        for other, number in (*self._waiting, *others):
            shares = (-(-amount // requests[name]) for name, amount in other.requests if requests.get(name))
            around += number
            taken += number * (1 + max(shares, default=1))
        hard = hard_counts(filtered)
        if not hard:
            return int(slots.sum()) >= pods + taken
        if len(hard) > 1 or hard[0].constraint.self_match_num != 1:
            return False
        now, codes = hard[0].now(), hard[0].topology.codes
        if not now.domains or now.is_below_min_domains:
            return False
        included: Bools = hard[0].included & (codes >= 0)
        room = np.bincount(codes[included], weights=slots[included], minlength=len(hard[0].topology.values))
        least = min(int(room[code]) for code in np.flatnonzero(hard[0].eligible))
        # Even the smallest domain has room for an even share of all pods, besides what other pods take.
        return least > (sum(now.domains.values()) + pods + around) // len(now.domains) + taken

    def _is_free(self, controller: Controller, pods: int) -> bool:
        """Return whether nothing but the scheduler can hold up a rollout with so many new pods at a time.

        The API server admits them besides the old ones. The controller waits for no old one: it has as many as it
        wants, none is terminating, all are ready (a Deployment also replaces waiting ones), and those of a DaemonSet
        are on nodes that it wants.
        """
        owner = admitted_workload(controller.workload, self._cluster)
        key = key_of(owner)
        own = [pod for pod in self._owned.of(key) if pod.is_visible]
        nodes = {pod.node_name for pod in own}
        able = {Stage.READY, Stage.WAITING} if key.kind == "Deployment" else {Stage.READY}
        if key.kind == "DaemonSet":
            nodes &= {node.name for node in wanted_nodes(owner, self._cluster)}
        elif own and len(own) != owner.replicas:
            return False
        if not all(stage_of(pod) in able and not pod.terminating and pod.node_name in nodes for pod in own):
            return False
        new = [charge(owner.pod_spec)] * max(pods, len(own))
        is_admitted = usage_at_start(self._cluster, key.namespace).admits_all(new)
        return is_admitted and not lasting_refusal(owner, self._cluster)

    @cached_property
    def _scheduler(self) -> Scheduler:
        return Scheduler(self._columns, self._profiles, all_nodes=True)

    @cached_property
    def _splitter(self) -> Splitter:
        return Splitter(self._cluster, self._profiles, columns=self._columns)

    @cached_property
    def _waiting(self) -> list[tuple[PodClass, int]]:
        pending = (pod.cls for pod in self._cluster.pending() if not pod.terminating)
        return list(Counter(pending).items())

    def _new_class(self, controller: Controller) -> PodClass:
        """Return the class of new pods, with what admission added to the running ones."""
        owner = controller.workload
        alike = most_alike([pod.cls for pod in running_pods(owner, self._owned)], owner)
        if alike is not None:
            return alike
        minor = next(iter(self._profiles.values())).minor
        stored = stored_workload(admitted_workload(owner, self._cluster), minor)
        return replica(stored._replace(known_hash=""), owner.first_ordinal).cls

    def _unpredictable(self, pod_class: PodClass) -> str:
        """Return a feature on which the nodes of pods depend and that is not simulated; empty if there is none."""
        if not self._cluster.storage.claims.keys() >= set(pod_class.claims()):
            return UNKNOWN_CLAIMS
        profile = self._profiles.get(pod_class.scheduler_name)
        return " and ".join(unsupported_features(pod_class, profile, self._cluster))


def rolls(key: ObjectKey, controller: Controller) -> bool:
    """Return whether the controller replaces old pods automatically."""
    if key.kind not in ("Deployment", "StatefulSet", "DaemonSet") or controller.workload.is_foreign:
        return False
    return not controller.spec.get("paused") and not is_on_delete(controller)
