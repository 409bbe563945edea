"""Findings that are known: --write-baseline and --baseline."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kubectl_spread import schemas
from kubectl_spread.cli.main import run
from tests.manifests import POD

Check = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Run `check` in a project of two flawed pods: exit code, `file:line code` of the findings, stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    write("a.yaml", "0")
    write("b.yaml", "0")

    def checked(*args: str) -> tuple[int, list[str], str]:
        code = run(["check", *args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, [" ".join(found) for found in re.findall(r"(\S+:\d+):\d+: \w+ (SPR\d+)", out)], err.strip()

    return checked


def write(name: str, skew: str, *, before: str = "") -> None:
    Path(name).write_text(before + POD.replace("SKEW", skew).replace("name: web", f"name: {Path(name).stem}"))


def entries(path: str = "known.json") -> list[Any]:
    """What a baseline holds: file and count."""
    document = json.loads(Path(path).read_text())
    jsonschema.validate(document, schemas.load("baseline"))
    return [(entry["file"], entry["code"], entry["count"]) for entry in document["findings"]]


ENTRY = """{"kind": "Baseline", "findings": [{"code": "SPR101", "file": "a.yaml", "path": "", "count": COUNT,
    "object": {"kind": "", "namespace": "", "name": ""}}]}"""
BOTH = [("a.yaml", "SPR101", 1), ("b.yaml", "SPR101", 1)]


def test_what_is_known_is_not_reported(check: Check) -> None:
    """Written once, clean from then on; the summary says how many there are."""
    known = "checked 2 workloads in 2 files: no findings, 2 in the baseline, 2 workloads rejected"

    assert (0, [], known) == check("a.yaml", "b.yaml", "--ignore", "SPR5", "--write-baseline", "known.json")
    assert BOTH == entries()
    assert (0, [], known) == check("a.yaml", "b.yaml", "--ignore", "SPR5", "--baseline", "known.json")


def test_lines_may_move_and_the_run_may_begin_elsewhere(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    check("a.yaml", "b.yaml", "--write-baseline", "known.json")
    write("a.yaml", "0", before="# one\n# two\n")
    Path("sub").mkdir()
    monkeypatch.chdir("sub")

    assert (0, []) == check("../a.yaml", "--baseline", "../known.json")[:2]
    assert (0, []) == check(str(Path("../a.yaml").resolve()), "--baseline", "../known.json")[:2]


def test_what_is_new_is_reported(check: Check) -> None:
    """Another file, another field, and one more of the same."""
    check("a.yaml", "--write-baseline", "known.json")
    twice = Path("a.yaml").read_text()
    Path("a.yaml").write_text(f"{twice}---\n{twice}")

    assert (1, ["a.yaml:16 SPR101"]) == check("a.yaml", "--ignore", "SPR5", "--baseline", "known.json")[:2]
    assert (1, ["b.yaml:6 SPR101"]) == check("b.yaml", "--baseline", "known.json")[:2]


def test_what_is_mended_is_said(check: Check) -> None:
    """Of files that were read, or that are not there any more."""
    check("a.yaml", "b.yaml", "--write-baseline", "known.json")
    write("a.yaml", "1")
    note = "note: 1 finding of known.json no longer there: --write-baseline known.json leaves it out"

    assert note == check("a.yaml", "--baseline", "known.json")[2].splitlines()[-1]
    assert "note" not in check("b.yaml", "--baseline", "known.json")[2]

    Path("b.yaml").unlink()

    assert "note: 2 findings of known.json no longer there" in check("a.yaml", "--baseline", "known.json")[2]


def test_a_run_over_some_files_leaves_what_is_known_of_others(check: Check) -> None:
    check("a.yaml", "b.yaml", "--write-baseline", "known.json")
    write("a.yaml", "1")
    check("a.yaml", "--write-baseline", "known.json")

    assert BOTH[1:] == entries()

    Path("b.yaml").rename("c.yaml")
    check("a.yaml", "--write-baseline", "known.json")

    assert [] == entries()


@pytest.mark.parametrize("text", ["kind: Pod\n[", "# {{ a }}\nkind: Pod\n{{ b }}\n", POD.replace("SKEW", "one")])
def test_what_is_known_of_a_file_that_hides_something_stays(check: Check, text: str) -> None:
    """Also where all of the project is checked."""
    check("--project", "--write-baseline", "known.json")
    write("a.yaml", "1")
    Path("b.yaml").write_text(text)

    assert "note: 1 finding of known.json no longer there" in check("--project", "--baseline", "known.json")[2]

    check("--project", "--write-baseline", "known.json")

    assert BOTH[1:] == [entry for entry in entries() if entry[1] == "SPR101"]


def test_the_config_names_a_baseline(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative to itself; a flag names another."""
    Path("sub").mkdir()
    check("a.yaml", "--write-baseline", "sub/known.json")

    assert [("../a.yaml", "SPR101", 1)] == entries("sub/known.json")

    Path(".kubectl-spread.yaml").write_text("baseline: sub/known.json\n")
    Path("none.json").write_text('{"apiVersion": "kubectl-spread/v1", "kind": "Baseline", "findings": []}')
    monkeypatch.chdir("sub")

    assert (0, []) == check("../a.yaml")[:2]
    assert (1, ["../a.yaml:6 SPR101"]) == check("../a.yaml", "--baseline", "../none.json")[:2]
    assert (1, ["../a.yaml:6 SPR101"]) == check("../a.yaml", "--no-ignores")[:2]


