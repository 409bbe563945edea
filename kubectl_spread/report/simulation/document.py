"""The JSON document of `simulate`; its schema is schemas/simulation.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.engine.results.answer import TraceEvent
from kubectl_spread.engine.results.summary import (
    BlockedEviction,
    Ending,
    PendingPods,
    PlayedStep,
    Simulation,
    StepSummary,
    WorkloadSpread,
    WorkloadSummary,
)
from kubectl_spread.engine.state import EventKind
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.keys import Range
from kubectl_spread.report.documents import (
    API_VERSION,
    error_documents,
    form,
    Plain,
    plain,
    to_document,
    unread_documents,
)
from kubectl_spread.report.simulation import text

_MOST_ENDINGS = 100


def document(simulation: Simulation, errors: Iterable[SourceError] = (), unread: Iterable[Unread] = ()) -> Plain:
    """Return a Simulation."""
    return to_document(
        simulation,
        "apiVersion kind completes=fine interrupted steps notes errors unread",
        apiVersion=API_VERSION,
        kind="Simulation",
        steps=[_step(step, simulation.steps[:at]) for at, step in enumerate(simulation.steps)],
        errors=error_documents(errors),
        unread=unread_documents(unread),
    )


def _step(played: PlayedStep, before: tuple[PlayedStep, ...]) -> Plain:
    summary = played.summary
    return to_document(
        summary,
        "step verdict exact basis notSimulated=gaps endless states runs refusal? notes workloads together "
        "pending blockedEvictions=refused lostPods=lost scheduledPods outcomeCount outcomes witness",
        step=played.text,
        verdict="refused" if played.refusal else summary.verdict,
        refusal=played.refusal,
        notes=played.notes,
        workloads=[_workload(item, summary) for item in summary.workloads],
        together=[_spread(spread, summary) for spread in summary.together],
        pending=[to_document(item, pods=over_outcomes(item.pods, summary)) for item in summary.waiting],
        scheduledPods=[{"pod": pod, "nodes": nodes} for pod, nodes in summary.scheduled],
        outcomeCount=len(summary.endings),
        outcomes=summary.endings[:_MOST_ENDINGS],
        witness=_witness(played, before),
    )


def over_outcomes(numbers: Range, summary: StepSummary) -> Plain:
    """Return a range over the outcomes of a step. One over some has a field of its own: others may lie outside."""
    return plain(numbers) if summary.is_exact else {"sampled": plain(numbers)}


def _over_start(numbers: Range, summary: StepSummary) -> Plain:
    """Return a range over the outcomes of the step before."""
    return plain(numbers) if summary.is_start_exact else {"sampled": plain(numbers)}


def _workload(item: WorkloadSummary, summary: StepSummary) -> Plain:
    return to_document(
        item,
        "object=key verdict concerned deleted paused completeBefore=was_complete replicas=desired.most ready updated "
        "pending notCreated refusal? failed restarted revision domains",
        ready={
            "before": _over_start(item.ready_before, summary),
            "after": over_outcomes(item.ready, summary),
            "fewest": item.fewest_ready,
        },
        updated=over_outcomes(item.updated, summary),
        pending=over_outcomes(item.pending, summary),
        notCreated=over_outcomes(item.not_created, summary),
        restarted=over_outcomes(item.restarted, summary),
        domains=[_spread(spread, summary) for spread in item.spreads],
    )


def _spread(spread: WorkloadSpread, summary: StepSummary) -> Plain:
    return {
        "topologyKey": spread.topology_key,
        "skew": {
            "before": _over_start(spread.before, summary),
            "after": over_outcomes(spread.after, summary),
            "worst": spread.on_the_way,
        },
        "domains": [
            {
                "value": domain.value,
                "before": _over_start(domain.before, summary),
                "after": over_outcomes(domain.after, summary),
                "revisions": [
                    {"revision": number, **over_outcomes(pods, summary)}
                    for number, pods in domain.revisions.items()
                    if pods.most
                ],
            }
            for domain in spread.domains
        ],
    }


def _witness(played: PlayedStep, before: tuple[PlayedStep, ...]) -> Optional[Plain]:
    summary = played.summary
    if not summary.witness:
        return None
    return to_document(
        summary,
        "shortest=exact beginning text events",
        beginning=[to_document(pod, "object=owner pod=name revision?=number node?") for pod in summary.begin],
        text=text.way_to_get_stuck(played, before),
        events=[event for part in summary.witness for event in part],
    )


form(PendingPods, "object=owner pod new message pods outcomes")
form(BlockedEviction, "object=owner pod node message=cause outcomes")
form(
    TraceEvent,
    "event=kind object=owner pod? revision? node? size others message?=text",
    size=lambda event: event.size if event.kind is EventKind.SCALED else None,
)
form(
    Ending,
    "completes=complete endless runs workloads pending",
    workloads=lambda ending: [
        {
            "object": key,
            "domains": {
                topology_key: {value: sum(counts.get(value, {}).values()) for value in ending.domains[topology_key]}
                for topology_key, counts in by_key.items()
            },
        }
        for key, by_key in ending.counts.items()
    ],
    pending=lambda ending: [to_document(pod, "pod=name object=owner message") for pod in ending.pending],
)
