"""The explanation of one pod in one cluster: the verdict and its evidence, also about one node.

For a bound pod this is the scheduler's decision today: its decision when it placed the pod is not recorded. The pod is
removed from the cluster and scheduled as if it were new.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.cluster.columns import Columns
from kubectl_spread.cluster.snapshot import Cluster, ClusterEvent
from kubectl_spread.explain.constraint_report import constraint_reports, ConstraintReport, DomainReport
from kubectl_spread.explain.preemption import preemption_report, PreemptionReport
from kubectl_spread.explain.requirements.collect import requirements
from kubectl_spread.explain.requirements.requirement import (
    Cause,
    causes,
    Conflict,
    conflict_sets,
    merge_causes,
    Requirement,
)
from kubectl_spread.explain.scores import score_table, ScoreTable
from kubectl_spread.objects.keys import NamespacedName, ObjectKey
from kubectl_spread.objects.node import Node, outage_of, Taint
from kubectl_spread.objects.pod import GATED, Pod, PodClass, PodVolume
from kubectl_spread.objects.releases.field_versions import ignored_fields
from kubectl_spread.objects.resources import PODS
from kubectl_spread.objects.selectors import HOSTNAME, ZONE
from kubectl_spread.objects.storage import Claim
from kubectl_spread.scheduler.cycle import Scheduler, unsupported_features
from kubectl_spread.scheduler.filter_result import Diagnosis, FilterResult
from kubectl_spread.scheduler.framework.plugin import Profile, Status, status_of
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import hard_counts
from kubectl_spread.scheduler.preemption import post_filter

if TYPE_CHECKING:
    from kubectl_spread.explain.messages.compare import Disagreement


class ClaimProblem(Enum):
    """Why a claim cannot be used yet."""

    MISSING = "missing"
    NOT_CREATED = "notCreated"  # the controller of ephemeral volumes has not made it yet
    FOREIGN = "foreign"  # it has the name of the pod's ephemeral volume, and belongs to something else
    LOST = "lost"  # its volume is gone
    NO_VOLUME = "noVolume"  # it is bound to a volume that does not exist
    DELETED = "deleted"
    NO_CLASS = "noClass"  # it is not bound, and names a StorageClass that does not exist, or none
    UNBOUND = "unbound"  # its StorageClass binds it at once, and that has not happened
    BINDING = "binding"  # it has a volume, and the volume controller has not finished
    PROVISIONING = "provisioning"  # a node is chosen, and its volume is not there yet


class ClaimTrouble(NamedTuple):
    """A claim and its problem; `event` is the latest event about the claim, `classes` are those of the cluster."""

    problem: ClaimProblem
    key: NamespacedName
    storage_class: str = ""
    provisioner: str = ""
    volume: str = ""
    selected_node: str = ""
    event: Optional[ClusterEvent] = None
    classes: tuple[str, ...] = ()


def troubles(cls: PodClass, cluster: Cluster) -> tuple[ClaimTrouble, ...]:
    """Return the claims for which the scheduler refuses a pod, or waits, in the order of the pod's volumes."""
    found: dict[NamespacedName, ClaimTrouble] = {}
    for volume in cls.volumes:
        key = NamespacedName(cls.namespace, volume.claim)
        claim = cluster.storage.claims.get(key)
        problem = _problem(volume, claim, cluster) if volume.claim and cluster.storage.has_claims else None
        if problem is None or key in found:
            continue
        event = next(iter(cluster.events.get(ObjectKey("PersistentVolumeClaim", *key), ())), None)
        found[key] = ClaimTrouble(problem, key, event=event)
        if claim is not None:
            storage_class = cluster.storage.classes.get(claim.storage_class)
            found[key] = found[key]._replace(
                storage_class=claim.storage_class,
                provisioner="" if storage_class is None else storage_class.provisioner,
                volume=claim.volume_name,
                selected_node=claim.selected_node or "",
                classes=tuple(sorted(cluster.storage.classes)),
            )
    return tuple(found.values())


