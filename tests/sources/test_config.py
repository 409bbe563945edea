"""`.kubectl-spread.yaml`: where it is found, what it says, and what is told of one that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kubectl_spread import schemas
from kubectl_spread.errors import ConfigError, SourceError
from kubectl_spread.lint.finding import Severity
from kubectl_spread.lint.selection import Config, RuleProfile, RuleSelection
from kubectl_spread.objects.workloads.kinds import PodSpecPath
from kubectl_spread.sources import config, single_document
from kubectl_spread.sources.files import config_path
from kubectl_spread.text import compose
from kubectl_spread.text.source import SourceFile

NAME = ".kubectl-spread.yaml"
SCHEMA = schemas.load("config")
VALIDATOR = Draft202012Validator(SCHEMA)


def loaded(text: str, folder: Path) -> Config:
    (folder / NAME).write_text(text, encoding="utf-8")
    return config.load(str(folder / NAME))


def problems(text: str, folder: Path) -> list[str]:
    """What is wrong with a config, as `line:column: message`."""
    with pytest.raises(ConfigError) as caught:
        loaded(text, folder)
    assert str(caught.value) == str(caught.value.problems[0])
    return [f"{error.line}:{error.column}: {error.message}" for error in caught.value.problems]


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "{}", "---\n# nothing\n"])
def test_an_empty_config_says_nothing(text: str, tmp_path: Path) -> None:
    found = loaded(text, tmp_path)

    assert Config(str(tmp_path), found.source) == found


def test_a_config_is_read(tmp_path: Path) -> None:
    """A list of one may be a text, words may stand together, and a version keeps its zero."""
    found = loaded(
        """\
