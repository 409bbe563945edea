"""`check` with a `.kubectl-spread.yaml`, and the flags that go beyond it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from kubectl_spread.cli.main import run
from tests.manifests import POD

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 3
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: c, image: web}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: NAME}}
        minDomains: 2
"""
SPREAD = ["14 error SPR302", "17 error SPR107"]


class Ran(NamedTuple):
    """What a run of `check` gave: `file:line severity code` of each finding."""

    code: int
    findings: list[str]
    err: str


Check = Callable[..., Ran]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Run `check` in a project of two Deployments with two findings each."""
    write("web", tmp_path / "deploy")
    write("api", tmp_path / "charts" / "api")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)

    def checked(*args: str) -> Ran:
        code = run(["check", "-o", "concise", *args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        heads = re.findall(r"^(\S+:\d+):\d+: (\w+ SPR\d+)", out, re.MULTILINE)
        return Ran(code, [f"{place} {what}" for place, what in heads], err)

    return checked


def write(name: str, folder: Path) -> None:
    """A Deployment with a line before it, so that lines differ from columns."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text("# one\n" + DEPLOYMENT.replace("NAME", name))


def configure(text: str) -> None:
    Path(".kubectl-spread.yaml").write_text(text)


def at(file: str, *findings: str) -> list[str]:
    return [f"{file}:{finding}" for finding in findings]


WEB = "deploy/web.yaml"
API = "charts/api/api.yaml"


def test_without_a_config_all_is_as_it_is(check: Check) -> None:
    assert (1, at(WEB, *SPREAD)) == check("deploy")[:2]


def test_rules_and_severities_of_the_config_count(check: Check) -> None:
    configure("select: [SPR1, SPR3]\nignore: [SPR107]\nseverity: {unknown-well-known-key: info}\nfailOn: info\n")

    assert (1, at(WEB, "14 info SPR302")) == check(WEB)[:2]
    assert (0, at(WEB, "14 info SPR302")) == check(WEB, "--fail-on", "error")[:2]


def test_flags_go_beyond_the_config(check: Check) -> None:
    configure("ignore: [SPR107]\nseverity: {SPR302: info}\n")

    assert at(WEB, "17 error SPR107") == check(WEB, "--select", "SPR107").findings
    assert at(WEB, "14 info SPR302", "17 warning SPR107") == (
        check(WEB, "--extend-select", "SPR1", "--severity", "SPR1=warning").findings
    )
    assert at(WEB, "14 error SPR302") == check(WEB, "--severity", "SPR302=error").findings
    assert at(WEB, *SPREAD) == check(WEB, "--no-config").findings


def test_the_minimal_profile_has_errors_only(check: Check) -> None:
    """Of a rule that has errors and warnings the errors; what is asked for besides in full."""
    text = Path(WEB).read_text()
    Path(WEB).write_text(text.replace("topologyKey: kubernetes.io/zone", "topologyKey: zone"))
    bare = at(WEB, "14 warning SPR302")

    assert bare[0] in check(WEB).findings
    assert bare[0] not in check(WEB, "--profile", "minimal").findings


