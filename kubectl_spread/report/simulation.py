"""The answer of `simulate`, for people and as JSON; the schema is schemas/simulation.json."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.containers import grouped
from kubectl_spread.engine.results.answer import PodState, TraceEvent
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.engine.results.domain_pods import DomainPods
from kubectl_spread.engine.results.summary import (
    BlockedEviction,
    Ending,
    PendingPods,
    PlayedStep,
    Preparation,
    Recovery,
    Release,
    Simulation,
    StepSummary,
    Verdict,
    WorkloadSpread,
    WorkloadSummary,
)
from kubectl_spread.engine.state import EventKind
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.keys import ObjectKey, Range, range_of, sum_of
from kubectl_spread.objects.node import OUT_OF_SERVICE
from kubectl_spread.objects.pod import GATED
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.report.documents import form, Plain, plain, report_document, to_document
from kubectl_spread.report.table import domain_table, hang_indent, paint, paragraphs, Style, wrap
from kubectl_spread.report.wording import (
    also_counted,
    counted,
    find_no_node,
    INTERRUPTED,
    MOST_ALIKE,
    name,
    nodes_of_pools,
    numbered,
    pods,
    series,
    share,
    together,
    without_preemption,
    without_repeats,
)
from kubectl_spread.text.wording import comma_list, count_noun, first_of, safe

VERDICTS = {
    Verdict.COMPLETES: "completes",
    Verdict.NO_WORSE: "no worse than before",
    Verdict.NOT_KNOWN: "not known",
    Verdict.MAY_GET_STUCK: "may get stuck",
    Verdict.GETS_STUCK: "gets stuck",
}
_ENDLESS = {**VERDICTS, Verdict.MAY_GET_STUCK: "may never settle", Verdict.GETS_STUCK: "never settles"}
TONES = {
    Verdict.COMPLETES: "good",
    Verdict.NO_WORSE: "warn",
    Verdict.NOT_KNOWN: "warn",
    Verdict.MAY_GET_STUCK: "warn",
    Verdict.GETS_STUCK: "bad",
}
OF_SEVERAL = {
    Verdict.GETS_STUCK: "get stuck",
    Verdict.MAY_GET_STUCK: "may get stuck",
    Verdict.NOT_KNOWN: "not known",
    Verdict.NO_WORSE: "stay incomplete",
    Verdict.COMPLETES: "complete",
}
_IN_EVERY_ORDER = {
    Verdict.COMPLETES: "every new pod finds a node",
    Verdict.NO_WORSE: "no workload lacks more than before",
}
_MOST_DOMAINS = 12
_MOST_LINES = 30  # with the way to get stuck
_MOST_WORKLOADS = 1  # with a table; of more there is one for all together
_MOST_LISTED = 20  # workloads
_MOST_CAUSES = 2
_MOST_NAMED = 5  # workloads with one cause
_MOST_ENDINGS = 100  # in JSON


def render(simulation: Simulation, style: Style) -> str:
    """Return the answer; without details, long lists are cut."""
    blocks: list[list[str]] = []
    for at, step in enumerate(simulation.steps):
        number = f"Step {at + 1}: " if len(simulation.steps) > 1 else ""
        blocks.append([f"{number}{step.text}: {_verdict(step)}"])
        later = simulation.steps[-1] if at + 1 < len(simulation.steps) and not style.is_detailed else None
        found = [*filter(None, map(list, _step_blocks(step, simulation.steps[:at], style, later=later)))]
        if later is None:
            blocks += found
            way = _way(step, simulation.steps[:at], style) if step.summary.witness else []
            is_short = sum(len(block) + 1 for block in (*blocks, way)) < _MOST_LINES
            blocks += [way] if way and (style.is_detailed or is_short) else []
            left_out = " --details prints the way to get stuck." if way and way not in blocks else ""
            blocks.append(wrap(f"{certainty(step.summary)}{left_out}", style))
        else:
            blocks[-1] += itertools.chain.from_iterable(found)
    if simulation.is_interrupted:
        blocks.append([INTERRUPTED])
    gaps = {text for step in simulation.steps for text in step.summary.gaps}
    notes = [note for note in simulation.notes if note not in gaps]
    if notes:
        blocks.append(["Not simulated:", *_indented(notes, style)])
    return "\n\n".join("\n".join(block) for block in blocks)


def _verdict(step: PlayedStep) -> str:
    if step.refusal:
        return paint("kubectl stops before the command is complete", "red")
    why, pending = "", _all_pending(step.summary)
    if step.summary.is_endless:
        why = ", because pods are replaced again and again"
    elif step.summary.verdict in (Verdict.GETS_STUCK, Verdict.MAY_GET_STUCK, Verdict.NO_WORSE) and pending.most:
        number = pending if pending.least else Range(pending.most, pending.most)
        why = f", {'' if pending.least else 'up to '}{pods(number)} {'stays' if number.most == 1 else 'stay'} Pending"
    return f"{paint(words_of(step.summary.verdict, step.summary), TONES[step.summary.verdict])}{why}"


def _all_pending(step: StepSummary) -> Range:
    """Return the number of Pending pods of the workloads that the step concerns."""
    if step.basis is Basis.ALL_OUTCOMES:
        concerned = {item.key for item in step.workloads if item.is_concerned}
        return range_of(sum(pod.owner in concerned for pod in ending.pending) for ending in step.endings)
    return sum_of(item.pending for item in step.workloads if item.is_concerned)


def words_of(verdict: Verdict, step: StepSummary) -> str:
    """Return a verdict in words; if all that does not complete goes on without an end, nothing gets stuck."""
    is_endless = step.is_endless and all(item.is_endless or item.is_complete for item in step.endings)
    return (_ENDLESS if is_endless else VERDICTS)[verdict]


def _indented(texts: Iterable[str], style: Style) -> list[str]:
    return paragraphs(texts, style, indent="  ", hanging="  ")


def _step_blocks(
    played: PlayedStep, before: tuple[PlayedStep, ...], style: Style, *, later: Optional[PlayedStep]
) -> Iterator[Iterable[str]]:
    """Yield the parts of the answer about a step; parts without lines are left out.

    If the answer ends with a `later` step, leave out pods by domain, the way there, and causes which that step repeats.
    """
    step = played.summary
    concerned = [item for item in step.workloads if item.is_concerned]
    yield paragraphs(map(depends_on, step.gaps), style, hanging="  ")
    yield paragraphs(played.refusal.splitlines(), style, hanging="  ")
    unaffected = {item.key for item in step.workloads if not item.is_concerned}
    repeated = () if later is None else {(item.owner, _cause(item, later)) for item in later.summary.waiting()}
    waiting = [
        item
        for item in step.waiting(has_names=False)
        if item.owner not in unaffected and (item.owner, _cause(item, played)) not in repeated
    ]
    if step.refused:
        nodes = sorted({item.node for item in step.refused}) if played.text.startswith("drain ") else []
        cordoned = f"{', '.join(nodes)} {'stays' if len(nodes) == 1 else 'stay'} cordoned." if nodes else ""
        lines = [*_indented(refusals(step), style), *paragraphs([cordoned], style, hanging="  ")]
        yield ["Pods that do not leave their nodes:", *lines]
    first = played.preparation
    if first and first.commands:
        yield [
            *wrap(prepared(first), style, colour="cyan"),
            *_indented([f"Trade-off: {first.gives_up}." if first.gives_up else ""], style),
            *style.commands(first.commands),
        ]
    yield _pending(played, [item for item in waiting if not was_pending(item)], style)
    if earlier := [item for item in waiting if was_pending(item)]:
        most = len(earlier) if style.is_detailed else _MOST_LISTED
        names_ = [item.pod if item.outcomes == len(step.endings) else waiting_pods(item, step) for item in earlier]
        yield wrap(f"Pending already before this step: {comma_list(names_, most=most)}", style)
    if played.advice:
        from kubectl_spread.report.explain.suggestions import in_short, item_lines  # 20 ms

        (owner, best), *others = played.advice.items()
        is_of_several = len({item.owner for item in waiting}) > 1
        if others and not style.is_detailed:
            spreads = [item for item in best.effect.spreads if item.topology_key != HOSTNAME] or best.effect.spreads
            best = best._replace(effect=best.effect._replace(spreads=tuple(spreads)))
        lines = item_lines(best, f"Do, for {owner.kind} {owner.name}: " if is_of_several and owner else "Do: ", style)
        for owner, item in others:  # in short; each was simulated without the first one
            who = "its pod" if owner is None else f"{owner.kind} {owner.name}"
            lines += wrap(f"And, for {who}: {in_short(item)}", style, hanging="  ")
            lines += style.commands(item.commands)
        rest = {item.owner for item in waiting} - played.advice.keys()
        lines += wrap(f"No change is shown for {count_noun(len(rest), 'other workload')}.", style) if rest else []
        yield lines
    yield [
        line
        for at, item in enumerate(played.quotas)
        for line in (
            *wrap(within_quota(item, is_first=not at), style, hanging="  ", colour="cyan"),
            *style.commands(item.commands),
        )
    ]
    if played.recovery:  # It was simulated without the changes above.
        yield _recovery_lines(played.recovery, style)
    gone = lost_pods(step)
    stuck = ", ".join(stuck_before(step))
    is_known = bool(before) and stuck == ", ".join(stuck_before(before[-1].summary))
    notes = (
        *played.notes,
        *(f"pod {pod} goes to {' or '.join(nodes)}" for pod, nodes in step.scheduled),
        "" if concerned or played.refusal or step.scheduled or not step.endings else "No workload changes.",
        *added_nodes(step),
        f"Not affected by this step, but already incomplete: {stuck}" if stuck and not is_known else "",
        *(not_recovered(played.recovery, is_detailed=style.is_detailed) if played.recovery else ()),
        f"Gone, and no controller creates them again: {gone}" if gone else "",
        prepared(first) if first and not first.commands else "",
    )
    yield [*paragraphs(notes, style, hanging="  "), *([SAVED] if played.saving else []), *style.commands(played.saving)]
    stays = played.recovery.stuck if played.recovery else {}
    concerned = [item._replace(held=tuple(pod for pod in item.held if pod.name not in stays)) for item in concerned]
    yield from _workloads(concerned, step, style, is_last=later is None)
    # The sums are worth a table if a constraint counts the pods of all.
    if later is None and step.together and (style.is_detailed or any(spread.is_balanced for spread in step.together)):
        yield [
            "All of them together",
            *[line for spread in _without_nodes(step.together, style) for line in _spread(spread, step, style)][1:],
        ]


def within_quota(item: Preparation, *, is_first: bool = False) -> str:
    """Return the title of what helps where quotas refuse pods."""
    end = [f"{one.ready} of {count_noun(one.desired.most, 'pod')} of {name(one.key)}" for one in item.workloads]
    what = "raise the quota" if " patch " in item.commands[0] else "run as many replicas as the quota admits"
    return f"{'Do' if is_first else 'Or'}: {what}; then {series(end)} are ready"


SAVED = "Do, to have them again: save them before the drain, and create them after it"


def _way(played: PlayedStep, before: tuple[PlayedStep, ...], style: Style) -> list[str]:
    """Return the way to get stuck; empty if nothing on it is worth telling."""
    sentences = way_to_get_stuck(played, before, is_detailed=style.is_detailed)
    way = numbered(sentences, where="" if style.is_detailed else "--details prints them")
    lines = paragraphs(way, style, indent="  ", hanging="   ")
    more = "" if style.is_detailed else " (--details prints every event)"
    return [f"{way_title(played.summary)}{more}:", *lines] if lines else []


def prepared(item: Preparation) -> str:
    """Return the title of what to do before the steps, or that nothing helps."""
    if not item.commands:
        return "None of the changes that were tried first lets every step complete with as many pods ready as now."
    ready = [
        f"{one.fewest_ready} of {count_noun(one.desired.most, 'pod')} of {name(one.key)}" for one in item.workloads
    ]
    return f"Do first, and every step completes{f', with at least {series(ready)} ready at any time' if ready else ''}:"


def recovery(item: Recovery) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what ends pods that stay Terminating, each with its commands, the safest first."""
    who, nodes = (series(names, most=_MOST_NAMED) for names in (item.pods, item.nodes))
    again = f"so that {who} {'is' if len(item.pods) == 1 else 'are'} created again"
    off = f"{nodes} {'is' if len(item.nodes) == 1 else 'are'} switched off" if nodes else "its containers have ended"
    sentences = {
        Release.DELETED_NODE: f"delete the Node object{'s' if len(item.nodes) > 1 else ''}",
        Release.OUT_OF_SERVICE: f"set the taint {OUT_OF_SERVICE}, which also detaches volumes at once, and remove it "
        "before a node comes back",
        Release.FORCED: f"{'if neither is possible, ' if len(item.ways) > 2 else ''}force the deletion. If a container "
        "still runs, two pods write the same data, and may destroy it",
    }
    for at, (way, commands) in enumerate(item.ways.items()):
        first = f"Do{' instead' if item.is_instead else ''}, {again}: make sure that {off}, then "
        yield f"{'Or: ' if at else first}{sentences[way]}", commands


