"""Explanations as text: the verdict, the evidence with preemption and nodes, and suggestions."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kubectl_spread.advice.search import ALL
from kubectl_spread.advice.target import command, compact, quota_commands
from kubectl_spread.containers import grouped
from kubectl_spread.explain.explanation import Explanation, NodeView, NotConsidered, PodVerdict
from kubectl_spread.explain.forecast import Forecast
from kubectl_spread.explain.preemption import NoPreemptionReason, PreemptionReport, Unhelpful
from kubectl_spread.explain.reported_message import MessageStatus
from kubectl_spread.explain.requirements.collect import constraint_name
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.explain.status import WorkloadState
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.resources import amount
from kubectl_spread.report import table, wording
from kubectl_spread.report.check import workloads
from kubectl_spread.report.explain import constraints, pod_report, scores, suggestions, verdict
from kubectl_spread.report.explain.constraints import inequality
from kubectl_spread.report.explain.pod_report import PodReport
from kubectl_spread.report.table import Block, paint, Rows, Style
from kubectl_spread.report.wording import dashed, name, pods_by_domain
from kubectl_spread.scheduler.preemption import Candidate, NOW
from kubectl_spread.text.wording import comma_list, count_noun, first_of, join_with_and, safe

_MOST_DOMAINS = 12  # or nodes of a forecast
_MOST_FAILURES = 3
_MOST_NOTICES = 4
_MOST_WORKLOADS = 6  # that are named


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


def text(reports: Sequence[PodReport], style: Style) -> str:
    """Return all answers of one run; the pods of a workload come under one headline, all but the first in short.

    Of several workloads, the evidence is a detail.
    """
    blocks: list[str] = []
    headed: set[object] = set()
    is_cut = False
    keys: list[object] = []  # of the workloads; of the pods, if only those were requested
    for report in reports:
        own = report.explanation.pod.key
        if report.placement is not None:
            own = f"{report.placement.workload.key} {report.file}"
        keys.append(own if report.workload is None else report.workload.key)
    has_evidence = len(set(keys)) == 1 or style.is_detailed
    for report, key in zip(reports, keys, strict=True):
        state, is_first = report.workload, key not in headed
        headed.add(key)
        is_fine = len(reports) > 1 and report.explanation.verdict is PodVerdict.SCHEDULABLE
        head = (
            workload_lines(state)
            if state is not None
            else [*filter(None, [headline(report)]), *_placement_notes(report)]
        )
        head = head if is_first else []
        blocks.append(
            "\n".join(
                [
                    *table.lay_out(head, style),
                    *([""] if head and has_evidence else []),
                    *lines(report, style, is_first=is_first and not is_fine, has_evidence=has_evidence),
                ]
            )
        )
        is_cut |= report.node is None and (shows_nodes(report.explanation) or bool(report.explanation.constraints))
    if is_cut and not style.is_detailed:
        searched = [item.suggestions for item in reports if item.suggestions is not None]
        left = max((item.verified - len(item.items) for item in searched), default=0)
        most = max((ALL, *(item.verified for item in searched)))
        changes = f"; {count_noun(left, 'more change')}: --suggestions {most}" if left > 0 else ""
        more = f"More: --details shows the message, all nodes, the counted pods and the arithmetic{changes}."
        blocks.append("\n".join(table.wrap(more, style)))
    return "\n\n".join(blocks)


def others_sentence(explanation: Explanation) -> str:
    """Return `2 more pods are Pending for the same reason: web-2, web-3.`; empty without others."""
    number = len(explanation.others)
    if not number:
        return ""
    names = "" if explanation.pod.new_of else f": {comma_list(explanation.others)}"
    return f"{_alike(explanation, number, 'pod')}{names}."


def _alike(explanation: Explanation, number: int, noun: str) -> str:
    why = "Pending for the same reason" if explanation.verdict is PodVerdict.PENDING else "in the same state"
    return f"{count_noun(number, f'more {noun}')} {_are(number)} {why}"


def lines(report: PodReport, style: Style, *, is_first: bool = True, has_evidence: bool = True) -> list[str]:
    """Return the text about one pod, from the verdict to the evidence.

    `is_first`: of the pods of its workload; of the others, and of those among several that fit, the text has only the
    answer.
    """
    explanation = report.explanation
    sentence, state = verdict.sentence(explanation, report.outlook), report.workload
    is_refused = state is not None and bool(state.failures) and bool(explanation.pod.new_of)
    if is_refused and explanation.verdict is PodVerdict.SCHEDULABLE:
        sentence = f"Once that is solved, {sentence[0].lower()}{sentence[1:]}"
    out = table.wrap(sentence, style, colour="bold")
    out += table.wrap(others_sentence(explanation), style)
    if report.alike:
        named = comma_list(map(wording.name, report.alike), most=_MOST_WORKLOADS)
        out += table.wrap(
            f"{_alike(explanation, len(report.alike), 'workload')}: {named}. To explain one, name it.", style
        )
    if explanation.verdict is PodVerdict.NOT_PREDICTABLE:
        needs = " and ".join(explanation.beyond)
        out += table.wrap(f"It depends on {needs}, which this program does not evaluate.", style)
    if explanation.ignored.fields:
        out.append(verdict.ignored_sentence(explanation.ignored))
    sections = _sections(report, style, has_evidence=has_evidence)
    for is_detail, section in sections if has_evidence else itertools.islice(sections, 1):
        if section and (style.is_detailed or (is_first and not is_detail)):
            out += ["", paint(table.unpainted(section[0]), "cyan"), *section[1:]]
    if report.not_reported:
        out += ["", *table.wrap(not_reported_sentence(report.not_reported), style)]
    return out


def _sections(report: PodReport, style: Style, *, has_evidence: bool) -> Iterator[tuple[bool, list[str]]]:
    """Yield the sections after the answer, each with whether it repeats the answer; the first line is the heading."""
    explanation, comparison = report.explanation, report.comparison
    if report.node is not None:
        yield False, table.lay_out(one_node_blocks(report.node), style)
        return
    found = report.suggestions
    yield (
        False,
        _next_step(report, style) if found is None else suggestions.lines(found, style, has_reasons=has_evidence),
    )
    yield comparison is None or comparison.status is MessageStatus.SAME, _message(report, style)
    named = {item.position for found in explanation.causes for item in found.narrowing}
    has_table = False
    for constraint in explanation.constraints:
        is_evidence = constraint.constraint.is_hard or not constraint.is_default
        if explanation.causes:
            is_evidence = constraint.constraint.position in named
        has_table = has_table or is_evidence
        yield not is_evidence, constraints.lines(constraint, style)
    if shows_nodes(explanation):
        # The first sentence names the reasons, and a change is more use than the nodes of each.
        is_told = bool(found is not None and found.items) or len(groups(explanation)) < 2
        yield has_table or is_told, _node_lines(explanation, style)
    for is_detail, section in detail_sections(report, style):
        yield is_detail, table.lay_out(section, style)
    if explanation.conflicts:
        yield True, verdict.conflict_lines(explanation, style)
    events = report.other_events[: _MOST_NOTICES if style.is_detailed else 1]
    notices = ["Other events of the pod:"] if events else []
    for event in events:
        what = f"{event.reason}{pod_report.times_text(event.last, event.times)}: {event.message}"
        notices += table.wrap(what, style, indent="  ", hanging="  ")
    yield False, notices
    if report.suggestions is not None and not style.is_detailed:
        yield False, suggestions.alternatives(report.suggestions, style)


def _next_step(report: PodReport, style: Style) -> list[str]:
    """Return what to do about a waiting pod for which no change of its rules is searched, with a command."""
    explanation, then = report.explanation, ""
    pod, ungated = explanation.pod, explanation.ungated
    exists = report.placement is None and not pod.new_of
    line = command("describe", "pod", pod.name, namespace=pod.namespace)
    if report.raised_quotas:
        text = f"raise the limits of ResourceQuota {join_with_and([*report.raised_quotas])}"
        then = "All pods are then created, and find a node."
    elif ungated is not None:
        named = comma_list(dict.fromkeys(gate.partition("/")[0] for gate in pod.cls.gates))
        text = f"check the controller of {named}, which has to remove the gates; to go on without it, remove them"
        line = command(
            "patch", "pod", pod.name, namespace=pod.namespace, rest=("--type=json", "-p", compact(_NO_GATES))
        )
        then = f"Without the gates, it {verdict.predicate(ungated)}"
    elif explanation.verdict is PodVerdict.NO_SCHEDULER:
        text = f"check that the scheduler {safe(pod.cls.scheduler_name)} runs, and read its logs"
        text += "; the events of the pod may say why it waits" if exists else ""
    elif explanation.verdict is PodVerdict.SCHEDULABLE and exists:
        text = "wait for the next attempt of the scheduler; if the pod still waits then, its events may say why"
    else:
        return []
    lines = [*table.wrap(f"Do: {text}", style), *table.wrap(then, style, indent="  ", hanging="  ")]
    commands = quota_commands(pod.namespace, report.raised_quotas) or ([line] if exists else [])
    return [*lines, *style.commands(commands)]


_NO_GATES = [{"op": "remove", "path": "/spec/schedulingGates"}]


def shows_nodes(explanation: Explanation) -> bool:
    """Return whether the nodes are relevant to the verdict."""
    return explanation.verdict in _WITH_NODES and bool(explanation.node_names)


def not_reported_sentence(names: tuple[str, ...]) -> str:
    """Return how many Pending pods of the workload are not explained."""
    return (
        f"{count_noun(len(names), 'more Pending pod')} of the workload differ from these in labels or volumes, and are "
        f"not explained: {comma_list(names)}. To explain a pod, name it."
    )


def detail_sections(report: PodReport, style: Style) -> Iterator[tuple[bool, list[Block]]]:
    """Yield sections on preemption, a bound pod's current state, scores, and the forecast for its workload."""
    explanation = report.explanation
    if report.outlook is not None:
        from kubectl_spread.report import added_nodes  # loads `provisioners`

        yield report.outlook.all_run, added_nodes.section(report.outlook)
    if explanation.preemption is not None and explanation.verdict is PodVerdict.PENDING:
        yield True, preemption_blocks(explanation.preemption)
    if explanation.bound_pod is not None:
        yield False, scores.bound_pod_blocks(explanation.bound_pod, explanation.pod.node_name, style)
    if explanation.scores is not None:
        yield explanation.scores.feasible == 1, scores.blocks(explanation.scores, style)
    if report.forecast is not None:
        yield True, [*forecast_lines(report.forecast)]


