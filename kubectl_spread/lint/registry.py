"""All rules, in the order of their codes.

Rules about the text, and about what the API server refuses, are found while a source is read; the table here declares
them. All other rules are declared beside their functions in `lint/rules`.
"""

from __future__ import annotations

from collections.abc import Container

from kubectl_spread.lint import rules  # noqa: F401 (declares the rules)
from kubectl_spread.lint.finding import RuleMeta, RuleTarget, Safety, Severity
from kubectl_spread.lint.rule import Check, DECLARATIONS, NONE, SAFE, UNSAFE


def _text_rule(
    code: str,
    name: str,
    summary: str,
    severity: Severity = Severity.ERROR,
    *,
    is_opinion: bool = False,
    fixes: frozenset[Safety] = NONE,
    supersedes: tuple[str, ...] = (),
) -> RuleMeta:
    """Declare a rule about the text, or about what the API server refuses."""
    meta = RuleMeta(code, name, severity, summary, is_opinion=is_opinion, fixes=fixes)
    return meta._replace(supersedes=frozenset(supersedes))


_TEXT_RULES = (
    _text_rule("SPR001", "yaml-syntax", "a document is not valid YAML"),
    _text_rule("SPR002", "template-skipped", "a template that contains constraints was not checked", Severity.INFO),
    _text_rule("SPR003", "duplicate-key", "a mapping has the same key twice"),
    _text_rule("SPR004", "separator-text", "there is text on the line of a document separator", fixes=SAFE),
    _text_rule("SPR005", "unused-suppression", "a suppression has no effect", Severity.WARNING, fixes=SAFE),
    _text_rule("SPR006", "unmapped-podspec", "constraints in an unknown kind were checked only in part", Severity.INFO),
    _text_rule("SPR101", "max-skew-not-positive", "`maxSkew` is missing, zero or negative", fixes=UNSAFE),
    _text_rule("SPR102", "topology-key-missing", "`topologyKey` is missing or empty"),
    _text_rule("SPR103", "when-unsatisfiable-missing", "`whenUnsatisfiable` is missing", fixes=UNSAFE),
    _text_rule(
        "SPR104",
        "when-unsatisfiable-invalid",
        "`whenUnsatisfiable` is neither DoNotSchedule nor ScheduleAnyway",
        fixes=SAFE,
    ),
    _text_rule("SPR105", "duplicate-constraint", "two constraints have the same `topologyKey` and `whenUnsatisfiable`"),
    _text_rule("SPR106", "min-domains-not-positive", "`minDomains` is zero or negative", fixes=SAFE),
    _text_rule("SPR107", "min-domains-on-soft", "`minDomains` is set without DoNotSchedule", fixes=SAFE),
    _text_rule("SPR108", "inclusion-policy-invalid", "a node inclusion policy is neither Honor nor Ignore", fixes=SAFE),
    _text_rule(
        "SPR109", "match-keys-without-selector", "`matchLabelKeys` is set without `labelSelector`", fixes=UNSAFE
    ),
    _text_rule(
        "SPR110",
        "match-key-in-selector",
        "a key is in both `matchLabelKeys` and `labelSelector`",
        fixes=SAFE,
        supersedes=("SPR203", "SPR215", "SPR605"),
    ),
    _text_rule("SPR111", "match-key-syntax", "an entry of `matchLabelKeys` is not a label key"),
    _text_rule(
        "SPR112", "label-selector-invalid", "`labelSelector` is not valid", fixes=SAFE, supersedes=("SPR203", "SPR605")
    ),
    _text_rule(
        "SPR113", "wrong-scalar-type", "a value has the wrong type, so the object cannot be decoded", fixes=SAFE
    ),
    _text_rule("SPR114", "unknown-field", "a constraint has a field that does not exist", fixes=SAFE),
    _text_rule(
        "SPR115",
        "misplaced-constraints",
        "`topologySpreadConstraints` is in a place where it has no effect",
        fixes=UNSAFE,
    ),
    _text_rule("SPR116", "count-negative", "a number in the spec of a workload, such as `replicas`, is negative"),
    _text_rule("SPR607", "suppression-without-reason", "a suppression has no reason", Severity.INFO, is_opinion=True),
)

RULES: dict[str, RuleMeta] = {
    rule.code: rule
    for rule in sorted((*_TEXT_RULES, *(item.rule for item in DECLARATIONS)), key=lambda rule: rule.code)
}
CHECKS: dict[str, Check] = {item.rule.code: item.check for item in DECLARATIONS}

_AUTOSCALERS = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})


def kinds_around(codes: Container[str]) -> frozenset[str]:
    """Return the kinds of objects, workloads apart, that rules of these codes read.

    Autoscalers are always among them, as every rule may ask for the number of replicas.
    """
    chosen = [rule for code, rule in RULES.items() if code in codes]
    return _AUTOSCALERS.union(*(rule.needs if rule.target is RuleTarget.AROUND else rule.around for rule in chosen))


def superseded_rules(refusals: frozenset[str]) -> frozenset[str]:
    """Return the codes of the rules that stay silent about a workload which the API server refuses with `refusals`."""
    return frozenset[str]().union(*(RULES[code].supersedes for code in refusals))
