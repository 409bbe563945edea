"""Suggestions as text and as JSON: the change, its effect, its cost, and the commands."""

from __future__ import annotations

from kubectl_spread.advice.change import (
    Effect,
    Setback,
    SpreadChange,
    Suggestion,
    Suggestions,
    Why,
)
from kubectl_spread.advice.search import ALL
from kubectl_spread.containers import grouped
from kubectl_spread.lint.wording import domain
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.report.table import paint, paragraphs, Style, wrap
from kubectl_spread.report.wording import series
from kubectl_spread.text.wording import comma_list, count_noun, first_of, safe

_USUAL = Style()
_MOST_GROUPS = 5  # of domains with the same number of pods
_MOST_NODES = 4  # that a sentence names
_INDENT = "  "
_ORDINALS = ("first", "second", "third", "fourth")
_AND = ", and "  # between the titles of changes that are made together


def lines(suggestions: Suggestions, style: Style, *, has_reasons: bool = True) -> list[str]:
    """Return the best change, or with all details every change; commands are never broken.

    The best change may have no command, for example a new node. Then the best change with a command follows.
    """
    if not suggestions.items:
        return none_lines(suggestions, style, has_reasons=has_reasons)
    if not style.is_detailed:
        shown = zip(("Do: ", "Or: "), _shown(suggestions), strict=False)
        return [line for head, item in shown for line in item_lines(item, head, style)]
    out: list[str] = []
    printed: set[str] = set()  # notes of several suggestions are printed once
    headings = {True: VERIFIED, False: NOT_VERIFIED}
    for number, item in enumerate(suggestions.items, 1):
        if item.verified in headings:
            out.append(paint(headings.pop(item.verified), "bold"))
        notes = tuple(note for note in item.notes if note not in printed)
        printed.update(notes)
        out += item_lines(item._replace(notes=notes), f"{number}. ", style)
    more = suggestions.verified - len(suggestions.items)
    harm = ", which may end or restart running pods, or lose data" if suggestions.harmful else ""
    most = max(ALL, suggestions.verified)
    out += [f"{count_noun(more, 'more change')}{harm}: --suggestions {most}"] if more > 0 else []
    return [*out, *_left_out(suggestions)]


def _shown(suggestions: Suggestions) -> list[Suggestion]:
    """Return the changes that are shown whole without `--details`: the best, and one with a command."""
    best, *others = suggestions.items
    if best.commands or best.is_of_manifest:
        return [best]
    return [best, *[item for item in others if item.commands][:1]]


VERIFIED = "Suggestions, each simulated:"
NOT_VERIFIED = "Suggestions that were not simulated to the end:"


def none_lines(suggestions: Suggestions, style: Style = _USUAL, *, has_reasons: bool = True) -> list[str]:
    """Return that nothing helps, and with `has_reasons` why the most obvious changes do not."""
    if not suggestions.tried:
        return _left_out(suggestions)
    examples = ", such as:" if suggestions.failed else "."
    out = [f"No change that was tried helps; {count_noun(suggestions.tried, 'change')} tried{examples}"]
    if suggestions.failed and not has_reasons:
        titles = "; ".join(safe(item.title) for item in suggestions.failed)
        return [*wrap(f"{out[0]} {titles}.", style), *_left_out(suggestions)]
    for item in suggestions.failed:
        out += wrap(f"- {item.title}: {setback_sentence(item)}", style, indent="  ", hanging="  ")
    return [*out, *_left_out(suggestions)]


def setback_sentence(item: Setback) -> str:
    """Return why a change does not help."""
    owner = "" if item.owner is None else f" of {item.owner.kind} {safe(item.owner.name)}"
    if item.why is Why.POD_WAITS:
        return f"the pod still finds no node ({safe(item.message)})"
    if item.why is Why.NOT_SETTLED:
        return "the cluster does not come to rest"
    others = "other pod" if item.why is Why.OTHERS_WAIT else "pod"
    number = count_noun(item.number, others) if item.number else f"some {others}s"
    return f"in the end {number}{owner} would {'still ' if others == 'pod' else ''}be Pending"


def _left_out(suggestions: Suggestions) -> list[str]:
    number = suggestions.not_tried
    return [f"Not tried, to keep the answer quick: {count_noun(number, 'change')}."] if number else []


def item_lines(item: Suggestion, head: str, style: Style) -> list[str]:
    """Return a change with its effect and its trade-off, and what to run or to write."""
    words = title(item) if style.is_detailed else safe(item.title)
    out = wrap(f"{head}{words}", style, hanging=_INDENT, colour="cyan")
    to_write = paragraphs(item.lines, style, indent=f"{_INDENT}  ", hanging="  ")
    commands = style.commands(item.commands)
    if style.is_detailed:
        out += to_write
    elif not commands and item.is_of_manifest:
        commands = to_write
    sentences = [
        "" if item.verified or style.is_detailed else "Not simulated to the end.",
        " ".join(filter(None, (effect_sentence(item), *map(spread_sentence, item.effect.spreads)))),
        f"Trade-off: {item.gives_up}." if item.gives_up else "",
        managed_sentence(item),
    ]
    notes = (f"Note: {note}." for note in item.notes)
    unknown = (f"Not simulated: {what}." for what in item.effect.not_followed)
    before, after = (paragraphs(texts, style, indent=_INDENT) for texts in (sentences, (*notes, *unknown)))
    return [*out, *before, *commands, *after]