def forecast_lines(forecast: Forecast) -> list[str]:
    """Return the replicas' final places, by the domains of each constraint and by node."""
    where = f"Where the {count_noun(forecast.replicas, 'replica')} of {forecast.workload.key} would end up"
    if forecast.skipped:
        return [f"{where} is not forecast: {forecast.skipped}."]
    basis = "for any choice among the best nodes"
    if not forecast.basis.is_exact:
        basis = f"over {count_noun(forecast.runs, 'run')}, each with another choice among the best nodes; "
        sampled = "in a cluster of this size the scheduler looks at only some of the nodes, so it may choose others"
        basis += sampled if forecast.is_sampled else "other choices are possible"
    out = [f"{where}, {basis}:"]
    if forecast.placed != Range(forecast.replicas, forecast.replicas):
        out.append(f"  placed: {dashed(forecast.placed)} of {forecast.replicas}")
    for constraint in forecast.constraints:
        name = constraint_name(constraint.position, is_default=constraint.is_default)
        counts = _ranges(constraint.domains) or "no node that fits has this label"
        out.append(f"  {name} ({constraint.topology_key}): {counts}")
        skew, most = constraint.skew, constraint.max_skew
        compared = f", within maxSkew {most}"
        if skew.most > most:
            soft = "" if constraint.is_hard else ": ScheduleAnyway does not prevent it"
            compared = f", {'exceeds' if skew.least > most else 'may exceed'} maxSkew {most}{soft}"
        out.append(f"    skew {dashed(skew)}{compared}")
    if forecast.nodes:
        out.append(f"  nodes: {_ranges(forecast.nodes)}")
    return out


