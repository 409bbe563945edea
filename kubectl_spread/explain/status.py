"""Status of workloads: missing pods, and the matching pods per domain of each constraint.

The scheduler's own plugin counts for the pod that a workload's controller would create next. So the same nodes and pods
count, terminating pods do not, and matchLabelKeys select the current revision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.build import admitted_workload, stored_workload
from kubectl_spread.cluster.columns import Columns, Int64s
from kubectl_spread.cluster.ownership import also_counted, OwnedPods, workload_of
from kubectl_spread.cluster.snapshot import Cluster, ClusterEvent, Controller
from kubectl_spread.containers import grouped
from kubectl_spread.engine.controllers.daemonset import wanted_nodes
from kubectl_spread.engine.loading import stage_of
from kubectl_spread.engine.reading import wanted_pods
from kubectl_spread.engine.refusals import charge, lasting_refusal, usage_at_start
from kubectl_spread.engine.state import Stage
from kubectl_spread.engine.workloads import newest_hash
from kubectl_spread.objects.constraints.constraint import (
    ConstraintCounts,
    DO_NOT_SCHEDULE,
    DomainNumbers,
    SCHEDULE_ANYWAY,
    TopologySpreadConstraint,
)
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.objects.node import outage_of
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.objects.selectors import compile_selector, Labels, Selector
from kubectl_spread.objects.workloads.replica import daemon, replica
from kubectl_spread.objects.workloads.workload import replica_name
from kubectl_spread.scheduler.framework.plugin import Profile
from kubectl_spread.scheduler.plugins.podtopologyspread.common import Constraint
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts
from kubectl_spread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubectl_spread.text.wording import comma_list, count_noun


class UncountedPods(NamedTuple):
    """The running pods that are not counted. `key` is a label that keeps the first of them out, `value` its value.

    `value` is None if the pod lacks the label. matched: the number of running pods that the selector matches.
    """

    matched: int
    pods: tuple[str, ...]
    key: str
    value: Optional[str]

    @property
    def sentence(self) -> str:
        """Return `the selector matches 2 of the 3 running pods: etcd-0 lacks `new``."""
        total = self.matched + len(self.pods)
        lacks, has = ("lacks", "has") if len(self.pods) == 1 else ("lack", "have")
        why = f"{lacks} `{self.key}`" if self.value is None else f"{has} `{self.key}: {self.value}`"
        return f"the selector matches {self.matched} of the {total} running pods: {comma_list(self.pods, most=3)} {why}"


def find_uncounted(
    constraint: TopologySpreadConstraint, own: Iterable[Pod], next_labels: Labels
) -> Optional[UncountedPods]:
    """Find the running pods that a constraint leaves out. Return None if it counts all, or leaves them out by intent.

    matchLabelKeys are ignored: their purpose is to count one revision only. A selector that matches neither the
    workload's next pod nor any running pod is ignored, too.

    Args:
        constraint: of the workload's pods.
        own: the workload's running pods.
        next_labels: the labels of the pod that the workload's controller would create next.
    """
    selector = compile_selector(constraint.label_selector)
    if selector.requirements is None or selector.is_empty:
        return None
    running = list(own)
    missed = [pod for pod in running if not selector.matches(pod.labels)]
    matched = len(running) - len(missed)
    if not missed or not (matched or selector.matches(next_labels)):
        return None
    labels = missed[0].labels
    key = next(item.key for item in selector.requirements if not item.matches(labels))
    return UncountedPods(matched, tuple(sorted(pod.name for pod in missed)), key, labels.get(key))


class WorkloadState(NamedTuple):
    """The pods of a workload, without finished ones; `wanted` is None if the facts lack the workload.

    waiting: the pod of a StatefulSet that its next one waits for: it is not Ready, or its name is not free yet. outage:
    key of the taint that marks that pod's node as down.
    failures: of controllers to create a pod, in their words; also what the API server would say now, by the quotas and
    limits of the facts.
    """

    key: ObjectKey
    wanted: Optional[int]
    running: tuple[Pod, ...]
    pending: tuple[Pod, ...]
    terminating: tuple[Pod, ...]
    failures: tuple[ClusterEvent, ...] = ()
    waiting: Optional[Pod] = None
    outage: str = ""
    is_paused: bool = False  # and pods are missing or wait
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

    @property
    def uncreated(self) -> Optional[UncreatedPods]:
        """Return the missing pods; None without any, or if the reason is unknown."""
        first = self.waiting
        if not self.missing:
            return None
        if self.failures:
            text = self.failures[0].message
        # A pod without a node is reported as Pending, which is no fault if it only waits for its gates.
        elif first is not None and (first.node_name or first.cls.gates):
            text = f"podManagementPolicy OrderedReady creates them only once {first.name} is Ready"
            if first.terminating:
                text = f"they are created only once {first.name}, which is terminating on {first.node_name}, is gone"
        else:
            return None
        return UncreatedPods(self.key, self.missing, self.wanted or 0, text)


def state_of(key: ObjectKey, owned: OwnedPods) -> Optional[WorkloadState]:
    """Return the facts about a workload; None if they contain neither it nor its pods."""
    pods = [pod for pod in owned.of(key) if pod.is_visible]
    return state_with(key, pods, owned) if pods or key in owned.cluster.controllers else None


def state_with(key: ObjectKey, pods: Sequence[Pod], owned: OwnedPods) -> WorkloadState:
    """Return the facts about a workload that has these pods, of which none has ended.

    The number of a Job's pods changes as they end. It is with_number only if pods are refused.
    """
    controller = owned.cluster.controllers.get(key)
    running = tuple(pod for pod in pods if pod.node_name and not pod.terminating)
    # The number of pods that the controller maintains; some kinds have no fixed number.
    wanted = None
    if controller is not None and controller.workload.kind != "CronJob":
        is_known = controller.workload.replicas is not None
        wanted = wanted_pods(controller) if is_known else len(wanted_nodes(controller.workload, owned.cluster))
    state = WorkloadState(
        key=key,
        wanted=None if key.kind == "Job" else wanted,
        running=running,
        pending=tuple(pod for pod in pods if not pod.node_name and not pod.terminating),
        terminating=tuple(pod for pod in pods if pod.terminating),
        lost=tuple(pod for pod in running if pod.node_name not in owned.node_names),
    )
    if controller is None:
        return state
    # The controller's own numbers, and the reason why pods are missing
    cluster = owned.cluster
    is_paused = bool(controller.spec.get("paused"))
    state = state._replace(
        is_suspended=bool(controller.spec.get("suspend")),
        is_paused=is_paused and bool(state.missing or state.pending),
    )
    waiting = _waiting(controller, pods)
    state = state._replace(outage=outage_of(waiting.node_name, cluster.nodes) if waiting else "")
    with_number = state._replace(wanted=wanted)
    if not with_number.missing:  # Then the next pod is one more replica, but only once every pod has its node.
        return state if state.pending else state._replace(waiting=waiting)
    failures = _failures(state.key, cluster)
    if not (failures or waiting or state.is_suspended or is_paused):
        owner = admitted_workload(controller.workload, cluster)
        quotas = usage_at_start(cluster, owner.namespace)
        text = lasting_refusal(owner, cluster) or quotas.refusal(charge(owner.pod_spec))
        failures = [ClusterEvent(state.key, "new pods are forbidden", text)] if text else []
    return (with_number if failures else state)._replace(failures=tuple(failures), waiting=waiting)


def _failures(key: ObjectKey, cluster: Cluster) -> list[ClusterEvent]:
    """Return the failures that the workload and its controllers report, each message once, the latest first."""
    makers = [key, *(made for made, owner in cluster.owners.items() if owner == key)]
    found: dict[str, ClusterEvent] = {}
    for maker in makers:
        for event in cluster.events.get(maker, ()):
            if event.reason.startswith("Failed"):
                found.setdefault(event.message, event)
    for maker in makers:
        controller = cluster.controllers.get(maker)
        for condition in controller.conditions if controller is not None else ():
            is_failure = condition.type == "ReplicaFailure" and condition.status == "True"
            if is_failure and not any(condition.message in message for message in found):
                found[condition.message] = ClusterEvent(
                    maker, condition.reason, condition.message, last=condition.since
                )
    return sorted(found.values(), key=lambda failure: failure.last, reverse=True)


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


class LostPods(NamedTuple):
    """Pods of a workload that are bound to a node that does not exist."""

    key: ObjectKey
    node: str
    pods: tuple[str, ...]


class UncreatedPods(NamedTuple):
    """Pods that a workload lacks, with the reason: the API server refuses them, or an earlier pod is not Ready."""

    key: ObjectKey
    number: int
    wanted: int
    message: str


def find_lost_pods(pods: Iterable[tuple[ObjectKey, Pod]], cluster: Cluster) -> list[LostPods]:
    """Find pods on nodes that were deleted.

    Args:
        pods: bound pods, each with its workload.
        cluster: the cluster of the pods.
    """
    nodes = {node.name for node in cluster.nodes}
    found = grouped(
        ((key, pod.node_name), pod.name) for key, pod in pods if pod.node_name not in nodes and not pod.terminating
    )
    return [LostPods(key, node, tuple(names)) for (key, node), names in found.items()]


def find_uncreated_pods(keys: Iterable[ObjectKey], owned: OwnedPods) -> Iterator[UncreatedPods]:
    """Find workloads that lack pods, because a quota forbids them or an ordered pod before them is not Ready."""
    states = (state_of(key, owned) for key in keys)
    found = (None if state is None else state.uncreated for state in states)
    return (item for item in found if item is not None)


_MOST = 64  # that are remembered: each may hold 5,000 domains


class NodesByDomain(NamedTuple):
    """The eligible domains of a constraint, with the nodes that it counts.

    values: the domains, sorted. codes: intp (D,), their places in the topology. nodes: the number of nodes of each.
    latest: the latest creation of a node; empty if the facts lack one, or if there is no node.
    """

    values: tuple[str, ...]
    codes: NDArray[np.intp]
    nodes: tuple[int, ...]
    latest: str

    def numbers(self, amounts: Int64s) -> DomainNumbers:
        """Return a number for each of the domains; `amounts`: int64, for each domain of the topology."""
        own = amounts[self.codes]
        at = np.flatnonzero(own)
        return DomainNumbers(self.values, dict(zip(at.tolist(), own[at].tolist(), strict=True)))


class ConstraintState(Enum):
    """State of a constraint now.

    PARTLY_COUNTED: the selector misses some running pods of the workload, so the counts are too low. UNEVEN: the skew
    of a ScheduleAnyway constraint exceeds its maxSkew, which is allowed.
    """

    OK = "ok"
    VIOLATED = "violated"
    UNEVEN = "uneven"
    NO_EFFECT = "noEffect"
    PARTLY_COUNTED = "partlyCounted"
    UNKNOWN = "unknown"


class DomainCount(NamedTuple):
    """An eligible domain, with its matching pods and its counted nodes."""

    value: str
    matching: int
    nodes: int


class ConstraintStatus(NamedTuple):
    """Status of a constraint of a workload's pods, or of a default constraint of the scheduler.

    counts: matching pods of the eligible domains; no domain if the counts are unknown.
    nodes: the number of counted nodes of each of these domains, in the same order.
    not_before: the latest creation of a counted node or pod, or deletion of a pod. The counts are not older than
        this. Set if the constraint is violated; empty if the cluster facts lack a time.
    also_counted: other workloads whose pods count. Set if the constraint is violated.
    """

    position: int
    is_default: bool
    topology_key: str
    max_skew: int
    when_unsatisfiable: str
    min_domains: Optional[int]
    selector: Optional[Selector] = None
    self_match: bool = False
    counts: ConstraintCounts = ConstraintCounts({})
    nodes: tuple[int, ...] = ()
    state: ConstraintState = ConstraintState.UNKNOWN
    reason: str = ""
    not_before: str = ""
    uncounted: Optional[UncountedPods] = None
    also_counted: tuple[ObjectKey, ...] = ()

    @property
    def domains(self) -> tuple[DomainCount, ...]:
        """Return the eligible domains, by value. They are made at each call: `counts.domains` knows their number."""
        numbers = self.counts.domains
        return tuple(
            DomainCount(value, number, nodes)
            for (value, number), nodes in zip(numbers.items(), self.nodes, strict=True)
        )

    @property
    def skew(self) -> Optional[int]:
        return self.counts.skew

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE

    @property
    def is_fine(self) -> bool:
        """Return whether the constraint is soft, or neither violated nor partly counted."""
        return not self.is_hard or self.state not in (ConstraintState.VIOLATED, ConstraintState.PARTLY_COUNTED)


class WorkloadStatus(NamedTuple):
    """Status of a workload.

    wanted: None if the workload does not set its number of pods. why: reason of unknown counts. running: pods on a node
    that exists. lost: pods on nodes that were deleted. uncreated: pods that the API server refuses. counts: the
    scheduler's own counts of each constraint, on request; none if they are unknown.
    """

    key: ObjectKey
    labels: Labels
    wanted: Optional[int]
    running: int
    terminating: int
    pending: tuple[Pod, ...]
    constraints: tuple[ConstraintStatus, ...]
    why: str = ""
    lost: tuple[str, ...] = ()
    uncreated: Optional[UncreatedPods] = None
    counts: tuple[DomainCounts, ...] = ()

    @property
    def pending_since(self) -> str:
        """Return the time when the first Pending pod was refused; empty if it is unknown for any of them."""
        times = [pod.refused_since for pod in self.pending]
        return min(times, default="") if all(times) else ""

    @property
    def has_own(self) -> bool:
        """Return whether the pods have constraints of their own, or hard default constraints."""
        return any(not item.is_default or item.is_hard for item in self.constraints)

    @property
    def is_fine(self) -> bool:
        """Return whether all pods exist and have nodes, and all constraints are fine."""
        is_complete = not (self.pending or self.lost or self.uncreated)
        return is_complete and all(item.is_fine for item in self.constraints)


def statuses(
    cluster: Cluster,
    profiles: Mapping[str, Profile],
    *,
    wants: Callable[[ObjectKey, Labels], bool] = lambda *_: True,
    has_counts: bool = False,
) -> Iterator[WorkloadStatus]:
    """Yield the status of every workload by namespace, kind and name; controlled workloads belong to their owner.

    Args:
        cluster: workloads that are missing in it are derived from their pods.
        profiles: of the scheduler.
        wants: selects workloads by their key and their own labels.
        has_counts: with the scheduler's own counts of each constraint, which are large.
    """
    known = _Known(cluster, profiles)
    pods = pods_by_workload(cluster)
    keys = {key for key in cluster.controllers if key not in cluster.owners} | pods.keys()
    for key in sorted(keys, key=lambda key: (key.namespace, key.kind, key.name)):
        own = pods.get(key, [])
        labels = labels_of(key, cluster, own[0].labels if own else {})
        if wants(key, labels):
            status = _status(key, labels, own, known)
            yield status if has_counts else status._replace(counts=())


class _Known:
    """What the workloads of a cluster share."""

    def __init__(self, cluster: Cluster, profiles: Mapping[str, Profile]) -> None:
        self.cluster, self.profiles = cluster, profiles
        self.owned, self.columns = OwnedPods(cluster), Columns(cluster)
        self._nodes: dict[tuple[str, bytes, bytes], NodesByDomain] = {}

    def nodes_of(self, counts: DomainCounts) -> NodesByDomain:
        """Return the domains that a constraint counts; the last ones are remembered."""
        key = (counts.constraint.topology_key, counts.included.tobytes(), counts.eligible.tobytes())
        if key in self._nodes:
            return self._nodes[key]
        topology = counts.topology
        codes = topology.order[counts.eligible[topology.order]]
        at = np.flatnonzero(counts.included & (topology.codes >= 0))
        nodes = np.bincount(topology.codes[at], minlength=len(topology.values))[codes].tolist()
        created = [self.columns.nodes[node].created for node in at[counts.eligible[topology.codes[at]]].tolist()]
        latest = max(created, default="") if all(created) else ""
        if len(self._nodes) == _MOST:
            del self._nodes[next(iter(self._nodes))]
        values = tuple(topology.values[at] for at in codes.tolist())
        found = self._nodes[key] = NodesByDomain(values, codes, tuple(nodes), latest)
        return found


def pods_by_workload(cluster: Cluster) -> dict[ObjectKey, list[Pod]]:
    """Group the pods that have not ended by workload; a pod without a controller is its own workload."""
    return grouped((workload_of(pod, cluster), pod) for pod in cluster.pods if pod.is_visible)


def labels_of(key: ObjectKey, cluster: Cluster, of_pods: Labels) -> Labels:
    controller = cluster.controllers.get(key)
    return of_pods if controller is None else controller.labels


def _status(key: ObjectKey, labels: Labels, own: list[Pod], known: _Known) -> WorkloadStatus:
    state = state_with(key, own, known.owned)
    status = WorkloadStatus(
        key=key,
        labels=labels,
        wanted=state.wanted,
        running=len(state.running) - len(state.lost),
        terminating=len(state.terminating),
        pending=state.pending,
        constraints=(),
        lost=tuple(pod.name for pod in state.lost),
        uncreated=state.uncreated,
    )
    pod_class = _next_class(key, own, known)
    name = pod_class.scheduler_name
    profile = known.profiles.get(name)
    plugin = None if profile is None else profile.plugin(PodTopologySpread)
    if plugin is None:
        of_profile = f"the profile {name} has no PodTopologySpread"
        why = f"no profile of the scheduler is called {name}" if profile is None else of_profile
        constraints = (
            ConstraintStatus(
                position=item.position,
                is_default=False,
                topology_key=item.topology_key,
                max_skew=item.max_skew,
                when_unsatisfiable=item.when_unsatisfiable,
                min_domains=item.min_domains,
                reason=why,
            )
            for item in pod_class.constraints
        )
        return status._replace(constraints=tuple(constraints), why=why)
    found = sorted(plugin.counts(pod_class, known.columns), key=lambda item: item[0].constraint.position)
    constraints = (_constraint(counts, pod_class, known, state, is_hard=is_hard) for counts, is_hard in found)
    return status._replace(constraints=tuple(constraints), counts=tuple(counts for counts, _ in found))


def _next_class(key: ObjectKey, own: list[Pod], known: _Known) -> PodClass:
    """Return the class of the workload's next pod; if the workload is unknown, of its youngest pod."""
    controller = known.cluster.controllers.get(key)
    if controller is None:
        return max(own, key=lambda pod: pod.created).cls
    minor = next(iter(known.profiles.values())).minor
    owner = stored_workload(controller.workload, known.cluster, minor)
    owner = owner._replace(known_hash=newest_hash(owner, own, known.cluster) or owner.known_hash)
    return daemon(owner, own[0].node_name).cls if key.kind == "DaemonSet" and own else replica(owner, 0).cls