def not_recovered(item: Recovery, *, is_detailed: bool = True) -> Iterator[str]:
    """Yield which pods stay Terminating and would find no node if they ended, and why."""
    by_cause = grouped((f": {without_preemption(cause)}", pod) for pod, cause in item.stuck.items())
    if len(by_cause) > 1 and not is_detailed:
        by_cause = {"; --details prints why": [*item.stuck]}
    sampled = " in the simulated orders" if item.is_example else ""
    for why, who in by_cause.items():
        stay, find = ("stays", "finds") if len(who) == 1 else ("stay", "find")
        names = series(who, most=_MOST_NAMED)
        yield f"{names} {stay} Terminating, and {find} no node{sampled} even if the Node objects are deleted{why}"


def _recovery_lines(item: Recovery, style: Style) -> Iterator[str]:
    places = [
        f"{series(who, most=_MOST_NAMED)} {'goes' if len(who) == 1 else 'go'} to "
        f"{series(nodes, 'or', most=_MOST_NAMED)}"
        for nodes, who in grouped((nodes, pod) for pod, nodes in item.pods.items()).items()
    ]
    where = "; ".join(first_of(places, _MOST_NAMED, lambda left: f"{left} more"))
    for title, commands in recovery(item):
        yield from wrap(title, style, hanging="  ", colour="cyan")
        example = "for example " if item.is_example else ""
        yield from _indented([f"Afterwards {example}{where}." if where else ""], style)
        yield from style.commands(commands)
        where = ""