def _problem(volume: PodVolume, claim: Optional[Claim], cluster: Cluster) -> Optional[ClaimProblem]:
    if claim is None:
        return ClaimProblem.NOT_CREATED if volume.is_ephemeral else ClaimProblem.MISSING
    if claim.is_lost:
        return ClaimProblem.LOST
    if claim.is_deleted:
        return ClaimProblem.DELETED
    if volume.is_ephemeral and claim.owner_uid != volume.pod_uid:
        return ClaimProblem.FOREIGN
    if claim.is_bound:
        return None if claim.volume_name in cluster.storage.volumes else ClaimProblem.NO_VOLUME
    if claim.volume_name:
        return ClaimProblem.BINDING
    storage_class = cluster.storage.classes.get(claim.storage_class)
    if storage_class is None:
        return ClaimProblem.NO_CLASS
    if not storage_class.waits:
        return ClaimProblem.UNBOUND
    return ClaimProblem.PROVISIONING if claim.selected_node else None


class NodeToday(Enum):
    """The node that the scheduler would choose for the pod today."""

    SAME_NODE = "sameNode"
    ANY_OF_SEVERAL = "anyOfSeveral"  # its own node is one of those with the highest score
    ANOTHER_NODE = "anotherNode"
    NOWHERE = "nowhere"
    UNKNOWN = "unknown"


class UnknownReason(Enum):
    """Why the scheduler's decision today is unknown."""

    STATIC_POD = "staticPod"
    NO_PROFILE = "noProfile"  # names: the pod's schedulerName
    NO_NODE = "noNode"  # names: the node, which the facts lack
    NOT_EVALUATED = "notEvaluated"  # names: features that are not evaluated


class NotComparable(NamedTuple):
    """A reason with the names that belong to it."""

    reason: UnknownReason
    names: tuple[str, ...] = ()


class BoundPodReport(NamedTuple):
    """The scheduler's decision on a bound pod today.

    unknown: why `again` is UNKNOWN. refusals: of its own node. constraints: without the pod. skews: the hard ones
    that have a domain, with it. scores: None if no node fits.
    """

    again: NodeToday
    unknown: Optional[NotComparable] = None
    refusals: tuple[Status, ...] = ()
    constraints: tuple[ConstraintReport, ...] = ()
    skews: tuple[ConstraintReport, ...] = ()
    scores: Optional[ScoreTable] = None


def bound_pod_report(pod: Pod, cluster: Cluster, profiles: Mapping[str, Profile]) -> BoundPodReport:
    """Schedule a bound pod as if it were new, with all other pods in place."""
    unknown = _unknown(pod, cluster, profiles)
    if unknown is not None:
        return BoundPodReport(NodeToday.UNKNOWN, unknown)
    unbound = pod._replace(node_name="", nominated_node="", terminating=False)
    others = tuple(other for other in cluster.pods if other is not pod)
    scheduler = Scheduler(Columns(cluster._replace(pods=others)), profiles)
    filtered = scheduler.filter(unbound)
    scores = score_table(unbound, filtered, scheduler)
    at, refusals = scheduler.columns.index[pod.node_name], tuple[Status, ...]()
    if not filtered.feasible[at]:
        is_examined = filtered.rejection is None and filtered.considered[at]
        refusals = tuple(filtered.failures(at)) if is_examined else (filtered.diagnosis().status(pod.node_name),)
    again = NodeToday.NOWHERE
    if scores is not None and scores.error:
        again = NodeToday.UNKNOWN
    elif scores is not None and pod.node_name not in scores.hosts:
        again = NodeToday.ANOTHER_NODE
    elif scores is not None:
        again = NodeToday.SAME_NODE if len(scores.hosts) == 1 else NodeToday.ANY_OF_SEVERAL
    report = BoundPodReport(
        again=again,
        refusals=refusals,
        constraints=constraint_reports(
            unbound.cls, filtered, is_detailed=True, profile=profiles[pod.cls.scheduler_name]
        ),
        scores=scores,
    )
    scheduler.columns.bind(pod, at)
    skews, without_pod = [], {item.constraint.position: item for item in report.constraints}
    for counts in hard_counts(filtered):
        counts.sync()
        if counts.domains_num:
            skews.append(without_pod[counts.constraint.position]._replace(counts=counts.now()))
    return report._replace(skews=tuple(skews))


