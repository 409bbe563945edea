"""The JSON document of an Explanation: the form of each record; its schema is schemas/explanation.json."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kubectl_spread.advice.change import Effect, Setback, SpreadChange, Suggestion, Suggestions
from kubectl_spread.cluster.snapshot import ClusterEvent
from kubectl_spread.explain.constraint_report import (
    ConstraintReport,
    CountedPods,
    DomainReport,
    Holder,
    IgnoredPods,
    MOST_NAMES,
)
from kubectl_spread.explain.explanation import BoundPodReport, ClaimTrouble, NodeReport, NodeView, Room, TaintAnswer
from kubectl_spread.explain.forecast import ConstraintForecast, Forecast
from kubectl_spread.explain.preemption import OtherNodeEviction, PreemptionReport, Victim
from kubectl_spread.explain.reported_message import MessageComparison
from kubectl_spread.explain.requirements.requirement import Cause, Conflict, UnmetRequirement
from kubectl_spread.explain.scores import Decision, ScoreTable, Share, SoftConstraint, SoftDomain, SoftVote
from kubectl_spread.explain.status import WorkloadState
from kubectl_spread.lint.wording import node_reason, node_reasons
from kubectl_spread.objects.keys import Range
from kubectl_spread.report.documents import form, origin, Plain, report_document, to_document
from kubectl_spread.report.explain import constraints, pod_report, scores, suggestions, text, verdict
from kubectl_spread.report.explain.pod_report import PodReport
from kubectl_spread.report.wording import name, short_name
from kubectl_spread.scheduler.framework.plugin import Status
from kubectl_spread.scheduler.preemption import Candidate


def explanations(items: Iterable[PodReport]) -> Plain:
    """Return an Explanation, or an ExplanationList of several."""
    documents = [explanation(item) for item in items]
    if len(documents) == 1:
        return documents[0]
    return report_document("ExplanationList", {"items": documents})


def explanation(report: PodReport) -> Plain:
    """Return an Explanation; scores, preemption, the bound pod's report and the forecast are optional."""
    item, bound = report.explanation, report.explanation.bound_pod
    table = item.scores if bound is None else bound.scores
    more = {"preemption": item.preemption, "boundPod": bound, "forecast": report.forecast}
    fields = {
        **to_document(
            item,
            "pod verdict message nominatedNode victims reportedMessage=reported "
            "feasible=diagnosis.feasible nodes constraints conflicts moreConflicts "
            "conflictsComplete=conflicts_are_complete notPredictable=beyond others ignoredFields=ignored.fields "
            "summary "
            "causes claims assumed rivals refusedFor lastMessage events workload node suggestions search",
            pod=to_document(item.pod, "namespace name node=node_name"),
            victims=[victim.key for victim in item.victims],
            conflicts=[_conflict(conflict, item.node_names) for conflict in item.conflicts],
            summary=verdict.sentence(item, report.outlook),
            assumed=[{"pod": key, "node": node} for key, node in item.assumed],
            refusedFor=[
                to_document(part, "count=number reason kind")
                for part in (() if item.disagreement is None else item.disagreement.parts)
            ],
            lastMessage=report.comparison
            and {**to_document(report.reported, "message at times"), **to_document(report.comparison)},
            events=report.other_events,
            workload=report.workload,
            node=report.node,
            suggestions=() if report.suggestions is None else report.suggestions.items,
            search=report.suggestions,
        ),
        **({} if table is None else to_document(table)),
        **{name: to_document(record) for name, record in more.items() if record is not None},
    }
    if report.file:
        fields["file"] = report.file
    if report.outlook is not None:
        from kubectl_spread.report import added_nodes  # loads `provisioners`

        fields["karpenter"] = added_nodes.document(report.outlook.most_telling, report.outlook)
    return report_document("Explanation", fields)


def _conflict(conflict: Conflict, node_names: Sequence[str]) -> Plain:
    """Return requirements that no node meets together; `nodes` is empty by definition."""
    words = conflict.arithmetic or ("",) * len(conflict.requirements)
    requirements = [
        to_document(
            requirement,
            "plugin text kind key index=at id parts arithmetic nodes",
            parts=[part.id for part in requirement.parts],
            arithmetic=arithmetic,
            nodes=[name for name, fits in zip(node_names, requirement.allowed, strict=True) if fits],
        )
        for requirement, arithmetic in zip(conflict.requirements, words, strict=True)
    ]
    return {"requirements": requirements, "nodes": []}


