"""Rules and domains in words, which every output shares."""

from __future__ import annotations

from typing import Optional

from kubectl_spread.guarantee.policy.evaluate import Evaluation
from kubectl_spread.guarantee.policy.parse import short_key
from kubectl_spread.guarantee.policy.rule import PolicyRule, RuleKind
from kubectl_spread.text.wording import comma_list, count_noun

_NAMES = {"hostname": ("node", "nodes", "on"), "zone": ("zone", "zones", "in"), "region": ("region", "regions", "in")}


def domain(key: str, *, plural: bool = False) -> str:
    """Return the noun for the domains of a key: `node`, `zone`, `domain of rack`."""
    names = _NAMES.get(short_key(key))
    if names is None:
        return f"{'domains' if plural else 'domain'} of {key}"
    return names[1] if plural else names[0]


def preposition(key: str) -> str:
    """Return `on` for nodes, `in` for other domains."""
    names = _NAMES.get(short_key(key))
    return "in" if names is None else names[2]


def rule_text(rule: PolicyRule) -> str:
    """Return a rule as a phrase: `less than 1/3 of the pods on one node`."""
    key, amount = rule.topology_key, rule.amount
    where = f"{preposition(key)} one {domain(key)}" if key else ""
    if rule.kind is RuleKind.MAX_SHARE:
        sign = "less than" if rule.is_strict else "at most"
        what = f"{amount.text} of the pods" if amount.denominator else f"{amount.text} pods"
        return f"{sign} {what} {where}"
    if rule.kind is RuleKind.MAX_COUNT:
        return f"at most {count_noun(amount.numerator, 'pod')} {where}"
    if rule.kind is RuleKind.MIN_DOMAINS:
        return f"pods {preposition(key)} at least {amount.numerator} {domain(key, plural=amount.numerator > 1)}"
    if rule.kind is RuleKind.SEPARATE:
        return f"pods of one workload {preposition(key)} different {domain(key, plural=True)}"
    if rule.kind is RuleKind.SURVIVE:
        kept = "a quorum" if amount.is_quorum else f"{amount.text} of the pods"
        kept = count_noun(amount.numerator, "pod") if not amount.denominator else kept
        return f"{kept} left after losing {rule.lost} {domain(key, plural=rule.lost > 1)}"
    return "every pod finds a node"


def violation_text(result: Evaluation, *, waiting: Optional[int] = None) -> str:
    """Return a violation with its numbers; `waiting`: pods that stay Pending, if that is the violation."""
    if waiting is not None:
        return f"{count_noun(waiting, 'pod')} {'stays' if waiting == 1 else 'stay'} Pending"
    key = result.rule.topology_key
    is_one = len(result.domains) == 1
    where = f"{domain(key, plural=not is_one)} {comma_list(result.domains, most=3)}"
    holds, each = ("holds", "") if is_one else ("hold", " each")
    if result.rule.kind in (RuleKind.MAX_SHARE, RuleKind.MAX_COUNT):
        held = f"{result.number} of {count_noun(result.pods, 'pod')}{each}"
        return f"{where} {holds} {held}; {result.limit} allowed"
    if result.rule.kind is RuleKind.MIN_DOMAINS:
        return f"the pods use {count_noun(result.number, domain(key))}; at least {result.limit} required"
    if result.rule.kind is RuleKind.SEPARATE:
        name = "" if result.owner is None else f" of {result.owner.name}"
        return f"{where} {holds} {result.number} pods{name}{each}"
    return f"without {where}, {count_noun(result.number, 'pod')} would be left; {result.limit} required"
