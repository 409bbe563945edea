"""Rollouts that manifests start: the creation of new workloads, changes of running ones, and then the next rollouts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, Optional, Union

from kubectl_spread.cluster.snapshot import Cluster, Controller, key_of
from kubectl_spread.engine import reading, steps
from kubectl_spread.engine.results.certainty import Basis, Certainty, certainty
from kubectl_spread.engine.results.summary import StepSummary, Verdict
from kubectl_spread.engine.run import Limits, Mode, play
from kubectl_spread.engine.search.limit import Budget
from kubectl_spread.guarantee.members import tied_groups
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import effective_selector
from kubectl_spread.simulate.placement import Placement
from kubectl_spread.simulate.rollouts.ask import (
    RolloutChecker,
    RolloutQuestion,
    rolls,
    STATES,
)
from kubectl_spread.simulate.rollouts.result import RolloutKind, RolloutResult
from kubectl_spread.simulate.running.controllers import is_changed


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
        self, workloads: Sequence[ManifestWorkload], cluster: Cluster, profiles: Mapping[str, Profile]
    ) -> None:
        self._workloads = [item for item in workloads if item.key.kind in reading.KINDS]
        # Pods of a manifest's workload may run although the cluster facts lack the workload.
        running = [item for item in self._workloads if any(pod.ran_already for pod in item.placement.placed)]
        controllers = {**{item.key: item.controller for item in running}, **cluster.controllers}
        self._cluster = cluster = cluster._replace(controllers=controllers)
        self._profiles = profiles
        self._budget = Budget(STATES)
        self._new = [item for item in self._workloads if item.key not in cluster.controllers]
        self._checker = RolloutChecker(cluster, profiles, number=len(workloads), budget=self._budget)
        self._known: dict[ObjectKey, Optional[RolloutResult]] = {}

    def results(self) -> tuple[RolloutResult, ...]:
        """Return the creation of new workloads first, then one rollout for each workload that has one."""
        rollouts = [self.rollout_of(item.key) for item in self._workloads]
        return (*self._creations, *(item for item in rollouts if item is not None))

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

    def rollout_of(self, key: ObjectKey) -> Optional[RolloutResult]:
        """Return the rollout that the manifest starts, or else the next one; None if there is none."""
        if key not in self._known:
            item = next((item for item in self._workloads if item.key == key), None)
            self._known[key] = None if item is None else self._rollout(item)
        return self._known[key]

    def _rollout(self, item: ManifestWorkload) -> Optional[RolloutResult]:
        key, controller = item.key, item.controller
        if not rolls(key, controller) or not item.pods:
            return None
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

        def are_tied(one: ManifestWorkload, other: ManifestWorkload) -> bool:
            first, second, cluster = _class_of(one), _class_of(other), self._cluster
            has_common_port = not set(first.host_ports).isdisjoint(second.host_ports)
            return has_common_port or _selects(first, second, cluster) or _selects(second, first, cluster)

        return tied_groups(placed, are_tied)

    @cached_property
    def _with_room(self) -> frozenset[ObjectKey]:
        """Return the new workloads whose pods always find nodes, now and in the next rollout."""
        proven = (group for group in self._groups if all(map(self._has_room, group)))
        return frozenset(item.key for group in proven for item in group)

    @cached_property
    def _creations(self) -> tuple[RolloutResult, ...]:
        """Return whether the new workloads are complete in whatever order their pods are placed."""
        return tuple(
            question.result(Verdict.COMPLETES, Basis.ENOUGH_ROOM)
            if question.keys[0] in self._with_room
            else self._checker.simulate(question, rollouts=len(self._new))
            for question in map(_creation, self._groups)
        )

    def _has_room(self, item: ManifestWorkload) -> bool:
        """Return whether all pods find nodes when a workload is created, and when it is rolled out afterwards."""
        replicas = item.controller.workload.replicas or 0
        others = [(_class_of(other), other.pods) for other in self._new if other is not item]
        pods = replicas + reading.most_pods(item.controller)
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
            cluster = _with_controllers(found.outcomes[0].cluster(), {item.key: item.controller for item in self._new})
        controllers = {item.key: item.controller for item in self._workloads}
        return RolloutChecker(cluster, self._profiles, controllers, budget=self._budget)


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


def _with_controllers(cluster: Cluster, controllers: Mapping[ObjectKey, Controller]) -> Cluster:
    """Return the cluster with new workloads, and the ReplicaSets of their pods."""
    cluster = reading.infer_owners(cluster._replace(controllers={**cluster.controllers, **controllers}))
    made = {
        key: Controller(controllers[above].workload._replace(kind="ReplicaSet", name=key.name))
        for key, above in cluster.owners.items()
        if above in controllers and key not in cluster.controllers
    }
    return cluster._replace(controllers={**cluster.controllers, **made})
