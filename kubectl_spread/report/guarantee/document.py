"""The JSON document of `guarantee`; its schema is schemas/guarantee-report.json."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.bound import Bound
from kubectl_spread.guarantee.gap import GapKind
from kubectl_spread.guarantee.policy.policy import Policy
from kubectl_spread.guarantee.policy.rule import PolicyRule, RuleKind
from kubectl_spread.guarantee.policy.wording import rule_text
from kubectl_spread.guarantee.recommendation.constraints import Hard
from kubectl_spread.guarantee.recommendation.result import (
    Formula,
    Option,
    Recommendation,
    RefusedCandidate,
    ShardLimit,
    ShardRecommendation,
)
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, RegimeResult, RuleVerdict, worst
from kubectl_spread.guarantee.witness import StuckPods, Witness, WitnessEvent
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.report.documents import (
    API_VERSION,
    error_documents,
    form,
    Plain,
    plain,
    to_document,
    unread_documents,
)
from kubectl_spread.report.guarantee import gaps, recommendation, words


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
    return {
        "apiVersion": API_VERSION,
        "kind": "GuaranteeReport",
        "policy": to_document(policy, "name file?"),
        "verdict": verdict.value,
        "settledVerdict": worst([result.settled_verdict for result, _ in groups]).value,
        "interrupted": is_interrupted,
        "groups": [
            to_document(result) if found is None else {**to_document(result), "recommendation": to_document(found)}
            for result, found in groups
        ],
        "skipped": plain(list(skipped)),
        "errors": error_documents(errors),
        "unread": unread_documents(unread),
    }


def _rule(rule: PolicyRule) -> Plain:
    """Return a rule with its text, and the fields that its kind has."""
    fields = ["kind text"]
    if rule.topology_key:
        fields.append("topologyKey")
    if rule.amount.text and rule.kind is not RuleKind.SEPARATE:
        fields.append("amount")
    if rule.kind is RuleKind.MAX_SHARE:
        fields.append("strict")
    if rule.kind is RuleKind.SURVIVE:
        fields.append("lost")
    return to_document(rule, " ".join(fields), text=rule_text(rule), amount=rule.amount.text)


form(
    GroupResult,
    "name verdict settledVerdict workloads pods regimes=results neighbours unscaled notes",
    unscaled=lambda group: [key for gap in group.gaps if gap.kind is GapKind.NO_RANGE for key in gap.others],
    notes=lambda group: [gaps.sentence(gap) for gap in group.gaps],
)
form(RegimeResult, "regime verdict settledVerdict rules")
_ANSWER = "verdict method limit states bound proof firstRegime=regime witness"
form(
    RuleVerdict,
    f"rule {_ANSWER} settled",
    rule=lambda item: _rule(item.rule),
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
    rules=lambda found: list(map(_rule, found.rules)),
)
form(ShardRecommendation, "shards pods limits recommendation")
form(ShardLimit, "rule most", rule=lambda item: _rule(item.rule))
form(RefusedCandidate, "constraints regime verdict")
form(
    Formula,
    "rule pods most provedMaxSkew?=proved neededDomains=needs domains",
    rule=lambda item: _rule(item.rule),
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
    "newVolumes=volumes changes lostPodsReplaced",
    patches=lambda option: [
        {"object": key, "patch": {"spec": {"template": {"spec": spec}}}} for key, spec in option.patches
    ],
    commands=recommendation.commands,
    lostPodsReplaced=lambda option: [{"topologyKey": key, "verdict": verdict} for key, verdict in option.cost.replaced],
)
