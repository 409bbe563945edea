"""Rollouts that running workloads and manifests lead to, each simulated at most once within limits, or proven.

Manifests create new workloads, and change running ones. Each workload may be rolled out afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, Optional, Union

import numpy as np

from kubectl_spread.caching import cached_method
from kubectl_spread.cluster.build import admitted_workload, stored_workload
from kubectl_spread.cluster.columns import Bools, Columns
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.containers import tied
from kubectl_spread.engine import reading, steps
from kubectl_spread.engine.controllers.daemonset import wanted_nodes
from kubectl_spread.engine.loading import most_alike, stage_of
from kubectl_spread.engine.parts import Splitter
from kubectl_spread.engine.reading import daemonset_spec, is_on_delete, most_pods
from kubectl_spread.engine.refusals import charge, lasting_refusal, usage_at_start
from kubectl_spread.engine.results.certainty import Basis, Certainty, certainty
from kubectl_spread.engine.results.summary import PlayedStep, StepSummary, summarize, Verdict
from kubectl_spread.engine.run import Limits, Mode, play, play_part, StepAnswer
from kubectl_spread.engine.search.explore import Budget
from kubectl_spread.engine.state import Stage
from kubectl_spread.engine.workloads import is_changed, newest_hash, running_pods
from kubectl_spread.explain.explanation import examine
from kubectl_spread.explain.placement import Placement
from kubectl_spread.explain.status import find_uncounted
from kubectl_spread.kubectl.situation import refused_changes
from kubectl_spread.objects.constraints import constraint
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.objects.workloads.workload import created_labels, revision_label
from kubectl_spread.report.check.rollouts import RolloutKind, RolloutResult
from kubectl_spread.scheduler.cycle import Scheduler, UNKNOWN_CLAIMS, unsupported_features
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import hard_counts, passes_all_but_spread

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

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self._cluster)

    def results(self) -> tuple[RolloutResult, ...]:
        """Return the current or next rollout of each workload that has one."""
        found = map(self.rollout_of, self._controllers)
        return tuple(item for item in found if item is not None)

    @cached_method
    def rollout_of(self, key: ObjectKey) -> Optional[RolloutResult]:
        """Return whether the current rollout of a workload completes, or else the next one; None if there is none."""
        controller = self._controllers.get(key)
        if controller is None or not rolls(key, controller) or not running_pods(controller.workload, self._owned):
            return None
        if not controller.workload.replicas and key.kind != "DaemonSet":
            return None
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
        if self._cluster.storage.claims.keys() >= set(pod_class.claims()):
            profile = self._profiles.get(pod_class.scheduler_name)
            because = " and ".join(unsupported_features(pod_class, profile, self._cluster))
        else:
            because = UNKNOWN_CLAIMS
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
        explanation = None
        for outcome in found.outcomes:
            names = {pod.name for pod in outcome.pending if pod.owner in question.keys}
            if names:
                cluster = outcome.cluster()
                waiting = (pod for pod in cluster.pods if not (pod.node_name or pod.terminating))
                pod = next((pod for pod in waiting if pod.name in names), None)
                explanation = None if pod is None else examine(pod, cluster, self._profiles).explanation
                break
        verb = {RolloutKind.NEXT: "rollout restart", RolloutKind.CURRENT: "rollout status"}.get(question.kind)
        text = f"{verb} {question.keys[0].kind.lower()}/{question.keys[0].name}" if verb else "apply"
        # A rollout that does not end is no better for having waited before.
        verdict = Verdict.GETS_STUCK if summary.verdict is Verdict.NO_WORSE else summary.verdict
        return question.result(verdict, summary.basis, " and ".join(summary.gaps))._replace(
            played=PlayedStep(text, summary), explanation=explanation
        )

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
        slots = columns.room(columns.with_summed_requests(pod_class).requests) * passes_all_but_spread(filtered)
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
        stored = stored_workload(owner, self._cluster, minor)
        return replica(stored._replace(known_hash=""), owner.first_ordinal).cls


def rolls(key: ObjectKey, controller: Controller) -> bool:
    """Return whether the controller replaces old pods automatically."""
    if key.kind not in ("Deployment", "StatefulSet", "DaemonSet") or controller.workload.is_foreign:
        return False
    return not controller.spec.get("paused") and not is_on_delete(controller)


def _selects(one: PodClass, other: PodClass, cluster: Cluster) -> bool:
    """Return whether a selector of a class matches the pods of the other one."""
    labels, own = dict(other.labels), dict(one.labels)
    if one.namespace == other.namespace and any(
        effective_selector(item, own).matches(labels) for item in one.constraints
    ):
        return True
    namespace = cluster.namespaces.get(other.namespace, {}) if isinstance(cluster.namespaces, dict) else {}
    terms = (*one.pod_affinity, *one.pod_anti_affinity)
    return any(term.matches(other.namespace, labels, namespace) for term in terms)


_MOST_SETTLED = 200  # Most pods that are created for the next rollouts.
_SETTLE_STATES = 4_000


class ManifestWorkload(NamedTuple):
    """A workload of a manifest, and its placement on the cluster."""

    controller: Controller
    placement: Placement

    @property
    def key(self) -> ObjectKey:
        owner = self.controller.workload
        return key_of(owner)

    @property
    def pods(self) -> int:
        """Return the number of pods that the workload wants."""
        owner = self.controller.workload
        return self.placement.replicas if owner.kind == "DaemonSet" else owner.replicas or 0

    @property
    def is_placed(self) -> bool:
        """Return whether all pods have nodes, by rules that are simulated."""
        found = self.placement
        missing = found.pending or found.gated or found.refused or found.not_created or found.on_missing_nodes
        return not (missing or found.unpredicted or found.not_predictable)


class ManifestRollouts:
    """Rollouts that manifests start on a cluster."""

    def __init__(
        self,
        workloads: Sequence[ManifestWorkload],
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        budget: Optional[Budget] = None,
    ) -> None:
        """Store the input; copies of the workloads, which are for other clusters, share the budget."""
        self._workloads = [item for item in workloads if item.key.kind in reading.KINDS]
        # Pods of a manifest's workload may run although the cluster facts lack the workload.
        running = [item for item in self._workloads if any(pod.ran_already for pod in item.placement.placed)]
        controllers = {**{item.key: item.controller for item in running}, **cluster.controllers}
        self._cluster = cluster = cluster._replace(controllers=controllers)
        self._profiles = profiles
        self.budget = budget or Budget(STATES)
        self._new = [item for item in self._workloads if item.key not in cluster.controllers]
        self._checker = RolloutChecker(cluster, profiles, number=len(workloads), budget=self.budget)

    def results(self) -> tuple[RolloutResult, ...]:
        """Return the creation of new workloads first, then one rollout for each workload that has one."""
        rollouts = [self.rollout_of(item.key) for item in self._workloads]
        creations = [  # in whatever order their pods are placed
            question.result(Verdict.COMPLETES, Basis.ENOUGH_ROOM)
            if question.keys[0] in self._with_room
            else self._checker.simulate(question, rollouts=len(self._new))
            for question in map(_creation, self._groups)
        ]
        return (*creations, *(item for item in rollouts if item is not None))

    def in_any_order(self, placements: Sequence[Placement]) -> list[Placement]:
        """Return placements with the certainty that the engine gives them.

        The pods of one workload are placed one after the other, so a placement without a choice is certain. Pods of
        several workloads are created and scheduled in any order: then the engine must find the same in every order.
        """
        new = [item for item in placements if item.new and item.workload.kind != "DaemonSet"]
        waiting = any(not pod.terminating and not pod.cls.gates for pod in self._cluster.pending())
        if len(new) + waiting < 2:
            return list(placements)
        asked = {item.key: item for item in self._new if item.placement.new}
        # An outcome of the engine also stands for exchanges of equal nodes, between which some pod then has the choice.
        has_choice = any(item.certainty is Certainty.POSSIBLE for item in new)
        summary = None
        if (not has_choice or any(item.pending for item in new)) and all(
            key_of(item.workload) in asked and not item.not_predictable for item in new
        ):
            summary = RolloutChecker(self._cluster, self._profiles).simulate(_creation(asked.values())).summary
        found = [_in_any_order(item, summary) if item.new else item for item in placements]
        if not has_choice:
            return found
        return [
            item._replace(certainty=Certainty.POSSIBLE) if item.new and item.certainty is Certainty.CERTAIN else item
            for item in found
        ]

    @cached_method
    def rollout_of(self, key: ObjectKey) -> Optional[RolloutResult]:
        """Return the rollout that the manifest starts, or else the next one; None if there is none."""
        item = next((item for item in self._workloads if item.key == key), None)
        if item is None or not item.pods or not rolls(key, item.controller):
            return None
        controller, release = item.controller, next(iter(self._profiles.values())).release
        if refused_changes(self._cluster, controller.workload, controller.spec, release):
            return None  # The API server refuses the manifest.
        if key in self._cluster.controllers and is_changed(controller.workload, self._cluster):
            return self._checker.answer(RolloutQuestion(RolloutKind.CHANGE, (controller,)))
        question = RolloutQuestion(RolloutKind.NEXT, (controller,))
        because = " and ".join(item.placement.not_predictable)
        if because:
            return question.result(Verdict.NOT_KNOWN, Basis.NOT_SIMULATED, because)
        if not item.is_placed:
            return None
        # Each new pod of a DaemonSet takes the room of the old one, if no other pod may wait for it.
        is_daemon = key.kind == "DaemonSet" and all(other.is_placed for other in self._new)
        if key in self._with_room or (is_daemon and self._checker.has_room(controller, pods=item.pods)):
            return question.result(Verdict.COMPLETES, Basis.ENOUGH_ROOM)
        settled = self._settled
        if settled is None:
            return question.result(Verdict.NOT_KNOWN, Basis.STATE_LIMIT)
        return settled.rollout_of(key)

    @cached_property
    def _groups(self) -> list[list[ManifestWorkload]]:
        """Return the new workloads that are placed, grouped by their influence on each other.

        DaemonSets are left out, because each of their pods has its node from the start.
        """
        placed = [item for item in self._new if item.is_placed and item.controller.workload.replicas]
        ties = (
            (at, other)
            for (at, one), (other, two) in combinations(enumerate(map(_class_of, placed)), 2)
            if not set(one.host_ports).isdisjoint(two.host_ports)
            or _selects(one, two, self._cluster)
            or _selects(two, one, self._cluster)
        )
        return [[placed[at] for at in group] for group in tied(range(len(placed)), ties)]

    @cached_property
    def _with_room(self) -> frozenset[ObjectKey]:
        """Return the new workloads whose pods always find nodes, now and in the next rollout."""
        proven = (group for group in self._groups if all(map(self._has_room, group)))
        return frozenset(item.key for group in proven for item in group)

    def _has_room(self, item: ManifestWorkload) -> bool:
        """Return whether all pods find nodes when a workload is created, and when it is rolled out afterwards."""
        others = [(_class_of(other), other.pods) for other in self._new if other is not item]
        pods = (item.controller.workload.replicas or 0) + reading.most_pods(item.controller)
        return self._checker.has_room(item.controller, pods=pods, others=others)

    @cached_property
    def _settled(self) -> Optional[RolloutChecker]:
        """Return the checker for the cluster after the manifests are applied; None if that takes too long."""
        if sum(item.pods for item in self._new) > _MOST_SETTLED:
            return None
        cluster = self._cluster
        if self._new:
            ops = tuple(steps.Apply(item.controller) for item in self._new)
            limits = Limits(Mode.FIRST, max_run=_SETTLE_STATES, has_messages=False)
            found = play(cluster, self._profiles, [ops], limits=limits).last
            if not found.outcomes:
                return None
            cluster = found.outcomes[0].cluster()
            new = {item.key: item.controller for item in self._new}
            cluster = reading.infer_owners(cluster._replace(controllers={**cluster.controllers, **new}))
            replicasets = {
                key: Controller(new[above].workload._replace(kind="ReplicaSet", name=key.name))
                for key, above in cluster.owners.items()
                if above in new and key not in cluster.controllers
            }
            cluster = cluster._replace(controllers={**cluster.controllers, **replicasets})
        controllers = {item.key: item.controller for item in self._workloads}
        return RolloutChecker(cluster, self._profiles, controllers, budget=self.budget)


Rollouts = Union[RolloutChecker, ManifestRollouts]


def _creation(items: Iterable[ManifestWorkload]) -> RolloutQuestion:
    """Return the question about workloads that are created together."""
    return RolloutQuestion(RolloutKind.CREATION, tuple(item.controller for item in items))


def _in_any_order(placement: Placement, summary: Optional[StepSummary]) -> Placement:
    """Return a placement with what the engine found in all orders of creation; without a summary nothing is certain."""
    known = placement.certainty
    if known is Certainty.CERTAIN:
        known = Certainty.POSSIBLE if summary is None else certainty(summary.basis, summary.outcomes)
    key = key_of(placement.workload)
    for item in () if summary is None else summary.workloads:
        if item.key == key:
            least = item.desired.most - item.pending.most - item.not_created.most
            most = item.desired.most - item.pending.least - item.not_created.least
            return placement._replace(certainty=known, in_any_order=Range(least, most) if least < most else None)
    return placement._replace(certainty=known)


def _class_of(item: ManifestWorkload) -> PodClass:
    first = item.placement.first_replica
    assert first is not None  # noqa: S101 (a placement of a workload has it)
    return first.cls