def _ranges(ranges: Mapping[str, Range]) -> str:
    """Return `a=3 b=1-2`."""
    return pods_by_domain({name: dashed(pods) for name, pods in ranges.items()}, most=_MOST_DOMAINS)


def headline(report: PodReport) -> str:
    """Return the pod counts of a workload that is placed; empty if its only pod is, and no other file has it."""
    placement = report.placement
    if placement is None or not (placement.replicas > 1 or placement.pending or report.file):
        return ""
    return f"{table.unpainted(workloads.headline(placement, report.file))}."


def _placement_notes(report: PodReport) -> list[str]:
    """Return why the API server refuses pods of a manifest, and what their placement leaves out."""
    placement = report.placement
    if placement is None:
        return []
    out = []
    if placement.refused:
        out += [f"  The API server refuses {len(placement.refused)}:", f"    {placement.refused[0].message}"]
    if placement.placed and not placement.new and report.explanation.verdict.is_waiting:
        out.append("  The manifest changes the template of the pods, and its rollout gets stuck.")
    if placement.not_predictable and not report.explanation.beyond:
        out.append(f"  The pods use {' and '.join(placement.not_predictable)}; they are placed by the other rules.")
    return out


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def workload_lines(state: WorkloadState) -> list[str]:
    """Return the counts of a workload's pods, and why pods are missing; the first line is the headline."""
    running, waiting, finding, some = len(state.running), len(state.pending), state.finding, ""
    if finding is not None and finding.most and finding.least < waiting:  # some find a node, or may find one
        staying = waiting - finding.most
        stay = f" and {staying} {'stays' if staying == 1 else 'stay'} Pending" if finding.is_single else ""
        some = f", of which {finding} {'finds' if finding == Range(1, 1) else 'find'} a node{stay}"
    number = str(running) if state.wanted is not None else count_noun(running, "pod")
    parts = [f"{number} {'has' if running == 1 else 'have'} a node"]
    states = {f"Pending{some}": waiting, "terminating": len(state.terminating), "not created": state.missing}
    parts += [f"{number} {_are(number)} {what}" for what, number in states.items() if number]
    wanted = f" wants {count_noun(state.wanted, 'pod')}" if state.wanted is not None else ""
    out = [f"{wording.name(state.key)}{wanted}: {', '.join(parts)}."]
    if state.is_paused:
        out.append("  It is paused: its controller creates no pods from a changed template until it is resumed.")
    if state.is_suspended:
        out.append("  It is suspended: its controller creates no pods.")
    if state.waiting:
        pod = state.waiting
        when, now = "Ready (OrderedReady)", "is not Ready" if pod.node_name else "has no node yet"
        if pod.terminating:
            when, now = "gone", verdict.ending_text(pod, state.outage)
        out.append(f"  The next pod is created when {pod.name} is {when}. That pod {now}.")
    for failure in state.failures[:_MOST_FAILURES]:
        when = pod_report.times_text(failure.last, failure.times)
        out.append(f"  {failure.about.kind} {failure.about.name}: {failure.reason}{when}:")
        out += [f"    {text}" for text in (failure.message, meaning(failure.message)) if text]
    if state.missing and not (state.failures or state.waiting or state.is_paused or state.is_suspended):
        of_set = " and of its ReplicaSet" if state.key.kind == "Deployment" else ""
        out.append(f"  The cluster facts do not say why; kubectl describe of the workload{of_set} shows the events.")
    return out


