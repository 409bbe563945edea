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


SNIPPETS = [
    "kind: Deployment\nspec:\n  ...\n  template: {spec: {topologySpreadConstraints: []}}\n",
    "kind: Pod\nmetadata:\n  name: {username}-b\nspec: {topologySpreadConstraints: []}\n",
]


@pytest.mark.parametrize("snippet", SNIPPETS)
@pytest.mark.parametrize(("is_named", "code"), [(True, 3), (False, 0)])
def test_an_example_that_leaves_parts_out_is_a_note(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    snippet: str,
    is_named: bool,
    code: int,
) -> None:
    """In a directory; a file that the user names must be readable."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(snippet)

    assert code == run(["check", "a.yaml" if is_named else "."])
    assert is_named != ("which is not YAML, was not checked: ./a.yaml" in capsys.readouterr().err)


UNDECODABLE = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: {}}\n"


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        (UNDECODABLE, ["."], 1),
        (UNDECODABLE, ["a.yaml"], 3),
        (UNDECODABLE, ["a.yaml", "--force-exclude"], 1),
        (f"# topologySpreadConstraints\n{UNDECODABLE}", ["."], 3),
        (f"# topologySpreadConstraints\n{UNDECODABLE}", [".", "--diff"], 3),
        (b"\xff\xfe\x00", ["."], 0),
        (b"\xff\xfe\x00", ["a.yaml"], 3),
        ("topologySpreadConstraints".encode("utf-16"), ["."], 3),
    ],
)
def test_only_named_files_and_those_with_constraints_must_be_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes, arguments: list[str], code: int
) -> None:
    """With --force-exclude a program has collected the paths, so that nobody named the file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())

    assert code == run(["check", *arguments])


@pytest.mark.parametrize(
    ("replicas", "constraints", "expected"),
    [
        ("REPLICAS", "", []),
        ("{replicas}", "", []),
        ("REPLICAS", "topologySpreadConstraints: [{maxSkew: MAX_SKEW}]", ["info", "info"]),
        ("many", "", ["error"]),
    ],
)
def test_a_word_in_capitals_is_a_placeholder_where_a_number_belongs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], replicas: str, constraints: str, expected: list[str]
) -> None:
    """Without constraints, nothing is said of it."""
    spec = f"{{replicas: {replicas}, template: {{spec: {{containers: [], {constraints}}}}}}}"
    (tmp_path / "a.yaml").write_text(f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec: {spec}\n")
    run(["check", str(tmp_path / "a.yaml"), "--select", "SPR113", "-o", "json"])

    assert expected == [item["severity"] for item in json.loads(capsys.readouterr().out)["findings"]]


@pytest.mark.parametrize(
    ("names", "arguments", "count"),
    [
        (["testdata/a.yaml"], ["-R", "."], 0),
        (["testdata/a.yaml"], ["testdata"], 1),  # the user named it
        (["testdata/a.yaml"], ["-R", ".", "testdata/a.yaml"], 1),
        (["x/golden/y/a.yaml"], ["-R", "."], 0),
        ([".chainsaw-test/a.yaml"], ["-R", "."], 0),
        (["x/tests/a.yaml"], ["-R", "."], 0),
        (["helm-tests/a.yaml"], ["-R", "."], 0),
        (["overlays/test/a.yaml"], ["-R", "."], 1),  # an environment
        (["a.in.yaml", "a.out.yaml"], ["."], 1),
        (["a.out.yaml"], ["."], 1),
        (["a.golden.yaml"], ["."], 0),
        (["golden.yaml"], ["."], 1),
        (["install.yaml"], ["."], 1),
        (["install.yaml", "b/a.yaml"], ["-R", "."], 1),  # beside its sources
        (["prod.yaml", "b/a.yaml"], ["-R", "."], 2),
    ],
)
def test_generated_files_are_named_and_not_checked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    names: list[str],
    arguments: list[str],
    count: int,
) -> None:
    """Expected outputs of tests, and a bundle of objects that are in other files as well."""
    monkeypatch.chdir(tmp_path)
    pod = POD.replace("SKEW", "0")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{pod}---\n{POD.replace('SKEW', '1').replace('name: ', 'name: other-', 1)}")
    run(["check", *arguments, "--select", "SPR101", "-o", "concise"])

    out, err = capsys.readouterr()
    assert count == out.count("SPR101")
    assert (count < len(names)) == ("1 generated file was not checked" in err or "1 test input was not checked" in err)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--select", "SPR903"], "SPR903 needs cluster facts"),
        (
            ["--select", "SPR101,key-absent-everywhere", "--extend-select", "SPR912"],
            "key-absent-everywhere, SPR912 need ",
        ),
        (["--select", "SPR101"], ""),
        (["--select", "ALL"], ""),
        (["--select", "SPR903", "--topology", "zones=2"], ""),
    ],
)
def test_rules_that_need_cluster_facts_are_told_not_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    """If they are selected by name, and nothing else is selected by the same word."""
    run(["check", write(tmp_path, "1"), *arguments])

    err = capsys.readouterr().err
    assert expected in err
    assert bool(expected) == ("cluster facts (--live, --snapshot or --topology); not run" in err)


@pytest.mark.parametrize(("arguments", "count"), [(["."], 0), (["facts.yaml"], 1)])
def test_a_snapshot_in_a_directory_is_no_manifest(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    count: int,
) -> None:
    """Its pods run already; a file that the user names is read."""
    monkeypatch.chdir(tmp_path)
    pod = "\n".join(f"  {line}" for line in POD.replace("SKEW", "0").splitlines())
    (tmp_path / "facts.yaml").write_text(f"apiVersion: kubectl-spread/v1\nkind: Snapshot\nitems:\n-{pod[1:]}\n")
    run(["check", *arguments, "--select", "SPR101", "-o", "concise"])

    out, err = capsys.readouterr()
    assert count == out.count("SPR101")
    assert (not count) == ("1 snapshot of a cluster was not checked: ./facts.yaml" in err)


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("NodePool", [], ""),
        ("DeschedulerPolicy", [], "1 file with a DeschedulerPolicy was not used: --extend-select SPR705"),
        ("DeschedulerPolicy", ["--extend-select", "SPR705"], ""),
        ("ConfigMap", [], ""),
    ],
)
def test_facts_beside_the_manifests_are_used_or_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, options: list[str], expected: str
) -> None:
    (tmp_path / "a.yaml").write_text(POD.replace("SKEW", "1"))
    (tmp_path / "b.yaml").write_text(f"apiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: a}}\n")
    run(["check", str(tmp_path), *options])

    err = capsys.readouterr().err
    assert expected in err
    assert expected or "not used" not in err
