"""`init` proposes a configuration and a pre-commit hook that fit a repository."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread import __version__
from kubectl_spread.cli.main import run
from kubectl_spread.sources import config, files

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: web}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: example.com/rack
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
"""
HOOKS = """\
# our hooks
repos:
  - repo: https://github.com/pre-commit/pre-commit-hooks
    rev: v5.0.0
    hooks:
      - id: check-yaml   # keep

exclude: ^old/
"""
OURS = "https://github.com/kubectl-spread/kubectl-spread"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty git repository, which is the working directory."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(root: Path, **files: str) -> None:
    """Write files; `__` in a name is a slash, and a missing extension is `.yaml`."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path = path if path.suffix else path.with_suffix(".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def written(root: Path, name: str = ".kubectl-spread.yaml") -> Any:
    return YAML(typ="safe").load((root / name).read_text())


def proposed(root: Path) -> Any:
    """The settings that init writes; they are a valid configuration."""
    assert 0 == run(["init", "--write"])
    config.load(str(root / ".kubectl-spread.yaml"))
    return written(root)


def test_nothing_is_written_without_the_option(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(repository, deploy__web=WEB)
    assert 0 == run(["init"])
    out, err = capsys.readouterr()

    assert [".git", "deploy"] == sorted(path.name for path in repository.iterdir())
    assert out.startswith("--- /dev/null\n+++ b/.kubectl-spread.yaml\n@@ -0,0 +1,")
    assert "\n--- /dev/null\n+++ b/.pre-commit-config.yaml\n" in out
    assert ".: 1 workload, 0 kustomizations in 1 file\nnothing was written; --write writes these files\n" == err


def test_outside_of_git_no_hook_is_proposed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / ".git").rmdir()
    assert 0 == run(["init"])
    out, err = capsys.readouterr()

    assert "pre-commit" not in out
    assert "\nno pre-commit hook is proposed: this is not a git repository\n" in err


def test_the_shown_diff_is_a_patch_that_git_applies(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It makes the same files as --write; also where a file exists."""
    put(repository, deploy__web=WEB)
    (repository / ".pre-commit-config.yaml").write_text(HOOKS)
    assert 0 == run(["init"])
    patch = capsys.readouterr().out
    (repository / ".git").rmdir()
    subprocess.run(["git", "apply", "-"], input=patch, text=True, check=True, cwd=repository)
    (repository / ".git").mkdir()
    applied = [(repository / name).read_text() for name in (".kubectl-spread.yaml", ".pre-commit-config.yaml")]
    (repository / ".kubectl-spread.yaml").unlink()
    (repository / ".pre-commit-config.yaml").write_text(HOOKS)
    assert 0 == run(["init", "--write"])

    assert applied == [(repository / name).read_text() for name in (".kubectl-spread.yaml", ".pre-commit-config.yaml")]