def test_what_does_not_decode_is_never_known(check: Check) -> None:
    """And a Pending pod is not a finding."""
    write("a.yaml", "one")

    assert (3, ["a.yaml:6 SPR113"]) == check("a.yaml", "--write-baseline", "known.json")[:2]
    assert [] == entries()
    assert (3, ["a.yaml:6 SPR113"]) == check("a.yaml", "--baseline", "known.json")[:2]


def test_the_report_counts_them(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    check("a.yaml", "--write-baseline", "known.json")
    run(["check", "a.yaml", "--baseline", "known.json", "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schemas.load("check-report"))

    assert ([], 1) == (document["findings"], document["checked"]["baselined"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: expecting property name enclosed in double quotes"),
        ("[]", "not a baseline; check --write-baseline FILE writes one"),
        ('{"kind": "Pod"}', "not a baseline"),
        ('{"kind": "Baseline"}', "not a baseline"),
        ('{"kind": "Baseline", "findings": [1]}', "not a baseline"),
        ('{"kind": "Baseline", "findings": [{"object": {}}]}', "not a baseline"),
        (ENTRY.replace("COUNT", "0"), "not a baseline"),
        (ENTRY.replace("COUNT", "true"), "not a baseline"),
        (ENTRY.replace("COUNT", "null"), "not a baseline"),
        ("[" * 100_000, "not a baseline: nested too deep"),
        (POD, "not JSON: expecting value"),
    ],
)
def test_what_is_no_baseline_is_neither_read_nor_written_over(check: Check, text: str, message: str) -> None:
    Path("known.json").write_text(text)
    for option in ("--baseline", "--write-baseline"):
        code, _, err = check("a.yaml", option, "known.json")

        assert 3 == code
        assert err.startswith("error: known.json:")
        assert message in err
        assert text == Path("known.json").read_text()


def test_a_baseline_that_cannot_be_written_is_one_error(check: Check) -> None:
    code, _, err = check("a.yaml", "--write-baseline", "none/known.json")

    assert (3, "error: none/known.json: cannot be written: no such file or directory") == (code, err)


def test_standard_input_has_findings_too(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", open("a.yaml", encoding="utf-8"))  # noqa: SIM115 (pytest closes it)
    check("-", "--write-baseline", "known.json")

    assert [("<stdin>", "SPR101", 1)] == entries()


def test_known_findings_are_fixed_only_if_they_are_shown(check: Check) -> None:
    """A run fixes the findings that it reports; --no-ignores reports the baseline's, too."""
    Path("a.yaml").write_text(
        Path("a.yaml")
        .read_text()
        .replace("maxSkew: 0", "maxSkew: 1")
        .replace("topology.kubernetes.io/zone", "kubernetes.io/zone")
    )
    check("a.yaml", "--write-baseline", "known.json")
    before = Path("a.yaml").read_text()
    err = check("a.yaml", "--baseline", "known.json", "--fix")[2]

    assert (before, "checked 1 workload in 1 file: no findings, 1 in the baseline") == (
        Path("a.yaml").read_text(),
        err,
    )
    err = check("a.yaml", "--baseline", "known.json", "--fix", "--no-ignores")[2]
    assert "1 fixed, no findings left" in err
    assert "note: 1 finding of known.json no longer there" in check("a.yaml", "--baseline", "known.json")[2]
