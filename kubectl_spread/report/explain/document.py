"""The JSON document of an Explanation; its schema is schemas/explanation.json."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kubectl_spread.advice.suggestion import Suggestions
from kubectl_spread.cluster.snapshot import ClusterEvent
from kubectl_spread.explain.constraints.report import ConstraintReport, DomainReport, Holder, IgnoredPods, MOST_NAMES
from kubectl_spread.explain.explanation import ClaimTrouble, Explanation, NodeReport
from kubectl_spread.explain.node_view import NodeView
from kubectl_spread.explain.reported_message import MessageComparison, ReportedMessage
from kubectl_spread.explain.requirements.decisive import Cause, Conflict
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.explain.workload_state import WorkloadState
from kubectl_spread.lint.wording import node_reason, node_reasons
from kubectl_spread.report.documents import API_VERSION
from kubectl_spread.report.explain import constraints as constraint_words
from kubectl_spread.report.explain import forecast, preemption, reported_message, scores, suggestions, verdict
from kubectl_spread.report.explain.constraints import selector_text
from kubectl_spread.report.explain.pod_report import PodReport


def explanations(items: Iterable[PodReport]) -> dict[str, Any]:
    """Return an Explanation, or an ExplanationList of several."""
    documents = [explanation(item) for item in items]
    if len(documents) == 1:
        return documents[0]
    return {"apiVersion": API_VERSION, "kind": "ExplanationList", "items": documents}


def explanation(report: PodReport) -> dict[str, Any]:
    """Return an Explanation."""
    item, searched = report.explanation, report.suggestions or Suggestions()
    pod = item.pod
    constraints = item.constraints if item.bound_pod is None else item.bound_pod.constraints
    return {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "pod": {"namespace": pod.namespace, "name": pod.name, "node": pod.node_name},
        "verdict": item.verdict.value,
        "message": item.message,
        "nominatedNode": item.nominated_node,
        "victims": [victim.key for victim in item.victims],
        "reportedMessage": item.reported,
        "feasible": list(item.diagnosis.feasible),
        "nodes": list(map(_node, item.nodes)),
        "constraints": list(map(_constraint, constraints)),
        "conflicts": [_conflict(conflict, item.node_names) for conflict in item.conflicts],
        "moreConflicts": item.more_conflicts,
        "conflictsComplete": item.conflicts_are_complete,
        "notPredictable": list(item.beyond),
        "others": list(item.others),
        "ignoredFields": list(item.ignored.fields),
        "summary": verdict.sentence(item),
        **_summary_facts(item),
        **_context(report),
        "suggestions": [suggestions.suggestion_document(found) for found in searched.items],
        "search": None if report.suggestions is None else _search(searched),
        **_more(report),
    }


def _node(node: NodeReport) -> dict[str, Any]:
    """Return a node that does not fit: the recorded reason, and those of other plugins."""
    return {
        "name": node.name,
        "plugin": node.recorded.plugin,
        "code": node.recorded.code.value,
        "reasons": list(node.recorded.reasons),
        "also": [{"plugin": status.plugin, "reasons": list(status.reasons)} for status in node.also],
    }


def _conflict(conflict: Conflict, node_names: Sequence[str]) -> dict[str, Any]:
    """Return requirements that no node meets together; `nodes` is empty by definition."""
    words = conflict.arithmetic or ("",) * len(conflict.requirements)
    found = zip(conflict.requirements, words, strict=True)
    return {"requirements": [_requirement(*pair, node_names) for pair in found], "nodes": []}


def _requirement(requirement: Requirement, words: str, node_names: Sequence[str]) -> dict[str, Any]:
    return {
        "plugin": requirement.plugin,
        "text": requirement.text,
        "kind": requirement.kind.value,
        "key": requirement.key,
        "index": requirement.at,
        "id": requirement.id,
        "parts": [part.id for part in requirement.parts],
        "arithmetic": words,
        "nodes": [name for name, fits in zip(node_names, requirement.allowed, strict=True) if fits],
    }


def _context(report: PodReport) -> dict[str, Any]:
    """Return the last message, the events, the workload and the requested node."""
    return {
        "lastMessage": None if report.comparison is None else _last_message(report.reported, report.comparison),
        "events": [_event(event) for event in report.other_events],
        "workload": None if report.workload is None else _workload(report.workload),
        "node": None if report.node is None else _one_node(report.node),
    }


def _more(report: PodReport) -> dict[str, Any]:
    """Return the optional parts: scores if a node fits, preemption if none does, the bound pod's report, a forecast."""
    item = report.explanation
    table = item.scores if item.bound_pod is None else item.bound_pod.scores
    return {
        **({} if table is None else scores.document(table)),
        **({} if item.preemption is None else {"preemption": preemption.document(item.preemption)}),
        **({} if item.bound_pod is None else {"boundPod": scores.bound_pod_document(item.bound_pod)}),
        **({} if report.forecast is None else {"forecast": forecast.document(report.forecast)}),
    }


