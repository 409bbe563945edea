"""The workflows and the action: they are held to the project, and what the action runs is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from kubectl_spread import __version__
from release import build
from tests import krew
from tests.manifests import POD

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".github" / "workflows"
BASH = shutil.which("bash")


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    return loaded


WORKFLOWS = {path.stem: load(path) for path in sorted(FOLDER.glob("*.yml"))}
ACTION = load(ROOT / "action.yml")


def steps() -> list[dict[str, Any]]:
    """Every step of every job, and of the action."""
    jobs = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
    return [step for job in jobs for step in job["steps"]] + list(ACTION["runs"]["steps"])


def commands() -> str:
    return "\n".join(step.get("run", "") for step in steps())


# Workflows


def test_pythons_are_those_of_the_classifiers() -> None:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    classified = re.findall(r"Python :: (3\.\d+)$", config["metadata"]["classifiers"], re.MULTILINE)
    matrix = WORKFLOWS["test"]["jobs"]["test"]["strategy"]["matrix"]

    assert classified == matrix["python"]
    assert f">={classified[0]}" == config["options"]["python_requires"]
    assert ["ubuntu-latest", "macos-latest", "windows-latest"] == matrix["os"]


def test_actions_are_pinned_to_a_commit() -> None:
    """A tag can be moved to other code; the comment behind says which release it is."""
    texts = [path.read_text(encoding="utf-8") for path in (*FOLDER.glob("*.yml"), ROOT / "action.yml")]
    used = [line for text in texts for line in text.splitlines() if re.search(r"\buses: [^.]", line)]

    assert len(used) == len([step for step in steps() if not step.get("uses", "./").startswith("./")])
    assert [] == [line for line in used if not re.search(r"@[0-9a-f]{40}  # v\d+\.\d+\.\d+$", line)]


def test_tools_of_the_release_have_a_version() -> None:
    """An archive is built and listed by the same tools as when it was last tried; uv's version decides the Python."""
    text = "\n".join(step.get("run", "") for job in WORKFLOWS["release"]["jobs"].values() for step in job["steps"])

    for tool in ("build", "uv", "cyclonedx-bom"):
        found = re.findall(rf"(?:install|--from) (?:\S+ )*?{tool}(\S*)", text)
        assert found
        assert all(re.fullmatch(r"==\d+(\.\d+)+", version) for version in found), tool


def test_no_checkout_leaves_its_token_behind() -> None:
    checkouts = [step for step in steps() if step.get("uses", "").startswith("actions/checkout@")]

    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_what_make_is_asked_for_is_in_the_makefile() -> None:
    asked = re.findall(r"\bmake (\S+)", commands())
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)

    assert {"test", "release", "site"} == set(asked)
    assert set(asked) <= set(targets)


def test_the_readme_names_the_commands_of_a_fresh_clone() -> None:
    development = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Development\n")[2]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert ["make demo", "make test"] == re.findall(r"^make \w+", development, re.MULTILINE)
    assert re.search(r"^demo: \$\(RUN\)$", makefile, re.MULTILINE)  # without what only the tests need
    assert re.search(r"^\$\(RUN\):.*\n(?:\t.*\n)*\t@\$\(PIP\) --editable \.\n", makefile, re.MULTILINE)