def _workloads(
    concerned: list[WorkloadSummary], step: StepSummary, style: Style, *, is_last: bool
) -> Iterator[list[str]]:
    """Yield the blocks about the workloads that a step concerns; of the last step, a single one has tables."""
    # The worst first: pods that are not created again come before Pending ones.
    concerned.sort(
        key=lambda item: (list(Verdict).index(item.verdict), item.not_created.most, item.pending.most), reverse=True
    )
    if len(concerned) > _MOST_LISTED:
        verdicts = Counter(item.verdict for item in concerned)
        listed = [f"{verdicts[verdict]:,} {words}" for verdict, words in OF_SEVERAL.items() if verdicts[verdict]]
        pending = _all_pending(step)
        totals = f"{len(concerned):,} workloads: {', '.join(listed)}"
        totals += f"; {_sampled(step)}{pods(pending)} Pending" if pending.most else ""
        yield paragraphs([f"{totals}; --details lists all, not only {_MOST_LISTED}"], style, hanging="  ")
    is_fine = all(item.verdict is Verdict.COMPLETES for item in concerned)
    has_tables = style.is_detailed or (is_last and sum(not item.is_deleted for item in concerned) <= _MOST_WORKLOADS)
    well = [name(item.key) for item in concerned if item.verdict is Verdict.COMPLETES and not item.is_deleted]
    well = [] if is_fine or has_tables or len(concerned) <= MOST_ALIKE or len(well) < 2 else well
    plain: list[tuple[Hashable, str, list[str]]] = []
    for item in concerned if style.is_detailed else concerned[:_MOST_LISTED]:
        if name(item.key) in well:
            continue
        has_domains = has_tables and (is_fine or style.is_detailed or item.verdict is not Verdict.COMPLETES)
        lines = list(_workload(item, step, style, has_domains=has_domains))
        if has_domains:
            yield lines
        else:
            reason = "" if style.is_detailed else "\n".join(lines)
            for word in (f"{item.key.namespace}/{item.key.name}", item.key.name, *(pod.node for pod in item.held)):
                reason = reason.replace(word, "")
            plain.append((reason or item.key, name(item.key), lines))
    yield [
        *hang_indent(together(plain), style.width),
        *wrap(f"{len(well)} workloads complete: {comma_list(well, most=_MOST_NAMED)}" if well else "", style),
    ]


