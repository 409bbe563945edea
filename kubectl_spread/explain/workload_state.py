"""The state of a workload: the number of missing pods, and its controllers' messages about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional

from kubectl_spread.cluster.build import admitted_workload
from kubectl_spread.cluster.ownership import OwnedPods
from kubectl_spread.cluster.snapshot import Cluster, Controller
from kubectl_spread.engine.controllers.daemonset import wanted_nodes
from kubectl_spread.engine.loading import stage_of
from kubectl_spread.engine.refusals import charge, lasting_refusal, usage_at_start
from kubectl_spread.engine.state import Stage
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.node import outage_of
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.workloads.workload import replica_name


class CreationFailure(NamedTuple):
    """A controller's failure to create a pod, in its words; `at` and `times` of its event, if there is one."""

    about: ObjectKey
    reason: str
    message: str
    at: str = ""
    times: int = 1


class WorkloadState(NamedTuple):
    """The pods of a workload, without finished ones; `wanted` is None if the facts lack the workload.

    waiting: the pod of a StatefulSet that its next one waits for: it is not Ready, or its name is not free yet. outage:
    key of the taint that marks that pod's node as down.
    failures: also what the API server would say now, by the quotas and limits of the facts.
    """

    key: ObjectKey
    wanted: Optional[int]
    running: tuple[Pod, ...]
    pending: tuple[Pod, ...]
    terminating: tuple[Pod, ...]
    failures: tuple[CreationFailure, ...] = ()
    waiting: Optional[Pod] = None
    outage: str = ""
    is_paused: bool = False  # and pods are missing
    is_suspended: bool = False
    lost: tuple[Pod, ...] = ()  # of those running, on nodes that do not exist
    finding: Optional[Range] = None  # how many Pending pods find a node, if known

    @property
    def missing(self) -> int:
        """Return how many pods were never created, or are gone."""
        return 0 if self.wanted is None else max(0, self.wanted - len(self.running) - len(self.pending))

    @property
    def is_whole(self) -> bool:
        """Return whether all wanted pods have a node that exists."""
        return self.wanted is not None and not (self.missing or self.pending or self.failures or self.lost)


def state_of(key: ObjectKey, owned: OwnedPods) -> Optional[WorkloadState]:
    """Return the facts about a workload; None if they contain neither it nor its pods."""
    pods = [pod for pod in owned.of(key) if pod.is_visible]
    return state_with(key, pods, owned) if pods or key in owned.cluster.controllers else None


def state_with(key: ObjectKey, pods: Sequence[Pod], owned: OwnedPods) -> WorkloadState:
    """Return the facts about a workload that has these pods, of which none has ended."""
    controller = owned.cluster.controllers.get(key)
    running = tuple(pod for pod in pods if pod.node_name and not pod.terminating)
    # The number of pods that the controller maintains; some kinds have no fixed number.
    wanted = None
    if controller is not None and controller.workload.kind not in ("Job", "CronJob"):
        replicas = controller.workload.replicas
        wanted = len(wanted_nodes(controller.workload, owned.cluster)) if replicas is None else replicas
    state = WorkloadState(
        key=key,
        wanted=wanted,
        running=running,
        pending=tuple(pod for pod in pods if not pod.node_name and not pod.terminating),
        terminating=tuple(pod for pod in pods if pod.terminating),
        lost=tuple(pod for pod in running if pod.node_name not in owned.node_names),
    )
    if controller is None:
        return state
    # The controller's own numbers, and the reason why pods are missing
    cluster, is_paused = owned.cluster, bool(controller.spec.get("paused"))
    state = state._replace(is_suspended=bool(controller.spec.get("suspend")))
    waiting = _waiting(controller, pods)
    state = state._replace(outage=outage_of(waiting.node_name, cluster.nodes) if waiting else "")
    if not state.missing:  # Then the next pod is one more replica, but only once every pod has its node.
        return state if state.pending else state._replace(waiting=waiting)
    failures = _failures(state.key, cluster)
    if not (failures or waiting or state.is_suspended or is_paused):
        owner = admitted_workload(controller.workload, cluster)
        quotas = usage_at_start(cluster, owner.namespace)
        text = lasting_refusal(owner, cluster) or quotas.refusal(charge(owner.pod_spec))
        failures = [CreationFailure(state.key, "new pods are forbidden", text)] if text else []
    return state._replace(failures=tuple(failures), waiting=waiting, is_paused=is_paused)


def _failures(key: ObjectKey, cluster: Cluster) -> list[CreationFailure]:
    """Return the failures that the workload and its controllers report, each message once, the latest first."""
    makers = [key, *(made for made, owner in cluster.owners.items() if owner == key)]
    found: dict[str, CreationFailure] = {}
    for maker in makers:
        for event in cluster.events.get(maker, ()):
            if event.reason.startswith("Failed"):
                found.setdefault(
                    event.message, CreationFailure(maker, event.reason, event.message, event.last, event.times)
                )
    for maker in makers:
        controller = cluster.controllers.get(maker)
        for condition in controller.conditions if controller is not None else ():
            is_failure = condition.type == "ReplicaFailure" and condition.status == "True"
            if is_failure and not any(condition.message in message for message in found):
                found[condition.message] = CreationFailure(maker, condition.reason, condition.message, condition.since)
    return sorted(found.values(), key=lambda failure: failure.at, reverse=True)


def _waiting(controller: Controller, pods: Sequence[Pod]) -> Optional[Pod]:
    """Return the first pod of a StatefulSet that the next one waits for, as `WorkloadState` says."""
    owner = controller.workload
    if owner.kind != "StatefulSet":
        return None
    by_name = {pod.name: pod for pod in pods}
    every = [by_name.get(replica_name(owner, ordinal)) for ordinal in range(owner.replicas or 0)]
    if controller.spec.get("podManagementPolicy") == "Parallel":
        every = [pod for pod in every if pod is not None and pod.terminating]
    return next((pod for pod in every if pod is None or pod.terminating or stage_of(pod) is not Stage.READY), None)
