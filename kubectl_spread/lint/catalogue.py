"""The rules, by code."""

from __future__ import annotations

from kubectl_spread.lint.finding import RuleMeta
from kubectl_spread.lint.finding import Severity


def _rule(code: str, name: str, summary: str, severity: Severity = Severity.ERROR) -> tuple[str, RuleMeta]:
    return code, RuleMeta(code, name, severity, summary)


RULES: dict[str, RuleMeta] = dict(
    (
        _rule("SPR001", "yaml-syntax", "a document is not YAML"),
        _rule("SPR002", "template-skipped", "a Go template was not checked", Severity.INFO),
        _rule("SPR003", "duplicate-key", "a mapping has a key twice"),
        _rule("SPR101", "max-skew-not-positive", "maxSkew is missing, zero or negative"),
        _rule("SPR102", "topology-key-missing", "topologyKey is missing or empty"),
        _rule("SPR103", "when-unsatisfiable-missing", "whenUnsatisfiable is missing; it has no default"),
        _rule("SPR104", "when-unsatisfiable-invalid", "whenUnsatisfiable is neither DoNotSchedule nor ScheduleAnyway"),
        _rule("SPR105", "duplicate-constraint", "two constraints share topologyKey and whenUnsatisfiable"),
        _rule("SPR106", "min-domains-not-positive", "minDomains is zero or negative"),
        _rule("SPR107", "min-domains-on-soft", "minDomains without DoNotSchedule"),
        _rule("SPR108", "inclusion-policy-invalid", "a node inclusion policy is neither Honor nor Ignore"),
        _rule("SPR109", "match-keys-without-selector", "matchLabelKeys without labelSelector"),
        _rule("SPR110", "match-key-in-selector", "a key is in both matchLabelKeys and labelSelector"),
        _rule("SPR111", "match-key-syntax", "a matchLabelKeys entry is not a label key"),
        _rule("SPR112", "label-selector-invalid", "labelSelector does not parse"),
        _rule("SPR113", "wrong-scalar-type", "a value has the wrong type, so the object cannot be decoded"),
        _rule("SPR114", "unknown-field", "a constraint has a field that does not exist"),
        _rule("SPR115", "misplaced-constraints", "topologySpreadConstraints stands where nothing reads it"),
    )
)
