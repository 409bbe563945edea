"""Explanations as text: the verdict, the evidence, and suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum

from kubectl_spread.cluster.snapshot import ClusterEvent
from kubectl_spread.explain.explanation import Explanation, PodVerdict
from kubectl_spread.explain.reported_message import MessageStatus
from kubectl_spread.explain.requirements.collect import constraint_name
from kubectl_spread.explain.workload_state import WorkloadState
from kubectl_spread.objects.keys import Range
from kubectl_spread.report import table, wording
from kubectl_spread.report.check import workloads
from kubectl_spread.report.explain import (
    constraints,
    nodes,
    preemption,
    reported_message,
    scores,
    suggestions,
    verdict,
)
from kubectl_spread.report.explain.pod_report import PodReport
from kubectl_spread.report.table import Block, paint, Style
from kubectl_spread.report.wording import dashed, pods_by_domain
from kubectl_spread.simulate.forecast import ConstraintForecast, Forecast
from kubectl_spread.text.wording import comma_list, count_noun, safe

_MOST_NAMES = 6
_MOST_DOMAINS = 12  # or nodes of a forecast
_MOST_FAILURES = 3
_MOST_NOTICES = 4


class Level(IntEnum):
    """How soon a reader needs a section of an answer."""

    ANSWER = 0  # what happens to the pod, and why
    CHANGE = 1  # what to do
    EVIDENCE = 2  # the counts behind the answer
    DETAIL = 3  # what repeats the answer, or is true of other nodes and pods


_WITH_NODES = (
    PodVerdict.PENDING,
    PodVerdict.SCHEDULABLE,
    PodVerdict.NOT_PREDICTABLE,
    PodVerdict.NOT_CREATED,
    PodVerdict.WAITS_FOR_VOLUME,
    PodVerdict.WAITS_FOR_PREEMPTION,
    PodVerdict.REFUSED,
    PodVerdict.CONTENDED,
)


def text(reports: Iterable[PodReport], style: Style) -> str:
    """Return all answers of one run; the pods of a workload come under one headline."""
    blocks: list[str] = []
    headed: set[object] = set()
    for report in reports:
        state, placement = report.workload, report.placement
        head: list[str] = []
        if state is not None and state.key not in headed:
            headed.add(state.key)
            head = [*table.lay_out(workload_lines(state), style.width), ""]
        elif placement is not None and placement.pending and placement.workload.key not in headed:
            headed.add(placement.workload.key)
            head = [*table.wrap(headline(report), style.width), ""]
        blocks.append("\n".join([*head, *lines(report, style)]))
    return "\n\n".join(blocks)


def others_sentence(explanation: Explanation) -> str:
    """Return `2 other pods are Pending for the same reason: web-2, web-3.`; empty without others."""
    if not explanation.others:
        return ""
    others = f"{count_noun(len(explanation.others), 'other pod')} {'is' if len(explanation.others) == 1 else 'are'}"
    why = "Pending for the same reason" if explanation.verdict is PodVerdict.PENDING else "in the same state"
    return f"{others} {why}: {comma_list(explanation.others, most=_MOST_NAMES)}."


def lines(report: PodReport, style: Style, *, most: Level = Level.DETAIL) -> list[str]:
    """Return the text about one pod, from the verdict to the evidence; `most`: the last level that is shown."""
    explanation = report.explanation
    out = [paint(line, "bold") for line in table.wrap(verdict.sentence(explanation), style.width)]
    out += table.wrap(others_sentence(explanation), style.width)
    if explanation.verdict is PodVerdict.NOT_PREDICTABLE:
        needs = " and ".join(explanation.beyond)
        out += table.wrap(f"It depends on {needs}, which this program does not evaluate.", style.width)
    if explanation.ignored.fields:
        out.append(verdict.ignored_sentence(explanation.ignored))
    for level, section in _sections(report, style):
        if section and level <= most:
            out += ["", paint(section[0], "cyan"), *section[1:]]
    return out


def _sections(report: PodReport, style: Style) -> Iterator[tuple[Level, list[str]]]:
    """Yield the sections after the answer, each with its level; the first line is the heading."""
    explanation, comparison = report.explanation, report.comparison
    if report.node is not None:
        yield Level.EVIDENCE, table.lay_out(nodes.one_node_blocks(report.node), style.width)
    else:
        is_known = comparison is not None and comparison.status is MessageStatus.SAME
        yield Level.DETAIL if is_known else Level.EVIDENCE, _message(report, style)
        if shows_nodes(explanation):
            yield Level.DETAIL, nodes.lines(explanation, style)
        for constraint in explanation.constraints:
            yield Level.EVIDENCE, constraints.lines(constraint, width=style.width)
        for section in detail_sections(report, style):
            yield Level.DETAIL, table.lay_out(section, style.width)
        if explanation.conflicts:
            yield Level.DETAIL, verdict.conflict_lines(explanation, width=style.width)
        if report.suggestions is not None:
            yield Level.CHANGE, suggestions.lines(report.suggestions, width=style.width)
        yield Level.DETAIL, _notices(report.other_events, style)
    if report.not_reported:
        yield Level.ANSWER, table.wrap(not_reported_sentence(report.not_reported), style.width)


def shows_nodes(explanation: Explanation) -> bool:
    """Return whether the nodes are relevant to the verdict."""
    return explanation.verdict in _WITH_NODES and bool(explanation.node_names)


def not_reported_sentence(names: tuple[str, ...]) -> str:
    """Return how many Pending pods of the workload are not explained."""
    return (
        f"{count_noun(len(names), 'more Pending pod')} of the workload differ from these in labels or volumes, and are "
        f"not explained: {comma_list(names, most=_MOST_NAMES)}. To explain a pod, name it."
    )


def detail_sections(report: PodReport, style: Style) -> Iterator[list[Block]]:
    """Yield sections on preemption, a bound pod's current state, scores, and the forecast for its workload."""
    explanation = report.explanation
    if explanation.preemption is not None and explanation.verdict is PodVerdict.PENDING:
        yield preemption.blocks(explanation.preemption)
    if explanation.bound_pod is not None:
        node = explanation.pod.node_name
        yield scores.bound_pod_blocks(explanation.bound_pod, node, width=style.width, wide=style.is_wide)
    if explanation.scores is not None:
        yield scores.blocks(explanation.scores, width=style.width, wide=style.is_wide)
    if report.forecast is not None:
        yield [*forecast_lines(report.forecast)]


