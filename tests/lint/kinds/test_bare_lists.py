"""Values of the wrong type in constraints without a pod are told as what they are."""

from __future__ import annotations

import pytest

from kubectl_spread.lint import pipeline
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.selection import LintPolicy, RuleSelection
from kubectl_spread.text.source import SourceFile

VALUES = """\
web:
  topologySpreadConstraints:
  - maxSkew: {skew}
    topologyKey: {key}
    whenUnsatisfiable: {action}
    labelSelector: {{matchLabels: {{app: web}}}}
"""
WRITTEN = {"skew": "1", "key": "kubernetes.io/hostname", "action": "ScheduleAnyway"}
PATCH = """\
- op: replace
  path: /spec/template/spec/topologySpreadConstraints/0/maxSkew
  value: {}
"""
DECODING = "json: cannot unmarshal {} into Go struct field TopologySpreadConstraint.{} of type {}"


def found(text: str, minor: int | None = None) -> list[tuple[str, str, str]]:
    """Code, message and hint of what the default rules find."""
    result = check_source(SourceFile("values.yaml", text), named=True, minor=minor)
    findings = pipeline.findings_of([result], LintPolicy(flags=RuleSelection(minor=minor)), is_whole=True).findings
    return [(item.rule.code, item.message, item.hint) for item in findings]


@pytest.mark.parametrize(
    ("field", "value", "what", "go_field", "go_type", "hint"),
    [
        ("skew", '"1"', "string", "maxSkew", "int32", "write the number without quotes"),
        ("skew", "yes", "bool", "maxSkew", "int32", ""),
        ("skew", "1.5", "number 1.5", "maxSkew", "int32", ""),
        ("key", "5", "number", "topologyKey", "string", 'write "5"'),
        ("action", "[DoNotSchedule]", "array", "whenUnsatisfiable", "string", None),
    ],
)
def test_a_value_of_the_wrong_type_is_no_missing_one(
    field: str, value: str, what: str, go_field: str, go_type: str, hint: str | None
) -> None:
    """The message says what the value must be, and quotes the decoder: it does not say that it is 0 or empty."""
    (finding,) = found(VALUES.format(**{**WRITTEN, field: value}))
    code, message, given = finding
    path = f"web.topologySpreadConstraints[0].{go_field}"
    must = "text" if go_type == "string" else "a whole number"
    must += " below 2^31" if what == "number 1.5" else ""
    begin = f"`{go_field}` is `{value}`, but must be {must} ("
    assert (code, message) == ("SPR113", f"{begin}{path}: {DECODING.format(what, go_field, go_type)})")
    assert hint is None or given == hint


def test_a_patch_of_one_field_is_checked_for_its_type() -> None:
    """A JSON patch that writes text as maxSkew makes an object that does not decode."""
    path = "spec.template.spec.topologySpreadConstraints[0].maxSkew"
    begin = '`maxSkew` is `"2"`, but must be a whole number ('
    message = f"{begin}{path}: {DECODING.format('string', 'maxSkew', 'int32')})"
    assert found(PATCH.format('"2"')) == [("SPR113", message, "write the number without quotes")]


@pytest.mark.parametrize("value", ['"{{ .Values.skew }}"', "${SKEW}"])
def test_what_another_tool_fills_in_has_no_type_yet(value: str) -> None:
    """A placeholder is neither text nor a missing number."""
    assert found(VALUES.format(**{**WRITTEN, "skew": value})) == []


def test_two_keys_of_the_wrong_type_are_no_duplicates() -> None:
    """Constraints whose keys do not decode are not compared with each other."""
    entry = "{maxSkew: 1, topologyKey: %s, whenUnsatisfiable: ScheduleAnyway}"
    text = f"topologySpreadConstraints:\n- {entry % 5}\n- {entry % 6}\n"
    assert [code for code, _, _ in found(text)] == ["SPR113", "SPR113"]


def test_the_version_asked_for_decides_what_is_refused() -> None:
    """Up to 1.23 the API server drops minDomains, and validates nothing of it."""
    text = VALUES.format(**{**WRITTEN, "action": "DoNotSchedule\n    minDomains: 0"})

    assert ["SPR106"] == [code for code, *_ in found(text, 36) if code.startswith("SPR1")]
    assert [] == [code for code, *_ in found(text, 23) if code.startswith("SPR1")]


def test_the_hint_for_a_patch_without_a_selector_does_not_ask_for_more_labels() -> None:
    """Its pods are not known, and their controller may set the labels."""
    constraint = "{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}"
    text = f"- op: add\n  path: /spec/template/spec/topologySpreadConstraints\n  value: [{constraint}]\n"
    hints = [hint for code, _, hint in found(text) if code == "SPR201"]

    assert hints == ["add a labelSelector that matches the labels of the pods that these constraints are for"]
