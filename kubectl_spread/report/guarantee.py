"""The answer of `guarantee`, for people, as JUnit's XML and as JSON; the schema is schemas/guarantee-report.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.bound import Bound
from kubectl_spread.guarantee.model import GapKind
from kubectl_spread.guarantee.policy.policy import Policy, PolicyRule, Regime, RuleKind
from kubectl_spread.guarantee.policy.texts import domain, rule_text
from kubectl_spread.guarantee.recommendation import (
    Formula,
    Hard,
    Option,
    Recommendation,
    RefusedCandidate,
    ShardLimit,
    ShardRecommendation,
)
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
from kubectl_spread.objects.selectors import HOSTNAME
from kubectl_spread.report import proofs as words
from kubectl_spread.report import recommendation
from kubectl_spread.report.documents import form, Plain, plain, report_document, to_document
from kubectl_spread.report.junit import Case, Result, Suite
from kubectl_spread.report.junit import document as junit_document
from kubectl_spread.report.table import paint, Style, table, wrap
from kubectl_spread.report.wording import name, numbered
from kubectl_spread.text.wording import comma_list, count_noun, safe

TONES = {
    ProofStatus.PROVED: "good",
    ProofStatus.REFUTED: "bad",
    ProofStatus.UNDECIDED: "warn",
    ProofStatus.NOT_APPLICABLE: "soft",
}
_MOST_WORKLOADS = 5


def render(title: str, groups: Sequence[tuple[GroupResult, Recommendation | None]], style: Style, why: str) -> str:
    """Return the answer; `title` is the policy's name, and `why` a command that says why pods stay Pending."""
    blocks: list[list[str]] = []
    verdict = worst([result.verdict for result, _ in groups])
    answer = f"Policy {title}: {words.policy_answer([result for result, _ in groups])}"
    blocks.append([paint(line, TONES[verdict]) for line in wrap(answer, style, hanging="  ")])
    blocks[0] += [f"  $ {safe(why)}  # why pods stay Pending"] if why else []
    first: dict[str, str] = {}
    for result, found in groups:
        advice = [] if found is None else list(filter(None, recommendation.blocks(found, result, style)))
        is_brief = len(groups) > 1 and not style.is_detailed and not advice
        parts = _brief(result, style) if is_brief else _group(result, style, most_ways=0 if advice else 1)
        head, *evidence = filter(None, parts)
        same = first.setdefault(_nameless(advice, result), result.name) if advice else result.name
        if same != result.name:
            advice = [wrap(f"Recommended constraints for {result.name}: those for {same}, with its own labels.", style)]
        blocks += [head, *advice, *evidence]
    if not style.is_detailed:
        results = [result for result, _ in groups]
        lines = []
        if any(gap.kind is GapKind.NO_RANGE for result in results for gap in result.gaps):
            lines.append("Scaling was not checked: --replicas MIN..MAX adds it.")
        if any(map(_may_wait, results)):
            lines.append(
                "Pods that are Pending only during a drain or outage are not counted: --survive zone checks outages."
            )
        if verdict is not ProofStatus.NOT_APPLICABLE:
            is_asked = verdict is ProofStatus.PROVED or any(found is not None for _, found in groups)
            recommend = "" if is_asked else "--recommend looks for constraints that keep the policy; "
            details = "--details shows how each rule was proved, what was assumed, and every recommendation in full."
            lines.append(f"More: {recommend}{details}")
        blocks += [[line for text in lines for line in wrap(text, style, hanging="  ")]] if lines else []
    return "\n\n".join("\n".join(block) for block in blocks)


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


def _nameless(blocks: list[list[str]], result: GroupResult) -> str:
    """Return a text without the names of a group and its workloads, which equal workloads have in their labels."""
    text = " ".join(" ".join(line for block in blocks for line in block).split())  # Names decide where lines end.
    for name_ in sorted({result.name, *(key.name for key in result.workloads)}, key=len, reverse=True):
        text = text.replace(name_, "*")
    return text


def _head(result: GroupResult, style: Style, most: int) -> list[str]:
    workloads = comma_list([name(key) for key in result.workloads], most=most)
    return wrap(f"Group {result.name}: {workloads}; {count_noun(result.pods, 'pod')}", style, hanging="  ")


def _brief(result: GroupResult, style: Style) -> Iterator[list[str]]:
    """Yield the lines about one group of several: the worst verdict on each rule, and the violation."""
    lines = _head(result, style, 1)
    for found in words.by_rule(result):
        verdict = worst([item.verdict for _, item in found])
        item = next(item for _, item in found if item.verdict is verdict)
        why = "" if item.witness is None else f": {words.violation(item.witness)}"
        text = f"{rule_text(item.rule)}: {words.short_verdict(item)}{why}"
        lines += wrap(text, style, indent="  ", hanging="  ")
    yield lines


def _group(result: GroupResult, style: Style, *, most_ways: int) -> Iterator[list[str]]:
    """Yield the parts of an answer; most_ways: to violations, step by step, without --details."""
    most = 10_000 if style.is_detailed else _MOST_WORKLOADS
    rows = [("rule", *[item.regime.value for item in result.results])]
    for found in words.by_rule(result):
        for when, verdicts in words.answers(found):
            text = rule_text(found[0][1].rule)
            title = f"  {when}" if when == words.MOVING else ", ".join(filter(None, (text, when)))
            rows.append((title, *[words.short_verdict(item) for _, item in verdicts]))
    yield [*_head(result, style, most), "", *table(rows, style, indent="  ")]
    is_short = not style.is_detailed and not (most_ways and result.verdict is ProofStatus.PROVED)
    for verdicts in words.by_rule(result):
        # Beside rules that are not kept, the table says enough about those that are.
        if not is_short or any(item.verdict in (ProofStatus.REFUTED, ProofStatus.UNDECIDED) for _, item in verdicts):
            has_way = style.is_detailed or most_ways > 0
            answers = words.answers(verdicts)
            lines = [line for answer in answers for line in _answer(*answer, style, has_way=has_way)]
            yield [f"{rule_text(verdicts[0][1].rule)}:", *lines] if lines else []  # the table says as much
            most_ways -= any(item.verdict is ProofStatus.REFUTED for _, item in verdicts)
    if result.neighbours:
        names = comma_list([name(key) for key in result.neighbours], most=most)
        sentence = f"Simulated with it, because its pods decide where these pods can go: {names}"
        yield wrap(sentence, style, hanging="  ")
    notes = words.gap_sentences(gap for gap in result.gaps if style.is_detailed or gap.is_open)
    lines = [line for note in notes for line in wrap(note, style, indent="  ")]
    yield ["Not simulated:", *lines] if lines else []


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
    for line in numbered(words.story(witness), where="" if style.is_detailed else "--details prints them"):
        yield from wrap(line, style, indent="    ", hanging="   ")
    yield from _counts(witness, style)


def _counts(witness: Witness, style: Style) -> Iterator[str]:
    larger = [key for key in witness.counts if key != HOSTNAME] if not style.is_detailed else []
    for key, counts in witness.counts.items():
        if larger and key not in larger and witness.evaluation.rule.topology_key != key:
            continue
        when = "at the end" if witness.events else "now"
        sentence = f"Pods by {domain(key)} {when}: {words.counts_text(counts)}."
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
        why = f"after {verdict.states:,} states" if verdict.states else _NOT_SIMULATED
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
form(ShardRecommendation, "shards pods limits recommendation")
form(ShardLimit, "rule most")
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
    patches=lambda option: [
        {"object": key, "patch": {"spec": {"template": {"spec": spec}}}} for key, spec in option.patches
    ],
    commands=recommendation.commands,
)