def meaning(message: str) -> str:
    """Return what a message of a controller means; empty if it is unknown."""
    from kubectl_spread.explain.messages.meaning import meaning_of_text  # regular expressions: 20 ms

    return meaning_of_text(message)


def _message(report: PodReport, style: Style) -> list[str]:
    """Return the present message, and how the reported one compares with it; in short only the latter."""
    message, comparison = report.explanation.message, report.comparison
    if not message and comparison is None:
        return []
    known = "" if comparison is None else pod_report.sentence(report.reported, comparison)
    if not style.is_detailed:
        return table.wrap(known and f"{known.rstrip('.:')}.", style)
    out = ["Message:", *table.wrap(message, style, indent="  "), *table.wrap(known, style)]
    if comparison is not None and comparison.status is not MessageStatus.SAME:
        out += table.wrap(report.reported.message, style, indent="  ")
    return out


_MOST_REASONS = 8
_MOST_VICTIMS = 10
_MOST_EQUAL = 5


def preemption_blocks(found: PreemptionReport) -> list[Block]:
    """Return the effect of preemption, or the reason why it cannot help."""
    if found.not_eligible:
        return [f"Preemption: {found.not_eligible}"]
    if found.node:
        out: list[Block] = [f"Preemption would evict {count_noun(len(found.victims), 'pod')} on {found.node}:"]
        victims = []
        for victim in found.victims:
            parts = [f"priority {victim.pod.cls.priority}"]
            if victim.owner is not None:
                parts.append(f"of {name(victim.owner)}{', the workload of the pod itself' * victim.is_sibling}")
            if victim.counted_by:
                parts.append(f"counted by {', '.join(victim.counted_by)}: the count there drops by one")
            parts += ["its eviction breaks a PodDisruptionBudget"] if victim.breaks_budget else []
            victims.append(f"  {victim.pod.key}: {'; '.join(parts)}")
        out += first_of(victims, _MOST_VICTIMS, lambda left: f"  and {left} more")
        out += _choice(found)
    else:
        out = ["Preemption does not help:"]
        reasons = [f"  {_unhelpful(group)}" for group in found.unhelpful]
        out += first_of(reasons, _MOST_REASONS, lambda left: f"  and for {count_noun(left, 'more reason')}")
    if (other := found.other_node) is not None:
        out.append(
            f"Without {other.pod.key} on {other.pod.node_name}, which {other.counted_by} counts in the same domain, "
            f"{other.node} would take the pod; "
            "the scheduler does not try that: it evicts only on the node where the pod is to go."
        )
    return out