def _pending(played: PlayedStep, waiting: Sequence[PendingPods], style: Style) -> list[str]:
    """Return the Pending pods by cause; in short, two causes."""
    by_cause = grouped((pod.message if style.is_detailed else _cause(pod, played), pod) for pod in waiting)
    groups = [(cause, _named(who, played, style)) for cause, who in by_cause.items()]
    shown = groups if style.is_detailed else groups[:_MOST_CAUSES]
    lines = ["Pending:"] if groups else []
    for cause, who in shown:
        lines += [*_indented(who, style), *wrap(cause, style, indent="    ")]
    others = [who for _, every in groups[len(shown) :] for who in every]
    more = [f"for other reasons, which --details prints: {comma_list(others, most=_MOST_NAMED)}"] if others else []
    return [*lines, *_indented(more, style)]


def _named(waiting: Sequence[PendingPods], played: PlayedStep, style: Style) -> list[str]:
    """Return `1 pod of Deployment shop/web`; of many workloads `1 pod each of Deployment shop/a, Deployment shop/b`."""
    endings, most = len(played.summary.endings), len(waiting) if style.is_detailed else _MOST_NAMED
    if len(waiting) <= MOST_ALIKE or any(pod.owner is None for pod in waiting):
        return [waiting_pods(pod, played.summary) for pod in waiting]
    alike = grouped(((pods(pod.pods), share(pod.outcomes, endings)), name(pod.owner)) for pod in waiting)
    return [
        f"{', '.join(filter(None, (f'{number} each' if len(who) > 1 else number, where)))} of "
        f"{series(first_of(who, most, lambda left: count_noun(left, 'more workload')))}"
        for (number, where), who in alike.items()
    ]


