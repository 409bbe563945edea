"""Suggestions as text and as JSON: the change, its effect, its cost, and the commands."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.advice.search import ALL
from kubectl_spread.advice.suggestion import (
    Effect,
    Setback,
    SpreadChange,
    Suggestion,
    Suggestions,
    Why,
)
from kubectl_spread.objects.keys import Range
from kubectl_spread.report.table import paint, wrap
from kubectl_spread.report.wording import dashed, pods_by_domain
from kubectl_spread.text.wording import count_noun, join_with_and, safe

WIDTH = 120
_MOST_DOMAINS = 8
_MOST_NODES = 4  # that a sentence names
_INDENT = "   "


def lines(suggestions: Suggestions, *, width: int = WIDTH) -> list[str]:
    """Return the suggestions, the best first; commands are never broken."""
    if not suggestions.items:
        return none_lines(suggestions, width)
    out: list[str] = []
    printed: set[str] = set()  # notes of several suggestions are printed once
    headings = {True: VERIFIED, False: NOT_VERIFIED}
    for number, item in enumerate(suggestions.items, 1):
        if item.verified in headings:
            out.append(paint(headings.pop(item.verified), "bold"))
        notes = tuple(note for note in item.notes if note not in printed)
        printed.update(notes)
        out += _item(item._replace(notes=notes), number, width=width)
    return [*out, *_more(suggestions, width), *_left_out(suggestions)]


def _more(suggestions: Suggestions, width: int) -> list[str]:
    """Return the number of further suggestions, and how to see them."""
    more = suggestions.verified - len(suggestions.items)
    if more <= 0:
        return []
    harm = "which ends or restarts running pods, or loses data"
    if more > 1:
        some = str(suggestions.harmful) if suggestions.harmful < more else "all"
        harm = f"{some} of which end or restart running pods, or lose data"
    words = count_noun(more, "more change") + " may help" + (f", {harm}" if suggestions.harmful else "")
    return wrap(f"{words}: --suggestions {max(suggestions.verified, ALL)}", width)


VERIFIED = "Suggestions, each simulated:"
NOT_VERIFIED = "Suggestions that were not simulated to the end:"


def none_lines(suggestions: Suggestions, width: int = WIDTH) -> list[str]:
    if not suggestions.tried:
        return _left_out(suggestions)
    out = [f"No suggestion: none of {count_noun(suggestions.tried, 'change')} that were simulated helps."]
    for item in suggestions.failed:
        text = wrap(f"{safe(item.title)}: {setback_sentence(item)}", width, indent="    ")
        out += [f"  - {text[0].lstrip()}", *text[1:]]
    return [*out, *_left_out(suggestions)]


def setback_sentence(item: Setback) -> str:
    """Return why a change does not help."""
    owner = "" if item.owner is None else f" of {item.owner.kind} {safe(item.owner.name)}"
    if item.why is Why.POD_WAITS:
        return f"the pod still finds no node ({safe(item.message)})"
    if item.why is Why.NOT_SETTLED:
        return "the cluster does not come to rest"
    others = "other pod" if item.why is Why.OTHERS_WAIT else "pod"
    return f"in the end {count_noun(item.number, others)}{owner} would {'still ' if others == 'pod' else ''}be Pending"


def _left_out(suggestions: Suggestions) -> list[str]:
    if not suggestions.not_tried:
        return []
    were = "was" if suggestions.not_tried == 1 else "were"
    return [f"{count_noun(suggestions.not_tried, 'change')} {were} not tried, to keep the answer quick."]


def _item(item: Suggestion, number: int, *, width: int) -> list[str]:
    out = wrap(title(item), width, indent=_INDENT)
    out[0] = paint(f"{number}. {out[0][len(_INDENT) :]}", "cyan")
    for line in item.lines:
        out += wrap(line, width, indent=f"{_INDENT}  ", hanging="  ")
    sentences = [
        effect_sentence(item),
        *map(spread_sentence, item.effect.spreads),
        f"gives up: {item.gives_up}" if item.gives_up else "",
        *(f"note: {note}" for note in item.notes),
        *(f"not simulated: {what}" for what in item.effect.not_followed),
        managed_sentence(item),
    ]
    for sentence in filter(None, sentences):
        out += wrap(sentence, width, indent=_INDENT)
    return out + [f"{_INDENT}$ {safe(command)}" for command in item.commands]


def title(item: Suggestion) -> str:
    """Return a title that moves no cursor, with a capital letter."""
    text = safe(item.title)
    return text[:1].upper() + text[1:]


def effect_sentence(item: Suggestion) -> str:
    """Return `restarts all 3 running pods; in every outcome all 4 pods have a node`, or the number of outcomes."""
    rollout = item.effect
    sampled = (
        "" if rollout.is_exact else f" (in {count_noun(rollout.outcomes, 'sampled outcome')}; there may be others)"
    )
    still = item.effect.pending_after
    partly = (
        f"; {count_noun(still, 'other pod')} of the workload still {'waits' if still == 1 else 'wait'}" if still else ""
    )
    return _end(item) + partly + sampled


def _end(item: Suggestion) -> str:
    effect, restarts = item.effect, item.effect.restarts
    if effect.pending_after and effect.without_node > 1:
        placed = effect.placed_after - effect.placed_before
        return f"{placed} of {effect.without_node} Pending pods {'finds' if placed == 1 else 'find'} a node"
    if not effect.nodes:
        gone = "the Pending pod is" if effect.without_node == 1 else "Pending pods are"
        stays = "the other pod has" if effect.placed_after == 1 else f"the other {effect.placed_after} pods have"
        return f"{gone} no longer wanted, and {stays} a node"
    if restarts:
        running = item.effect.running
        which = "the running pod" if running == restarts == 1 else f"{restarts} of {running} running pods"
        if running == restarts > 1:
            which = "both running pods" if running == 2 else f"all {running} running pods"
        pods = "both" if effect.placed_after == 2 else f"all {effect.placed_after}"
        end = "the pod has a node" if effect.placed_after == 1 else f"{pods} pods have a node"
        return f"{_restarted(item.effect, which)}; {'in every outcome' if item.effect.is_exact else 'in the end'} {end}"
    waiting = effect.without_node
    if waiting == 1 or effect.placed_after == 1:
        return f"the pod goes to {_any_of(effect.nodes)}"
    every = "both" if waiting == 2 else f"all {waiting}"
    more = effect.placed_after - effect.placed_before - effect.pending_before
    created = f", and {count_noun(more, 'pod')} that the controller then creates" if more > 0 else ""
    return f"{every} Pending pods find a node{created}"


def _any_of(nodes: Sequence[str]) -> str:
    """Return `a`, `a or b`, or a number of nodes."""
    names = [safe(name) for name in nodes]
    if len(names) > _MOST_NODES:
        return f"one of {len(names)} nodes, such as {names[0]}"
    return join_with_and(names, word="or")


def _restarted(rollout: Effect, which: str) -> str:
    """Return what restarts running pods: the change, or a rollout that began before it."""
    if rollout.restarts > rollout.under_way:
        return f"restarts {which}"
    if rollout.is_new:
        return f"restarts {which}, which the rollout under way would replace, too"
    return f"the rollout under way continues, and replaces {which}"


def managed_sentence(item: Suggestion) -> str:
    """Return `Helm release web in namespace shop manages this object: change it there, or the command is undone`."""
    manager = item.managed_by
    if manager is None:
        return ""
    name = f" {safe(manager.name)}" if manager.name else ""
    where = f" in namespace {safe(manager.namespace)}" if manager.namespace else ""
    return f"{safe(manager.tool)}{name}{where} manages this object: change it there, or the command is undone"


def spread_sentence(spread: SpreadChange) -> str:
    """Return `zone: a=2 b=1 c=1, skew 2 -> 1`; one number if the skew does not change."""
    key = safe(spread.topology_key)
    if spread.skew_after is None:
        return f"{key}: no domain is counted"
    fullest = sorted(spread.after.items(), key=lambda entry: (-entry[1], entry[0]))
    few = len(fullest) <= _MOST_DOMAINS
    shown = sorted(spread.after.items()) if few else [*fullest[:2], *fullest[-2:]]
    counts = pods_by_domain({value: dashed(Range(*spread.ranges.get(value, (count, count)))) for value, count in shown})
    more = "" if few else f" ({len(fullest)} domains in all)"
    before, after = spread.skew_before, dashed(Range(*(spread.skews or (spread.skew_after, spread.skew_after))))
    change = after if before is None or str(before) == after else f"{before} -> {after}"
    return f"{key}: {counts}{more}, skew {change}"
