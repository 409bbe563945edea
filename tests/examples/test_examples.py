"""The examples come out as their expect.yaml says."""

from __future__ import annotations

import functools
import io
import json
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple, Optional

import jsonschema
import pytest
from ruamel.yaml import YAML

from kubectl_spread import schemas
from kubectl_spread.advice.search import suggest
from kubectl_spread.cli.main import run
from tests.advice.problems import problems

Plain = dict[str, Any]

SCENARIOS = Path(__file__).parents[2] / "examples" / "scenarios"
MORE = Path(__file__).parent / "cases"
FOLDERS = sorted(file.parent for folder in (SCENARIOS, MORE) for file in folder.glob("*/expect.yaml"))


class Case(NamedTuple):
    """One entry of an expect.yaml: a manifest on a cluster, and what is certain to come of it.

    placed, pending: numbers of pods; where one is given the other is 0 by default
    nodes: node -> pods of the manifest there, of the nodes named
    domains: topology key -> value -> pods of the manifest there, or the sorted counts where ties decide which
    fitting: how many nodes fitted each pod at its turn
    certainty: as in the report
    message: of the Pending pods, up to what preemption adds
    refused: codes of the findings that say what the API server refuses
    explain: pod -> what `explain` says of it
    findings: CODE@line of what the rules say with the cluster, among other things
    offline: the same without the cluster
    select: codes of opinions that are asked for
    suggest: how titles among the three best suggestions begin; Pending pod of the snapshot -> the same for it
    target: what of the snapshot `explain` is asked about, as in `deploy/web`; the manifest where there is none
    rollouts: kind of rollout -> verdict, of those that get stuck in some outcome
    says: what the text of `explain` holds among other things, in this order, each line break a space
    """

    folder: Path
    manifest: str
    cluster: str = "cluster.yaml"
    snapshot: Optional[str] = None
    placed: Optional[int] = None
    pending: Optional[int] = None
    rollouts: Optional[dict[str, str]] = None
    nodes: Optional[dict[str, int]] = None
    domains: Optional[dict[str, Any]] = None
    fitting: Optional[int] = None
    certainty: Optional[str] = None
    message: Optional[str] = None
    refused: Optional[list[str]] = None
    explain: Optional[dict[str, Plain]] = None
    findings: Optional[list[str]] = None
    offline: Optional[list[str]] = None
    select: str = ""
    suggest: Optional[Any] = None
    target: Optional[str] = None
    says: Optional[list[str]] = None

    @property
    def file(self) -> Path:
        return self.folder / self.manifest

    @property
    def selected(self) -> list[str]:
        return ["--extend-select", self.select] if self.select else []

    @property
    def facts(self) -> tuple[str, Path]:
        if self.snapshot is not None:
            return "--snapshot", self.folder / self.snapshot
        return "--topology", self.folder / self.cluster


class Ran(NamedTuple):
    code: int
    document: Plain
    errors: str


def _cases(folder: Path) -> list[Case]:
    return [Case(folder, **entry) for entry in YAML(typ="safe").load(folder / "expect.yaml")]


CASES = [case for folder in FOLDERS for case in _cases(folder)]


def examples(*keys: str) -> pytest.MarkDecorator:
    """Parametrise over the cases that expect something of `keys`; over all without keys."""
    params = [
        pytest.param(case, id=f"{case.folder.name}/{case.file.stem}@{case.facts[1].stem}")
        for case in CASES
        if not keys or any(getattr(case, key) is not None for key in keys)
    ]
    return pytest.mark.parametrize("case", params)