def _unknown(pod: Pod, cluster: Cluster, profiles: Mapping[str, Profile]) -> Optional[NotComparable]:
    """Return why the scheduler's decision today is unknown; None if it is known."""
    if pod.owner is not None and pod.owner.kind == "Node":
        return NotComparable(UnknownReason.STATIC_POD)
    if pod.cls.scheduler_name not in profiles:
        return NotComparable(UnknownReason.NO_PROFILE, (pod.cls.scheduler_name,))
    if all(node.name != pod.node_name for node in cluster.nodes):
        return NotComparable(UnknownReason.NO_NODE, (pod.node_name,))
    features = unsupported_features(pod.cls, profiles[pod.cls.scheduler_name], cluster)
    return NotComparable(UnknownReason.NOT_EVALUATED, tuple(features)) if features else None


class PodVerdict(Enum):
    """The scheduler's decision about a pod."""

    PENDING = "Pending"
    SCHEDULABLE = "Schedulable"
    RUNNING = "Running"
    GATED = "SchedulingGated"
    FINISHED = "Finished"
    TERMINATING = "Terminating"  # on its node until it has ended, or deleted before it had one
    NODE_GONE = "NodeGone"  # bound to a node that does not exist
    WAITS_FOR_VOLUME = "WaitsForVolume"  # a node is chosen, and the volume of a claim is being made for it
    WAITS_FOR_PREEMPTION = "WaitsForPreemption"  # pods were evicted for it, and have not ended yet
    REFUSED = "Refused"  # the scheduler refuses it, although it fits by the cluster facts
    CONTENDED = "Contended"  # it fits, but Pending pods before it in the queue may take the room
    NO_SCHEDULER = "NoScheduler"  # no profile has the name in the pod's schedulerName
    NOT_CREATED = "NotCreated"  # its controller could not create it, or has not yet
    NOT_PREDICTABLE = "NotPredictable"  # it depends on something that is not evaluated

    @property
    def is_waiting(self) -> bool:
        """Return whether the pod is without a node and will not get one at the next attempt."""
        return self in (
            PodVerdict.PENDING,
            PodVerdict.NO_SCHEDULER,
            PodVerdict.WAITS_FOR_VOLUME,
            PodVerdict.WAITS_FOR_PREEMPTION,
            PodVerdict.REFUSED,
            PodVerdict.CONTENDED,
            PodVerdict.GATED,
        )


class NodeReport(NamedTuple):
    """A node that does not take the pod: the scheduler's recorded reasons, and its other refusals."""

    name: str
    recorded: Status
    also: tuple[Status, ...]


class SchedulerPods(NamedTuple):
    """The numbers of pods that name one scheduler, on nodes and waiting; `known` are the names of the profiles."""

    placed: int = 0
    waiting: int = 0
    known: tuple[str, ...] = ()


class IgnoredFields(NamedTuple):
    """Fields that a release ignores."""

    version: str = ""
    fields: tuple[str, ...] = ()


