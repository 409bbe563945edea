"""Comments and annotations that suppress findings, and those that suppress nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kubectl_spread.cli.main import run

WEB = """\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: web
spec:
  template:
    metadata:
      labels: {app: web}
    spec:
      topologySpreadConstraints:
      - maxSkew: 0
        topologyKey: kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
      - maxSkew: 0
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
      containers: [{name: c, image: web}]
"""
ALL = ["11 SPR101", "12 SPR302", "15 SPR101"]
LINES = WEB.split("\n")

Check = Callable[..., list[str]]


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """Run `check` on a text: the findings as `line code`."""

    def checked(text: str, *args: str) -> list[str]:
        (tmp_path / "web.yaml").write_text(text)
        run(["check", str(tmp_path / "web.yaml"), "-o", "concise", *args])
        return [" ".join(found) for found in re.findall(r"web.yaml:(\d+):\d+: \w+ (SPR\d+)", capsys.readouterr().out)]

    return checked


def ended(line: int, comment: str) -> str:
    """The manifest with a comment at the end of a line."""
    return "\n".join([*LINES[: line - 1], f"{LINES[line - 1]}  {comment}", *LINES[line:]])


def before(line: int, comment: str) -> str:
    """The manifest with a comment of its own before a line."""
    return "\n".join([*LINES[: line - 1], f"  {comment}", *LINES[line - 1 :]])


def test_nothing_is_suppressed_by_itself(check: Check) -> None:
    assert ALL == check(WEB)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ended(12, "# spread: ignore[SPR302] our nodes have it"), ["11 SPR101", "15 SPR101"]),
        (ended(12, "#spread:ignore[unknown-well-known-key]"), ["11 SPR101", "15 SPR101"]),
        (before(12, "# spread: ignore[spr302]"), ["11 SPR101", "16 SPR101"]),
        (ended(11, "# spread: ignore[SPR101, SPR302] the whole item"), ["15 SPR101"]),
        (before(10, "# spread: ignore[SPR101] the whole list"), ["13 SPR302"]),
        (ended(10, "# spread: ignore[SPR101] the whole list"), ["12 SPR302"]),
        (ended(1, "# spread: ignore[SPR101] another line"), ["1 SPR005", *ALL]),
        (ended(19, "# spread: ignore[SPR101] after the list"), [*ALL, "19 SPR005"]),
        (ended(11, "# spread: ignore"), ["11 SPR101", "11 SPR005", "12 SPR302", "15 SPR101"]),
        (ended(11, "# spread: ignore[SPR999]"), ["11 SPR101", "11 SPR005", "12 SPR302", "15 SPR101"]),
        (ended(19, "# spread: ignored[SPR101]"), ALL),
    ],
)
def test_a_comment_covers_its_line_and_the_block_it_opens(check: Check, text: str, expected: list[str]) -> None:
    assert expected == check(text)


def test_text_that_looks_like_a_comment_is_none(check: Check) -> None:
    """In a block scalar, and in quotes."""
    noted = WEB.replace("  name: web\n", "  name: web\n  annotations:\n    note: |\n      # spread: ignore[SPR101]\n")
    quoted = WEB.replace("  name: web\n", '  name: web\n  annotations: {note: "a # spread: ignore[SPR101]"}\n')

    assert ["14 SPR101", "15 SPR302", "18 SPR101"] == check(noted)
    assert ["12 SPR101", "13 SPR302", "16 SPR101"] == check(quoted)


def test_an_annotation_covers_its_object(check: Check) -> None:
    """Of two documents the one that has it; on the object or on the template."""
    note = "annotations: {spread.kubectl.io/ignore: 'SPR101, unknown-well-known-key since ever'}"
    on_object = WEB.replace("  name: web\n", f"  name: web\n  {note}\n")
    on_template = WEB.replace("      labels:", f"      {note}\n      labels:")

    assert [] == check(on_object)
    assert [] == check(on_template)
    assert ["32 SPR101", "33 SPR302", "36 SPR101"] == check(
        f"{on_object}---\n{WEB.replace('name: web', 'name: b')}", "--ignore", "SPR5"
    )


def test_ignores_can_be_ignored(check: Check) -> None:
    """And a rule that is not asked for is not suppressed in vain."""
    text = ended(12, "# spread: ignore[SPR302]")

    assert ALL == check(text, "--no-ignores")
    assert ["11 SPR101", "15 SPR101"] == check(text, "--select", "SPR1,SPR005")


def test_what_does_not_decode_is_always_told(check: Check) -> None:
    assert ["11 SPR113", "11 SPR005"] == check(
        WEB.replace("maxSkew: 0", "maxSkew: zero  # spread: ignore[SPR113]", 1).replace("maxSkew: 0", "maxSkew: 1")
    )


def test_the_report_counts_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(ended(10, "# spread: ignore[SPR101]"))
    run(["check", str(file)])

    assert "1 finding, 2 ignored, 1 workload rejected" in capsys.readouterr().err

    run(["check", str(file), "-o", "json"])

    assert 2 == json.loads(capsys.readouterr().out)["checked"]["ignored"]


def test_an_annotation_of_an_object_with_two_templates_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It covers both, and is in vain once."""
    constraint = "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}"
    pod = f"{{spec: {{topologySpreadConstraints: [{constraint}]}}}}"
    (tmp_path / "llm.yaml").write_text(
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\n"
        "metadata: {name: llm, annotations: {spread.kubectl.io/ignore: 'SPR201, SPR304'}}\n"
        f"spec: {{leaderWorkerTemplate: {{leaderTemplate: {pod}, workerTemplate: {pod}}}}}\n"
    )
    run(["check", str(tmp_path / "llm.yaml"), "-o", "json", "--select", "SPR201,SPR304,SPR005"])
    report = json.loads(capsys.readouterr().out)

    assert (["SPR005"], 2) == ([finding["code"] for finding in report["findings"]], report["checked"]["ignored"])