select: SPR1, hard-zone-and-hostname
ignore: [SPR101, 'spr102,SPR103']
severity: {SPR204: error, daemonset: info}
thresholds: {no-spread: 3, SPR701: 2}
failOn: warning
kubernetesVersion: 1.30
autoscaler: karpenter
paths: deploy
exclude: [vendor, '*.gen.yaml']
perFile:
- files: charts/**
  extendSelect: ALL
  kubernetesVersion: v1.34.1
ignores:
- {rule: SPR3, name: web-*, file: deploy/*, reason: because}
baseline: known.json
podspecPaths:
- {kind: Foo, path: spec.podTemplate}
- {kind: Bar, group: example.com, path: 'spec.pools[*].template'}
- {kind: Baz, apiVersion: example.com/v1beta1, path: spec, podSpec: true}
- {kind: Qux, apiVersion: v1, path: spec, podSpec: no}
""",
        tmp_path,
    )

    assert (
        RuleSelection(
            select=("SPR1", "hard-zone-and-hostname"),
            ignore=("SPR101", "spr102", "SPR103"),
            severity=(("SPR204", Severity.ERROR), ("daemonset", Severity.INFO)),
            minor=30,
            thresholds=(("no-spread", 3), ("SPR701", 2)),
        )
        == found.choice
    )
    assert ("warning", "1.30", "karpenter") == (found.fail_on, found.kubernetes_version, found.autoscaler)
    assert (("deploy",), ("vendor", "*.gen.yaml"), "known.json") == (found.paths, found.exclude, found.baseline)
    assert [(("charts/**",), RuleSelection(extend=("ALL",), minor=34))] == [
        (item.files.patterns, item.choice) for item in found.per_file
    ]
    assert [(("SPR3",), "", "web-*", "")] == [
        (item.words, item.kind, item.name, item.namespace) for item in found.ignores
    ]
    assert (
        PodSpecPath("Foo", "spec.podTemplate"),
        PodSpecPath("Bar", "spec.pools[*].template", "example.com"),
        PodSpecPath("Baz", "spec", "example.com", is_spec=True),
        PodSpecPath("Qux", "spec", ""),
    ) == tuple(path for path, _ in found.podspec_paths)


def test_anchors_and_merges_are_followed(tmp_path: Path) -> None:
    found = loaded(
        "perFile:\n- &a {files: a, ignore: SPR1}\n- {<<: *a, files: b}\nseverity: &s {SPR1: info}\n", tmp_path
    )

    assert [("SPR1",), ("SPR1",)] == [item.choice.ignore for item in found.per_file]


def test_domains_are_read(tmp_path: Path) -> None:
    found = loaded("domains: {topology.kubernetes.io/zone: [a, b], tier: ['1']}", tmp_path)

    assert {"topology.kubernetes.io/zone": ("a", "b"), "tier": ("1",)} == found.domains


def test_domains_are_labels(tmp_path: Path) -> None:
    found = problems("domains: {/zone: [a], zone: [a, -b, a, 1], tier: [], rack: x}", tmp_path)

    assert [
        "1:11: not a label key: /zone: prefix part must be non-empty",
        "1:33: domains.zone: -b: a valid label must be an empty string or consist of",
        "1:37: domains.zone: a: it is listed twice",
        "1:40: domains.zone[3]: must be text, not a number: 1",
        "1:50: domains.tier: the list is empty",
        "1:60: domains.rack: must be a list, not text: x",
    ] == [line.partition(" alphanumeric")[0] for line in found]


def test_a_profile_is_read(tmp_path: Path) -> None:
    assert RuleProfile.STRICT is loaded("profile: strict", tmp_path).profile


def test_all_that_is_wrong_is_told_at_its_place(tmp_path: Path) -> None:
    assert [
        "1:1: unknown key `profil`: did you mean `profile`?",
        "2:9: select: must be text or a list, not a mapping",
        "3:10: no rule is called `daemonsett`: did you mean `daemonset`?",
        "3:22: ignore[1]: must be text, not a number: 5",
        "4:20: severity.SPR401: must be one of error, warning, info: off",
        "4:25: no rule is called `x`",
        "4:28: severity.x: must be one of error, warning, info: fatal",
        "5:9: failOn: must be one of error, warning, info, never: eror; did you mean `error`?",
        "6:20: kubernetesVersion: the rules of Kubernetes 1.99 are not known: only 1.18 to 1.38",
        "7:8: paths: the list is empty",
        "8:11: exclude[0]: not a glob, as in .gitignore but without `!`: !a",
        "8:17: exclude[1]: the text is empty",
        "9:10: baseline: must be text, but is empty",
    ] == problems(
        """\
profil: strict
select: {a: b}
ignore: [daemonsett, 5]
severity: {SPR401: off, x: fatal}
failOn: eror
kubernetesVersion: 1.99
paths: []
exclude: ["!a", ""]
baseline:
""",
        tmp_path,
    )


def test_all_that_is_wrong_in_entries_is_told(tmp_path: Path) -> None:
    assert [
        "2:3: perFile[0]: `files` is missing: the files for which the entry applies, as globs",
        "3:3: perFile[1]: it is empty",
        "4:3: perFile[2]: must be a mapping, not a number: 5",
        "6:3: ignores[0]: `reason` is missing: a sentence that says why these findings are accepted",
        "6:18: ignores[0]: unknown key `resaon`: did you mean `reason`?",
        "7:26: ignores[1].reason: not a sentence that says why these findings are accepted:  ",
        "8:11: no rule is called `shape`",
        "10:10: podspecPaths[0].kind: not a kind, as in manifests: foo",
        "10:21: podspecPaths[0].path: not a path of fields to the pod template, such as spec.podTemplate or spec.pools[*].template: a..b",  # noqa: E501
        "11:36: `apiVersion` names a group, too: leave one of them out",
    ] == problems(
        """\
perFile:
- ignore: [SPR4]
- files: x
- 5
ignores:
- {rule: SPR401, resaon: x}
- {rule: SPR401, reason: " "}
- {rule: [shape], reason: x}
podspecPaths:
- {kind: foo, path: a..b}
- {kind: Foo, path: spec.template, group: a, apiVersion: a/v1}
""",
        tmp_path,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a", "1:1: must be a mapping, not a list"),
        ("5", "1:1: must be a mapping, not a number: 5"),
        ("~", "1:1: must be a mapping, but is empty"),
        ("failOn: error\nfailOn: error", "2:1: `failOn` is written twice"),
        ("null: 1\nfailOn: error", "1:1: unknown key `null`: the keys are profile, select,"),
        ("select: [[a]]", "1:10: select[0]: must be text, not a list"),
        ("select: ','", "1:9: select: not codes, prefixes or names of rules: ,"),
        ("failOn: [error]", "1:9: failOn: must be one of error, warning, info, never: a list"),
        ("failOn:", "1:8: failOn: must be one of error, warning, info, never: empty"),
        ("failOn: yes", "1:9: failOn: must be one of error, warning, info, never: yes"),
        ("ignores: [{rule: [], reason: a}]", "1:18: ignores[0].rule: the list is empty"),
        ("profile: strict\nselect: SPR1", "2:1: `select` replaces the profile: leave one of them out"),
        ("kubernetesVersion: true", "1:20: kubernetesVersion: must be text or a number, not true or false: true"),
        (
            "kubernetesVersion: .nan",
            "1:20: kubernetesVersion: not a Kubernetes version: .nan; write it as 1.36 (1.18 to 1.38 are known)",
        ),
        (
            "kubernetesVersion: ''",
            "1:20: kubernetesVersion: not a Kubernetes version: ; write it as 1.36 (1.18 to 1.38 are known)",
        ),
        ("kubernetesVersion: [1.30]", "1:20: kubernetesVersion: must be text or a number, not a list"),
        ("severity: {SPR1: {a: b}}", "1:18: severity.SPR1: must be one of error, warning, info: a mapping"),
    ],
)
def test_an_absurd_config_is_one_problem(text: str, expected: str, tmp_path: Path) -> None:
    (found,) = problems(text, tmp_path)

    assert found.startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[", ":1:2: not YAML: did not find expected node content while parsing a flow node"),
        ("a: 1\n---\nb: 1\n", ":3:1: a config must be one YAML document, this has 2"),
        ("? [a]\n: b", ":1:3: not YAML: invalid map key: a mapping or sequence"),
        ("a: &a [*a]", ":1:8: not YAML: anchor `a` contains itself"),
        ("a: " + "[" * 1000, ":1:259: not YAML: nested deeper than 256 levels"),
        ("\0", ":1:1: not a text file: it holds a NUL byte"),
    ],
)
def test_what_is_no_yaml_cannot_be_read(text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises((ConfigError, SourceError)) as caught:
        loaded(text, tmp_path)

    assert str(caught.value) == f"{tmp_path / NAME}{expected}"
    assert isinstance(caught.value, SourceError) == ("not a text file" in expected)


def test_a_config_that_does_not_exist_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="the path does not exist"):
        config.load(str(tmp_path / "none.yaml"))


def test_the_nearest_config_is_found(tmp_path: Path) -> None:
    """Here, or above; it is named as one would from here."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / NAME).touch()

    assert str(Path("..", "..", NAME)) == config_path(str(tmp_path / "a" / "b"))

    (tmp_path / "a" / ".kubectl-spread.yml").touch()

    assert str(Path("..", ".kubectl-spread.yml")) == config_path(str(tmp_path / "a" / "b"))
    assert NAME == config_path(str(tmp_path))


def test_the_search_ends_at_the_repository_and_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The config of the repository itself counts; a work tree has a file `.git`."""
    for name in ("repository/a", "tree/a", "home/a", "c"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "tree" / ".git").touch()
    (tmp_path / NAME).touch()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    assert [None, None, None] == [config_path(str(tmp_path / name / "a")) for name in ("repository", "tree", "home")]
    assert config_path(str(tmp_path / "c")) is not None

    (tmp_path / "repository" / NAME).touch()

    assert str(Path("..", NAME)) == config_path(str(tmp_path / "repository" / "a"))


def test_a_directory_of_that_name_is_no_config(tmp_path: Path) -> None:
    (tmp_path / ".git").touch()
    (tmp_path / NAME).mkdir()

    assert config_path(str(tmp_path)) is None


TEXTS = st.sampled_from(
    ["", "a", "SPR1", "!a", " ", "error", "minimal", "karpenter", "Foo", "v1", "a/v1", "1.30", "a..b"]
)
ATOMS = TEXTS | st.sampled_from([None, True, False, 0, 5, 1.5])
NESTED = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["files", "rule", "SPR1"]), inner),
    max_leaves=4,
)


def entries(name: str) -> st.SearchStrategy[Any]:
    """Lists of such objects as the schema has under a key, most of them flawed."""
    keys = sorted(SCHEMA["properties"][name]["items"]["properties"])
    return st.lists(st.dictionaries(st.sampled_from([*keys, "other"]), NESTED, max_size=4) | ATOMS, max_size=2)


CONFIGS = st.dictionaries(st.sampled_from(sorted(SCHEMA["properties"])), NESTED, max_size=3) | st.fixed_dictionaries(
    {}, optional={name: entries(name) for name in ("perFile", "ignores", "podspecPaths")}
)


@pytest.mark.slow
@settings(max_examples=500)
@given(CONFIGS | NESTED)
@example({"kubernetesVersion": True})
@example({"ignores": [{"rule": "SPR1", "reason": "a", "file": ["a"]}]})
def test_the_shape_is_what_jsonschema_says(document: Any) -> None:
    """And where it is right, reading raises nothing but what the project calls an error."""
    (composed,) = compose.compose(SourceFile("config", json.dumps([document])))
    assert isinstance(composed, compose.Document)
    found = single_document.validate(composed.root.items[0], SCHEMA)[0]  # type: ignore[union-attr]

    assert VALIDATOR.is_valid(document) == (not found)


@pytest.mark.slow
@settings(max_examples=300)
@given(CONFIGS)
def test_no_config_is_a_bug(tmp_path_factory: pytest.TempPathFactory, document: Any) -> None:
    path = tmp_path_factory.mktemp("config") / NAME  # not where other tests would find it
    path.write_text(json.dumps(document))
    try:
        config.load(str(path))
    except ConfigError as error:
        unplaced = [problem for problem in error.problems if not problem.line]
    else:
        unplaced = []

    assert [] == unplaced


def keywords(schema: dict[str, Any]) -> set[str]:
    """The keywords of a schema and of all in it, but for those that say nothing of a document."""
    below = [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", ()),
        *(schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)),
    ]
    own = set(schema) - {"$schema", "$defs", "$comment", "title", "description"}
    return own.union(*map(keywords, below))


def test_the_schemas_have_only_keywords_that_are_followed() -> None:
    used = set()
    for name in ("config", "policy", "scenario", "topology", "baseline"):
        schema = schemas.load(name)
        Draft202012Validator.check_schema(schema)
        used |= keywords(schema)

    assert used == single_document.KEYWORDS


def test_only_some_rules_have_a_threshold(tmp_path: Path) -> None:
    text = "thresholds:\n  SPR401: 2\n  SPR7: 2\n  SPR308: none\n"

    assert [
        "2:3: SPR401 has no threshold: SPR308, SPR506, SPR701, SPR704 have one",
        "3:3: SPR7 has no threshold: SPR308, SPR506, SPR701, SPR704 have one",
        "4:11: thresholds.SPR308: must be a whole number, not text: none",
    ] == problems(text, tmp_path)