def _constraint(
    counts: DomainCounts, pod_class: PodClass, known: _Known, workload: WorkloadState, *, is_hard: bool
) -> ConstraintStatus:
    constraint, domains = counts.constraint, known.nodes_of(counts)
    written = pod_class.constraints[constraint.position] if pod_class.constraints else None
    now = ConstraintCounts(domains.numbers(counts.match_num), counts.is_below_min_domains)
    state, reason = _state(constraint, now, is_hard=is_hard, kind=workload.key.kind)
    is_broken = state in (ConstraintState.VIOLATED, ConstraintState.UNEVEN)
    pods = counts.pods() if is_broken and now.domains else None
    times = [domains.latest, *(pod.deleted if pod.terminating else pod.created for pod in pods or ())]
    away = int(counts.on_nodes.sum() - counts.match_num.sum())
    if away and (is_broken or state is ConstraintState.OK):
        where = f"{count_noun(away, 'matching pod')} on nodes that do not count"
        reason = "; ".join(filter(None, (reason, where)))
    # The running pods of the workload that its own selector does not match
    uncounted = None if written is None else find_uncounted(written, workload.running, dict(pod_class.labels))
    if uncounted is not None:
        reason = "; ".join(filter(None, (reason, uncounted.sentence)))
        if state in (ConstraintState.OK, ConstraintState.UNEVEN):
            state = ConstraintState.PARTLY_COUNTED
    return ConstraintStatus(
        position=constraint.position,
        is_default=written is None,
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        when_unsatisfiable=DO_NOT_SCHEDULE if is_hard else SCHEDULE_ANYWAY,
        min_domains=None if written is None else written.min_domains,
        selector=constraint.selector,
        self_match=bool(constraint.self_match_num),
        counts=now,
        nodes=domains.nodes,
        state=state,
        reason=reason,
        not_before=max(times) if pods is not None and all(times) else "",
        uncounted=uncounted,
        also_counted=also_counted(pods or (), workload.key, known.cluster),
    )