class Explanation(NamedTuple):
    """The reasons why a pod is on its node, or on none.

    `message` is the present message of the scheduler, or of the API server for a pod with gates. `reported` is the
    message in the cluster facts. If preemption would help, `nominated_node` and `victims` name the node and the pods to
    evict. If it has happened already, `victims` are the evicted pods that still run. If a pod is not predictable,
    `beyond` names the features that it depends on. Then the evidence covers only the evaluated rules, and there is no
    message.
    """

    pod: Pod
    verdict: PodVerdict
    diagnosis: Diagnosis
    message: str = ""
    reported: str = ""
    nodes: tuple[NodeReport, ...] = ()
    constraints: tuple[ConstraintReport, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    node_names: tuple[str, ...] = ()
    domain_key: str = ""  # the label that groups many nodes: the topology key of the first constraint, else the zone
    domain_of: tuple[str, ...] = ()  # its value on each of `node_names`; empty if a node lacks it
    beyond: tuple[str, ...] = ()
    nominated_node: str = ""
    victims: tuple[Pod, ...] = ()
    others: tuple[str, ...] = ()  # equal pods of the same workload
    ignored: IgnoredFields = IgnoredFields()
    scheduler: SchedulerPods = SchedulerPods()  # of a pod with an unknown scheduler
    more_conflicts: int = 0  # number of conflicts that are left out
    conflicts_are_complete: bool = True  # whether there are no others
    preemption: Optional[PreemptionReport] = None  # set if no node fits and the scheduler would try it
    scores: Optional[ScoreTable] = None  # set if a node fits
    bound_pod: Optional[BoundPodReport] = None  # of a pod that is bound; its scores and constraints are in it
    causes: tuple[Cause, ...] = ()  # why no node fits, for the first sentence
    claims: tuple[ClaimTrouble, ...] = ()  # claims that block scheduling, or whose volume is not provisioned yet
    assumed: tuple[tuple[str, str], ...] = ()  # Pending pods that are counted as placed before it, and their nodes
    rivals: tuple[str, ...] = ()  # keys of Pending pods that compete with it and may come before it
    disagreement: Optional[Disagreement] = None  # of a pod that the scheduler refuses though it fits
    outage: str = ""  # key of the taint that marks the node of a bound pod as down
    last_turn: Optional[Explanation] = None  # of a pod that fits now, if its rivals come before it
    ungated: Optional[Explanation] = None  # of a pod with scheduling gates, once they are removed

    @property
    def conflict(self) -> tuple[str, ...]:
        """Return the requirements of the first conflict, for display."""
        return tuple(requirement.text for item in self.conflicts[:1] for requirement in item.requirements)


class ExaminedPod(NamedTuple):
    """An explanation and its inputs; the scheduler is None if no plugin ran."""

    explanation: Explanation
    scheduler: Optional[Scheduler] = None
    filtered: Optional[FilterResult] = None


def explain(pod: Pod, cluster: Cluster, profiles: Mapping[str, Profile]) -> Explanation:
    """Explain one pod: pending, or about to be created."""
    return examine(pod, cluster, profiles).explanation


def examine(pod: Pod, cluster: Cluster, profiles: Mapping[str, Profile]) -> ExaminedPod:
    """Explain one pod, and keep the plugins' results."""
    nothing = Diagnosis(len(cluster.nodes))
    if not pod.is_visible:
        return ExaminedPod(Explanation(pod, PodVerdict.FINISHED, nothing))
    if pod.terminating:
        return ExaminedPod(
            Explanation(
                pod,
                PodVerdict.TERMINATING,
                nothing,
                reported="" if pod.node_name else pod.message,
                outage=outage_of(pod.node_name, cluster.nodes),
            )
        )
    if pod.node_name:  # the scheduler's decision today
        today = bound_pod_report(pod, cluster, profiles)
        is_there = any(node.name == pod.node_name for node in cluster.nodes)
        return ExaminedPod(
            Explanation(
                pod,
                PodVerdict.RUNNING if is_there else PodVerdict.NODE_GONE,
                nothing,
                constraints=today.constraints,
                bound_pod=today,
                outage=outage_of(pod.node_name, cluster.nodes),
            )
        )
    if pod.cls.gates:
        ungated = examine(pod._replace(cls=pod.cls._replace(gates=())), cluster, profiles).explanation
        return ExaminedPod(
            Explanation(pod, PodVerdict.GATED, nothing, message=GATED, reported=pod.message, ungated=ungated)
        )
    if pod.cls.scheduler_name not in profiles:
        return ExaminedPod(without_scheduler(pod, cluster, tuple(profiles)))
    scheduler = Scheduler(Columns(cluster), profiles)
    filtered = scheduler.filter(pod)
    explanation = explain_filtered(pod, filtered, scheduler, is_detailed=True)
    return ExaminedPod(_awaiting(explanation, filtered), scheduler, filtered)


def _awaiting(explanation: Explanation, filtered: FilterResult) -> Explanation:
    """Report the wait of a pod whose node is already chosen: for its volume, or for the end of evicted pods."""
    pod = explanation.pod
    if explanation.verdict is PodVerdict.SCHEDULABLE:
        claims = troubles(pod.cls, filtered.columns.cluster)
        chosen = {item.selected_node for item in claims}
        if not claims or any(item.problem is not ClaimProblem.PROVISIONING for item in claims):
            return explanation
        if not chosen <= set(explanation.diagnosis.feasible):
            return explanation
        return explanation._replace(verdict=PodVerdict.WAITS_FOR_VOLUME, claims=claims)
    at = filtered.columns.index.get(pod.nominated_node)
    if explanation.verdict is not PodVerdict.PENDING or at is None or filtered.rejection is not None:
        return explanation
    victims = [item for item in filtered.columns.pods[at] if item.terminating and item.cls.priority < pod.cls.priority]
    if not victims or filtered.filter_with(at, victims, ()) is not None:
        return explanation  # It does not fit there without them.
    return explanation._replace(
        verdict=PodVerdict.WAITS_FOR_PREEMPTION, nominated_node=pod.nominated_node, victims=tuple(victims)
    )


def without_scheduler(pod: Pod, cluster: Cluster, known: tuple[str, ...]) -> Explanation:
    """Explain a pod that no profile schedules; `known`: the names of the profiles."""
    beyond = unsupported_features(pod.cls, None, cluster)
    nothing = Diagnosis(len(cluster.nodes))
    same = [other for other in cluster.pods if other.is_visible and other.cls.scheduler_name == pod.cls.scheduler_name]
    placed = sum(bool(other.node_name) for other in same)
    pods = SchedulerPods(placed, len(same) - placed, known)
    return Explanation(pod, PodVerdict.NO_SCHEDULER, nothing, reported=pod.message, beyond=beyond, scheduler=pods)


def explain_filtered(
    pod: Pod, filtered: FilterResult, scheduler: Scheduler, *, is_detailed: bool = False
) -> Explanation:
    """Explain a pod from the plugins' results; no pod may have been bound since.

    `is_detailed`: with the counted pods, the arithmetic of each conflict, the scores and the candidates of
    preemption.
    """
    diagnosis, nodes, cls = filtered.diagnosis(), filtered.columns.nodes, pod.cls
    reports = []
    for at, node in enumerate(nodes):
        if not filtered.feasible[at]:
            recorded = diagnosis.status(node.name)
            also = tuple(status for status in filtered.failures(at) if status != recorded)
            reports.append(NodeReport(node.name, recorded, also))
    profile = scheduler.profile_of(cls)
    beyond = unsupported_features(cls, profile, scheduler.columns.cluster)
    key = next((item.topology_key for item in cls.constraints if item.topology_key != HOSTNAME), ZONE)
    verdict = PodVerdict.SCHEDULABLE if diagnosis.feasible else PodVerdict.PENDING
    item = Explanation(
        pod=pod,
        verdict=PodVerdict.NOT_PREDICTABLE if beyond else verdict,
        diagnosis=diagnosis,
        reported=pod.message,
        nodes=tuple(reports),
        node_names=tuple(node.name for node in nodes),
        claims=troubles(cls, scheduler.columns.cluster) if filtered.rejection is not None else (),
        domain_key=key,
        domain_of=tuple(node.labels.get(key, "") for node in nodes),
        beyond=beyond,
        ignored=IgnoredFields(f"1.{profile.minor}", ignored_fields(cls.constraints, profile.minor)),
    )
    if not diagnosis.feasible and not beyond:
        result = post_filter(pod, filtered, scheduler)  # It completes the message.
        report = None
        if is_detailed and result.dry_run is not None:
            report = preemption_report(pod, filtered, scheduler, result.dry_run)
        message = diagnosis.message(result.message)
        item = item._replace(message=message, nominated_node=result.node, victims=result.victims, preemption=report)
    found = requirements(cls, filtered)
    of_causes = merge_causes(found)
    if not diagnosis.feasible:
        conflicts, more, is_complete = conflict_sets(of_causes, has_words=is_detailed)
        item = item._replace(
            conflicts=conflicts,
            more_conflicts=more,
            conflicts_are_complete=is_complete,
            causes=causes(of_causes, conflicts, item.node_names, has_words=is_detailed),
        )
    return item._replace(
        requirements=tuple(found),
        constraints=constraint_reports(
            cls,
            filtered,
            is_detailed=is_detailed,
            refusing=found if is_detailed else (),
            profile=profile if is_detailed else None,
        ),
        scores=score_table(pod, filtered, scheduler) if is_detailed else None,
    )


class NotConsidered(Enum):
    """The reason why the scheduler does not examine a node."""

    NAMED_NODES = "namedNodes"  # the pod names other nodes
    CHOSEN_NODE = "chosenNode"  # another node is chosen for the pod, and it still fits
    REFUSED_BEFORE = "refusedBefore"  # the pod is refused before any node is looked at


class Room(NamedTuple):
    """A resource of the node, in the units of `PodClass.requests`."""

    resource: str
    allocatable: int
    requested: int
    asked: int

    @property
    def free(self) -> int:
        return self.allocatable - self.requested

    @property
    def is_enough(self) -> bool:
        return not self.asked or self.asked <= self.free


class TaintAnswer(NamedTuple):
    taint: Taint
    is_tolerated: bool


class NodeView(NamedTuple):
    """A node from the point of view of one pod.

    plugins: of the plugins that filter this pod, in the order they run; without reasons if the node passes.
    domains: the node's domain for each constraint; None if the node lacks the key.
    refusing: the requirements that the node does not meet.
    """

    node: Node
    fits: bool
    taints: tuple[TaintAnswer, ...]
    rooms: tuple[Room, ...]
    plugins: tuple[Status, ...]
    refusing: tuple[Requirement, ...]
    domains: tuple[tuple[ConstraintReport, Optional[DomainReport]], ...]
    pods: int
    not_considered: Optional[NotConsidered]
    chosen: str  # the chosen node, if it is the reason why this one is not examined


def node_view(name: str, examined: ExaminedPod) -> Optional[NodeView]:
    """Return the view of one node; None if the node does not exist, or if no plugin ran."""
    filtered, explanation = examined.filtered, examined.explanation
    if filtered is None or name not in filtered.columns.index:
        return None
    columns, at = filtered.columns, filtered.columns.index[name]
    node, cls = columns.nodes[at], explanation.pod.cls
    nominated = [
        pod
        for pod in columns.cluster.pending()
        if pod.nominated_node == name and pod.uid != explanation.pod.uid and pod.cls.priority >= cls.priority
    ]
    fails = filtered.nominated.get(at)
    why_not = None if filtered.considered[at] else NotConsidered.NAMED_NODES
    if why_not and filtered.rejection is not None:
        why_not = NotConsidered.REFUSED_BEFORE
    elif why_not and explanation.pod.nominated_node in explanation.diagnosis.feasible:
        why_not = NotConsidered.CHOSEN_NODE
    return NodeView(
        node=node,
        fits=bool(filtered.feasible[at]),
        taints=tuple(
            TaintAnswer(taint, any(toleration.tolerates(taint) for toleration in cls.tolerations))
            for taint in node.taints
        ),
        rooms=tuple(
            Room(
                resource,
                node.allocatable.get(resource, 0),
                int((columns.pod_count if resource == PODS else columns.requested_of(resource))[at])
                + sum({PODS: 1, **dict(pod.cls.requests)}.get(resource, 0) for pod in nominated),
                request,
            )
            for resource, request in {PODS: 1, **dict(cls.requests)}.items()
        ),
        plugins=tuple(
            fails
            if fails is not None and fails.plugin == verdict.plugin
            else status_of(verdict.plugin, verdict.state.reasons, int(verdict.bits[at]))
            for verdict in filtered.plugin_results
        ),
        refusing=tuple(item for item in explanation.requirements if not item.allowed[at]),
        domains=tuple(
            (report, next((item for item in report.domains if item.value == node.labels.get(key)), None))
            for report in explanation.constraints
            for key in [report.constraint.topology_key]
        ),
        pods=int(columns.pod_count[at]),
        not_considered=why_not,
        chosen=explanation.pod.nominated_node if why_not is NotConsidered.CHOSEN_NODE else "",
    )
