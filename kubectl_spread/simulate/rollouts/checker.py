"""The rollouts that a check asks about, each simulated at most once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Optional

from kubectl_spread.cluster.building.stored import admitted_workload, stored_workload
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller, OwnerKey
from kubectl_spread.objects.amounts.int_or_percent import scaled_value
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.storage import ObjectKey
from kubectl_spread.objects.workloads.replica import replica
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.framework.profile import Profile
from kubectl_spread.scheduler.unsupported import unsupported_features
from kubectl_spread.simulate.rollouts import room
from kubectl_spread.simulate.rollouts.current import old_pods
from kubectl_spread.simulate.rollouts.result import RolloutKind, RolloutResult
from kubectl_spread.simulate.rollouts.search import Budget, RolloutQuestion, RolloutSearch, without
from kubectl_spread.simulate.running.controllers import running_pods
from kubectl_spread.timeline import likeness, steps
from kubectl_spread.timeline.results.certainty import Basis
from kubectl_spread.timeline.results.summary import Verdict

_NEW = "new pod"
_CLAIMS = "claims that are not in the cluster facts"


class RolloutChecker:
    """Current or next rollouts of workloads that run."""

    def __init__(
        self,
        cluster: Cluster,
        profiles: Mapping[str, Profile],
        *,
        number: int = 1,
        budget: Optional[Budget] = None,
    ) -> None:
        """Store the input.

        Args: cluster: the cluster of the workloads. profiles: of the scheduler. number: of rollouts, which share the
            budget. budget: the states for all of them.
        """
        self._cluster = cluster
        self._profiles = profiles
        self._number = number
        self._owned = OwnedPods(cluster)
        self._search = RolloutSearch(cluster, profiles, budget or Budget())
        self._known: dict[OwnerKey, Optional[RolloutResult]] = {}

    def result_of(self, key: OwnerKey, controller: Controller) -> Optional[RolloutResult]:
        """Return whether the current rollout completes, or else the next one; None if there is none."""
        if key not in self._known:
            has_pods = controller.workload.replicas or key.kind == "DaemonSet"
            is_idle = not has_pods or not self._running(controller)
            has_none = is_idle or not rolls(key, controller)
            self._known[key] = None if has_none else self._result_of(key, controller)
        return self._known[key]

    def _result_of(self, key: OwnerKey, controller: Controller) -> Optional[RolloutResult]:
        old = old_pods(key, controller, self._owned)
        if key.kind == "DaemonSet":
            return None if old else self._next_of_daemons(key, controller)
        if not old:
            return self._next_of(key, controller)
        name = f"{key.kind.lower()}/{key.name}"
        ops = (steps.Apply(controller),)
        question = RolloutQuestion(RolloutKind.CURRENT, (key,), f"rollout status {name}", ops, (controller,), len(old))
        return self._search.answer(question, rollouts=self._number)

    def _next_of_daemons(self, key: OwnerKey, controller: Controller) -> RolloutResult:
        """Return whether the next rollout of a DaemonSet completes."""
        question = RolloutQuestion(
            RolloutKind.NEXT, (key,), f"rollout restart daemonset/{key.name}", (steps.Restart(key),), (controller,)
        )
        pod_class = self._new_class(controller)
        because = self._unpredictable(pod_class)
        if because:
            return without(question, Basis.NOT_SIMULATED, because)
        if self.leaves_room(controller):
            return RolloutResult(question.keys, question.kind, Verdict.COMPLETES, Basis.ENOUGH_ROOM)
        return self._search.answer(question, rollouts=self._number)

    def leaves_room(self, controller: Controller) -> bool:
        """Return whether each new pod of a DaemonSet finds the room of the old one in a restart.

        That is so without a surge, if nothing but room decides and no other pod waits.
        """
        pod_class = self._new_class(controller)
        rolling = fields(fields(controller.spec.get("updateStrategy")).get("rollingUpdate"))
        terms = pod_class.pod_affinity or pod_class.pod_anti_affinity
        decides = pod_class.constraints or terms or pod_class.volumes
        return rolling.get("maxSurge") in (None, 0, "0%") and not decides and not self._waiting

    def _next_of(self, key: OwnerKey, controller: Controller) -> RolloutResult:
        text = f"rollout restart {key.kind.lower()}/{key.name}"
        question = RolloutQuestion(RolloutKind.NEXT, (key,), text, (steps.Restart(key),), (controller,))
        return self.answer(question, pods=most_pods(controller))

    def answer(self, question: RolloutQuestion, *, pods: int) -> RolloutResult:
        """Answer by a proof, or else by a simulation.

        Args:
            question: about one workload.
            pods: the most pods of the workload at a time.
        """
        controller = question.controllers[0]
        pod_class = self._new_class(controller)
        because = self._unpredictable(pod_class)
        if because:
            return without(question, Basis.NOT_SIMULATED, because)
        is_daemon = controller.workload.kind == "DaemonSet"  # each of its pods has its node from the start
        if not is_daemon and self.has_room(pod_class, pods=pods):
            return RolloutResult(question.keys, question.kind, Verdict.COMPLETES, Basis.ENOUGH_ROOM, old=question.old)
        return self._search.answer(question, rollouts=self._number)

    def has_room(self, pod_class: PodClass, *, pods: int, others: Sequence[tuple[PodClass, int]] = ()) -> bool:
        """Return whether all new pods find a node, wherever the other pods are.

        Args:
            pod_class: of the new pods.
            pods: the most pods of the workload at a time.
            others: pods that are created besides, and their numbers.
        """
        filtered = self._scheduler.filter(Pod(_NEW, _NEW, pod_class))
        return room.is_enough(pod_class, filtered, pods=pods, others=[*self._waiting, *others])

    @cached_property
    def _scheduler(self) -> Scheduler:
        return Scheduler(self._search.columns, self._profiles, all_nodes=True)

    @cached_property
    def _waiting(self) -> list[tuple[PodClass, int]]:
        pending = (pod.cls for pod in self._cluster.pending() if not pod.terminating)
        return list(Counter(pending).items())

    def _running(self, controller: Controller) -> list[PodClass]:
        return [pod.cls for pod in running_pods(controller.workload, self._owned)]

    def _new_class(self, controller: Controller) -> PodClass:
        """Return the class of new pods, with what admission added to the running ones."""
        owner = controller.workload
        alike = likeness.most_alike(self._running(controller), owner)
        if alike is not None:
            return alike
        minor = next(iter(self._profiles.values())).minor
        stored = stored_workload(admitted_workload(owner, self._cluster), minor)
        return replica(stored._replace(known_hash=""), owner.first_ordinal).cls

    def _unpredictable(self, pod_class: PodClass) -> str:
        """Return a feature on which the nodes of pods depend and that is not simulated; empty if there is none."""
        claims = self._cluster.storage.claims
        if any(item.claim and ObjectKey(pod_class.namespace, item.claim) not in claims for item in pod_class.volumes):
            return _CLAIMS
        profile = self._profiles.get(pod_class.scheduler_name)
        return " and ".join(unsupported_features(pod_class, profile, self._cluster))


class RunningRollouts:
    """Rollouts of running workloads, in order."""

    def __init__(
        self, controllers: Mapping[OwnerKey, Controller], cluster: Cluster, profiles: Mapping[str, Profile]
    ) -> None:
        self._controllers = controllers
        self._checker = RolloutChecker(cluster, profiles, number=len(controllers))

    def results(self) -> tuple[RolloutResult, ...]:
        """Return the current or next rollout of each workload that has one."""
        found = map(self.rollout_of, self._controllers)
        return tuple(item for item in found if item is not None)

    def rollout_of(self, key: OwnerKey) -> Optional[RolloutResult]:
        """Return the current or next rollout of a workload; None if there is none."""
        controller = self._controllers.get(key)
        return None if controller is None else self._checker.result_of(key, controller)


def rolls(key: OwnerKey, controller: Controller) -> bool:
    """Return whether the controller replaces old pods automatically."""
    if key.kind not in ("Deployment", "StatefulSet", "DaemonSet") or controller.workload.is_foreign:
        return False
    strategy = fields(controller.spec.get("updateStrategy")).get("type")
    return not controller.spec.get("paused") and strategy != "OnDelete"


def most_pods(controller: Controller) -> int:
    """Return the most new and old pods of a workload at a time."""
    replicas = controller.workload.replicas or 0
    if controller.workload.kind != "Deployment":
        return replicas
    value = fields(fields(controller.spec.get("strategy")).get("rollingUpdate")).get("maxSurge")
    return replicas + (scaled_value("25%" if value is None else value, replicas, round_up=True) or 0)
