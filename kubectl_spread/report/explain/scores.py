"""Scores as text: the table, the deciding plugins, outvoted constraints, and the present choice for a bound pod."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.explain.explanation import BoundPodReport, NodeToday, NotComparable, UnknownReason
from kubectl_spread.explain.requirements.collect import constraint_name
from kubectl_spread.explain.scores import (
    Because,
    ScoreTable,
    SoftVote,
)
from kubectl_spread.report.table import Block, lay_out, Rows, Style
from kubectl_spread.scheduler.plugins import names
from kubectl_spread.text.wording import comma_list, count_noun

_MOST_ROWS = 10
_MOST_SETS = 3


def blocks(scores: ScoreTable, style: Style, *, own: str = "") -> list[Block]:
    """Return the nodes that may be taken, and why; with all details also the table of scores.

    Args:
        scores: of a pod that fits somewhere.
        style: names of plugins are shortened to fit its width; a wide table has every node.
        own: the pod's node, which is always shown.
    """
    if scores.error:
        return [f"Scoring fails, and the scheduler does not place the pod: {scores.error}"]
    if scores.feasible == 1:
        return [f"{scores.hosts[0]} is the only node that fits, so the scheduler takes it without scoring."]
    hosts, number = comma_list(scores.hosts), len(scores.rows)
    out: list[Block] = []
    if scores.decision is None:
        all_of, any_of = ("Both", "either") if number == 2 else (f"All {number}", "any")
        out.append(
            f"{all_of} nodes score {scores.rows[0].total}, so the scheduler may choose {any_of} of them: {hosts}."
        )
    else:
        which = f"{count_noun(number, 'node')} fit"
        if scores.is_sampled:
            which = (
                f"{number} of {scores.feasible} nodes that fit: in a cluster of this size the scheduler stops when it "
                "has enough nodes; which ones depends on where its last search ended"
            )
        if style.is_detailed:
            out += [f"Scores ({which}):", *_table(scores, style, own=own)]
        if len(scores.hosts) > 1:
            best = f"{len(scores.hosts)} nodes have the highest score"
            out.append(f"{best}, and the scheduler may choose any of them: {hosts}.")
        decision = scores.decision
        shares = ", ".join(f"{share.plugin} {share.points:+d}" for share in decision.shares)
        lead = f"{decision.winner} wins by {count_noun(decision.margin, 'point')} over {decision.runner_up}"
        out.append(f"{lead}: {shares}.")
        sets = [" and ".join(plugins) for plugins in decision.decisive[:_MOST_SETS]]
        if sets and style.is_detailed:
            out.append(f"Without {', or without '.join(sets)}, another node would be among the best.")
        for share in decision.shares if style.is_detailed else ():
            out += [f"  {share.plugin}: {because_words(share.because)}"] if share.because else []
    soft = _soft(scores.soft, number) if scores.soft is not None and scores.soft.constraints else []
    return [*out, *soft[: None if style.is_detailed else 1]]


def _table(scores: ScoreTable, style: Style, *, own: str) -> list[Block]:
    shown = list(scores.rows[:_MOST_ROWS])
    shown += [row for row in scores.rows[len(shown) :] if row.node == own]
    equal = [at for at in range(len(scores.plugins)) if len({row.points[at] for row in scores.rows}) == 1]
    differing = {at: plugin for at, plugin in enumerate(scores.plugins) if at not in equal}
    best = scores.rows[0].total

    def rows(heads: Iterable[str]) -> Rows:
        numbers = []
        for row in shown:
            total = f"{row.total}{' (best)' if row.total == best else ''}"
            numbers.append((row.node, total, *(str(row.points[at]) for at in differing)))
        return Rows((("NODE", "TOTAL", *heads), *numbers), "  ")

    out: list[Block] = [rows(differing.values())]
    if style.width is not None and max(map(len, lay_out(out))) > style.width:
        # The capitals of a name: `NRF` for `NodeResourcesFit`.
        initials = ["".join(filter(str.isupper, plugin)) or plugin for plugin in differing.values()]
        out = [rows(initials), f"  {', '.join(map('{} = {}'.format, initials, differing.values()))}"]
    if len(shown) < len(scores.rows):
        out.append(f"  and {count_noun(len(scores.rows) - len(shown), 'more node')}")
    if equal:
        same = ", ".join(f"{scores.plugins[at]} {scores.rows[0].points[at]}" for at in equal)
        out.append(f"  the same for every node: {same}")
    return out


def _soft(vote: SoftVote, scored: int) -> list[str]:
    is_one = len(vote.constraints) == 1
    noun = "The ScheduleAnyway constraint" if is_one else "The ScheduleAnyway constraints"
    prefer = f"{noun} {'prefers' if is_one else 'prefer'}"
    if 1 < len(vote.favourites) == scored:
        out = [f"{noun} {'gives' if is_one else 'give'} all these nodes the same score."]
    elif vote.favourite:
        against = []
        for share in vote.outvoted_by:
            because = f" ({because_words(share.because)})" if share.because else ""
            against.append(f"{share.plugin}, {share.one} to {share.other}{because}")
        fate = f"{'does' if is_one else 'do'} not decide" if vote.is_tied else f"{'is' if is_one else 'are'} outvoted"
        lead = count_noun(vote.margin, "point")
        out = [f"{prefer} {vote.favourite} by {lead}, and {fate}: {', '.join(against)}."]
    else:
        out = [f"{prefer} {comma_list(vote.favourites)}."]
    for constraint in vote.constraints:
        name = constraint_name(constraint.position, is_default=constraint.is_default)
        texts = (f"{item.value or chr(34) * 2}={item.matching} ({item.raw:.2f})" for item in constraint.domains)
        domains = comma_list(texts)
        key = constraint.topology_key
        out.append(f"  {name} ({key}): matching pods (raw score, the lower the better) {domains}")
    if vote.unlabelled:
        nodes = comma_list(vote.unlabelled)
        out.append(f"  without the label of a constraint, so that {names.POD_TOPOLOGY_SPREAD} gives 0: {nodes}")
    return out


_TODAY = "This is the cluster as it is now, without this pod. Its state at the time of scheduling is not recorded."
_AGAIN = {
    NodeToday.SAME_NODE: "If it were scheduled now, it would go to the same node.",
    NodeToday.ANY_OF_SEVERAL: "If it were scheduled now, its node would be one of several with the highest score.",
    NodeToday.NOWHERE: "If it were scheduled now, it would find no node.",
}


def bound_pod_blocks(bound: BoundPodReport, node: str, style: Style) -> list[Block]:
    """Return the report on a bound pod: its constraints today, and the node that it would get.

    `explain.constraints` describes the constraints in detail. In short, it is only the node.
    """
    if bound.unknown is not None:
        return [f"Why the pod is on this node is not known: {unknown_words(bound.unknown)}."]
    again = _AGAIN.get(bound.again, "")
    if bound.scores is not None and bound.scores.error:
        again = "If it were scheduled now, it would not be placed: scoring fails."
    elif bound.again is NodeToday.ANOTHER_NODE and bound.scores is not None:
        any_of = "any of " if len(bound.scores.hosts) > 1 else ""
        again = f"If it were scheduled now, it would go to {any_of}{comma_list(bound.scores.hosts)}."
    if not style.is_detailed:
        return [again]
    out: list[Block] = [_TODAY, again]
    for status in bound.refusals:
        out.append(f"  {node} would refuse it now, {status.plugin}: {', '.join(status.reasons)}")
    for item in bound.skews:
        constraint, counts = item.constraint, item.counts
        name = constraint_name(constraint.position, is_default=item.is_default)
        least = f"{counts.emptiest or 'the minimum'} {'has' if counts.emptiest else 'is'} {counts.minimum}"
        compared = f"skew now {counts.skew} {'<=' if item.excess <= 0 else '>'} maxSkew {constraint.max_skew}"
        numbers = f"{counts.fullest or chr(34) * 2} has {counts.most}, {least}"
        broken = ": the constraint is checked at scheduling time only" if item.excess > 0 else ""
        out.append(f"{name} ({constraint.topology_key}): {compared} ({numbers}){broken}")
    if bound.scores is not None:
        out += ["", *blocks(bound.scores, style, own=node)]
    return out


def because_words(item: Because) -> str:
    """Return why a plugin scores two nodes differently."""
    if item.taints:
        return f"{item.worse} has the taint {', '.join(item.taints)}"
    weight, lesser = item.weights
    other = f"{item.worse} with weight {lesser}" if lesser else f"{item.worse} matches none"
    return f"{item.better} matches preferred node affinity with weight {weight}{',' if lesser else ';'} {other}"


def unknown_words(item: NotComparable) -> str:
    """Return why the scheduler's decision today is unknown."""
    names = " and ".join(item.names)
    return {
        UnknownReason.STATIC_POD: "it is a static pod of its node, which no scheduler places",
        UnknownReason.NO_PROFILE: f"the scheduler {names} is not one of the known profiles",
        UnknownReason.NO_NODE: f"its node {names} is not in the cluster facts",
        UnknownReason.NOT_EVALUATED: f"it depends on {names}",
    }[item.reason]