@functools.cache
def _run(*args: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([*args, "-o", "json"])
    return Ran(code, json.loads(out.getvalue()), err.getvalue())


def check(case: Case) -> Ran:
    option, facts = case.facts
    return _run("check", str(case.file), option, str(facts), "--fail-on", "never", *case.selected)


def check_offline(case: Case) -> Ran:
    return _run("check", str(case.file), *case.selected)


def explain(case: Case) -> Ran:
    option, facts = case.facts
    return _run("explain", "-f", str(case.file), option, str(facts))


def explained(case: Case) -> str:
    """What `explain` prints, at the default width."""
    option, facts = case.facts
    asked = [case.target] if case.target else ["-f", str(case.file)]
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        run(["explain", *asked, option, str(facts), "--details"])
    return " ".join(out.getvalue().split())


def _placements(case: Case) -> list[Plain]:
    found: list[Plain] = check(case).document["placements"]
    return found


def _placed(case: Case) -> list[Plain]:
    return [pod for placement in _placements(case) for pod in placement["pods"]]


def _pending(case: Case) -> list[Plain]:
    return [pod for placement in _placements(case) for pod in placement["pending"]]


@examples("placed", "pending")
def test_as_many_pods_are_placed_and_pending(case: Case) -> None:
    """Every replica finds a node or does not, as expected."""
    expected = {"placed": case.placed or 0, "pending": case.pending or 0}

    assert expected == {"placed": len(_placed(case)), "pending": len(_pending(case))}


@examples("placed", "pending")
def test_the_exit_code_tells_of_pending_pods(case: Case) -> None:
    """The exit code of `check --fail-on never` is 1 exactly where a pod stays Pending, now or in a rollout."""
    ran = check(case)
    verdicts = {item["rollout"]: item["verdict"] for item in ran.document["rollouts"]}
    stuck = {kind: verdict for kind, verdict in verdicts.items() if verdict not in ("completes", None)}

    assert (1 if case.pending or case.rollouts else 0) == ran.code
    assert case.pending or (case.rollouts or {}) == stuck


@examples("nodes")
def test_nodes_get_as_many_pods(case: Case) -> None:
    """The nodes named get as many pods as expected."""
    counts = Counter(pod["node"] for pod in _placed(case))

    assert case.nodes == {name: counts[name] for name in case.nodes}


@examples("domains")
def test_domains_get_as_many_pods(case: Case) -> None:
    """The domains of a key get as many pods as expected."""
    actual: Plain = {}
    for key, expected in case.domains.items():
        counts = Counter()
        for placement in _placements(case):
            counts.update(placement["domains"][key])
        actual[key] = dict(counts) if isinstance(expected, dict) else sorted(counts.values())

    assert case.domains == actual


@examples("fitting")
def test_every_pod_fits_as_many_nodes(case: Case) -> None:
    """As many nodes as expected fit each pod at its turn."""
    expected = [case.fitting] * case.placed

    assert expected == [pod["fitting"] for pod in _placed(case)]


@examples("certainty")
def test_the_report_says_how_certain_it_is(case: Case) -> None:
    """Where several nodes have the highest score, the report calls the placement possible."""
    actual = {placement["certainty"] for placement in _placements(case)}

    assert {case.certainty} == actual


@examples("pending")
def test_pending_pods_have_a_message(case: Case) -> None:
    """The message is the scheduler's, up to what preemption adds."""
    actual = {pod["message"].partition(" no new claims to deallocate")[0] for pod in _pending(case)}

    assert {case.message} == actual


@examples()
def test_only_what_the_api_server_refuses_is_refused(case: Case) -> None:
    """The examples are valid manifests, except where one shows what is not."""
    codes = [finding["code"] for finding in check(case).document["findings"]]

    assert (case.refused or []) == [code for code in codes if code < "SPR2"]


@examples("findings")
def test_check_finds_with_the_cluster(case: Case) -> None:
    """Each fault that leaves no event, and each that does, has a finding that says so at its line."""
    assert sorted(case.findings) == sorted(set(case.findings) & _findings(check(case)))


@examples("offline")
def test_check_finds_without_the_cluster(case: Case) -> None:
    """What follows from the manifest alone is found in it."""
    assert sorted(case.offline) == sorted(set(case.offline) & _findings(check_offline(case)))


def test_what_mends_an_example_ends_its_findings() -> None:
    """What is found in a manifest called before is not found in the one called after, on the same cluster."""
    for folder in FOLDERS:
        for before, after in _mended_pairs(folder):
            codes = {line.partition("@")[0] for line in before.findings or ()}
            ended = {code for code in codes if not _messages(before, code) & _messages(after, code)}

            assert codes == ended, after.file


def _mended_pairs(folder: Path) -> list[tuple[Case, Case]]:
    cases = _cases(folder)
    before = [case for case in cases if case.file.stem == "before" and case.findings]
    after = [case for case in cases if case.file.stem == "after"]
    return [(one, two) for one in before for two in after if one.facts == two.facts]


def _messages(case: Case, code: str) -> set[str]:
    """What a rule says: with other numbers it may leave a warning behind."""
    return {finding["message"] for finding in check(case).document["findings"] if finding["code"] == code}


def _findings(ran: Ran) -> set[str]:
    return {f"{finding['code']}@{finding['line']}" for finding in ran.document["findings"]}


@examples("suggest")
def test_what_the_case_calls_for_is_suggested(case: Case) -> None:
    """What ends the trouble is among the three best suggestions."""
    by_pod = case.suggest if isinstance(case.suggest, dict) else {"": case.suggest}
    for pod, wanted in by_pod.items():
        (problem, *_) = [item for item in problems(case.file, *case.facts) if pod in ("", item.pod.name)]
        titles = [item.title for item in suggest(problem).items[:3]]
        found = [title for title in wanted if any(other.startswith(title) for other in titles)]

        assert wanted == found, titles


@examples("explain")
def test_explain_tells_the_arithmetic(case: Case) -> None:
    """`explain` gives the nodes that fit and the numbers of each constraint, as expected."""
    for name, expected in case.explain.items():
        found = _explanation(case, name)
        actual = {key: _ASPECTS[key](found) for key in expected if key in _ASPECTS}
        actual |= {key: _by_key(found, *_FIELDS[key]) for key in expected if key in _FIELDS}

        assert expected == actual, name


@examples("says")
def test_explain_names_the_cause(case: Case) -> None:
    """`explain` says what is the matter and what becomes of it, in the words and in the order expected."""
    text, at = explained(case), 0
    for fragment in case.says:
        at = text.find(fragment, at)

        assert at >= 0, f"{fragment!r} is not in: {text}"


def _explanation(case: Case, name: str) -> Plain:
    document = explain(case).document
    items = document["items"] if document["kind"] == "ExplanationList" else [document]
    (found,) = [item for item in items if item["pod"]["name"] == name]
    return found  # type: ignore[no-any-return]


def _conflict(found: Plain) -> dict[str, list[str]]:
    return {entry["text"]: entry["nodes"] for entry in found["conflicts"][0]["requirements"]}


_ASPECTS = {
    "fits": lambda found: found["feasible"],
    "conflict": _conflict,
    "reasons": lambda found: {node["name"]: node["reasons"] for node in found["nodes"]},
}

# A field of each constraint, or of each of its domains.
_FIELDS: dict[str, tuple[str, Optional[str]]] = {
    "minimum": ("globalMinimum", None),
    "ignored": ("ignoredPods", None),
    "without_key": ("nodesWithoutKey", None),
    "eligible": ("domains", "eligible"),
    "matching": ("domains", "matching"),
    "skew": ("domains", "skewIfPlaced"),
}


def _by_key(found: Plain, field: str, of_domain: Optional[str]) -> Plain:
    """Topology key -> the field, or value -> the domain's field."""
    return {
        constraint["topologyKey"]: constraint[field]
        if of_domain is None
        else {domain["value"]: domain[of_domain] for domain in constraint[field]}
        for constraint in found["constraints"]
    }


@examples()
def test_the_check_report_follows_its_schema(case: Case) -> None:
    """`check -o json` prints what schemas/check-report.json describes."""
    violations = _violations(check(case).document, "check-report")

    assert not violations


@examples("placed", "pending")
def test_the_explanation_follows_its_schema(case: Case) -> None:
    """`explain -o json` prints what schemas/explanation.json describes."""
    violations = _violations(explain(case).document, "explanation")

    assert not violations


def _violations(document: Plain, schema: str) -> list[str]:
    validator = jsonschema.Draft202012Validator(schemas.load(schema))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_every_file_of_an_example_is_used(folder: Path) -> None:
    """An example has no file that its expect.yaml does not name."""
    used = {folder / "expect.yaml"}
    for case in _cases(folder):
        used |= {case.file, case.facts[1]}

    assert sorted(used) == sorted(folder.rglob("*"))


@pytest.mark.parametrize("group", [SCENARIOS, MORE], ids=lambda it: it.name)
def test_every_example_has_expectations(group: Path) -> None:
    """Each folder of examples is run."""
    expected = sorted(folder for folder in FOLDERS if folder.parent == group)

    assert expected == sorted(group.iterdir())


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if folder.parent == SCENARIOS], ids=lambda it: it.name)
def test_every_scenario_expects_a_sentence_of_explain_or_a_finding(folder: Path) -> None:
    """Each scenario expects that `explain` names the cause, or that `check` finds it."""
    expected = [case.says or case.findings or case.offline for case in _cases(folder)]

    assert any(expected)


@examples()
def test_a_manifest_begins_with_what_it_shows(case: Case) -> None:
    """A comment of one to four lines opens every manifest."""
    lines = case.file.read_text(encoding="utf-8").splitlines()
    comment = next(at for at, line in enumerate(lines) if not line.startswith("#"))

    assert 1 <= comment <= 4