def forecast_lines(forecast: Forecast) -> list[str]:
    """Return the replicas' final places, by the domains of each constraint and by node."""
    where = f"Where the {count_noun(forecast.replicas, 'replica')} of {safe(forecast.workload.key)} would end up"
    if forecast.skipped:
        return [f"{where} is not forecast: {safe(forecast.skipped)}."]
    out = [f"{where}, {_basis(forecast)}:"]
    if forecast.placed != Range(forecast.replicas, forecast.replicas):
        out.append(f"  placed: {dashed(forecast.placed)} of {forecast.replicas}")
    for constraint in forecast.constraints:
        name = constraint_name(constraint.position, is_default=constraint.is_default)
        counts = _ranges(constraint.domains) or "no node that fits has this label"
        out += [f"  {name} ({safe(constraint.topology_key)}): {counts}", f"    {_skew(constraint)}"]
    if forecast.nodes:
        out.append(f"  nodes: {_ranges(forecast.nodes)}")
    return out


def _basis(forecast: Forecast) -> str:
    if forecast.basis.is_exact:
        return "for any choice among the best nodes"
    runs = f"over {count_noun(forecast.runs, 'run')}, each with another choice among the best nodes"
    if forecast.runs == 1:
        runs = "in one run, because a single node was always the best"
    if forecast.is_sampled:
        return (
            f"{runs}; in a cluster of this size the scheduler looks at only some of the nodes, so it may choose others"
        )
    return f"{runs}; other choices are possible"


def _ranges(ranges: Mapping[str, Range]) -> str:
    """Return `a=3 b=1-2`."""
    return pods_by_domain({name: dashed(pods) for name, pods in ranges.items()}, most=_MOST_DOMAINS)


def _skew(constraint: ConstraintForecast) -> str:
    """Return the final skew, compared with maxSkew."""
    skew, most = constraint.skew, constraint.max_skew
    if skew.most <= most:
        return f"skew {dashed(skew)}, within maxSkew {most}"
    soft = "" if constraint.is_hard else ": ScheduleAnyway does not prevent it"
    how = "exceeds" if skew.least > most else "may exceed"
    return f"skew {dashed(skew)}, {how} maxSkew {most}{soft}"


