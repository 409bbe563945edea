"""What `check` says it looked at."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.manifests import POD


def write(tmp_path: Path, *skews: str) -> str:
    path = tmp_path / "pods.yaml"
    path.write_text("---\n".join(POD.replace("SKEW", skew) for skew in skews))
    return str(path)


@pytest.mark.parametrize(
    ("skews", "expected"),
    [
        (["1"], "checked 1 workload in 1 file: no findings"),
        (["0"], "checked 1 workload in 1 file: 1 finding, 1 workload rejected"),
        (["1", "0", "one"], "checked 3 workloads in 1 file: 2 findings, 2 workloads rejected"),
    ],
)
def test_rejected_workloads_were_checked_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], skews: list[str], expected: str
) -> None:
    """They count among those that were looked at, and by themselves."""
    run(["check", write(tmp_path, *skews)])

    assert expected == capsys.readouterr().err.splitlines()[0]


def test_the_report_counts_them_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`workloads` are those that the API server would accept."""
    run(["check", write(tmp_path, "1", "0", "one"), "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("check-report"))

    assert {"files": 1, "workloads": 1, "rejected": 2, "ignored": 0, "fixed": 0, "baselined": 0} == document["checked"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a: 1\n"], "no Kubernetes object in f0.yaml"),
        (["a: 1\n", "b: [2]\n"], "no Kubernetes object in f0.yaml, f1.yaml"),
        (["a: 1\n", POD.replace("SKEW", "1")], "no findings"),
        (["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"], "no findings"),
        (["a: [\n"], "1 finding"),
    ],
)
def test_files_without_an_object_are_not_free_of_findings(
    texts: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for at, text in enumerate(texts):
        Path(f"f{at}.yaml").write_text(text)
    run(["check", *(f"f{at}.yaml" for at in range(len(texts)))])

    assert capsys.readouterr().err.splitlines()[0].endswith(f": {expected}")