def test_files_that_workflows_name_are_there() -> None:
    """As a word of a command, or as a value for an action."""
    values = [str(value) for step in steps() for value in (step.get("with") or {}).values()]
    words = " ".join([*values, commands()]).replace("source/", "").split()
    folders = "|".join(path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
    found = {word for word in words if re.match(rf"({folders})/[\w/.-]+$", word)}
    named = {word for word in found if not word.startswith(("build/", "dist/"))}

    assert {"tests/e2e/kind.yaml", "tests/e2e/run.sh", "examples/shop/web.yaml"} <= named
    assert [] == [name for name in sorted(named) if not (ROOT / name).exists()]


def test_every_archive_is_tried_before_it_is_released() -> None:
    jobs = WORKFLOWS["release"]["jobs"]
    for job in ("archives", "try"):
        named = [entry["platform"] for entry in jobs[job]["strategy"]["matrix"]["include"]]

        assert [name.replace("-", "_") for name in build.PLATFORMS] == named
        assert "release/trial.py" in str(jobs[job]["steps"])
    needs = {name: jobs[name]["needs"] for name in ("assemble", "try", "pypi", "github", "krew")}

    assert {"assemble": "archives", "try": "assemble", "pypi": "try", "github": "try", "krew": "github"} == needs


def test_every_archive_has_its_provenance_and_its_libraries_attested() -> None:
    job = WORKFLOWS["release"]["jobs"]["archives"]
    used = [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]

    assert {"contents": "read", "id-token": "write", "attestations": "write"} == job["permissions"]
    assert ["actions/attest-build-provenance", "actions/attest-sbom"] == [name for name in used if "attest" in name]


def test_workflows_may_only_read_but_for_what_jobs_say() -> None:
    assert [{"contents": "read"}] * len(WORKFLOWS) == [workflow["permissions"] for workflow in WORKFLOWS.values()]


def test_what_comes_from_outside_is_no_part_of_a_script() -> None:
    """Contexts that others fill come by the environment: in a script's text they would be run."""
    found = {name for name in re.findall(r"\$\{\{\s*([\w.]+)", commands()) if not name.startswith("matrix.")}

    assert set() == found


def test_the_platforms_of_krew_that_are_missing_are_known() -> None:
    """Those of 64 bits, but for Windows on arm64, and none of 32."""
    packed = {tuple(name.split("-")) for name in build.PLATFORMS}

    assert {("windows", "arm64"), ("linux", "ppc64le")} == {
        (system, arch) for system, arch in krew.KNOWN_PLATFORMS - packed if "64" in arch
    }


# The action


def _step(name: str) -> dict[str, Any]:
    (found,) = (step for step in ACTION["runs"]["steps"] if step.get("name") == name)
    return dict(found)


def _run(name: str, home: Path, inputs: dict[str, str]) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run a step as GitHub does, in `home`/work; the process, and the step's outputs."""
    step = _step(name)
    given = {key: entry.get("default", "") for key, entry in ACTION["inputs"].items()} | inputs
    context = {f"inputs.{key}": value for key, value in given.items()}
    context |= {"steps.python.outputs.python-path": sys.executable, "github.action_path": str(home / "action")}
    outputs = home / "outputs"
    outputs.write_text("")
    env = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        **{key: context[re.sub(r"[${} ]", "", value)] for key, value in step["env"].items()},
        "GITHUB_OUTPUT": str(outputs),
        "RUNNER_TEMP": str(home / "temp"),
        "PIP_NO_DEPS": "1",  # they are in the environment that runs this
        "PIP_NO_BUILD_ISOLATION": "0",
    }
    script = home / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    (home / "work").mkdir(exist_ok=True)
    command = [str(BASH), "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
    done = subprocess.run(command, env=env, cwd=home / "work", capture_output=True, text=True)
    return done, dict(line.split("=", 1) for line in outputs.read_text().splitlines())


@pytest.mark.slow
@pytest.mark.skipif(BASH is None, reason="the action's steps are for bash")
def test_the_action_installs_itself_and_checks(tmp_path: Path) -> None:
    """Paths may have spaces; the exit code is check's; findings are on the lines and in the SARIF file."""
    for name in build.SOURCES:
        source, target = ROOT / name, tmp_path / "action" / name
        target.parent.mkdir(exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    deploy = tmp_path / "work" / "my deploy"
    deploy.mkdir(parents=True)
    (deploy / "bad.yaml").write_text(POD.replace("SKEW", "0"))
    (tmp_path / "work" / "good.yaml").write_text(POD.replace("SKEW", "1"))
    (tmp_path / "work" / "kubectl_spread").mkdir()  # what is checked out must not be what is imported
    (tmp_path / "work" / "kubectl_spread" / "__main__.py").write_text("raise SystemExit(7)")
    installed, _ = _run("Install kubectl spread", tmp_path, {})
    assert 0 == installed.returncode, installed.stderr
    check = "Check topology spread constraints"
    bad, wrote = _run(check, tmp_path, {"paths": "my deploy\ngood.yaml\n"})
    results = json.loads((tmp_path / "work" / wrote["sarif"]).read_text())["runs"][0]["results"]
    good, _ = _run(check, tmp_path, {"paths": "good.yaml", "args": "--ignore SPR4", "sarif": "a b.sarif"})
    project, _ = _run(check, tmp_path, {})
    lenient, _ = _run(check, tmp_path, {"fail-on": "never"})
    misused, nothing = _run(check, tmp_path, {"args": "--no-such-flag"})

    assert (0, True) == (installed.returncode, (tmp_path / "temp" / "kubectl-spread").is_dir()), installed.stderr
    assert (1, {"sarif": "kubectl-spread.sarif"}) == (bad.returncode, wrote), bad.stderr
    assert bad.stdout.startswith("::error file=my deploy/bad.yaml,line=6,")
    assert ["my%20deploy/bad.yaml"] == [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results
    ]
    assert (0, "", True) == (good.returncode, good.stdout, (tmp_path / "work" / "a b.sarif").exists())
    assert (1, True) == (project.returncode, "my deploy/bad.yaml" in project.stdout)
    assert 0 == lenient.returncode
    assert (2, {}) == (misused.returncode, nothing)


def test_the_action_uploads_what_check_wrote_even_if_it_failed() -> None:
    upload = _step("Upload the findings")
    condition = "!cancelled() && inputs.upload-sarif == 'true' && steps.check.outputs.sarif != ''"

    assert f"${{{{ {condition} }}}}" == upload["if"]
    assert "${{ steps.check.outputs.sarif }}" == upload["with"]["sarif_file"] == ACTION["outputs"]["sarif"]["value"]
    assert "check" == _step("Check topology spread constraints")["id"]


def test_the_page_about_installing_has_the_action_s_inputs_and_defaults() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (?:`(.*?)`)? ?\|", page, re.MULTILINE)
    (example,) = (part for part in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "jobs:" in part)
    (_, step) = YAML(typ="safe").load(example)["jobs"]["spread"]["steps"]

    assert {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()} == dict(rows)
    assert set(step["with"]) <= set(ACTION["inputs"])


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_versions_to_copy_are_the_current_one(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"(?:rev: |kubectl-spread@|kubectl-spread_)(v\d\S*?)(?=_|`|\s)", text)

    assert [f"v{__version__}"] * max(1, len(named)) == named


def test_inputs_of_the_action_are_all_used() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))

    assert used == set(ACTION["inputs"])
    assert {"true", "false"} >= {ACTION["inputs"]["upload-sarif"]["default"]}
