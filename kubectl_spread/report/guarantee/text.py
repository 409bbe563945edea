"""The answer of `guarantee` for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.guarantee.policy.policy import Regime
from kubectl_spread.guarantee.policy.wording import domain, rule_text
from kubectl_spread.guarantee.recommendation.result import Recommendation
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, RegimeResult, RuleVerdict, worst
from kubectl_spread.guarantee.witness import Witness
from kubectl_spread.report.guarantee import gaps, recommendation, words
from kubectl_spread.report.simulation.text import name
from kubectl_spread.report.table import paint, Style, table, wrap
from kubectl_spread.text.wording import comma_list, count_noun

_STYLES = {
    ProofStatus.PROVED: "green",
    ProofStatus.REFUTED: "red",
    ProofStatus.UNDECIDED: "yellow",
    ProofStatus.NOT_APPLICABLE: "yellow",
}
_MOST_WORKLOADS = 5
_MOST_SENTENCES = 40
_ENDS = 15  # of a long way, from its beginning and from its end


def render(title: str, groups: Sequence[tuple[GroupResult, Recommendation | None]], style: Style) -> str:
    """Return the answer; `title` is the policy's name."""
    blocks: list[list[str]] = []
    verdict = worst([result.verdict for result, _ in groups])
    answer = words.policy_verdict(verdict, worst([result.settled_verdict for result, _ in groups]))
    blocks.append([f"Policy {title}: {paint(answer, _STYLES[verdict], colour=style.colour)}"])
    first: dict[str, str] = {}
    for result, found in groups:
        blocks += [block for block in _group(result, style) if block]
        if found is None:
            continue
        advice = [block for block in recommendation.blocks(found, result, style) if block]
        same = first.setdefault(_nameless(advice, result), result.name)
        if same != result.name and not style.is_wide:
            advice = [
                wrap(f"Recommended constraints for {result.name}: those for {same}, with its own labels.", style.width)
            ]
        blocks += advice
    return "\n\n".join("\n".join(block) for block in blocks)


def _nameless(blocks: list[list[str]], result: GroupResult) -> str:
    """Return a text without the names of a group and its workloads, which equal workloads have in their labels."""
    text = " ".join(" ".join(line for block in blocks for line in block).split())  # Names decide where lines end.
    for name_ in sorted({result.name, *(key.name for key in result.workloads)}, key=len, reverse=True):
        text = text.replace(name_, "*")
    return text


def _group(result: GroupResult, style: Style) -> Iterator[list[str]]:
    workloads = comma_list([name(key) for key in result.workloads], most=10_000 if style.is_wide else _MOST_WORKLOADS)
    yield wrap(f"Group {result.name}: {workloads}; {count_noun(result.pods, 'pod')}", style.width, hanging="  ")
    yield _overview(result, style)
    for at in range(len(result.results[0].rules) if result.results else 0):
        yield list(_rule([(item.regime, item.rules[at]) for item in result.results], style))
    if result.neighbours:
        names = comma_list([name(key) for key in result.neighbours], most=10_000 if style.is_wide else _MOST_WORKLOADS)
        sentence = f"Simulated with it, because its pods decide where these pods can go: {names}"
        yield wrap(sentence, style.width, hanging="  ")
    if result.gaps:
        notes = map(gaps.sentence, result.gaps)
        yield ["Not simulated:", *[line for note in notes for line in wrap(note, style.width, indent="  ")]]


def _overview(result: GroupResult, style: Style) -> list[str]:
    head = ("rule", *[words.REGIMES[item.regime] for item in result.results])
    rows = [head]
    for at, first in enumerate(result.results[0].rules if result.results else ()):
        for when, verdicts in words.answers([(item.regime, item.rules[at]) for item in result.results]):
            title = f"  {when}" if when == words.MOVING else ", ".join(filter(None, (rule_text(first.rule), when)))
            rows.append((title, *[words.VERDICTS[item.verdict] for _, item in verdicts]))
    return table(rows, style.width, indent="  ")


def _rule(found: words.Verdicts, style: Style) -> Iterator[str]:
    """Yield how a rule was decided; nothing if there is no verdict."""
    if any(item.verdict is not ProofStatus.NOT_APPLICABLE for _, item in found):
        yield f"{rule_text(found[0][1].rule)}:"
    for when, verdicts in words.answers(found):
        # While pods move, other verdicts are as once settled.
        shown = [
            pair for pair in verdicts if when != words.MOVING or pair[1].verdict is not pair[1].once_settled.verdict
        ]
        yield from _answer(shown, f"{when}, " if when else "", style)


def _answer(found: words.Verdicts, when: str, style: Style) -> Iterator[str]:
    """Yield how a rule was decided in each regime: proofs of equal words together, and the witness."""
    regimes_by_text: dict[str, list[Regime]] = {}
    refuted = next((item for _, item in found if item.verdict is ProofStatus.REFUTED), None)
    for regime, item in found:
        if item.verdict is ProofStatus.PROVED:
            regimes_by_text.setdefault(f"proved: {words.proof(item)}", []).append(regime)
        elif item.verdict is ProofStatus.UNDECIDED:
            regimes_by_text.setdefault(_undecided(item), []).append(regime)
        elif item.verdict is ProofStatus.REFUTED:
            regimes_by_text.setdefault("refuted", []).append(regime)
    for text, regimes in regimes_by_text.items():
        head = f"{when}{words.regimes_text(regimes)}: "
        if text != "refuted" or refuted is None or refuted.witness is None:
            yield from wrap(head + text, style.width, indent="  ", hanging="  ")
            continue
        yield from wrap(f"{head}refuted: {words.violation(refuted.witness)}", style.width, indent="  ", hanging="  ")
        yield from _witness(refuted, style)


def _undecided(item: RuleVerdict) -> str:
    if not item.states:
        return "not decided: it depends on something that is not simulated; see below"
    return f"not decided: no violation in {item.states:,} visited states, and there are more"


def _witness(item: RuleVerdict, style: Style) -> Iterator[str]:
    witness = item.witness
    if witness is None:
        return
    if witness.from_running and not witness.events:
        yield from wrap("The pods that run now violate it.", style.width, indent="    ")
        yield from _counts(witness, style)
        return
    how = "The shortest way there" if witness.is_shortest else "A way there"
    begin = "starting with the running pods" if witness.from_running else "starting without pods"
    if words.coincidence(witness):
        yield from wrap(words.coincidence(witness), style.width, indent="    ")
    yield from wrap(f"{how}, {begin}:", style.width, indent="    ")
    numbered = [f"{number}. {line}" for number, line in enumerate(words.story(witness), 1)]
    if len(numbered) > _MOST_SENTENCES and not style.is_wide:
        cut = len(numbered) - 2 * _ENDS
        numbered = [*numbered[:_ENDS], f"... {cut} more; --wide prints all of them", *numbered[-_ENDS:]]
    for line in numbered:
        yield from wrap(line, style.width, indent="    ", hanging="   ")
    yield from _counts(witness, style)


def _counts(witness: Witness, style: Style) -> Iterator[str]:
    for key, counts in witness.counts.items():
        when = "at the end" if witness.events else "now"
        sentence = f"Pods by {domain(key)} {when}: {words.counts_text(counts)}."
        yield from wrap(sentence, style.width, indent="    ", hanging="  ")
    if words.surge(witness):
        yield from wrap(words.surge(witness), style.width, indent="    ")


__all__ = ["RegimeResult", "render"]
