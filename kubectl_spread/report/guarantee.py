"""The answer of `guarantee`, for people, as JUnit's XML and as JSON; the schema is schemas/guarantee-report.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.containers import grouped
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.bound import Bound
from kubectl_spread.guarantee.model import GapKind
from kubectl_spread.guarantee.policy import Policy, PolicyRule, Regime, RuleKind
from kubectl_spread.guarantee.recommendation import (
    Formula,
    Hard,
    Option,
    Recommendation,
    RefusedCandidate,
)
from kubectl_spread.guarantee.texts import rule_text
from kubectl_spread.guarantee.verdict import (
    GroupResult,
    ProofStatus,
    RegimeResult,
    RuleVerdict,
    StuckPods,
    Witness,
    WitnessEvent,
    worst,
)
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.selectors import domain_noun, HOSTNAME
from kubectl_spread.report import proofs as words
from kubectl_spread.report import recommendation
from kubectl_spread.report.documents import (
    Case,
    form,
    junit_document,
    Plain,
    plain,
    report_document,
    Result,
    Suite,
    to_document,
)
from kubectl_spread.report.table import paragraphs, Style, table, wrap
from kubectl_spread.report.wording import name, numbered
from kubectl_spread.text.wording import comma_list, count_noun, safe

TONES = {
    ProofStatus.PROVED: "good",
    ProofStatus.REFUTED: "bad",
    ProofStatus.UNDECIDED: "warn",
    ProofStatus.NOT_APPLICABLE: "soft",
}
_MOST_WORKLOADS = 5
_MOST_NAMES = 3  # of groups
_MOST_LINES, _MOST_ADVICE = 25, 20  # without the notes at the end


def render(
    title: str,
    groups: Sequence[tuple[GroupResult, Recommendation | None]],
    style: Style,
    *,
    why: str = "",
    skipped: Sequence[ObjectKey] = (),
    is_cut_off: bool = False,
) -> str:
    """Return the answer.

    Args:
        title: the policy's name.
        groups: with the recommendations that were looked for.
        style: of the lines.
        why: command that says why pods stay Pending.
        skipped: workloads that were not judged.
        is_cut_off: a recommendation is missing because the search was interrupted.
    """
    if len(groups) > 1:  # Groups of a specification share its name: a single workload has its own.
        groups = [
            (result._replace(name="/".join(result.workloads[0][1:])) if len(result.workloads) == 1 else result, found)
            for result, found in groups
        ]
    results = [result for result, _ in groups]
    verdict = worst([result.verdict for result in results])
    head = wrap(f"Policy {title}: {words.policy_answer(results)}", style, hanging="  ", colour=TONES[verdict])
    blocks = [head]
    if why and not any(option.changes for _, found in groups if found for option in found.options):
        blocks[0].append(f"  $ {safe(why)}  # why pods stay Pending")
    if style.is_detailed:
        first: dict[str, str] = {}
        for result, found in groups:
            group, advice = _group(result, style), [] if found is None else recommendation.blocks(found, result, style)
            full = [block for block in advice if block]
            same = first.setdefault(_nameless(chain(*full), result), result.name) if full else result.name
            if same != result.name:
                text = f"Recommended constraints for {result.name}: those for {same}, with its own labels."
                full = [wrap(text, style)]
            blocks += [next(group), *full, *group]
    elif len(groups) == 1:
        best = groups[0][1]
        advice = [] if best is None else recommendation.brief(best, style)
        blocks[0] += [line for block in advice[:1] for line in block]
        parts = list(_group(results[0], style) if best is None else _group(results[0], style, has_ways=False))
        # Without an option, the recommendation has said why.
        blocks += [*advice[1:], *(parts if best is None or best.options else [parts[0], parts[-1]])]
    else:
        blocks += list(_advice(groups, style)) or _by_rule(results, style, most=_MOST_LINES - len(blocks[0]))
    left = [item for item, found in groups if found is None and item.verdict is not ProofStatus.NOT_APPLICABLE]
    if is_cut_off and left:
        text = f"No recommendation for {_names_of(left)}: the search was interrupted."
        blocks.append(wrap(text, style, hanging="  "))
    if skipped:
        names = comma_list([name(key) for key in skipped], most=10_000 if style.is_detailed else _MOST_WORKLOADS)
        blocks.append(wrap(f"Not judged: {names}", style, hanging="  "))
    lines = []
    fixed = [result for result in results if any(gap.kind is GapKind.NO_RANGE for gap in result.gaps)]
    if fixed:
        whose = f" of {_names_of(fixed)}" if len(fixed) < len(results) else ""
        lines.append(f"Scaling{whose} was not checked: --replicas MIN..MAX adds it.")
    if any(map(_may_wait, results)):
        lines.append(
            "Pods that are Pending only during a drain or outage are not counted: --survive zone checks outages."
        )
    if verdict is not ProofStatus.NOT_APPLICABLE:
        has_advice = any(found is not None for _, found in groups)
        is_asked = has_advice or verdict is ProofStatus.PROVED
        recommend = "" if is_asked else "--recommend looks for constraints that keep the policy; "
        details = "how each rule was proved, what was assumed, and" if has_advice else "how each rule was proved, and"
        in_full = "every recommendation in full" if has_advice else "what was assumed"
        lines.append(f"More: {recommend}--details shows {details} {in_full}.")
    if not style.is_detailed:
        blocks.append(paragraphs(lines, style, hanging="  "))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _advice(groups: Sequence[tuple[GroupResult, Recommendation | None]], style: Style) -> Iterator[list[str]]:
    """Yield the best change of each of several groups, those with a command first; equal ones are one."""
    alike: dict[tuple[int, str], list[tuple[GroupResult, list[str]]]] = {}
    best = [(result, found._replace(options=found.options[:1])) for result, found in groups if found]
    for result, found in best:
        block = recommendation.brief(found, style)[0]
        order = 0 if any(option.changes for option in found.options) else 1 if found.options else 2
        alike.setdefault((order, _nameless(block, result)), []).append((result, block))
    left: list[GroupResult] = []
    height = 0
    for (order, _), pairs in sorted(alike.items(), key=lambda item: item[0][0]):
        results, block = [result for result, _ in pairs], pairs[0][1]
        own = ", here with the labels of the first" if not order and len(pairs) > 1 else ""
        block = [*wrap(f"For {_names_of(results)}{own}:", style, hanging="  "), *block]
        height += len(block) + 1
        if height <= _MOST_ADVICE or height == len(block) + 1:
            yield block
        else:
            left += results
    for has_option, text in ((True, "--details prints the recommendation"), (False, "no constraints were proved")):
        some = [result for result, found in best if result in left and bool(found.options) is has_option]
        if some:
            yield wrap(f"For {_names_of(some)}: {text}.", style, hanging="  ")


def _nameless(lines: Iterable[str], result: GroupResult) -> str:
    """Return a text without the names of a group and its workloads, which equal workloads have in their labels."""
    text = " ".join(" ".join(lines).split())  # Names decide where lines end.
    for name_ in sorted({result.name, *(key.name for key in result.workloads)}, key=len, reverse=True):
        text = text.replace(name_, "*")
    return text


def _names_of(results: Sequence[GroupResult]) -> str:
    return comma_list(dict.fromkeys(result.name for result in results), most=_MOST_NAMES)


def _by_rule(results: Sequence[GroupResult], style: Style, *, most: int) -> Iterator[list[str]]:
    """Yield the verdicts of several groups on each rule, groups with equal ones together, in about `most` lines."""
    every = grouped(
        (found[0][1].rule, (_verdict_with_reason(found, result), result))
        for result in results
        for found in words.by_rule(result)
    )
    shown = max(1, most // len(every) - 2)
    for rule, pairs in sorted(every.items(), key=lambda item: item[0].is_implied):
        lines: list[list[str]] = []
        for (_, verdict, why), groups in sorted(
            grouped(pairs).items(), key=lambda item: list(ProofStatus).index(item[0][0])
        ):
            text = f"{verdict}: {_names_of(groups)}{f': {why}' if why else ''}"
            lines.append(wrap(text, style, indent="  ", hanging="  "))
        if len(lines) > shown + 1:
            lines[shown:] = [[f"  and {count_noun(len(lines) - shown, 'other result')}: --details prints them"]]
        yield [f"{rule_text(rule)}{' (implied)' if rule.is_implied else ''}:", *chain(*lines)]


def _verdict_with_reason(found: words.Verdicts, result: GroupResult) -> tuple[ProofStatus, str, str]:
    """Return the worst verdict on a rule, in words, and its first violation: one that stays, if there is one."""
    items = [item for _, item in found]
    verdict = worst([item.verdict for item in items])
    witnesses = [item.once_settled.witness for item in items] + [item.witness for item in items]
    why = next((words.violation(witness) for witness in witnesses if witness is not None), "")
    if verdict is ProofStatus.UNDECIDED:
        why = words.why_undecided(items, result.gaps)
    return verdict, words.verdict_text(items), why


def _may_wait(result: GroupResult) -> bool:
    """Return whether pods of a kept policy may still wait for nodes that are lost for a while."""
    last = result.results[-1]
    kept = {item.rule.kind: item.verdict for item in last.rules}
    is_kept = kept.get(RuleKind.PLACED) is ProofStatus.PROVED and RuleKind.REPLACED not in kept
    return is_kept and last.regime is Regime.DISRUPTIONS


def verbs_about_pending(result: GroupResult) -> tuple[str, ...]:
    """Return the command that shows why pods are Pending now, or once manifests are applied; empty if none does."""
    found = {
        each.regime if item.witness.events else None: item.witness.from_running
        for each in result.results
        for item in each.rules
        if item.rule.kind is RuleKind.PLACED and item.witness is not None
    }
    if found.get(None):
        return ("explain",)
    return ("simulate", "apply") if found.get(Regime.CREATION) is False else ()


def _group(result: GroupResult, style: Style, *, has_ways: bool = True) -> Iterator[list[str]]:
    """Yield the parts of an answer, at least two; has_ways: show how rules were decided, and not only violations."""
    most = 10_000 if style.is_detailed else _MOST_WORKLOADS
    workloads = comma_list([name(key) for key in result.workloads], most=most)
    head = wrap(f"Group {result.name}: {workloads}; {count_noun(result.pods, 'pod')}", style, hanging="  ")
    rows = [("rule", *[item.regime.value for item in result.results])]
    for found in words.by_rule(result):
        for when, verdicts in words.answers(found):
            text = rule_text(found[0][1].rule)
            title = f"  {when}" if when == words.MOVING else ", ".join(filter(None, (text, when)))
            rows.append((title, *[words.short_verdict(item) for _, item in verdicts]))
    yield [*head, "", *table(rows, style, indent="  ")]
    is_short = not style.is_detailed and result.verdict is not ProofStatus.PROVED
    has_way = True
    for found in words.by_rule(result) if has_ways else ():
        verdict, _, _ = _verdict_with_reason(found, result)
        # Beside rules that are not kept, the table says enough about those that are.
        if is_short and verdict in (ProofStatus.PROVED, ProofStatus.NOT_APPLICABLE):
            continue
        answers = words.answers(found)
        lines = [line for answer in answers for line in _answer(*answer, style, has_way=has_way)]
        yield [f"{rule_text(found[0][1].rule)}:", *lines] if lines else []  # the table says as much
        has_way = style.is_detailed or (has_way and verdict is not ProofStatus.REFUTED)
    if not has_ways:
        answers_ = [(found[0][1].rule, *_verdict_with_reason(found, result)) for found in words.by_rule(result)]
        has_notes = any(gap.is_open for gap in result.gaps)  # They say why a rule is not decided.
        violations = [
            f"{rule_text(rule)}: {verdict}: {why}"
            for rule, status, verdict, why in answers_
            if why and not (has_notes and status is ProofStatus.UNDECIDED)
        ]
        yield paragraphs(violations, style, hanging="  ")
    if result.neighbours:
        names = comma_list([name(key) for key in result.neighbours], most=most)
        sentence = f"Simulated with it, because its pods decide where these pods can go: {names}"
        yield wrap(sentence, style, hanging="  ")
    notes = words.gap_sentences(gap for gap in result.gaps if style.is_detailed or gap.is_open)
    yield ["Not simulated:", *paragraphs(notes, style, indent="  ")] if notes else []


def _answer(when: str, found: words.Verdicts, style: Style, *, has_way: bool) -> Iterator[str]:
    """Yield how a rule was decided in each regime: proofs of equal words together, and the witness."""
    if when == words.MOVING:  # other verdicts are as once settled
        found = [pair for pair in found if pair[1].verdict is not pair[1].once_settled.verdict]
    refuted = next((item for _, item in found if item.verdict is ProofStatus.REFUTED), None)
    for text, regimes in words.decisions(found, has_more=True, is_detailed=style.is_detailed).items():
        if text == "proved":
            continue
        head = f"{when}{', ' if when else ''}{words.regimes_text(regimes)}: "
        if text != "refuted" or refuted is None or refuted.witness is None:
            yield from wrap(head + text, style, indent="  ", hanging="  ")
            continue
        yield from wrap(f"{head}refuted: {words.violation(refuted.witness)}", style, indent="  ", hanging="  ")
        yield from _witness(refuted.witness, style) if has_way else ()


def _witness(witness: Witness, style: Style) -> Iterator[str]:
    if witness.from_running and not witness.events:
        yield from wrap("The pods that run now violate it.", style, indent="    ")
        yield from _counts(witness, style)
        return
    how = "The shortest way there" if witness.is_shortest else "A way there"
    begin = "starting with the running pods" if witness.from_running else "starting without pods"
    is_left_out = witness.is_coincidence and not style.is_detailed
    text = words.coincidence(witness)
    yield from wrap(f"{text.removesuffix('.')}; --details prints it." if is_left_out else text, style, indent="    ")
    if is_left_out:
        return
    yield from wrap(f"{how}, {begin}:", style, indent="    ")
    way = numbered(words.story(witness), where="" if style.is_detailed else "--details prints them")
    yield from paragraphs(way, style, indent="    ", hanging="   ")
    yield from _counts(witness, style)


def _counts(witness: Witness, style: Style) -> Iterator[str]:
    larger = [key for key in witness.counts if key != HOSTNAME] if not style.is_detailed else []
    for key, counts in witness.counts.items():
        if larger and key not in larger and witness.evaluation.rule.topology_key != key:
            continue
        when = "at the end" if witness.events else "now"
        sentence = f"Pods by {domain_noun(key)} {when}: {words.counts_text(counts)}."
        yield from wrap(sentence, style, indent="    ", hanging="  ")
    yield from wrap(words.surge(witness), style, indent="    ")


def junit(title: str, groups: Sequence[GroupResult], errors: Iterable[SourceError] = ()) -> str:
    """Return the document; a rule that is not decided is skipped, with the reason."""
    suites = [
        Suite(
            group.name,
            [_case(verdict, item.regime) for item in group.results for verdict in item.rules],
            ("failures", "skipped"),
        )
        for group in groups
    ]
    problems = [Case("input", [Result("error", {"message": str(error)})]) for error in errors]
    if problems:
        suites.append(Suite("inputs", problems, ("errors",)))
    return junit_document(f"kubectl spread guarantee {title}", suites)


def _case(verdict: RuleVerdict, regime: Regime) -> Case:
    name = f"{rule_text(verdict.rule)}: {regime.value}"
    if verdict.verdict is ProofStatus.REFUTED and verdict.witness is not None:
        settled = verdict.once_settled
        witness = settled.witness or verdict.witness
        answer = f"{words.VERDICTS[settled.verdict]} {words.SETTLED}; {words.MOVING}: " if not settled.witness else ""
        attributes = {"type": verdict.rule.kind.value, "message": f"{answer}{words.violation(witness)}"}
        way = "\n".join(filter(None, [words.coincidence(witness), *words.story(witness)]))
        first = (settled if settled.witness else verdict).regime
        if first is not None and first is not regime:
            way = f"Refuted already by {first.value}: see there."
        return Case(name, [Result("failure", attributes, way)])
    if verdict.verdict is ProofStatus.UNDECIDED:
        why = f"after {verdict.states:,} states" if verdict.basis is Basis.STATE_LIMIT else _NOT_SIMULATED
        return Case(name, [Result("skipped", {"message": f"not decided {why}"})])
    if verdict.verdict is ProofStatus.NOT_APPLICABLE:
        why = "nothing is lost" if verdict.rule.kind is RuleKind.REPLACED else "the number of replicas has no range"
        return Case(name, [Result("skipped", {"message": why})])
    return Case(name)


_NOT_SIMULATED = "because it depends on something that is not simulated"


def document(
    policy: Policy,
    groups: Sequence[tuple[GroupResult, Optional[Recommendation]]],
    *,
    verdict: ProofStatus,
    errors: Iterable[SourceError] = (),
    skipped: Iterable[ObjectKey] = (),
    unread: Iterable[Unread] = (),
    is_interrupted: bool = False,
) -> Plain:
    """Return a GuaranteeReport."""
    fields = {
        "policy": to_document(policy, "name file?"),
        "verdict": verdict.value,
        "settledVerdict": worst([result.settled_verdict for result, _ in groups]).value,
        "interrupted": is_interrupted,
        "groups": [
            to_document(result) if found is None else {**to_document(result), "recommendation": to_document(found)}
            for result, found in groups
        ],
        "skipped": plain(list(skipped)),
    }
    return report_document("GuaranteeReport", fields, errors=errors, unread=unread)


def _rule_fields(rule: PolicyRule) -> str:
    """Return the fields that a rule of its kind has."""
    fields = ["kind", "text"]
    if rule.topology_key:
        fields.append("topologyKey")
    if rule.amount.text and rule.kind is not RuleKind.SEPARATE:
        fields.append("amount=amount.text")
    if rule.kind is RuleKind.MAX_SHARE:
        fields.append("strict")
    if rule.kind in (RuleKind.SURVIVE, RuleKind.REPLACED):
        fields.append("lost")
    return " ".join(fields)


form(PolicyRule, _rule_fields, text=rule_text)
form(
    GroupResult,
    "name verdict settledVerdict workloads pods regimes=results neighbours unscaled notes",
    unscaled=lambda group: [key for gap in group.gaps if gap.kind is GapKind.NO_RANGE for key in gap.others],
    notes=lambda group: words.gap_sentences(group.gaps),
)
form(RegimeResult, "regime verdict settledVerdict rules")
_ANSWER = "verdict method limit states bound proof firstRegime=regime witness"
form(
    RuleVerdict,
    f"rule {_ANSWER} settled",
    proof=lambda item: words.proof(item) if item.verdict is ProofStatus.PROVED else None,
    settled=lambda item: to_document(item.once_settled, _ANSWER),
)
form(Bound, "kind most pods topologyKey? domains maxSkew times part")
form(
    Witness,
    "shortest settled chances coincidence fromRunning violation domains=evaluation.domains number=evaluation.number "
    "limit=evaluation.limit pods=evaluation.pods surge counts pending=waiting events text",
    violation=words.violation,
    text=words.story,
)
form(StuckPods, "object=owner pods=number")
form(
    WitnessEvent,
    "kind object=owner ordinal newRevision=new node? number nodes topologyKey? domains lost=loss kept",
    ordinal=lambda event: event.ordinal if event.ordinal >= 0 else None,
    kept=lambda event: event.kept if event.kept >= 0 else None,
)
form(
    Recommendation,
    "relaxed rules tried whyNot? formulas impossible refused attempts exhaustive timedOut=cut_off "
    "exceptInRollouts=beside_rollouts options shards=by_shards",
)
form(RefusedCandidate, "constraints regime verdict")
form(
    Formula,
    "rule pods most provedMaxSkew?=proved neededDomains=needs domains",
)
form(
    Hard,
    "topologyKey maxSkew minDomains? nodeTaintsPolicy matchLabelKeys",
    nodeTaintsPolicy=lambda item: "Honor" if item.honors_taints else None,
    matchLabelKeys=lambda item: ["pod-template-hash"] if item.by_revision else [],
)
form(
    Option,
    "constraints soft antiAffinity=apart patches commands neededDomains=needs regimes=result.results "
    "newVolumes=volumes changes",
    patches=lambda option: [{"object": key, "patch": {"spec": spec}} for key, spec in option.patches],
    commands=recommendation.commands,
)