def _cause(pod: PendingPods, played: PlayedStep) -> str:
    return played.causes.get((pod.owner, pod.message)) or without_preemption(pod.message)


def added_nodes(step: StepSummary) -> Iterator[str]:
    """Yield what Karpenter adds, and whether pods use it."""
    for item in step.added:
        what = "them" if item.unused == item.number else f"{item.unused} of them"
        unused = f"; kube-scheduler will not use {'it' if item.number == Range(1, 1) else what}"
        yield f"Karpenter adds {nodes_of_pools([item], _sampled(step))}{unused if item.unused.most else ''}"


def stuck_before(step: StepSummary) -> list[str]:
    """Return the names of incomplete workloads that the step does not concern."""
    return [
        name(item.key) for item in step.workloads if not item.is_concerned and item.verdict is not Verdict.COMPLETES
    ]


def depends_on(gap: str) -> str:
    """Return a line about something that makes the verdict `not known`."""
    return f"not simulated, and the outcome depends on it: {gap}"


def _workload(item: WorkloadSummary, step: StepSummary, style: Style, *, has_domains: bool) -> Iterator[str]:
    if item.is_deleted:
        yield f"{name(item.key)} is deleted; {pods(item.restarted)} gone"
        return
    paused = ""
    if item.is_paused:  # a Deployment without any ReplicaSet creates no pods
        has_pods = item.updated.most or item.ready.most
        paused = f"; it is paused, so {NOT_ROLLED_OUT if has_pods else 'it creates no pods'}"
    words = VERDICTS[item.verdict] if item.pending.least else words_of(item.verdict, step)
    words = "was not complete before, and stays so" if item.verdict is Verdict.NO_WORSE else words
    verdict = paint(words, TONES[item.verdict])
    yield from hang_indent([f"{safe(name(item.key))} {verdict}{paused}: {numbers(item, step)}"], style.width)
    old = item.ready.least - item.updated.most
    if item.verdict is Verdict.COMPLETES and old > 0 and item.key.kind in ("StatefulSet", "DaemonSet"):
        yield f"  its updateStrategy leaves {count_noun(old, 'pod')} of the old template"
    by_node = grouped((pod.node, pod.name) for pod in item.astray)
    for node, names in by_node.items():
        where = f"on node {node}, which is not in the cluster facts"
        yield from _indented([f"{comma_list(names, most=3)} {'was' if len(names) == 1 else 'were'} {where}"], style)
    for pod in item.held:
        until = ", and is not created again before it is gone" if pod.is_terminating else ""
        yield from _indented([f"{held(pod)}{until}"], style)
    if item.has_failed:
        yield "  the Job fails: Job has reached the specified backoff limit"  # the message of its condition
    if item.refusal or item.refused:
        when = "" if item.refusal else "until old pods are gone, "
        yield from _indented([f"{when}the API server refuses new pods: {item.refusal or item.refused}"], style)
    for spread in _without_nodes(item.spreads, style) if has_domains else ():
        yield from _spread(spread, step, style, item.revision)


def held(pod: PodState) -> str:
    """Return `db-1 does not become ready on b1`."""
    state = "stays Terminating" if pod.is_terminating else "does not become ready"
    return f"{pod.name} {state}{pod.node and f' on {pod.node}'}"


def _without_nodes(spreads: Sequence[WorkloadSpread], style: Style) -> Sequence[WorkloadSpread]:
    """Return the tables to show: pods by node are a detail beside those by a larger domain."""
    larger = [spread for spread in spreads if spread.topology_key != HOSTNAME]
    return larger if larger and not style.is_detailed else spreads


NOT_ROLLED_OUT = "its changed template is not rolled out"


def numbers(item: WorkloadSummary, step: StepSummary) -> str:
    """Return `3 of 4 pods ready, as few as 2 during the step`."""
    has_waited = item.pending.most and item.ready_before.most and not item.was_complete
    before = f" ({item.ready_before} before)" if has_waited else ""
    parts = [f"{item.ready} of {count_noun(item.desired.most, 'pod')} ready{before}"]
    if not item.spreads and item.verdict is not Verdict.COMPLETES and item.updated.most < item.desired.most:
        parts.append(f"{item.updated} of the current template")  # No table shows it.
    if item.fewest_ready < min(item.ready_before.least, item.ready.least):
        parts.append(f"as few as {item.fewest_ready} during the step")
    if item.terminating.most and item.terminating == item.restarted:
        verb = "stays" if item.terminating == Range(1, 1) else "stay"
        parts.append(f"{counted(item.terminating, 'old pod')} {verb} Terminating")
    elif item.restarted.most:
        parts.append(f"{counted(item.restarted, 'old pod')} deleted")
        parts += [f"{item.terminating} of them still Terminating"] if item.terminating.most else []
    if item.pending.most:
        earlier = f" ({item.pending_before} before)" if item.pending.least > item.pending_before.least > 0 else ""
        parts.append(f"{item.pending} Pending{earlier}")
    if item.not_created.most:
        parts.append(f"{item.not_created} not created")
    if item.out_of_reach.most and item.ready.least < item.desired.most:
        nodes = "a node that does" if item.out_of_reach.most == 1 else "nodes that do"
        parts.append(f"{item.out_of_reach} on {nodes} not answer")
    return f"{_sampled(step)}{', '.join(parts)}"