def _state(
    constraint: Constraint, counts: ConstraintCounts, *, is_hard: bool, kind: str
) -> tuple[ConstraintState, str]:
    """Return the state of a constraint, with a reason if it needs one."""
    if constraint.selector.requirements is None or constraint.selector.is_empty:
        return ConstraintState.NO_EFFECT, "its selector counts no pod"
    if counts.skew is None:
        why = "no node that counts has the label"
        return (
            (ConstraintState.VIOLATED, f"{why}: no new pod finds a node")
            if is_hard
            else (ConstraintState.NO_EFFECT, why)
        )
    if kind == "DaemonSet" and constraint.honors_affinity:
        return ConstraintState.NO_EFFECT, "each pod of a DaemonSet is for one node"
    if not constraint.self_match_num and not counts.most:
        return ConstraintState.NO_EFFECT, "its selector matches neither the workload's own pods nor others"
    if len(counts.domains) == 1 and not counts.is_below_min_domains:
        return ConstraintState.NO_EFFECT, "there is only one domain"
    if counts.skew <= constraint.max_skew and not constraint.self_match_num:
        return ConstraintState.NO_EFFECT, "its selector matches other pods, and none of the workload's own"
    if counts.skew <= constraint.max_skew:
        return ConstraintState.OK, ""
    few = f"fewer than {constraint.min_domains} domains" if is_hard and counts.is_below_min_domains else ""
    return (ConstraintState.VIOLATED, few) if is_hard else (ConstraintState.UNEVEN, "")