@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("# spread: ignore[SPR302]", ["12 SPR607"]),
        ("# spread: ignore[SPR302]  -", ["12 SPR607"]),
        ("# spread: ignore[SPR302] our nodes have it", []),
        ("# spread: ignore[SPR302]: our nodes have it", []),
        ("# spread: ignore", ["12 SPR302", "12 SPR005"]),
    ],
)
def test_a_suppression_wants_a_reason_where_that_is_asked_for(check: Check, written: str, codes: list[str]) -> None:
    text = ended(12, written)

    assert codes == check(text, "--select", "SPR302,SPR005,SPR607")
    assert [code for code in codes if code != "12 SPR607"] == check(text, "--select", "SPR302,SPR005")


def test_an_annotation_wants_a_reason_too(check: Check) -> None:
    note = "annotations: {spread.kubectl.io/ignore: 'SPR101, SPR302REASON'}"
    text = WEB.replace("  name: web\n", f"  name: web\n  {note}\n")

    assert ["5 SPR607"] == check(text.replace("REASON", ""), "--extend-select", "SPR607")
    assert [] == check(text.replace("REASON", " since ever"), "--extend-select", "SPR607")


def test_a_rule_that_is_not_asked_for_in_a_file_is_not_suppressed_there_in_vain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though it is in another file; where it is, the suppression is in vain."""
    for name in ("old", "new"):
        text = WEB.replace("maxSkew: 0", "maxSkew: 1  # spread: ignore[SPR101] long ago").replace(
            "name: web", f"name: {name}"
        )
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "config.yaml").write_text("perFile: [{files: old.yaml, ignore: SPR1}]\nignore: SPR5\n")
    run(["check", str(tmp_path), "--config", str(tmp_path / "config.yaml"), "-o", "concise"])
    found = re.findall(r"(\w+.yaml):\d+:\d+: \w+ SPR005", capsys.readouterr().out)

    assert ["new.yaml", "new.yaml"] == found
