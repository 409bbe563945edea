"""Findings in the output of `helm template` name the template that they were rendered from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.text.source import SourceFile

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  template:
    spec:
      topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
"""
RENDERED = "".join(
    [
        "# what nobody rendered\n---\n",
        DEPLOYMENT.replace("NAME", "own"),
        "---\n# Source: shop/templates/web.yaml\n",
        DEPLOYMENT.replace("NAME", "web"),
        "---\n",
        DEPLOYMENT.replace("NAME", "web-canary"),
        "---\n# Source: shop/charts/cache/templates/cache.yaml \n",
        DEPLOYMENT.replace("NAME", "cache"),
    ]
)
WEB = "shop/templates/web.yaml"
TEMPLATES = ["", WEB, WEB, "shop/charts/cache/templates/cache.yaml"]


def printed(output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str = RENDERED) -> str:
    (tmp_path / "all.yaml").write_text(text)
    run(["check", str(tmp_path / "all.yaml"), "-o", output, "--select", "SPR101"])
    return capsys.readouterr().out


def test_the_note_above_a_document_counts_and_the_last_one_without() -> None:
    """Helm writes one above each template; what a template has after a `---` is its, too."""
    source = SourceFile("all.yaml", RENDERED)
    starts = [at for at in range(len(RENDERED)) if RENDERED.startswith("apiVersion", at)]

    assert TEMPLATES == [source.origin(at) for at in starts]


@pytest.mark.parametrize(
    "text",
    ["", "a: b\n", "a: |\n  # Source: x\nb: c\n", "# Source:\na: b\n", "a: b # Source: x\n", "#Source: x\n"],
)
def test_other_comments_are_no_notes(text: str) -> None:
    assert "" == SourceFile("f", text).origin(len(text))


def test_a_note_with_windows_line_ends() -> None:
    assert "a/b.yaml" == SourceFile("f", "---\r\n# Source: a/b.yaml\r\nkind: Pod\r\n").origin(30)


def test_text_has_a_line_for_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed("text", tmp_path, capsys)

    assert 3 == out.count("\n  from shop/")
    assert f"  in Deployment web\n  from {WEB}\n  18 |" in out


def test_json_has_a_field_for_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    findings = json.loads(printed("json", tmp_path, capsys))["findings"]

    assert TEMPLATES == [finding["template"] for finding in findings]
    assert [9, 18, 26, 35] == [finding["line"] for finding in findings]


def test_a_line_ends_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed("concise", tmp_path, capsys).splitlines()

    assert [False, True, True, True] == [line.endswith(".yaml)") for line in lines]
    assert lines[1].endswith(f" (from {WEB})")


@pytest.mark.parametrize("output", ["sarif", "github", "gitlab", "junit"])
def test_other_formats_say_it_in_their_message(output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The place stays that in the stream: the line of the template is not known."""
    out = printed(output, tmp_path, capsys)

    assert 2 == out.count(f"from {WEB}")
    assert "from shop" not in printed(output, tmp_path, capsys, DEPLOYMENT)


def test_sarif_has_it_as_a_property(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sarif,) = json.loads(printed("sarif", tmp_path, capsys))["runs"]

    assert TEMPLATES == [result.get("properties", {}).get("template", "") for result in sarif["results"]]