def _choice(found: PreemptionReport) -> list[Block]:
    if found.criterion is None:
        return ["  the only node where preemption helps"]
    if found.equals:
        names = wording.series((found.node, *found.equals), most=_MOST_EQUAL)
        text = f"{names} are equal in every criterion, so the scheduler may choose"
        out: list[Block] = [f"  {text} {'either' if len(found.equals) == 1 else 'any of them'}"]
    else:
        text = f"preferred to {found.choices[1].node} because of {found.criterion.value}"
        out = [f"  chosen among {found.candidates} nodes, {text}:"]
    rows: list[tuple[str, ...]] = [("NODE", "PDB VIOLATIONS", "HIGHEST PRIORITY", "SUM", "VICTIMS", "EARLIEST START")]
    for choice in found.choices:
        numbers = (choice.violations, highest(choice), priorities(choice), len(choice.victims))
        rows.append((choice.node, *map(str, numbers), earliest(choice) or "-"))
    out.append(Rows(tuple(rows), "    "))
    if found.candidates > len(found.choices):
        out.append(f"    and {count_noun(found.candidates - len(found.choices), 'more node')}")
    return out


def highest(choice: Candidate) -> int:
    """Return the highest priority of the victims; 0 without any."""
    return choice.highest if choice.victims else 0


def priorities(choice: Candidate) -> int:
    """Return the sum of the victims' priorities as they are."""
    return sum(victim.cls.priority for victim in choice.victims)


def earliest(choice: Candidate) -> str:
    """Return when the earliest victim of the highest priority started; empty if no start is known."""
    return "" if choice.earliest == NOW else choice.earliest


def _unhelpful(group: Unhelpful) -> str:
    number, nodes = count_noun(len(group.nodes), "node"), comma_list(group.nodes)
    one = len(group.nodes) == 1
    if group.why is NoPreemptionReason.NO_LOWER_PRIORITY:
        return f"{number} {'has' if one else 'have'} no pod of lower priority: {nodes}"
    reasons = ", ".join(group.reasons)
    if group.why is NoPreemptionReason.REFUSED_EVEN_SO:
        its = "its" if one else "their"
        return f"{number} would refuse the pod even without {its} pods of lower priority ({reasons}): {nodes}"
    return f"evicting pods would not help on {number}{f' ({reasons})' if reasons else ''}: {nodes}"


_MOST_NAMES = 6
_MOST_VALUES = 8
_MOST_GROUPS = 12


class NodeGroup(NamedTuple):
    """Nodes that the same requirements refuse; `reported` is their reason in the scheduler's message."""

    reported: str
    refused_by: tuple[str, ...]
    nodes: tuple[str, ...]


def groups(explanation: Explanation) -> list[NodeGroup]:
    """Return the nodes that do not fit, the largest group first."""
    refusing: dict[str, tuple[Requirement, ...]] = dict.fromkeys(explanation.node_names, ())
    for requirement in explanation.requirements:
        for node_name, allowed in zip(explanation.node_names, requirement.allowed.tolist(), strict=True):
            refusing[node_name] += () if allowed else (requirement,)
    alike = grouped(((node.recorded.reasons, tuple(map(id, refusing[node.name]))), node) for node in explanation.nodes)
    return [
        NodeGroup(
            ", ".join(same[0].recorded.reasons),
            tuple(requirement.text for requirement in refusing[same[0].name]),
            tuple(node.name for node in same),
        )
        for same in sorted(alike.values(), key=len, reverse=True)
    ]