def _sampled(step: StepSummary) -> str:
    """Return the words before numbers that hold for some outcomes only; empty if all outcomes are known."""
    return "" if step.is_exact else "in the sampled runs " if step.runs > 1 else "in one sampled run "


def skew(spread: WorkloadSpread, step: StepSummary, *, is_mixed: bool = False) -> str:
    """Return `skew: 1 before, up to 2 during, 1 after`; `is_mixed`: the table has pods of several revisions."""
    during = "" if spread.on_the_way is None else f", up to {spread.on_the_way} during"
    which = "only pods of the new revision are counted" if is_mixed and spread.is_of_revision else ""
    notes = "; ".join(filter(None, (which, also_counted(spread.also_counted))))
    others = f" ({notes})" if notes else ""
    return f"skew: {_sampled(step)}{spread.before} before{during}, {spread.after} after{others}"


def _spread(spread: WorkloadSpread, step: StepSummary, style: Style, revision: int = 0) -> list[str]:
    """Return a table. With a revision, add the number of its pods if some outcome also has pods of others."""
    if not spread.domains:
        return ["", f"  no node has the label {spread.topology_key}"]
    head = [
        spread.topology_key,
        "before" if step.is_start_exact else "before (sampled)",
        "after" if step.is_exact else "after (sampled)",
    ]
    rows = [[domain.value, str(domain.before), str(domain.after)] for domain in spread.domains]
    earlier = [
        [of for number, of in domain.revisions.items() if number != revision and of.most] for domain in spread.domains
    ]
    is_mixed = bool(revision) and any(earlier)
    if is_mixed:
        head += ["old", "new"]
        for row, domain, old in zip(rows, spread.domains, earlier, strict=True):
            row.append(str(sum_of(old)))
            row.append(str(domain.revisions.get(revision, Range(0, 0))))
    shown = rows
    if len(rows) > _MOST_DOMAINS and not style.is_detailed:
        shown = [row for row in rows if set(row[1:]) != {"0"}][:_MOST_DOMAINS]
    lines = domain_table(head, shown, of=len(rows), style=style)
    return ["", *lines, *(_indented([skew(spread, step, is_mixed=is_mixed)], style) if spread.is_balanced else ())]


def was_pending(item: PendingPods) -> bool:
    """Return whether a pod without a controller was Pending before the step already."""
    return item.owner is None and not item.is_new


def waiting_pods(item: PendingPods, step: StepSummary) -> str:
    """Return `1 pod of Deployment shop/web, in 2 of 3 outcomes`."""
    whose = f"{pods(item.pods)} of {name(item.owner)}" if item.owner is not None else f"pod {item.pod}"
    return ", ".join(filter(None, (whose, share(item.outcomes, len(step.endings)))))


def lost_pods(step: StepSummary) -> str:
    """Return the pods without a controller that are gone: `a, b, in 1 of 2 outcomes; c`."""
    numbers = {pod: sum(pod in ending.lost for ending in step.endings) for pod in step.lost}
    groups = grouped((share(number, len(step.endings)), pod) for pod, number in numbers.items())
    return "; ".join(", ".join(filter(None, (*pods, how))) for how, pods in groups.items())


def refusals(step: StepSummary) -> Iterator[str]:
    """Yield the pods that do not leave their nodes, with the cause."""
    for item in step.refused:
        where = ", ".join(filter(None, (f"{item.pod} on {item.node}", share(item.outcomes, len(step.endings)))))
        yield f"{where}: {item.cause.rstrip('.')}"


def way_title(step: StepSummary) -> str:
    """Return the title of the way to get stuck."""
    where = "into the repetition" if step.is_endless else "to get stuck"
    return f"The shortest way {where}" if step.is_exact else f"A way {where}"


