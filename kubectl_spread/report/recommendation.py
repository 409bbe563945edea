"""Recommended constraints, for people: ready to paste, with proof and cost."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from kubectl_spread.advice.target import compact
from kubectl_spread.containers import grouped
from kubectl_spread.engine.results.certainty import Basis
from kubectl_spread.guarantee.policy import Regime, RuleKind
from kubectl_spread.guarantee.recommendation import Formula, Hard, Option, Recommendation, RefusedCandidate
from kubectl_spread.guarantee.texts import rule_text, short_key
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, RuleVerdict
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.selectors import domain_noun
from kubectl_spread.report import proofs as words
from kubectl_spread.report.table import paragraphs, Style, table, wrap
from kubectl_spread.report.wording import numbered, resource, short_name
from kubectl_spread.text import scalars
from kubectl_spread.text.wording import comma_list, count_noun

_MOST_NAMES = 12  # of candidates
_NO_SELECTOR = "The pods of these workloads have no label in common, so that no constraint can count all of them."


def brief(found: Recommendation, style: Style) -> list[list[str]]:
    """Return the best change with its command, and then why it is that one, without proofs."""
    sentence = _condition(found)
    lines = [line for at, option in enumerate(found.options) for line in _option("Or" if at else "Do", option, style)]
    why = list(map(_formula, found.impossible)) if found.relaxed or not found.options else []
    if found.refused is not None and not why and _is_conditional(found):
        others = " No other maxSkew within these rules works either." if found.options and found.is_exhaustive else ""
        why = [f"{_reason(found.refused, found.refused.constraints)}{others}"]
    if found.options and found.options[0].changes:
        why += map(_formula, found.formulas)
    reasons = paragraphs(why, style, hanging="  ")
    by_shards = ["maxSkew by number of shards:", *_by_shards(found, style)] if found.by_shards else []
    if not found.options:
        return [[*wrap(sentence, style), *reasons], by_shards]
    return [[*wrap(sentence, style), *lines], reasons, by_shards]


def blocks(found: Recommendation, result: GroupResult, style: Style) -> Iterator[list[str]]:
    """Yield the parts of a recommendation in full, for each number of shards if the group grows by shards."""
    parts = [("", found)]
    if found.by_shards:
        yield [f"maxSkew by number of shards of {result.name}:", *_by_shards(found, style)]
        parts = [(f" with {count_noun(item.shards, 'shard')}", item.recommendation) for item in found.by_shards]
    for number, item in parts:
        yield from _introduction(item, f"Recommended constraints for {result.name}{number}:", style)
        for at, option in enumerate(item.options):
            yield list(_option("Or" if at else "Do", option, style))
        yield paragraphs((_formula(formula, in_full=True) for formula in item.formulas), style, hanging="  ")


def _by_shards(found: Recommendation, style: Style) -> list[str]:
    """Return the largest maxSkew of each rule, and the recommended one, for each number of shards."""
    rules = [rule_text(item.rule) for item in found.by_shards[0].limits]
    rows = [("shards", "pods", *rules, "recommended maxSkew")]
    for item in found.by_shards:
        best = "none proved"
        for option in item.recommendation.options[:1]:
            names = [f"{short_key(hard.topology_key)} {hard.max_skew}" for hard in option.constraints]
            relaxed = " (with at most)" if item.recommendation.relaxed else ""
            best = (", ".join(names) or "no constraint needed") + relaxed
        rows.append((str(item.shards), str(item.pods), *[str(limit.most) for limit in item.limits], best))
    return list(table(rows, style, indent="  "))


def _is_conditional(found: Recommendation) -> bool:
    """Return whether no constraints keep the policy as it is, or none alone."""
    return found.relaxed or found.is_one_by_one or found.is_beside_rollouts or not found.options


def _condition(found: Recommendation) -> str:
    """Return in which case the options keep the policy, or that nothing does; empty if they always keep it."""
    if found.why_not:
        return _NO_SELECTOR
    if found.is_beside_rollouts:
        scaled = [item for item in found.options[0].result.results if item.regime is Regime.SCALING]
        what = "rollouts and scaling" if scaled and scaled[0].rules[0].basis is not None else "rollouts"
        return (
            f"No constraints keep the policy through {what}. Without {what}, these do. The patch of a running workload "
            "starts a rollout, too, which may break the policy:"
        )
    if found.is_one_by_one:
        return "No constraints keep the policy while rollouts start extra pods. Without extra pods, these do:"
    if found.relaxed:
        when = " once nothing moves" if any(map(_only_settled, found.options[:1])) else ""
        sentence = f"With `at most` instead of `less than`, these constraints keep the policy{when}"
        return f"{sentence}, and leave no pod Pending:"
    if found.options:
        return ""
    tried = f" ({count_noun(found.tried, 'candidate')} tried)" if found.tried else ""
    if found.is_cut_off:
        return f"No constraints were proved within the limit of states{tried}; --effort thorough raises it."
    if found.refused is not None and found.refused.verdict.verdict is ProofStatus.UNDECIDED:
        return f"No constraints were proved to keep the policy{tried}."
    return f"No constraints keep the policy and leave no pod Pending on these nodes{tried}."


def _introduction(found: Recommendation, head: str, style: Style) -> Iterator[list[str]]:
    yield wrap(head, style)
    if found.relaxed and found.impossible:
        yield paragraphs((_formula(item, in_full=True) for item in found.impossible), style, hanging="  ")
    elif found.refused is not None and _is_conditional(found):
        lines = wrap(_reason(found.refused, found.refused.constraints), style)
        witness = found.refused.verdict.witness
        way = [] if witness is None else numbered(words.story(witness))
        yield lines + paragraphs(way, style, indent="  ", hanging="   ")
        yield list(_attempts(found, style))
    yield wrap(_condition(found), style)


def _attempts(found: Recommendation, style: Style) -> Iterator[str]:
    """Yield why each other candidate does not work."""
    others = [item for item in found.attempts if item != found.refused]
    by_reason: dict[str, list[str]] = {}
    for item in others:
        fields = " and ".join(_extra(item.constraints))
        skews = "/".join(str(hard.max_skew) for hard in item.constraints)
        by_reason.setdefault(_reason(item), []).append(f"{skews} with {fields}" if fields else skews)
    if found.is_exhaustive:
        yield from wrap("No other maxSkew within these rules works either:", style)
    elif others:
        yield from wrap("Of the other candidates,", style)
    keys = {"/".join(short_key(part.topology_key) for part in item.constraints) for item in others}
    which = f"maxSkew ({keys.pop()})" if len(keys) == 1 and len(others[0].constraints) > 1 else "maxSkew"
    for reason, names in by_reason.items():
        shown = comma_list(names, most=_MOST_NAMES)
        yield from wrap(f"{which} {shown}: {reason}.", style, indent="  ", hanging="  ")


def _reason(refused: RefusedCandidate, constraints: tuple[Hard, ...] = ()) -> str:
    """Return why a candidate does not keep the policy; constraints: that the sentence names."""
    verdict, names = refused.verdict, " with ".join([_names(constraints), *_extra(constraints)])
    if verdict.witness is None:
        is_cut = verdict.basis is Basis.STATE_LIMIT
        why = f"in {verdict.states:,} states" if is_cut else "because it depends on something that is not simulated"
        reason = f"`{rule_text(verdict.rule)}` is not decided {why}"
        return f"With {names}, {reason}." if constraints else reason
    reason = f"{words.violation(verdict.witness)} ({refused.regime.value})"
    return f"{names} does not work: {reason}." if constraints else reason


def _names(constraints: tuple[Hard, ...]) -> str:
    return " with ".join(f"maxSkew {item.max_skew} by {short_key(item.topology_key)}" for item in constraints)


def _formula(item: Formula, *, in_full: bool = False) -> str:
    """Return what a rule means for maxSkew; in full with the arithmetic."""
    where, amount = domain_noun(item.rule.topology_key), item.rule.amount
    arithmetic = amount.text
    if amount.denominator:
        exact = item.pods * amount.numerator % amount.denominator == 0
        quotient = f"{item.pods} x {amount.text}" if amount.numerator != 1 else f"{item.pods}/{amount.denominator}"
        arithmetic = f"{quotient} - 1" if item.rule.is_strict else quotient
        arithmetic = arithmetic if exact else f"{quotient}, rounded down"
    sentence = f"{rule_text(item.rule)}: a {where} may hold {item.most} of {count_noun(item.pods, 'pod')}"
    if in_full and item.rule.kind is not RuleKind.SURVIVE:
        sentence += f" ({arithmetic})"
    if not item.most:
        return f"{sentence}, so none."
    if item.needs > item.domains:
        sentence += f", so {item.needs} {domain_noun(item.rule.topology_key, plural=True)} are needed; there "
        return f"{sentence}{'is' if item.domains == 1 else 'are'} {item.domains}."
    reached = (item.pods + (item.domains - 1) * item.most) // item.domains
    if not item.proved or item.proved >= item.most:
        return f"{sentence}. maxSkew {item.most} keeps that while a {where} is empty."
    if reached <= item.most:
        return f"{sentence}. maxSkew {item.proved} is proved to keep that."
    how = f": floor(({item.pods} + {item.domains - 1} x {item.most}) / {item.domains})" if in_full else ""
    sentence += f". maxSkew {item.most} keeps that while a {where} is empty"
    return (
        f"{sentence}. Once every {where} has a pod, it allows {reached} in one{how}. maxSkew {item.proved} is proved."
    )


def _option(head: str, option: Option, style: Style) -> Iterator[str]:
    """Yield an option; the best one with its commands and trade-offs, with all details also its fields and proofs."""
    title = f"set {_head(option)}" if option.changes else f"keep {_head(option)}, as it is"
    if not (option.changes or option.constraints or option.apart):
        title = "keep the constraints as they are"
    unproved = _unproved(option, [regime.value for regime in Regime])
    if head == "Or" and not style.is_detailed:
        instead = f" (not guaranteed: {'; '.join(unproved)})" if unproved else ""
        yield from wrap(f"{head}: {title}{instead}", style, hanging="  ")
        return
    if not option.changes and unproved:
        title += "; no change that was tried keeps every rule"
    yield from wrap(f"{head}: {title}", style, hanging="  ")
    if option.changes:
        patches = commands(option)
        is_alike = len({scalars.emit(_without_labels(spec)) for _, spec in option.patches}) == 1
        most = 1 if is_alike and not style.is_detailed else len(patches)
        if style.is_detailed:
            yield from (f"    {line}" for line in _spec_lines(option))
        yield from style.commands(patches[:most])
        if patches[most:]:
            yield f"  # {len(patches) - most} more commands with other labels; --details prints all of them"
    costs = "; ".join(_costs(option))
    yield from wrap(f"{'Trade-off' if option.changes else 'Condition'}: {costs}." if costs else "", style, indent="  ")
    # The proofs of each rule in the last regime before disruptions that has one, and in disruptions
    results = option.result.results if style.is_detailed else ()
    proved = [(item, verdict) for item in results for verdict in item.rules if _is_proved(verdict)]
    last = {verdict.rule: item for item, verdict in proved if item.regime is not Regime.DISRUPTIONS}
    for item, verdict in proved:
        if item.regime is not Regime.DISRUPTIONS and last[verdict.rule] is not item:
            continue
        when = "" if verdict.verdict is ProofStatus.PROVED else f"{words.SETTLED}, "
        sentence = f"Proof: {item.regime.value}: {rule_text(verdict.rule)}: {when}{words.proof(verdict.once_settled)}"
        yield from wrap(sentence, style, indent="  ", hanging="  ")


def _is_proved(verdict: RuleVerdict) -> bool:
    """Return whether a rule is proved, at least once nothing moves any more."""
    return verdict.once_settled.verdict is ProofStatus.PROVED


def _head(option: Option) -> str:
    head = _names(option.constraints) or ("" if option.apart else "no hard constraint")
    soft = f"; soft maxSkew 1 by {comma_list([short_key(key) for key in option.soft], most=5)}" if option.soft else ""
    apart = [f"required anti-affinity by {short_key(key)}" for key in option.apart]
    slower = ["maxSurge 0 and maxUnavailable 1"] if any("strategy" in spec for _, spec in option.patches) else []
    return f"{', '.join(filter(None, [head, *_extra(option.constraints), *apart, *slower]))}{soft}"


def _extra(constraints: tuple[Hard, ...]) -> Iterator[str]:
    """Yield the further fields of constraints."""
    if any(item.honors_taints for item in constraints):
        yield "nodeTaintsPolicy Honor"
    if any(item.by_revision for item in constraints):
        yield "matchLabelKeys pod-template-hash"
    if any(item.min_domains for item in constraints):
        yield f"minDomains {'/'.join(str(item.min_domains) for item in constraints)}"


def _spec_lines(option: Option) -> Iterator[str]:
    """Yield the changed fields as YAML; of each workload where they differ in more than labels."""
    for place in ("template.spec", "strategy"):
        specs = [(key, fields(spec, *place.split("."))) for key, spec in option.patches]
        texts = grouped((scalars.emit(_without_labels(spec)), (key, scalars.emit(spec))) for key, spec in specs if spec)
        for alike in texts.values():
            names = ", ".join(short_name(key) for key, _ in alike)
            is_own = len({text for _, text in alike}) > 1
            own = f"; the labels are those of {alike[0][0].name}, each has its own" if is_own else ""
            yield from (f"# spec.{place} of {names}{own}", *alike[0][1].splitlines())


def _without_labels(value: Any) -> Any:
    """Return a value without the labels that its selectors name."""
    if isinstance(value, list):
        return [_without_labels(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: sorted(item) if key == "matchLabels" else _without_labels(item) for key, item in value.items()}


def commands(option: Option) -> list[str]:
    """Return the kubectl commands that set the changed fields, one for all workloads with the same fields."""
    names = grouped(((key.namespace, compact({"spec": spec})), resource(key)) for key, spec in option.patches)
    return [
        f"kubectl patch {' '.join(found)} -n {namespace} --type=merge -p {shlex.quote(text)}"
        for (namespace, text), found in names.items()
    ]


def _costs(option: Option) -> Iterator[str]:
    needs = [f"{need.domains} {domain_noun(need.topology_key, plural=need.domains != 1)}" for need in option.needs]
    if needs:
        yield f"the pods need {' and '.join(needs)} with room"
    if option.has_volumes:
        yield (
            "new volumes are not simulated: each pod finds a node without them, but they can keep a pod in the zone of "
            "its first node"
        )
    for rule, regimes in _only_settled(option).items():
        yield f"{rule}: not guaranteed {words.MOVING} ({words.regimes_text(regimes)})"
    rolled = _unproved(option, ("rollouts", "scaling"))
    if rolled:
        yield f"not guaranteed while a template is rolled out, or after it: {'; '.join(rolled)}"
    refuted = [text for text in _unproved(option, ("disruptions",)) if text not in rolled]
    if refuted:
        yield f"not guaranteed while a node is drained or a domain is lost, or after it: {'; '.join(refuted)}"
    if option.changes and option.removed:
        yield f"it removes {comma_list(option.removed, most=len(option.removed))}"
    if any("template" in spec for _, spec in option.patches):
        yield "patching a template starts a rollout"
    if any("strategy" in spec for _, spec in option.patches):
        yield "rollouts replace one pod at a time"


def _unproved(option: Option, regimes: Sequence[str]) -> list[str]:
    """Return the rules that are not proved in some regimes."""
    found = [
        rule_text(verdict.rule)
        for item in option.result.results
        if item.regime.value in regimes
        for verdict in item.rules
        if verdict.once_settled.verdict in (ProofStatus.REFUTED, ProofStatus.UNDECIDED)
        if not (option.has_volumes and verdict.rule.kind in (RuleKind.PLACED, RuleKind.REPLACED) and not verdict.states)
    ]
    return list(dict.fromkeys(found))


def _only_settled(option: Option) -> dict[str, list[Regime]]:
    """Return the rules that are proved only once nothing moves any more, with their regimes."""
    return grouped(
        (rule_text(verdict.rule), item.regime)
        for item in option.result.results
        for verdict in item.rules
        if _is_proved(verdict) and verdict.verdict is not ProofStatus.PROVED
    )