def _node_lines(explanation: Explanation, style: Style) -> list[str]:
    """Return the number of feasible nodes, and the groups of infeasible nodes."""
    feasible = explanation.diagnosis.feasible
    total = len(explanation.node_names)
    out = [f"Nodes: {len(feasible)} of {total} fit"]
    found = groups(explanation)
    if not found:
        return out
    shown = found if style.is_detailed else found[:_MOST_GROUPS]
    rows = [("NODES", "REPORTED", "REFUSED BY", "WHICH")]
    for group in shown:
        where = which(group.nodes, explanation, style)
        rows.append((str(len(group.nodes)), group.reported or "-", "; ".join(group.refused_by) or "-", where))
    if feasible:
        rows.append((str(len(feasible)), "fits", "-", which(feasible, explanation, style)))
    out += table.table(rows, style, indent="  ")
    if len(shown) < len(found):
        rest = found[len(shown) :]
        out.append(
            f"  and {sum(len(group.nodes) for group in rest)} more nodes in {len(rest)} groups; --details shows all"
        )
    return out


def which(names: tuple[str, ...], explanation: Explanation, style: Style) -> str:
    """Return names if they are few; otherwise `topology.kubernetes.io/zone: a=3 b=2`."""
    if len(names) <= _MOST_NAMES or (style.is_detailed and len(names) <= 10 * _MOST_NAMES):
        return ", ".join(names)
    domain_of = dict(zip(explanation.node_names, explanation.domain_of, strict=True))
    counts = Counter(domain_of[name] for name in names)
    if set(counts) == {""}:
        return comma_list(names, most=3)
    named = pods_by_domain({value: count for value, count in sorted(counts.items()) if value}, most=_MOST_VALUES)
    without = f"; {counts['']} without the label" if counts[""] else ""
    return f"{explanation.domain_key}: {named}{without}"


def one_node_blocks(found: NodeView) -> list[Block]:
    """Return the verdict on one node, its taints and domains, the plugins' reasons, and its resources."""
    if found.fits:
        decision = "takes the pod"
    elif found.not_considered is not None:
        why = _NOT_CONSIDERED[found.not_considered].format(chosen=found.chosen)
        others = "; ".join(item.text for item in found.refusing)
        decision = f"is not considered: {why}{f'. It would also be refused by {others}' if others else ''}"
    else:
        decision = f"refuses the pod: {'; '.join(item.text for item in found.refusing) or 'it does not fit'}"
    is_cordoned = ", cordoned (spec.unschedulable)" if found.node.unschedulable else ""
    out: list[Block] = [f"Node {found.node.name} {decision}.", f"  {count_noun(found.pods, 'pod')} on it{is_cordoned}"]
    for answer in found.taints:
        tolerated = "not tolerated" if answer.taint.repels else "only lowers its score"
        out.append(f"  taint {answer.taint}: {'tolerated' if answer.is_tolerated else tolerated}")
    for report, domain in found.domains:
        name = constraint_name(report.constraint.position, is_default=report.is_default)
        key, fact = report.constraint.topology_key, ""
        if domain is not None:
            fact = f"{key}={domain.value or chr(34) * 2}: {inequality(domain, report)}"
        out.append(f"  {name}: {fact or f'the node lacks the label {key}'}")
    plugins = [("PLUGIN", "REASONS")]
    plugins += [(item.plugin, ", ".join(item.reasons) or "fits") for item in found.plugins]
    rooms: list[tuple[str, ...]] = [("RESOURCE", "ALLOCATABLE", "REQUESTED", "FREE", "POD REQUESTS", "FITS")]
    for room in found.rooms:
        numbers = (room.allocatable, room.requested, room.free, room.asked)
        amounts = tuple(amount(room.resource, number) for number in numbers)
        rooms.append((room.resource, *amounts, "yes" if room.is_enough else "no"))
    return [*out, "", Rows(tuple(plugins), "  "), "", Rows(tuple(rooms), "  ")]


_NOT_CONSIDERED = {
    NotConsidered.NAMED_NODES: "the pod asks for other nodes by name",
    NotConsidered.CHOSEN_NODE: "the scheduler has chosen node {chosen} for the pod",
    NotConsidered.REFUSED_BEFORE: "the pod is refused before any node is looked at",
}