def headline(report: PodReport) -> str:
    """Return the pod counts of the pod's workload; empty if only the pod was requested."""
    if report.workload is not None:
        return _counts(report.workload)
    if report.placement is not None and report.placement.pending:
        return f"{table.unpainted(workloads.headline(report.placement))}."
    return ""


def _counts(state: WorkloadState) -> str:
    running, pending, terminating = len(state.running), len(state.pending), len(state.terminating)
    number = str(running) if state.wanted is not None else count_noun(running, "pod")
    parts = [
        f"{number} {'has' if running == 1 else 'have'} a node",
        f"{pending} {_are(pending)} Pending{_finding(state)}" if pending else "",
        f"{terminating} {_are(terminating)} terminating" if terminating else "",
        f"{state.missing} {_are(state.missing)} not created" if state.missing else "",
    ]
    wanted = f" wants {count_noun(state.wanted, 'pod')}" if state.wanted is not None else ""
    return f"{wording.name(state.key)}{wanted}: {', '.join(part for part in parts if part)}."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _finding(state: WorkloadState) -> str:
    """Return `, of which 3 find a node and 1 stays Pending`; empty if all or none find a node."""
    waiting, finding = len(state.pending), state.finding
    if finding is None or finding.most == 0 or finding.least == waiting:
        return ""
    staying = Range(waiting - finding.most, waiting - finding.least)
    find = "finds" if finding == Range(1, 1) else "find"
    stay = "stays" if staying == Range(1, 1) else "stay"
    return f", of which {finding} {find} a node and {staying} {stay} Pending"


def workload_lines(state: WorkloadState) -> list[str]:
    """Return the counts of a workload's pods, and why pods are missing; the first line is the headline."""
    out = [safe(_counts(state))]
    if state.is_paused:
        out.append("  It is paused: its controller creates no pods from a changed template until it is resumed.")
    if state.is_suspended:
        out.append("  It is suspended: its controller creates no pods.")
    if state.waiting:
        pod = state.waiting
        now = "is being deleted" if pod.terminating else "is not Ready" if pod.node_name else "has no node yet"
        out.append(
            "  A StatefulSet with podManagementPolicy OrderedReady creates the next pod when "
            f"{safe(pod.name)} is Ready, and that pod {now}."
        )
    for failure in state.failures[:_MOST_FAILURES]:
        when = reported_message.times_text(failure.at, failure.times)
        out.append(f"  {safe(failure.about.kind)} {safe(failure.about.name)}: {safe(failure.reason)}{when}:")
        out += [f"    {safe(text)}" for text in (failure.message, meaning(failure.message)) if text]
    if state.missing and not (state.failures or state.waiting or state.is_paused or state.is_suspended):
        of_set = " and of its ReplicaSet" if state.key.kind == "Deployment" else ""
        out.append(f"  The cluster facts do not say why; kubectl describe of the workload{of_set} shows the events.")
    return out


def meaning(message: str) -> str:
    """Return what a message of a controller means; empty if it is unknown."""
    from kubectl_spread.explain.messages.meaning import meaning_of_text  # regular expressions: 20 ms

    return meaning_of_text(message)


def _message(report: PodReport, style: Style) -> list[str]:
    """Return the present message, and how the reported one compares with it."""
    message, comparison = report.explanation.message, report.comparison
    if not message and comparison is None:
        return []
    out = ["Message:", *(table.wrap(message, style.width, indent="  ") if message else ())]
    if comparison is not None:
        for line in reported_message.sentences(report.reported, comparison):
            out += table.wrap(line, style.width)
        if comparison.status is not MessageStatus.SAME:
            out += table.wrap(report.reported.message, style.width, indent="  ")
    return out


def _notices(events: tuple[ClusterEvent, ...], style: Style) -> list[str]:
    if not events:
        return []
    out = ["Other events of the pod:"]
    for event in events[:_MOST_NOTICES]:
        what = f"{event.reason}{reported_message.times_text(event.last, event.times)}: {event.message}"
        out += table.wrap(what, style.width, indent="  ", hanging="  ")
    return out