def alternatives(suggestions: Suggestions, style: Style) -> list[str]:
    """Return the changes that are not shown whole, in one line each: `Or: set maxSkew: 2 (restarts 2 running pods)`.

    Of several changes in one that the best has, too, but for one, only that one is named.
    """
    shown = _shown(suggestions) if suggestions.items else []
    out, best = [], [part for item in shown[:1] for part in item.title.split(_AND)]
    for item in suggestions.items:
        if item in shown:
            continue
        parts = item.title.split(_AND)
        own = [part for part in parts if part not in best]
        left_out = [number for number, part in enumerate(best) if part not in parts]
        words = item.title
        if len(own) == len(left_out) == 1 < len(best):
            words = f"{own[0]}, instead of the {_ORDINALS[left_out[0]]} change above"
        out += wrap(f"Or: {in_short(item._replace(title=words))}", style, hanging=_INDENT)
    return out


def in_short(item: Suggestion) -> str:
    """Return `set maxSkew: 2 (restarts 2 running pods; 1 other pod of the workload still waits)`."""
    restarts = item.effect.restarts if item.effect.restarts > item.effect.under_way else 0
    costs = (f"restarts {count_noun(restarts, 'running pod')}" if restarts else "", _still_waiting(item.effect))
    return safe(item.title) + (f" ({'; '.join(filter(None, costs))})" if any(costs) else "")


def _still_waiting(effect: Effect) -> str:
    still = effect.pending_after
    verb = "waits" if still == 1 else "wait"
    return f"{count_noun(still, 'other pod')} of the workload still {verb}" if still else ""


def title(item: Suggestion) -> str:
    """Return a title that moves no cursor, with a capital letter."""
    text = safe(item.title)
    return text[:1].upper() + text[1:]


def effect_sentence(item: Suggestion) -> str:
    """Return `Restarts 2 running pods. Afterwards all 4 pods run, in every simulated order.`."""
    effect, still = item.effect, _still_waiting(item.effect)
    sampled = f" (in {count_noun(effect.outcomes, 'sampled outcome')}; there may be others)"
    return f"{_end(item)}{f'. {still}' if still else ''}{'' if effect.is_exact else sampled}."


def _end(item: Suggestion) -> str:
    effect, waiting = item.effect, item.effect.without_node
    run = "the pod runs" if effect.placed_after == 1 else f"{_all(effect.placed_after)} pods run"
    if effect.pending_after and waiting > 1:
        placed = effect.placed_after - effect.placed_before
        return f"{placed} of {waiting} Pending pods {'finds' if placed == 1 else 'find'} a node"
    if not effect.nodes:
        gone = "The Pending pod is" if waiting == 1 else "Pending pods are"
        return f"{gone} no longer wanted, and {run.replace('the pod runs', 'the other pod runs')}"
    if effect.restarts:
        is_certain = effect.is_exact and not effect.not_followed
        return f"{_restarted(effect)} Afterwards {run}{', in every simulated order' if is_certain else ''}"
    if waiting == 1 or effect.placed_after == 1:
        where = series(effect.nodes, "or")
        if len(effect.nodes) > _MOST_NODES:
            where = f"one of {len(effect.nodes)} nodes, such as {safe(effect.nodes[0])}"
        return f"The pod goes to {where}{f'; then {run}' if effect.placed_after > 1 and item.verified else ''}"
    more = effect.placed_after - effect.placed_before - effect.pending_before
    created = f", and {count_noun(more, 'pod')} that the controller then creates" if more > 0 else ""
    return f"{_all(waiting).capitalize()} Pending pods find a node{created}"


def _all(number: int) -> str:
    return "both" if number == 2 else f"all {number}"


def _restarted(rollout: Effect) -> str:
    """Return what restarts running pods: the change, or a rollout that began before it."""
    number = rollout.restarts
    which = "the running pod" if rollout.running == number == 1 else f"{number} of {rollout.running} running pods"
    if rollout.running <= number > 1:
        which = f"{number} running pods"
    if number > rollout.under_way:
        anyway = f", of which the rollout replaces {rollout.under_way} anyway" if rollout.under_way else ""
        return f"Restarts {which}{anyway}."
    if rollout.is_new:
        return f"Replaces {which}, as the rollout does anyway."
    return f"The rollout replaces {which}."


def managed_sentence(item: Suggestion) -> str:
    """Return `Helm release web in namespace shop manages this object: change it there, or the command is undone.`."""
    manager = item.managed_by
    if manager is None:
        return ""
    name = f" {safe(manager.name)}" if manager.name else ""
    where = f" in namespace {safe(manager.namespace)}" if manager.namespace else ""
    return f"{safe(manager.tool)}{name}{where} manages this object: change it there, or the command is undone."


def spread_sentence(spread: SpreadChange) -> str:
    """Return `Pods per zone: 2 in a; 1 to 2 in b, c; skew 1 (was 2).`; empty if no domain was or is counted."""
    key = domain(spread.topology_key)
    if spread.after.skew is None:
        return "" if spread.before.skew is None else f"No {safe(key)} is counted any more."
    if not (spread.before.most or any(most for _, most in spread.ranges.values()) or spread.after.most):
        return ""  # The constraint counts none of the pods.
    groups = grouped(
        (Range(*spread.ranges.get(value, (count, count))), value or '""')
        for value, count in sorted(spread.after.domains.items())
    )
    where = "on" if spread.topology_key == HOSTNAME else "in"
    parts = [
        f"{pods} {where} {comma_list(values, most=_MOST_NODES)}"
        for pods, values in sorted(groups.items(), reverse=True)
    ]
    numbers = "; ".join(first_of(parts, _MOST_GROUPS, lambda left: f"{left} other numbers elsewhere"))
    now = "" if spread.before.skew is None else f" (was {spread.before.skew})"
    after = Range(*(spread.skews or (spread.after.skew, spread.after.skew)))
    return f"Pods per {safe(key)}: {numbers}; skew {after}{now}."
