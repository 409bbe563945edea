"""The rules about the text: separators, and objects of kinds that are not known."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.text.source import SourceFile

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  topologySpreadConstraints:
  - maxSkew: 0
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
"""
GOOD = POD.replace("maxSkew: 0", "maxSkew: 1")
OTHER = """\
apiVersion: example.com/v1
kind: Database
metadata: {name: ledger, annotations: {topologySpreadConstraints: none}}
spec:
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
"""


def found(text: str) -> list[str]:
    """The findings of a text as `CODE@line:column text underlined`."""
    findings = sorted(check_source(SourceFile("web.yaml", text), named=True).findings, key=lambda item: item.place.span)
    told = []
    for finding in findings:
        start, end = finding.place.span
        line, column = finding.place.source.position(start)
        told.append(f"{finding.rule.code}@{line}:{column} {finding.place.source.text[start:end]}")
    return told


BAD = "SPR101@{}:14 0"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"--- web\n{POD}", ["SPR004@1:5 web", BAD.format(7)]),
        (f"---\tweb and more \t\n{POD}", ["SPR004@1:5 web and more", BAD.format(7)]),
        (f"--- web\r\n{POD}", ["SPR004@1:5 web", BAD.format(7)]),
        (f"{POD}--- # a comment\n{POD}---# another\n", [BAD.format(6), BAD.format(16)]),
        (f"{POD}---\n{POD}", [BAD.format(6), BAD.format(16)]),
        (f"{POD}---   \n{POD}---", [BAD.format(6), BAD.format(16)]),
        (f"{POD}---web\n{POD}", [BAD.format(6), "SPR004@10:4 web", BAD.format(16)]),
        (f"{POD}-----\n{POD}", [BAD.format(6), "SPR004@10:4 --", BAD.format(16)]),
        (f"{POD}--- one\n{POD}--- two # three\n{POD}",
         [BAD.format(6), "SPR004@10:5 one", BAD.format(16), "SPR004@20:5 two # three", BAD.format(26)]),
        ("--- {apiVersion: v1, kind: Pod, metadata: {name: web}}\n",
         ["SPR004@1:5 {apiVersion: v1, kind: Pod, metadata: {name: web}}"]),
        (f"--- web\n{POD}  - [\n", ["SPR004@1:5 web", "SPR001@12:1 "]),
        ("apiVersion: v1\nkind: ConfigMap\n--- web\napiVersion: v1\nkind: ConfigMap\n", []),
        ("key: value\n--- web\n", []),
        (f"--- {{{{ if .Values.web }}}}\n{POD}", ["SPR002@1:5 {{ if .Values.web }}"]),
    ],
)  # fmt: skip
def test_what_stands_beside_a_separator_hides_nothing(text: str, expected: list[str]) -> None:
    """kubectl refuses it, comments aside; the documents around it are checked all the same."""
    assert expected == found(text)


def test_kubectl_s_sentence_is_quoted() -> None:
    (finding, _) = sorted(
        check_source(SourceFile("web.yaml", f"--- web\n{POD}"), named=True).findings, key=lambda item: item.rule.code
    )

    assert "kubectl stops here and applies nothing below: invalid Yaml document separator: web" == finding.message
    assert not finding.is_unreadable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"--- web\n{GOOD}", f"---\n{GOOD}"),
        (f"{GOOD}---web # one\r\n{GOOD}", f"{GOOD}---\r\n{GOOD}"),
        ("--- {apiVersion: v1, kind: Pod}\n", "---\n{apiVersion: v1, kind: Pod}\n"),
        ("--- {apiVersion: v1,\r\n  kind: Pod}\r\n", "---\r\n{apiVersion: v1,\r\n  kind: Pod}\r\n"),
        (f"--- {GOOD}", f"--- {GOOD}"),
    ],
)
def test_a_separator_is_freed_of_what_stands_beside_it(text: str, expected: str, tmp_path: Path) -> None:
    """Words go; what may be of the document below begins it, unless YAML reads none of it where it stands."""
    file = tmp_path / "web.yaml"
    file.write_bytes(text.encode())
    run(["check", str(file), "--fix", "--select", "SPR004"])

    assert expected.encode() == file.read_bytes()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OTHER, ["SPR006@5:3 topologySpreadConstraints"]),
        (f"{OTHER}---\n{OTHER}", ["SPR006@5:3 topologySpreadConstraints"]),
        (OTHER.replace("Database", "Deployment"), ["SPR006@5:3 topologySpreadConstraints"]),
        (OTHER.replace("Database", "CustomResourceDefinition"), []),
        (OTHER.replace("  - maxSkew: 1\n    topologyKey", "    maxSkew: 1\n    topologyKey"), []),
        (OTHER.replace("  - maxSkew: 1\n    topologyKey: topology.kubernetes.io/zone\n    when", "  - to"), []),
        (
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  web: |\n    topologySpreadConstraints:\n    - maxSkew: 1\n",
            [],  # what the API server says of a list without pods is found with the rules
        ),
        (OTHER.replace("topologySpreadConstraints:\n", "spread:\n"), []),
    ],
)
def test_a_file_with_unknown_kinds_is_named_once(text: str, expected: list[str]) -> None:
    assert expected == found(text)


def test_further_lists_of_an_object_are_counted() -> None:
    again = textwrap.indent(OTHER.partition("spec:\n")[2], "  ")
    text = f"{OTHER}  reader:\n{again}"
    (finding,) = check_source(SourceFile("web.yaml", text), named=True).findings

    assert (
        "the operator of Database creates the pods, and their labels are not known here, so whether labelSelector "
        "matches them was not checked (and 1 more list in this file)"
    ) == finding.message
