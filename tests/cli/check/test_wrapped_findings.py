"""Findings wrap on a terminal; in a pipe each sentence stays on its line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run
from kubectl_spread.report.table import hang_indent

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [pod-template-hash]}]
      containers: [{name: web, image: web}]
"""  # noqa: E501
SELECT = ["--select", "SPR301,SPR507"]
NARROW = """\
web.yaml:10:7: info SPR507 drops-default-spread
  with these constraints the scheduler no longer spreads
    over nodes by default, so pods of one zone may share a
    node
  in Deployment web
  10 |       topologySpreadConstraints: [{maxSkew: 1, topolo
     |       ^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: add a ScheduleAnyway constraint over
        kubernetes.io/hostname

web.yaml:10:36: info SPR301 tainted-nodes-counted
  a zone whose nodes are all cordoned or tainted still
    counts as an empty zone. With maxSkew 1, once each other
    zone has 1 pod, the next pod stays Pending until a node
    of that zone is back
  in Deployment web
  10 | ologySpreadConstraints: [{maxSkew: 1, topologyKey: to
     |                           ^^^^^^^
  hint: add nodeTaintsPolicy: Honor
"""


@pytest.fixture(autouse=True)
def _in_a_folder_with_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    (tmp_path / "web.yaml").write_text(MANIFEST)


def test_sentences_wrap_and_source_lines_are_cut_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    run(["check", "web.yaml", *SELECT, "--color", "never"])
    assert NARROW == capsys.readouterr().out


def test_a_pipe_and_a_file_keep_each_sentence_on_its_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["check", "web.yaml", *SELECT])
    piped = capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    run(["check", "web.yaml", *SELECT, "-o", "text=found.txt"])
    assert piped == Path("found.txt").read_text()
    assert "  hint: add a ScheduleAnyway constraint over kubernetes.io/hostname" in piped.splitlines()


def test_colours_take_no_room() -> None:
    line = "  \x1b[1mhint:\x1b[0m add nodes in another zone, or write minDomains: 2"
    assert [
        "  \x1b[1mhint:\x1b[0m add nodes in another zone, or",
        "        write minDomains: 2",
    ] == hang_indent([line], 40, hanging="      ")


def test_a_word_is_never_broken() -> None:
    assert ["  " + "x" * 50, "    end"] == hang_indent(["  " + "x" * 50 + " end"], 40)