def _ranges(pods: dict[str, Range]) -> dict[str, Any]:
    return {name: of_name._asdict() for name, of_name in pods.items()}


form(
    MessageComparison,
    "comparison=status numbers changed limits",
    numbers=pod_report.difference,
    changed=pod_report.changes,
    limits=pod_report.limits,
)
form(Suggestions, "tried helping=verified notTried failed")
form(Setback, "title reason", reason=suggestions.setback_sentence)
form(Status, "plugin reasons")
form(NodeReport, "name plugin=recorded.plugin code=recorded.code reasons=recorded.reasons also")
form(ClusterEvent, "reason message type=kind times at=last source")
form(
    ClaimTrouble,
    "problem namespace=key.namespace name=key.name storageClass provisioner volume selectedNode event",
    event=lambda item: None if item.event is None else to_document(item.event, "reason message at=last"),
)
form(
    Cause, "narrowedBy nodes=decisive refusedBy=refusals", narrowedBy=lambda item: [part.id for part in item.narrowing]
)
form(UnmetRequirement, "id=requirement.id nodes why")
form(
    WorkloadState,
    "kind=key.kind namespace=key.namespace name=key.name replicas=wanted running onMissingNodes pending "
    "schedulable terminating notCreated=missing paused suspended waitsFor failures",
    running=lambda item: len(item.running),
    onMissingNodes=lambda item: [pod.name for pod in item.lost],
    pending=lambda item: [to_document(pod, "pod=name message since?=refused_since") for pod in item.pending],
    schedulable=lambda item: None if item.finding is None else item.finding._asdict(),
    terminating=lambda item: len(item.terminating),
    waitsFor=lambda item: "" if item.waiting is None else item.waiting.name,
    failures=lambda item: [
        to_document(
            failure,
            "kind=about.kind name=about.name reason message meaning at=last times",
            meaning=text.meaning(failure.message),
        )
        for failure in item.failures
    ],
)
form(
    NodeView,
    "name=node.name considered notConsidered chosenNode=chosen fits unschedulable=node.unschedulable pods "
    "taints plugins "
    "resources=rooms refusedBy domains",
    considered=lambda item: item.not_considered is None,
    refusedBy=lambda item: [requirement.text for requirement in item.refusing],
    domains=lambda item: [
        {"index": report.constraint.position, "value": None if domain is None else domain.value}
        for report, domain in item.domains
    ],
)
form(TaintAnswer, "taint tolerated", taint=lambda item: str(item.taint))
form(Room, "resource allocatable requested asked fits=is_enough")
form(
    ConstraintReport,
    "index=constraint.position origin topologyKey=constraint.topology_key maxSkew=constraint.max_skew "
    "whenUnsatisfiable=constraint.when_unsatisfiable minDomains nodeAffinityPolicy nodeTaintsPolicy selector selfMatch "
    "globalMinimum=counts.minimum minimumIn=counts.smallest_in eligibleDomains nodesWithoutKey=without_key "
    "ignoredPods originText selectorFrom=origin.selector_from fromMatchLabelKeys=origin.merged revision "
    "minimumHeldBy=held_by ignored otherNamespaces notes domains",
    origin=origin,
    nodeAffinityPolicy=lambda item: item.constraint.node_affinity_policy or "Honor",
    nodeTaintsPolicy=lambda item: item.constraint.node_taints_policy or "Ignore",
    selector=lambda item: constraints.selector_text(item.selector),
    originText=lambda item: constraints.origin(item.origin),
    otherNamespaces=lambda item: [
        {"namespace": namespace, "count": number} for namespace, number in item.other_namespaces
    ],
    notes=lambda item: [constraints.note(note) for note in item.notes],
)
form(Holder, "domains nodeCount=nodes nodes=node_names whyNot", whyNot=lambda item: node_reasons(item.why))
form(
    IgnoredPods,
    "why count=number pods=names nodes=node_names",
    why=lambda item: "" if item.why is None else node_reason(item.why),
)
form(
    DomainReport,
    "value nodes countedNodes=counted usableNodes=usable matching eligible whyNot skewIfPlaced fits unusableBecause "
    "nodeNames pods terminating",
    whyNot=lambda item: node_reasons(item.why_not),
    unusableBecause=lambda item: node_reasons(item.unusable_because),
    terminating=lambda item: {"count": len(item.terminating), "pods": item.terminating[:MOST_NAMES]},
)
form(
    CountedPods,
    "owner own count=number names revisions",
    owner=lambda item: short_name(item.owner),
    revisions=lambda item: [{"revision": name, "count": number} for name, number in item.revisions],
)
form(
    ScoreTable,
    "scores weights hosts nodesNotScored scoreError=error decision softConstraints=soft",
    scores=lambda item: {
        row.node: {**dict(zip(item.plugins, row.points, strict=True)), "total": row.total} for row in item.rows
    },
    weights=lambda item: dict(zip(item.plugins, item.weights, strict=True)),
    nodesNotScored=lambda item: 0 if item.error else item.feasible - len(item.rows),
)
form(Decision, "winner runnerUp margin shares decidedBy=decisive")
form(
    Share,
    "plugin points because",
    because=lambda item: "" if item.because is None else scores.because_words(item.because),
)
form(SoftVote, "favourites favourite margin outvotedBy nodesWithoutKey=unlabelled constraints")
form(SoftConstraint, "index=position origin topologyKey domains", origin=origin)
form(SoftDomain, "value matching raw", raw=lambda item: round(item.raw, 6))
form(
    BoundPodReport,
    "ifScheduledNow=again unknown refusals skews",
    unknown=lambda item: "" if item.unknown is None else scores.unknown_words(item.unknown),
    skews=lambda item: [
        to_document(
            skew,
            "index=constraint.position origin topologyKey=constraint.topology_key maxSkew=constraint.max_skew "
            "skew=counts.skew fullest=counts.fullest most=counts.most emptiest=counts.emptiest "
            "least=counts.minimum holds",
            holds=skew.excess <= 0,
        )
        for skew in item.skews
    ],
)
form(
    PreemptionReport,
    "notEligible node victims candidates choices decidedBy unhelpful otherNode",
    decidedBy=lambda item: "" if item.criterion is None else item.criterion.name.lower(),
)
form(
    Candidate,
    "node budgetViolations=violations highestPriority sumOfPriorities victims earliestStart",
    highestPriority=text.highest,
    sumOfPriorities=text.priorities,
    victims=lambda item: len(item.victims),
    earliestStart=text.earliest,
)
form(
    Victim,
    "pod=pod.key priority=pod.cls.priority owner isSibling countedBy breaksBudget",
    owner=lambda item: name(item.owner),
)
form(OtherNodeEviction, "node pod=pod.key podNode=pod.node_name countedBy")
form(
    Forecast,
    "workload=workload.key replicas placed runs isExact=basis.is_exact skipped constraints nodes",
    placed=lambda item: item.placed._asdict(),
    nodes=lambda item: _ranges(item.nodes),
)
form(
    ConstraintForecast,
    "index=position origin topologyKey whenUnsatisfiable maxSkew domains skew",
    origin=origin,
    whenUnsatisfiable=lambda item: "DoNotSchedule" if item.is_hard else "ScheduleAnyway",
    domains=lambda item: _ranges(item.domains),
    skew=lambda item: item.skew._asdict(),
)
form(
    Suggestion,
    "title verified complete certainty=effect.certainty manifest=is_of_manifest changes lines commands effect rollout "
    "managedBy givesUp notes",
    rollout=lambda item: to_document(
        item.effect,
        "outcomes exhaustive=is_exact restarts underWay notFollowed text",
        text=suggestions.effect_sentence(item),
    ),
)
form(
    Effect,
    "node nodes placed pending domains=spreads",
    node=lambda item: item.nodes[0] if item.nodes else "",
    placed=lambda item: {"before": item.placed_before, "after": item.placed_after},
    pending=lambda item: {"before": item.pending_before, "after": item.pending_after},
)
form(
    SpreadChange,
    "topologyKey before=before.domains after=after.domains skewBefore=before.skew skewAfter=after.skew "
    "skewRange=skews range=ranges",
)