def test_a_profile_begins_with_fewer_or_more_rules(check: Check) -> None:
    """That of a flag takes the place of the config's rules, and leaves what it ignores."""
    text = Path(WEB).read_text().replace("kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
    Path(WEB).write_text(text)
    old, soft = at(WEB, "14 warning SPR602"), at(WEB, "17 error SPR107")

    assert old + soft == check(WEB).findings
    assert soft == check(WEB, "--profile", "minimal").findings
    assert set(old + soft) <= set(check(WEB, "--profile", "strict").findings)

    configure("select: [SPR6]\nignore: [SPR101]\n")

    assert old == check(WEB).findings
    assert soft == check(WEB, "--profile", "minimal").findings

    configure("profile: minimal\n")

    assert soft == check(WEB).findings
    assert old + soft == check(WEB, "--profile", "default").findings


def test_entries_hold_for_their_files(check: Check) -> None:
    """From wherever the run begins."""
    configure("perFile:\n- {files: charts/**, ignore: [SPR302], severity: {SPR107: warning}}\n")

    assert at(WEB, *SPREAD) + at(API, "17 warning SPR107") == check("-R", "deploy", "charts").findings


def test_entries_hold_from_a_directory_below(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    configure("perFile:\n- {files: charts/**, ignore: [SPR302]}\npaths: deploy\n")
    monkeypatch.chdir("charts")

    assert at("api/api.yaml", "17 error SPR107") == check("api").findings
    assert at("../deploy/web.yaml", *SPREAD) == check().findings


def test_the_config_names_what_is_checked(check: Check) -> None:
    """Where nobody names a file; it is not a manifest itself."""
    configure("paths: [deploy, charts/api/api.yaml]\n")

    assert at(WEB, *SPREAD) + at(API, *SPREAD) == check().findings
    assert at(API, *SPREAD) == check(API).findings

    configure("")

    assert 2 == check().code
    assert "checked 2 workloads in 2 files" in check("--project").err


def test_a_project_without_a_config_is_what_is_below(check: Check) -> None:
    assert at(f"./{API}", *SPREAD) + at(f"./{WEB}", *SPREAD) == check("--project").findings
    assert 2 == check("--project", WEB).code


def test_what_is_excluded_is_passed_over_unless_it_is_named(check: Check) -> None:
    configure("exclude: charts/\n")

    assert at(f"./{WEB}", *SPREAD) == check("-R", ".").findings
    assert at(API, *SPREAD) == check(API).findings
    assert (0, [], "checked 0 workloads in 0 files: no findings\n") == check(API, "--force-exclude")
    assert at(WEB, *SPREAD) == check(API, WEB, "--force-exclude").findings
    assert (3, []) == check("-R", ".", "--exclude", "web.yaml")[:2]
    assert at("charts/api/api.yaml", *SPREAD) == check("-R", "charts", "--no-config", "--exclude", "web.*").findings


def test_files_are_shown_and_not_checked(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    configure("exclude: charts/api\n")

    assert 0 == run(["check", "-R", ".", "--show-files"])
    assert f"./{WEB}\n" == capsys.readouterr().out
    assert ["error: none: the path does not exist"] == check("none").err.splitlines()[:1]


def test_statistics_count_by_rule(check: Check) -> None:
    Path(WEB).write_text(
        Path(WEB).read_text().replace("topologyKey: kubernetes.io/zone", "topologyKey: topology.kubernetes.io/zone")
    )
    ran = check("-R", ".", "--statistics")

    assert [
        "checked 2 workloads in 2 files: 3 findings, 2 workloads rejected",
        "can be fixed: 3 with --fix",
        "FINDINGS   CODE     NAME",
        "2          SPR107   min-domains-on-soft",
        "1          SPR302   unknown-well-known-key",
    ] == ran.err.splitlines()
    assert "FINDINGS" not in check(WEB, "--statistics", "--ignore", "ALL").err


IGNORES = """\
ignores:
- rule: SPR302
  kind: Deployment
  name: w*
  reason: our nodes have it
- {rule: [min-domains-on-soft], namespace: default, file: charts/**, reason: x}
"""


def test_findings_are_accepted_by_object_and_file(check: Check) -> None:
    configure(IGNORES)
    ran = check("-R", ".")

    assert at(f"./{API}", "14 error SPR302") + at(f"./{WEB}", "17 error SPR107") == ran.findings
    assert "2 findings, 2 ignored" in ran.err
    assert at(f"./{API}", *SPREAD) + at(f"./{WEB}", *SPREAD) == check("-R", ".", "--no-ignores").findings


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("kind: StatefulSet", SPREAD),
        ("name: we", SPREAD),
        ("name: web", ["17 error SPR107"]),
        ("namespace: shop", SPREAD),
        ("namespace: def*", ["17 error SPR107"]),
        ("file: charts", SPREAD),
        ("file: [charts, web.yaml]", ["17 error SPR107"]),
    ],
)
def test_an_entry_covers_what_all_its_keys_say(check: Check, entry: str, expected: list[str]) -> None:
    configure(f"ignores: [{{rule: SPR3, {entry}, reason: x}}]")

    assert at(WEB, *expected) == check(WEB).findings


def test_an_entry_in_vain_is_told_where_the_whole_project_is_checked(check: Check) -> None:
    """Over some of its files nobody can know; and a rule that is not asked for has nothing to accept."""
    configure(IGNORES.replace("w*", "x*") + "- {rule: SPR4, reason: x}\n")
    vain = at(".kubectl-spread.yaml", "2 warning SPR005", "7 warning SPR005")

    assert vain == check("-R", ".").findings[-2:]
    assert vain == check("--project").findings[-2:]
    assert vain == check("-R", "charts", "deploy", ".").findings[-2:]
    assert vain[:1] == check("--project", "--ignore", "SPR4").findings[-1:]
    for args in (("-R", "charts"), (".",), (WEB,), ("--project", "--no-ignores"), ("--project", "--ignore", "SPR005")):
        assert not [finding for finding in check(*args).findings if "SPR005" in finding]


@pytest.mark.parametrize("text", ["[", "kind: Pod\n{{ template }}\n", "\xff"])
def test_an_entry_is_not_told_where_a_file_hides_something(check: Check, text: str) -> None:
    """It may be about what is in there."""
    configure("ignores: [{rule: SPR302, name: other, reason: x}]\n")
    Path("other.yaml").write_text(text, encoding="latin-1")

    assert at("./deploy/web.yaml", *SPREAD) == [line for line in check("-R", ".").findings if "web" in line]
    assert not [finding for finding in check("-R", ".", "other.yaml").findings if "SPR005" in finding]


def test_an_entry_for_no_file_is_in_vain(check: Check) -> None:
    configure("ignores: [{rule: SPR302, file: gone.yaml, reason: x}]\n")

    assert at(".kubectl-spread.yaml", "1 warning SPR005") == check("--project").findings[-1:]


def test_what_does_not_decode_is_told_whatever_the_config_says(check: Check) -> None:
    Path(WEB).write_text(Path(WEB).read_text().replace("maxSkew: 1", "maxSkew: one"))
    configure("ignore: [ALL]\nseverity: {ALL: info}\nignores: [{rule: ALL, reason: x}]\n")

    assert (3, at(WEB, "13 error SPR113")) == check(WEB)[:2]


def test_all_that_is_wrong_with_a_config_is_told(check: Check) -> None:
    """Exit 2, and nothing is checked."""
    configure("selec: [SPR1]\nignore: [SPR1, daemonsett]\n")

    ran = check(WEB)

    assert (2, []) == ran[:2]
    assert [
        "error: .kubectl-spread.yaml:1:1: unknown key `selec`: did you mean `select`?",
        "error: .kubectl-spread.yaml:2:16: no rule is called `daemonsett`: did you mean `daemonset`?",
    ] == ran.err.splitlines()
    assert 1 == check(WEB, "--no-config").code


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("--config", "none.yaml"), 3, "none.yaml: the path does not exist"),
        (("--config", "."), 3, ".: is a directory"),
        (("--config", "bad.yaml"), 2, "bad.yaml:1:2: not YAML: did not find expected node content while parsing"),
        (("--config", "a", "--no-config"), 2, "--config and --no-config exclude each other"),
        (("--severity", "SPR101"), 2, "--severity takes RULE=LEVEL, and the levels are error, warning, info: SPR101"),
        (("--severity", "SPR101=off"), 2, "--severity takes RULE=LEVEL, and the levels are error, warning, info: SPR"),
        (("--severity", "nothing=info"), 2, "no rule is called `nothing`"),
        (("--profile", "strict", "--select", "SPR1"), 2, "--select replaces the profile: use --extend-select"),
        (("--baseline", "none.json"), 3, "none.json: the path does not exist"),
    ],
)
def test_what_cannot_be_followed_is_one_error(check: Check, args: tuple[str, ...], code: int, message: str) -> None:
    Path("bad.yaml").write_text("[")
    ran = check(WEB, *args)

    assert code == ran.code
    assert ran.err.startswith(f"error: {message}")


