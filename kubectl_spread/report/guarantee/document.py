"""The JSON document of `guarantee`; its schema is schemas/guarantee-report.json."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Optional

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.errors import SourceError
from kubectl_spread.guarantee.bound import Bound
from kubectl_spread.guarantee.gap import GapKind
from kubectl_spread.guarantee.policy.policy import Policy
from kubectl_spread.guarantee.policy.rule import PolicyRule, RuleKind
from kubectl_spread.guarantee.policy.wording import rule_text
from kubectl_spread.guarantee.recommendation.constraints import Hard
from kubectl_spread.guarantee.recommendation.result import Formula, Option, Recommendation, RefusedCandidate
from kubectl_spread.guarantee.verdict import GroupResult, ProofStatus, RegimeResult, RuleVerdict, worst
from kubectl_spread.guarantee.witness import Witness, WitnessEvent
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.report.documents import API_VERSION
from kubectl_spread.report.documents import document as unread_document
from kubectl_spread.report.guarantee import gaps, recommendation, words

Plain = dict[str, Any]


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
        "policy": {"name": policy.name, "file": policy.file or None},
        "verdict": verdict.value,
        "settledVerdict": worst([result.settled_verdict for result, _ in groups]).value,
        "interrupted": is_interrupted,
        "groups": [_group(result, found) for result, found in groups],
        "skipped": [key._asdict() for key in skipped],
        "errors": [
            {"file": error.source, "message": error.message, "line": error.line, "column": error.column}
            for error in errors
        ],
        "unread": unread_document(unread),
    }


def _group(result: GroupResult, found: Optional[Recommendation]) -> Plain:
    made: Plain = {
        "name": result.name,
        "verdict": result.verdict.value,
        "settledVerdict": result.settled_verdict.value,
        "workloads": [key._asdict() for key in result.workloads],
        "pods": result.pods,
        "regimes": [_regime(item) for item in result.results],
        "neighbours": [key._asdict() for key in result.neighbours],
        "unscaled": [key._asdict() for gap in result.gaps if gap.kind is GapKind.NO_RANGE for key in gap.others],
        "notes": [gaps.sentence(gap) for gap in result.gaps],
    }
    if found is not None:
        made["recommendation"] = _recommendation(found)
    return made


def _regime(item: RegimeResult) -> Plain:
    return {
        "regime": item.regime.value,
        "verdict": item.verdict.value,
        "settledVerdict": item.settled_verdict.value,
        "rules": [_verdict(verdict) for verdict in item.rules],
    }


def rule(found: PolicyRule) -> Plain:
    """Return a rule with its text."""
    made: Plain = {"kind": found.kind.value, "text": rule_text(found)}
    if found.topology_key:
        made["topologyKey"] = found.topology_key
    if found.amount.text and found.kind is not RuleKind.SEPARATE:
        made["amount"] = found.amount.text
    if found.kind is RuleKind.MAX_SHARE:
        made["strict"] = found.is_strict
    if found.kind is RuleKind.SURVIVE:
        made["lost"] = found.lost
    return made


def _verdict(item: RuleVerdict) -> Plain:
    return {"rule": rule(item.rule), **_answer(item), "settled": _answer(item.once_settled)}


def _answer(item: RuleVerdict) -> Plain:
    return {
        "verdict": item.verdict.value,
        "method": item.method.value,
        "limit": item.limit,
        "states": item.states,
        "bound": None if item.bound is None else _bound(item.bound),
        "proof": words.proof(item) if item.verdict is ProofStatus.PROVED else None,
        "firstRegime": None if item.regime is None else item.regime.value,
        "witness": None if item.witness is None else _witness(item.witness),
    }


def _bound(bound: Bound) -> Plain:
    return {
        "kind": bound.kind.value,
        "most": bound.most,
        "pods": bound.pods,
        "topologyKey": bound.topology_key or None,
        "domains": bound.domains,
        "maxSkew": bound.max_skew,
        "times": bound.times,
        "part": _bound(bound.part) if isinstance(bound.part, Bound) else None,
    }


def _witness(witness: Witness) -> Plain:
    result = witness.evaluation
    return {
        "shortest": witness.is_shortest,
        "settled": witness.is_settled,
        "chances": witness.chances,
        "coincidence": witness.is_coincidence,
        "fromRunning": witness.from_running,
        "violation": words.violation(witness),
        "domains": list(result.domains),
        "number": result.number,
        "limit": result.limit,
        "pods": result.pods,
        "surge": witness.has_surge,
        "counts": witness.counts,
        "pending": [{"object": item.owner._asdict(), "pods": item.number} for item in witness.waiting],
        "events": [_event(event) for event in witness.events],
        "text": words.story(witness),
    }


def _event(event: WitnessEvent) -> Plain:
    return {
        "kind": event.kind.value,
        "object": None if event.owner is None else event.owner._asdict(),
        "ordinal": event.ordinal if event.ordinal >= 0 else None,
        "newRevision": event.is_new,
        "node": event.node or None,
        "number": event.number,
        "nodes": list(event.nodes),
        "topologyKey": event.topology_key or None,
        "domains": list(event.domains),
        "lost": event.is_loss,
        "kept": event.kept if event.kept >= 0 else None,
    }


def _recommendation(found: Recommendation) -> Plain:
    return {
        "relaxed": found.relaxed,
        "rules": [rule(item) for item in found.rules],
        "tried": found.tried,
        "whyNot": found.why_not or None,
        "formulas": [_formula(item) for item in found.formulas],
        "impossible": [_formula(item) for item in found.impossible],
        "refused": None if found.refused is None else _refused(found.refused),
        "attempts": [_refused(item) for item in found.attempts],
        "exhaustive": found.is_exhaustive,
        "timedOut": found.is_cut_off,
        "exceptInRollouts": found.is_beside_rollouts,
        "options": [_option(item) for item in found.options],
        "shards": [
            {
                "shards": item.shards,
                "pods": item.pods,
                "limits": [{"rule": rule(limit.rule), "most": limit.most} for limit in item.limits],
                "recommendation": _recommendation(item.recommendation),
            }
            for item in found.by_shards
        ],
    }


def _refused(item: RefusedCandidate) -> Plain:
    return {
        "constraints": [_hard(hard) for hard in item.constraints],
        "regime": item.regime.value,
        "verdict": _verdict(item.verdict),
    }


def _formula(item: Formula) -> Plain:
    return {
        "rule": rule(item.rule),
        "pods": item.pods,
        "most": item.most,
        "provedMaxSkew": item.proved or None,
        "neededDomains": item.needs,
        "domains": item.domains,
    }


def _hard(item: Hard) -> Plain:
    return {
        "topologyKey": item.topology_key,
        "maxSkew": item.max_skew,
        "minDomains": item.min_domains or None,
        "nodeTaintsPolicy": "Honor" if item.honors_taints else None,
        "matchLabelKeys": ["pod-template-hash"] if item.by_revision else [],
    }


def _option(option: Option) -> Plain:
    return {
        "constraints": [_hard(item) for item in option.constraints],
        "soft": list(option.soft),
        "antiAffinity": list(option.apart),
        "patches": [
            {"object": key._asdict(), "patch": {"spec": {"template": {"spec": spec}}}} for key, spec in option.patches
        ],
        "commands": recommendation.commands(option),
        "neededDomains": [{"topologyKey": item.topology_key, "domains": item.domains} for item in option.needs],
        "regimes": [_regime(item) for item in option.result.results],
        "newVolumes": option.has_volumes,
        "changes": option.changes,
        "lostPodsReplaced": [{"topologyKey": key, "verdict": verdict.value} for key, verdict in option.cost.replaced],
    }