def _search(searched: Suggestions) -> dict[str, Any]:
    failed = [{"title": item.title, "reason": suggestions.setback_sentence(item)} for item in searched.failed]
    return {
        "tried": searched.tried,
        "helping": searched.verified,
        "notTried": searched.not_tried,
        "failed": failed,
    }


def _last_message(reported: ReportedMessage, comparison: MessageComparison) -> dict[str, Any]:
    return {
        "message": reported.message,
        "at": reported.at,
        "times": reported.times,
        "comparison": comparison.status.value,
        "numbers": reported_message.difference(comparison),
        "changed": reported_message.changes(comparison),
        "limits": reported_message.limits(comparison),
    }


def _event(event: ClusterEvent) -> dict[str, Any]:
    return {
        "reason": event.reason,
        "message": event.message,
        "type": event.kind,
        "times": event.times,
        "at": event.last,
        "source": event.source,
    }


def _workload(state: WorkloadState) -> dict[str, Any]:
    return {
        "kind": state.key.kind,
        "namespace": state.key.namespace,
        "name": state.key.name,
        "replicas": state.wanted,
        "running": len(state.running),
        "onMissingNodes": [pod.name for pod in state.lost],
        "pending": [
            {"pod": pod.name, "message": pod.message, "since": pod.refused_since or None} for pod in state.pending
        ],
        "schedulable": None if state.finding is None else {"least": state.finding[0], "most": state.finding[1]},
        "terminating": len(state.terminating),
        "notCreated": state.missing,
        "paused": state.is_paused,
        "suspended": state.is_suspended,
        "waitsFor": "" if state.waiting is None else state.waiting.name,
        "failures": [
            {
                "kind": failure.about.kind,
                "name": failure.about.name,
                "reason": failure.reason,
                "message": failure.message,
                "meaning": _meaning(failure.message),
                "at": failure.at,
                "times": failure.times,
            }
            for failure in state.failures
        ],
    }


def _meaning(message: str) -> str:
    from kubectl_spread.explain.messages import meaning  # regular expressions: 20 ms

    return meaning.meaning_of_text(message)


def _one_node(found: NodeView) -> dict[str, Any]:
    return {
        "name": found.node.name,
        "considered": found.is_considered,
        "notConsidered": None if found.not_considered is None else found.not_considered.value,
        "chosenNode": found.chosen,
        "fits": found.fits,
        "unschedulable": found.node.unschedulable,
        "pods": found.pods,
        "taints": [{"taint": str(answer.taint), "tolerated": answer.is_tolerated} for answer in found.taints],
        "plugins": [{"plugin": answer.plugin, "reasons": list(answer.reasons)} for answer in found.plugins],
        "resources": [
            {
                "resource": room.resource,
                "allocatable": room.allocatable,
                "requested": room.requested,
                "asked": room.asked,
                "fits": room.is_enough,
            }
            for room in found.rooms
        ],
        "refusedBy": [item.text for item in found.refusing],
        "domains": [
            {"index": report.constraint.position, "value": None if domain is None else domain.value}
            for report, domain in found.domains
        ],
    }