@pytest.mark.parametrize(
    ("setting", "args", "error"),
    [
        ("baseline: gone.json", [WEB], "2:11: gone.json: the path does not exist"),
        (
            "policies: [gone.yaml]",
            [WEB, "--topology", "zones=3,nodes=1"],
            "2:12: FOLDER/gone.yaml: the path does not exist",
        ),
        ("paths:\n- deploy\n- gone", ["--project"], "4:3: gone: the path does not exist"),
    ],
)
def test_a_file_that_the_config_names_and_that_does_not_exist_has_the_line_of_the_config(
    setting: str, args: list[str], error: str, check: Check
) -> None:
    configure(f"profile: minimal\n{setting}\n")
    ran = check(*args)

    assert (3, f"error: .kubectl-spread.yaml:{error.replace('FOLDER', str(Path.cwd()))}") == (ran.code, first(ran.err))


def test_an_error_in_a_file_that_the_config_names_has_its_own_place(check: Check) -> None:
    configure("baseline: broken.json\n")
    Path("broken.json").write_text("{")

    assert first(check(WEB).err).startswith("error: broken.json")


def first(text: str) -> str:
    """The first line."""
    return text.partition("\n")[0]


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ("exclude: ['[']", "1:11: not a glob: [: a set without an end: `]` is missing"),
        ("roots: [charts/a[b]", "1:9: not a glob: charts/a[b: a set without an end: `]` is missing"),
        (
            "perFile: [{files: 'x[z-a]', ignore: SPR1}]",
            "1:19: not a glob: x[z-a]: a set whose range runs backwards: z-a",
        ),
        (
            "ignores: [{rule: SPR1, file: '[!', reason: old}]",
            "1:30: not a glob: [!: a set without an end: `]` is missing",
        ),
    ],
)
def test_a_glob_whose_set_is_wrong_is_an_error(setting: str, error: str, check: Check) -> None:
    configure(setting.replace("[charts/a[b]", "['charts/a[b']") + "\n")
    ran = check(WEB)

    assert (2, f"error: .kubectl-spread.yaml:{error}\n") == (ran.code, ran.err)


