"""The JSON document of `simulate`; its schema is schemas/simulation.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.engine.results.answer import TraceEvent
from kubectl_spread.engine.results.summary import (
    Ending,
    PlayedStep,
    Simulation,
    StepSummary,
    WorkloadSpread,
    WorkloadSummary,
)
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.keys import ObjectKey, Range
from kubectl_spread.report.documents import API_VERSION
from kubectl_spread.report.documents import document as unread_document
from kubectl_spread.report.simulation import text

Plain = dict[str, Any]

_MOST_ENDINGS = 100


def document(simulation: Simulation, errors: Iterable[SourceError] = (), unread: Iterable[Unread] = ()) -> Plain:
    """Return a Simulation."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Simulation",
        "completes": simulation.is_fine,
        "interrupted": simulation.is_interrupted,
        "steps": [_step(step, simulation.steps[:at]) for at, step in enumerate(simulation.steps)],
        "notes": list(simulation.notes),
        "errors": [
            {"file": error.source, "message": error.message, "line": error.line, "column": error.column}
            for error in errors
        ],
        "unread": unread_document(unread),
    }


def _step(played: PlayedStep, before: tuple[PlayedStep, ...]) -> Plain:
    summary = played.summary
    ranges = Ranges(summary)
    return {
        "step": played.text,
        "verdict": "refused" if played.refusal else summary.verdict.value,
        "exact": summary.is_exact,
        "basis": summary.basis.value,
        "notSimulated": list(summary.gaps),
        "endless": summary.is_endless,
        "states": summary.states,
        "runs": summary.runs,
        "refusal": played.refusal or None,
        "notes": list(played.notes),
        "workloads": [_workload(item, ranges) for item in summary.workloads],
        "together": [_spread(spread, ranges) for spread in summary.together],
        "pending": [
            {
                "object": _key(item.owner),
                "pod": item.pod,
                "new": item.is_new,
                "message": item.message,
                "pods": ranges.after(item.pods),
                "outcomes": item.outcomes,
            }
            for item in summary.waiting
        ],
        "blockedEvictions": [
            {
                "object": _key(item.owner),
                "pod": item.pod,
                "node": item.node,
                "message": item.cause,
                "outcomes": item.outcomes,
            }
            for item in summary.refused
        ],
        "lostPods": list(summary.lost),
        "scheduledPods": [{"pod": pod, "nodes": list(nodes)} for pod, nodes in summary.scheduled],
        "outcomeCount": len(summary.endings),
        "outcomes": [_ending(item) for item in summary.endings[:_MOST_ENDINGS]],
        "witness": _witness(played, before),
    }


class Ranges:
    """Writer of ranges; those over some outcomes have a field of their own, because others may lie outside."""

    def __init__(self, summary: StepSummary) -> None:
        self._has_all_before = summary.is_start_exact
        self._has_all = summary.is_exact

    def before(self, found: Range) -> Plain:
        """Return a range over the outcomes of the step before."""
        return _range(found) if self._has_all_before else {"sampled": _range(found)}

    def after(self, found: Range) -> Plain:
        """Return a range over the outcomes of the step."""
        return _range(found) if self._has_all else {"sampled": _range(found)}


def _workload(item: WorkloadSummary, ranges: Ranges) -> Plain:
    after = ranges.after
    return {
        "object": item.key._asdict(),
        "verdict": item.verdict.value,
        "concerned": item.is_concerned,
        "deleted": item.is_deleted,
        "paused": item.is_paused,
        "completeBefore": item.was_complete,
        "replicas": item.desired.most,
        "ready": {"before": ranges.before(item.ready_before), "after": after(item.ready), "fewest": item.fewest_ready},
        "updated": after(item.updated),
        "pending": after(item.pending),
        "notCreated": after(item.not_created),
        "refusal": item.refusal or None,
        "failed": item.has_failed,
        "restarted": after(item.restarted),
        "revision": item.revision,
        "domains": [_spread(spread, ranges) for spread in item.spreads],
    }


def _spread(spread: WorkloadSpread, ranges: Ranges) -> Plain:
    after = ranges.after
    return {
        "topologyKey": spread.topology_key,
        "skew": {"before": ranges.before(spread.before), "after": after(spread.after), "worst": spread.on_the_way},
        "domains": [
            {
                "value": domain.value,
                "before": ranges.before(domain.before),
                "after": after(domain.after),
                "revisions": [
                    {"revision": number, **after(found)} for number, found in domain.revisions.items() if found.most
                ],
            }
            for domain in spread.domains
        ],
    }


def _ending(ending: Ending) -> Plain:
    return {
        "completes": ending.is_complete,
        "endless": ending.is_endless,
        "runs": ending.runs,
        "workloads": [
            {
                "object": key._asdict(),
                "domains": {
                    topology_key: {value: sum(counts.get(value, {}).values()) for value in ending.domains[topology_key]}
                    for topology_key, counts in by_key.items()
                },
            }
            for key, by_key in ending.counts.items()
        ],
        "pending": [{"pod": pod.name, "object": _key(pod.owner), "message": pod.message} for pod in ending.pending],
    }


def _witness(played: PlayedStep, before: tuple[PlayedStep, ...]) -> Optional[Plain]:
    summary = played.summary
    if not summary.witness:
        return None
    return {
        "shortest": summary.is_exact,
        "beginning": [
            {"object": _key(pod.owner), "pod": pod.name, "revision": pod.number or None, "node": pod.node or None}
            for pod in summary.begin
        ],
        "text": text.way_to_get_stuck(played, before),
        "events": [_event(event) for part in summary.witness for event in part],
    }


def _event(event: TraceEvent) -> Plain:
    return {
        "event": event.kind.value,
        "object": _key(event.owner),
        "pod": event.pod or None,
        "revision": event.revision or None,
        "node": event.node or None,
        "size": event.size if event.kind.value == "scaled" else None,
        "others": event.others,
        "message": event.text or None,
    }


def _key(key: Optional[ObjectKey]) -> Optional[Plain]:
    return None if key is None else key._asdict()


def _range(found: Range) -> Plain:
    return {"min": found.least, "max": found.most}