def certainty(step: StepSummary) -> str:
    """Return the extent of the search, and the limits of its answer."""
    visited, runs = f"({count_noun(step.states, 'state')} visited)", f"the numbers are of {step.runs} sampled runs"
    if not step.endings:
        return f"The search ended before it found an outcome {visited}."
    if step.unreached:
        return f"The search ended before it found an outcome of {_listed(step.unreached)} {visited}."
    if step.basis is Basis.EVERY_ORDER:
        how = _IN_EVERY_ORDER.get(step.verdict, "the step gets stuck")
        return f"In every order of events {how}, and every number is in the range shown {visited}."
    if step.basis is Basis.NO_ORDER:
        return f"In no order of events every pod finds a node; {runs} {visited}."
    if step.verdict is Verdict.NOT_KNOWN and step.basis is Basis.SAMPLE:
        unknown = [item.key for item in step.workloads if item.verdict is Verdict.NOT_KNOWN]
        return f"Whether every pod finds a node is not known of {_listed(unknown)} {visited}."
    if step.basis is Basis.ENOUGH_ROOM:
        return f"In every order of events every new pod finds a node; {runs} {visited}."
    if step.is_exact:
        ranges = (domain.after for item in step.workloads for spread in item.spreads for domain in spread.domains)
        number = "There is one outcome"
        if len(step.endings) > 1:
            number = f"There are {len(step.endings):,} different outcomes, all of them found"
        elif not all(number_of_pods.is_single for number_of_pods in ranges):
            number += ", apart from the names of interchangeable domains"
        return f"{number} {visited}."
    sampled = f" than those of {count_noun(step.runs, 'sampled run')}" if step.runs else ""
    return f"Other outcomes{sampled} are possible {visited}."


def _listed(keys: Sequence[ObjectKey]) -> str:
    return comma_list(map(name, keys), most=_MOST_DOMAINS)


def way_to_get_stuck(played: PlayedStep, before: Sequence[PlayedStep], *, is_detailed: bool = True) -> list[str]:
    """Return the way to get stuck, sentence by sentence.

    Args:
        played: the step that may get stuck.
        before: the steps before it; a step with only one outcome becomes one sentence.
        is_detailed: also the only step itself, and events that follow from others, such as the creation of a pod in
            place of an evicted one.
    """
    steps = [*before, played][-len(played.summary.witness) :]
    sentences: list[str] = []
    mixed = mixed_owners(event for part in played.summary.witness for event in part)
    for step, events in zip(steps, played.summary.witness, strict=True):
        is_plain = step is not played and len(step.summary.endings) == 1
        shown = [event for event in events if event.kind is not EventKind.DONE and not is_plain]
        if not is_detailed:  # An autoscaler, which has a name, scales by itself; a rollout follows.
            following = (EventKind.CREATED, EventKind.READY, EventKind.GONE)
            shown = [item for item in shown if item.kind not in following]
            shown = [item for item in shown if item.text or item.kind is not EventKind.SCALED]
        told = [f"`{step.text}` is accepted."] if before or is_detailed else []
        for is_deleted, group in itertools.groupby(shown, lambda event: event.kind is EventKind.DELETED):
            texts = [event_sentence(event, mixed) for event in group]
            if is_deleted and not is_detailed and len(set(texts)) > 1:
                head = "Pods " if all(text.startswith("Pod ") for text in texts) else ""
                deleted = [text.removesuffix(" is deleted.").removeprefix(head and "Pod ") for text in texts]
                texts = [f"{head}{series(deleted, most=_MOST_NAMED)} are deleted."]
            told += texts
        sentences += without_repeats(told)
    stuck = grouped((pod.owner or pod.name, pod) for pod in played.summary.stuck)
    number, is_alike = (
        len(played.summary.stuck),
        all(pod.owner and pod.message != GATED for pod in played.summary.stuck),
    )
    if not is_detailed and len(stuck) > MOST_ALIKE and is_alike:
        return [*sentences, f"{number} pods of {len(stuck)} workloads {find_no_node(number)}"]
    for pod, *others in stuck.values():
        who = f"Pod {pod.name}"
        if pod.owner is not None and (others or pod.name.endswith("-*")):
            who = f"{count_noun(1 + len(others), 'pod')} of {pod.owner.name}"
        waits = "waits for its scheduling gates." if not others else "wait for their scheduling gates."
        sentences.append(f"{who} {waits if pod.message == GATED else find_no_node(1 + len(others))}")
    return sentences


def mixed_owners(events: Iterable[TraceEvent]) -> set[Optional[ObjectKey]]:
    """Return the workloads with pods of several revisions, which sentences about their pods name."""
    revisions = grouped((event.owner, event.revision) for event in events if event.revision)
    return {owner for owner, numbers in revisions.items() if len(set(numbers)) > 1}