def test_a_config_may_be_named(check: Check) -> None:
    """Then its directory is where its paths begin."""
    Path("charts/spread.yaml").write_text("paths: api\nignore: SPR1\n")

    assert at(API, "14 error SPR302") == check("--config", "charts/spread.yaml").findings


def test_a_config_goes_with_cluster_facts(check: Check) -> None:
    """Its version is the scheduler's, too."""
    Path("pod.yaml").write_text(POD.replace("SKEW", "1").replace("labelSelector", "minDomains: 2\n    labelSelector"))
    configure("kubernetesVersion: 1.23\n")

    assert "minDomains" in hidden(check)
    configure("kubernetesVersion: 1.36\n")
    assert "minDomains" not in hidden(check)


def hidden(check: Check) -> str:
    check("pod.yaml", "--topology", "zones=2", "-o", "json=report.json")
    (placement,) = json.loads(Path("report.json").read_text())["placements"]
    return str(placement["ignoredFields"])


def test_what_is_accepted_is_not_mended(check: Check) -> None:
    """Nor is what other files are not asked about."""
    configure("ignores: [{rule: SPR302, name: web, reason: x}]\nperFile: [{files: charts, ignore: SPR1}]\n")
    ran = check("-R", ".", "--fix")

    assert "2 fixed, no findings left, 1 ignored" in ran.err
    assert "topologyKey: kubernetes.io/zone" in Path(WEB).read_text()
    assert "minDomains" not in Path(WEB).read_text()
    assert "minDomains" in Path(API).read_text()


def test_domains_are_facts_for_the_rules(check: Check) -> None:
    """Nothing is placed by them, and a cluster that is named replaces them."""
    text = (
        Path(WEB)
        .read_text()
        .replace("kubernetes.io/zone", "topology.kubernetes.io/zone")
        .replace("replicas: 3", "replicas: 9")
    )
    Path(WEB).write_text(text.replace("ScheduleAnyway", "DoNotSchedule").replace("minDomains: 2", "minDomains: 4"))
    configure("domains: {topology.kubernetes.io/zone: [a, b, c]}\nselect: SPR904\n")
    ran = check(WEB)

    assert at(WEB, "17 error SPR904") == ran.findings
    assert "Pending" not in ran.err
    assert [] == check(WEB, "--no-config", "--select", "SPR904").findings
    assert [] == check(WEB, "--topology", "zones=4").findings


def test_too_many_domains_are_one_error(check: Check) -> None:
    values = ", ".join(f"v{number}" for number in range(130))
    configure(f"domains: {{a: [{values}], b: [{values}]}}\n")

    assert (3, [], "error: domains: 16,900 combinations are more than 15,000\n") == check(WEB)