def _constraint(report: ConstraintReport) -> dict[str, Any]:
    constraint = report.constraint
    return {
        "index": constraint.position,
        "origin": "scheduler" if report.is_default else "pod",
        "topologyKey": constraint.topology_key,
        "maxSkew": constraint.max_skew,
        "whenUnsatisfiable": constraint.when_unsatisfiable,
        "minDomains": report.min_domains,
        "nodeAffinityPolicy": constraint.node_affinity_policy or "Honor",
        "nodeTaintsPolicy": constraint.node_taints_policy or "Ignore",
        "selector": selector_text(report.selector),
        "selfMatch": report.self_match,
        "globalMinimum": report.global_minimum,
        "minimumIn": list(report.minimum_in),
        "eligibleDomains": report.eligible_domains,
        "nodesWithoutKey": list(report.without_key),
        "ignoredPods": report.ignored_pods,
        "originText": constraint_words.origin(report.origin),
        "selectorFrom": list(report.origin.selector_from),
        "fromMatchLabelKeys": list(report.origin.merged),
        "revision": report.revision,
        "minimumHeldBy": list(map(_minimum_holder, report.held_by)),
        "ignored": list(map(_ignored_pods, report.ignored)),
        "otherNamespaces": [{"namespace": namespace, "count": number} for namespace, number in report.other_namespaces],
        "notes": [constraint_words.note(item) for item in report.notes],
        "domains": [_domain(domain) for domain in report.domains],
    }


def _minimum_holder(holder: Holder) -> dict[str, Any]:
    return {
        "domains": list(holder.domains),
        "nodeCount": holder.nodes,
        "nodes": list(holder.node_names),
        "whyNot": node_reasons(holder.why),
    }


def _ignored_pods(item: IgnoredPods) -> dict[str, Any]:
    return {
        "why": "" if item.why is None else node_reason(item.why),
        "count": item.number,
        "pods": list(item.names),
        "nodes": list(item.node_names),
    }


def _domain(domain: DomainReport) -> dict[str, Any]:
    return {
        "value": domain.value,
        "nodes": domain.nodes,
        "countedNodes": domain.counted,
        "usableNodes": domain.usable,
        "matching": domain.matching,
        "eligible": domain.eligible,
        "whyNot": node_reasons(domain.why_not),
        "skewIfPlaced": domain.skew_if_placed,
        "fits": domain.fits,
        "unusableBecause": node_reasons(domain.unusable_because),
        "nodeNames": list(domain.node_names),
        "pods": [
            {
                "owner": constraint_words.owner_name(pods.owner),
                "own": pods.is_own,
                "count": pods.number,
                "names": list(pods.names),
                "revisions": [{"revision": name, "count": number} for name, number in pods.revisions],
            }
            for pods in domain.pods
        ],
        "terminating": {
            "count": len(domain.terminating),
            "pods": [
                {"name": pod.name, "node": pod.node, "since": pod.since, "finalizers": list(pod.finalizers)}
                for pod in domain.terminating[:MOST_NAMES]
            ],
        },
    }


def _summary_facts(explanation: Explanation) -> dict[str, Any]:
    """Return the fields that the `summary` is made of."""
    return {
        "causes": [_cause(item) for item in explanation.causes],
        "claims": [_claim(item) for item in explanation.claims],
        "assumed": [{"pod": key, "node": node} for key, node in explanation.assumed],
        "rivals": list(explanation.rivals),
        "refusedFor": [] if explanation.disagreement is None else _parts(explanation),
    }


def _parts(explanation: Explanation) -> list[dict[str, Any]]:
    found = explanation.disagreement
    parts = () if found is None else found.parts
    return [{"count": part.number, "reason": part.reason, "kind": part.kind.value} for part in parts]


def _cause(found: Cause) -> dict[str, Any]:
    return {
        "narrowedBy": [item.id for item in found.narrowing],
        "nodes": list(found.decisive),
        "refusedBy": [
            {"id": refusal.requirement.id, "nodes": list(refusal.nodes), "why": refusal.why}
            for refusal in found.refusals
        ],
    }


def _claim(trouble: ClaimTrouble) -> dict[str, Any]:
    event = trouble.event
    return {
        "problem": trouble.problem.value,
        "namespace": trouble.key.namespace,
        "name": trouble.key.name,
        "storageClass": trouble.storage_class,
        "provisioner": trouble.provisioner,
        "volume": trouble.volume,
        "selectedNode": trouble.selected_node,
        "event": None if event is None else {"reason": event.reason, "message": event.message, "at": event.last},
    }
