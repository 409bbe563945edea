"""The comment that the editor offers for a finding."""

from __future__ import annotations

from typing import Optional

import pytest

from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.selection import Config, LintPolicy
from kubectl_spread.lsp import ignore_edit
from kubectl_spread.operations.rule_choice import DocumentChecker
from kubectl_spread.text.edit import with_edits
from kubectl_spread.text.source import SourceFile

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: p, labels: {{app: web}}}}
spec:
  topologySpreadConstraints:
{}
    topologyKey: topology.kubernetes.io/zone
    labelSelector: {{matchLabels: {{app: web}}}}
"""


def findings(text: str, name: str = "pod.yaml") -> list[Finding]:
    checker = DocumentChecker(LintPolicy(), Config("/"))
    return checker.findings([checker.read(SourceFile(name, text))])


def commented(text: str, code: str, name: str = "pod.yaml") -> Optional[str]:
    """A text once the first finding of a rule is ignored; None where that is not offered."""
    finding = next(item for item in findings(text, name) if item.rule.code == code)
    edit = ignore_edit(finding)
    return None if edit is None else with_edits(text, [edit])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("  - maxSkew: 0", "  - maxSkew: 0  # spread: ignore[SPR101]"),
        ("  - maxSkew: 0   ", "  - maxSkew: 0  # spread: ignore[SPR101]"),
        ("  - maxSkew: 0 # why not", "  - maxSkew: 0 # why not  # spread: ignore[SPR101]"),
        ("  - maxSkew: 0 # spread: ignore[SPR302] so", "  - maxSkew: 0 # spread: ignore[SPR302, SPR101] so"),
        ("  - maxSkew: 0 # spread: ignore", "  - maxSkew: 0 # spread: ignore[SPR101]"),
        ("  - maxSkew: 0 # spread:ignore[] so", "  - maxSkew: 0 # spread:ignore[SPR101] so"),
        ("  - maxSkew:\n      0", "  - maxSkew:\n      0  # spread: ignore[SPR101]"),
        ("  - &a\n    maxSkew: 0", "  - &a\n    maxSkew: 0  # spread: ignore[SPR101]"),
    ],
)
def test_it_stands_at_the_end_of_the_line(lines: str, expected: str) -> None:
    """One that is there already takes the code in."""
    text, right = (POD.format(f"{part}\n    whenUnsatisfiable: DoNotSchedule") for part in (lines, expected))

    assert right == commented(text, "SPR101")
    assert "SPR101" not in {item.rule.code for item in findings(right)}


@pytest.mark.parametrize("value", ["Do\n      Not", '"Do\n      Not"', "'Do #\n      Not'"])
def test_none_is_offered_inside_a_value(value: str) -> None:
    """It would be part of the text, or end it."""
    assert commented(POD.format(f"  - maxSkew: 1\n    whenUnsatisfiable: {value}"), "SPR104") is None


def test_above_a_block_there_is_room() -> None:
    text = POD.format("  - maxSkew: 1\n    whenUnsatisfiable: |\n      Do\n      Not")

    assert text.replace("|", "|  # spread: ignore[SPR104]") == commented(text, "SPR104")


def test_none_is_offered_in_json() -> None:
    """Even where a YAML parser would take it."""
    text = '{"kind": "Pod", "apiVersion": "v1", "spec": {"topologySpreadConstraints": [\n{"maxSkew": 0}\n]}}'

    assert commented(text, "SPR101") is None
    assert commented(POD.format("  - maxSkew: 0"), "SPR101", "pod.json") is None


@pytest.mark.parametrize(("line", "code"), [("maxSkew: one", "SPR113"), ("maxSkew: 1 # spread: ignore", "SPR005")])
def test_none_is_offered_for_what_is_always_told(line: str, code: str) -> None:
    text = POD.format(f"  - {line}\n    whenUnsatisfiable: DoNotSchedule")

    assert commented(text, code) is None