@pytest.mark.parametrize("place", ["web", "deploy__web"])
def test_a_second_run_changes_nothing(place: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(repository, **{place: WEB})
    assert 0 == run(["init", "--write"])
    capsys.readouterr()
    assert 0 == run(["init", "--write"])
    out, err = capsys.readouterr()

    assert "" == out
    assert err.endswith(".kubectl-spread.yaml has everything already\n.pre-commit-config.yaml has everything already\n")


def test_an_empty_directory_has_a_profile_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git there is no pre-commit hook."""
    monkeypatch.chdir(tmp_path)

    assert {"profile": "default", "paths": ["."]} == proposed(tmp_path)
    assert [".kubectl-spread.yaml"] == [path.name for path in tmp_path.iterdir()]


def test_a_subdirectory_stands_for_its_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(repository, deploy__web=WEB)
    monkeypatch.chdir(repository / "deploy")

    assert 0 == run(["init", "--write"])
    assert (repository / ".kubectl-spread.yaml").exists()
    assert 0 == run(["init", str(repository)])


@pytest.mark.parametrize(
    "files",
    [
        {"deploy__web": WEB, "docs__site": "a: 1\n"},
        {"a__x__web": WEB, "a__y__web": WEB},
        {"deploy__web": WEB, "vendor__x__y": "a: 1\n"},
        {"c__web__Chart": "name: web\nkubeVersion: '>=1.25'\n", "c__web__templates__d": WEB},
    ],
)
def test_nothing_is_guessed_from_the_layout(files: dict[str, str], repository: Path) -> None:
    put(repository, **files)

    assert {"profile": "default", "paths": ["."]} == proposed(repository)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("status: {nodeInfo: {kubeletVersion: v1.33.1-gke.1}}\n", "1.33"),
        (
            (
                "status: {nodeInfo: {kubeletVersion: v1.34.0}}\n---\nkind: Node\napiVersion: v1\n"
                "status: {nodeInfo: {kubeletVersion: v1.32.9}}\n"
            ),
            "1.32",
        ),
        ("status: {nodeInfo: {kubeletVersion: v1.99.0}}\n", None),
        ("status: {nodeInfo: [1]}\n", None),
    ],
)
def test_the_lowest_version_of_the_nodes_is_proposed(text: str, version: object, repository: Path) -> None:
    put(repository, nodes=f"kind: Node\napiVersion: v1\n{text}")

    assert version == proposed(repository).get("kubernetesVersion")


ZONE = "topology.kubernetes.io/zone"
NODES = f"""\
apiVersion: v1
kind: List
items:
- {{apiVersion: v1, kind: Node, metadata: {{labels: {{{ZONE}: b, example.com/rack: r, other: x}}}}}}
- {{apiVersion: v1, kind: Node, metadata: {{labels: {{{ZONE}: a, kubernetes.io/hostname: n}}}}}}
"""


@pytest.mark.parametrize("path", ["examples__nodes", "tests__fixtures__nodes", "openapi__nodes", "vendor__x__nodes"])
def test_an_example_says_nothing_of_the_clusters(path: str, repository: Path) -> None:
    version = "kind: Node\napiVersion: v1\nstatus: {nodeInfo: {kubeletVersion: v1.33.1}}\n"
    put(repository, **{path: f"{NODES}---\n{version}"})

    assert {"kubernetesVersion", "domains"}.isdisjoint(proposed(repository))


def test_zones_come_from_nodes(repository: Path) -> None:
    put(repository, web=WEB, cluster=NODES)

    assert {ZONE: ["a", "b"]} == proposed(repository)["domains"]


def test_zones_on_which_files_disagree_are_not_written(repository: Path) -> None:
    for name in "ab":
        put(repository, **{name: f"kind: Node\napiVersion: v1\nmetadata: {{labels: {{{ZONE}: {name}}}}}\n"})

    assert "domains" not in proposed(repository)


def test_the_whole_configuration_is_short_and_gives_reasons(repository: Path) -> None:
    nodes = NODES.replace("kind: Node, metadata", "kind: Node, status: {nodeInfo: {kubeletVersion: v1.33.1}}, metadata")
    put(repository, web=WEB, cluster=nodes)
    proposed(repository)
    lines = (repository / ".kubectl-spread.yaml").read_text().splitlines()

    assert len(lines) <= 20
    assert lines[2:] == [
        "# Rules: minimal (errors only), default, or strict (all rules, with opinions).",
        "profile: default",
        "# What `kubectl spread check` reads if no file is named: everything below this directory.",
        "paths: [.]",
        "# The lowest version of the kubelets in cluster.yaml.",
        'kubernetesVersion: "1.33"',
        "# Labels of the nodes in cluster.yaml.",
        "domains:",
        f"  {ZONE}: [a, b]",
    ]


@pytest.mark.parametrize(
    ("files", "hook"),
    [
        ({"web": WEB}, "kubectl-spread"),
        ({"web": WEB, "kustomization": "resources: [web.yaml]\n"}, "kubectl-spread-project"),
        ({"hpa": "kind: HorizontalPodAutoscaler\napiVersion: autoscaling/v2\n"}, "kubectl-spread-project"),
    ],
)
def test_the_hook_sees_all_files_where_they_belong_together(files: dict[str, str], hook: str, repository: Path) -> None:
    put(repository, **files)
    proposed(repository)

    assert {"repos": [{"repo": OURS, "rev": f"v{__version__}", "hooks": [{"id": hook}]}]} == written(
        repository, ".pre-commit-config.yaml"
    )


def test_an_existing_pre_commit_file_gets_one_more_entry(repository: Path) -> None:
    """In its own style, and nothing else in it changes."""
    (repository / ".pre-commit-config.yaml").write_text(HOOKS)
    proposed(repository)
    entry = f'  - repo: "{OURS}"\n    rev: v{__version__}\n    hooks:\n      - id: kubectl-spread\n'

    assert HOOKS.replace("# keep\n", f"# keep\n{entry}") == (repository / ".pre-commit-config.yaml").read_text()


@pytest.mark.parametrize(
    "text",
    [
        f"repos:\n- repo: {OURS}.git\n  rev: v0.0.1\n  hooks: [{{id: kubectl-spread-fix}}]\n",
        "repos:\n- repo: local\n  hooks:\n  - id: kubectl-spread\n    entry: kubectl-spread check\n",
    ],
)
def test_an_existing_hook_stays_as_it_is(text: str, repository: Path) -> None:
    (repository / ".pre-commit-config.yaml").write_text(text)
    proposed(repository)

    assert text == (repository / ".pre-commit-config.yaml").read_text()


@pytest.mark.parametrize("text", ["repos: &a []\nx: *a\ny: [\n", "- repos\n", "a: 1\n---\nb: 2\n", ""])
def test_a_file_that_cannot_be_edited_safely_is_not_touched(
    text: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / ".pre-commit-config.yaml").write_text(text)
    proposed(repository)

    assert text == (repository / ".pre-commit-config.yaml").read_text()
    assert (
        f".pre-commit-config.yaml cannot be edited safely; add this to it:\n\n- repo: {OURS}\n"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_existing_configuration_gets_the_settings_that_it_lacks(newline: str, repository: Path) -> None:
    """Its comments and its own settings stay, as do its line ends."""
    put(repository, web=WEB, nodes=NODES, kind="a: kindest/node:v1.33.0\n")
    mine = f"# mine{newline}kubernetesVersion: 1.29 # old{newline}ignore: SPR5"
    (repository / ".kubectl-spread.yml").write_bytes(mine.encode())

    assert 0 == run(["init", "--write"])
    after = (repository / ".kubectl-spread.yml").read_bytes().decode()
    assert not (repository / ".kubectl-spread.yaml").exists()
    assert after.startswith(mine + newline + newline)
    assert after.count("\n") == after.count(newline)
    assert {
        "ignore": "SPR5",
        "kubernetesVersion": 1.29,
        "paths": ["."],
        "domains": {ZONE: ["a", "b"]},
    } == YAML(typ="safe").load(after)


def test_a_configuration_in_braces_is_not_touched(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(repository, nodes=NODES)
    (repository / ".kubectl-spread.yaml").write_text("{profile: strict}\n")

    assert 0 == run(["init", "--write"])
    assert "{profile: strict}\n" == (repository / ".kubectl-spread.yaml").read_text()
    assert f"paths: [.]\n# Labels of the nodes in nodes.yaml.\ndomains:\n  {ZONE}: [a, b]\n" in capsys.readouterr().err


def test_an_invalid_configuration_is_reported(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / ".kubectl-spread.yaml").write_text("profile: strickt\n")

    assert 2 == run(["init"])
    assert capsys.readouterr().err.startswith(f"error: {repository}/.kubectl-spread.yaml:1:10: profile: must be one of")


def test_broken_files_are_skipped(repository: Path) -> None:
    put(repository, broken="kind: [\n", deploy__web=WEB, binary="kind: \0\n")
    (repository / "link.yaml").symlink_to("nowhere")

    assert {"profile": "default", "paths": ["."]} == proposed(repository)


def test_a_missing_directory_is_unreadable(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == run(["init", "nowhere", "more"])
    assert 3 == run(["init", "/no/such/directory"])
    assert capsys.readouterr().err.endswith("error: /no/such/directory: no such file or directory\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("web.yaml", "error: web.yaml: init looks at a directory; this is a file\n"),
        ("nowhere", "error: nowhere: no such file or directory\n"),
        ("", 'error: "": no such file or directory\n'),
    ],
)
def test_a_path_that_is_no_directory_has_one_message(
    name: str, message: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(repository, web=WEB)

    assert 3 == run(["init", name])
    assert ("", message) == capsys.readouterr()


def test_the_configuration_of_pre_commit_is_no_checked_file(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(repository, web=WEB)
    (repository / ".pre-commit-config.yaml").write_text(HOOKS)
    run(["check", "."])

    assert "in 1 file:" in capsys.readouterr().err


def test_after_init_a_check_needs_no_file(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And a hint names the workflow. Neither the configuration, the baseline nor a policy is a checked file."""
    put(repository, deploy__web=WEB, policy="# ours\n---\napiVersion: kubectl-spread/v1\nkind: Policy\n")
    assert 0 == run(["init", "--write"])
    assert f"`uses: kubectl-spread/kubectl-spread@v{__version__}` checks the same on GitHub" in capsys.readouterr().err
    assert 0 == run(["check", "--write-baseline", "baseline.json"])
    capsys.readouterr()

    assert 0 == run(["check"])
    assert capsys.readouterr().err.startswith("checked 1 workload in 1 file: ")
    assert 0 == run(["check", "--show-files"])
    assert "./deploy/web.yaml\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# ours\n---\napiVersion: kubectl-spread/v1\nkind: Policy\n", True),
        ('{"apiVersion": "kubectl-spread/v1", "kind": "Baseline"}', True),
        ('{\n  "apiVersion": "kubectl-spread/v1",\n  "kind": "Baseline"\n}', True),
        ('{"apiVersion": "kubectl-spread/v1", "kind": "Snapshot"}', False),
        ("apiVersion: kubectl-spread/v1\nkind: Snapshot\n", False),
        ("apiVersion: v1\nkind: ConfigMap\ndata: {a: 'apiVersion: kubectl-spread/v1, kind: Policy'}\n", False),
    ],
)
def test_documents_of_this_program_are_no_manifests(text: str, expected: bool) -> None:
    """A snapshot in a directory has a note of its own."""
    assert expected is files.is_own(text)