def event_sentence(event: TraceEvent, mixed: Collection[Optional[ObjectKey]]) -> str:
    """Return the sentence about an event that is not a step of the user; `mixed` are the `mixed_owners`."""
    pod, template = f"pod {event.pod}", _SENTENCES[event.kind]
    if event.owner is not None:
        pod = f"a pod of {event.owner.name}" if event.pod.endswith("-*") else pod
        pod += f" (revision {event.revision})" if event.owner in mixed and event.revision else ""
    elif event.kind is EventKind.CREATED:
        template = "{pod} is created."
    if event.kind is EventKind.SCALED and not event.text:
        template = "{owner} scales revision {event.revision} to {size}."
    if event.kind is EventKind.DELETED and not event.node:
        template = "{pod}, which is Pending, is deleted."
    sentence = template.format(
        event=event,
        pod=pod,
        owner=name(event.owner),
        same=f", which scores the same as {count_noun(event.others, 'other node')}" if event.others else "",
        size=count_noun(event.size, "pod"),
        why=event.text.rstrip("."),
    )
    return f"{sentence[0].upper()}{sentence[1:]}" if sentence.startswith(("a pod of ", "pod ")) else sentence


_SENTENCES = {
    EventKind.CREATED: "{owner} creates {pod}.",
    EventKind.SCHEDULED: "{pod} goes to {event.node}{same}.",
    EventKind.READY: "{pod} on {event.node} becomes ready.",
    EventKind.DELETED: "{pod} on {event.node} is deleted.",
    EventKind.GONE: "{pod} on {event.node} is gone.",
    EventKind.SCALED: "Autoscaler {event.text} scales {owner} to {size}.",
    EventKind.EVICTED: "{pod} is evicted from {event.node}.",
    EventKind.REFUSED: "{pod} does not leave {event.node}: {why}.",
    EventKind.JOINED: "Karpenter adds node {event.node}.",
    EventKind.PREEMPTED: "{pod} on {event.node} is preempted by a pod of higher priority.",
}


def document(simulation: Simulation, errors: Iterable[SourceError] = (), unread: Iterable[Unread] = ()) -> Plain:
    """Return a Simulation."""
    steps = [_step_document(step, simulation.steps[:at]) for at, step in enumerate(simulation.steps)]
    answer = to_document(simulation, "completes=fine interrupted steps notes", steps=steps)
    return report_document("Simulation", answer, errors=errors, unread=unread)


def _step_document(played: PlayedStep, before: tuple[PlayedStep, ...]) -> Plain:
    summary = played.summary
    document = to_document(
        summary,
        "step verdict exact basis notSimulated=gaps endless states runs refusal? notes workloads together "
        "pending blockedEvictions=refused lostPods=lost scheduledPods unreached outcomeCount outcomes witness "
        "addedNodes=added",
        step=played.text,
        verdict="refused" if played.is_refused else summary.verdict,
        refusal=played.refusal,
        notes=played.notes,
        pending=summary.waiting(),
        scheduledPods=[{"pod": pod, "nodes": nodes} for pod, nodes in summary.scheduled],
        outcomeCount=len(summary.endings),
        outcomes=[],
        witness=to_document(
            summary,
            "shortest=exact beginning text events",
            beginning=[to_document(pod, "object=owner pod=name revision?=number node?") for pod in summary.begin],
            text=way_to_get_stuck(played, before),
            events=[event for part in summary.witness for event in part],
        )
        if summary.witness
        else None,
    )
    if not summary.added:
        del document["addedNodes"]
    ranges: Plain = as_sampled(document, summary)
    return ranges | {"outcomes": plain(summary.endings[:_MOST_ENDINGS])}


def as_sampled(value: Any, step: StepSummary, field: str = "") -> Any:
    """Return a document in which a range over some outcomes has a field of its own: others may lie outside.

    A field `before` is about the outcomes of the step before.
    """
    if isinstance(value, list):
        return [as_sampled(item, step, field) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("min"), int) and not (step.is_start_exact if field == "before" else step.is_exact):
        ends = {name: value.pop(name) for name in ("min", "max")}
        return {**value, "sampled": ends}
    return {name: as_sampled(item, step, name) for name, item in value.items()}


form(
    WorkloadSummary,
    "object=key verdict concerned deleted paused completeBefore=was_complete replicas=desired.most ready updated "
    "pending notCreated refusal? failed restarted revision domains=spreads",
    ready=lambda item: {"before": item.ready_before, "after": item.ready, "fewest": item.fewest_ready},
)
form(
    WorkloadSpread,
    "topologyKey skew domains",
    skew=lambda spread: {"before": spread.before, "after": spread.after, "worst": spread.on_the_way},
)
form(
    DomainPods,
    "value before after revisions",
    revisions=lambda domain: [
        {"revision": number, **plain(pods)} for number, pods in domain.revisions.items() if pods.most
    ],
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
                name: {value: sum(counts.get(value, {}).values()) for value in ending.domains[name]}
                for name, counts in by_key.items()
            },
        }
        for key, by_key in ending.counts.items()
    ],
    pending=lambda ending: [to_document(pod, "pod=name object=owner message") for pod in ending.pending],
)
