"""The hooks, run by pre-commit itself: it clones this repository and installs it as it would for a user."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.manifests import POD

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="pre-commit installs from a repository, this is none")
def test_the_hooks_find_what_is_staged_and_what_is_there_and_mend_it(tmp_path: Path) -> None:
    """The first sees tracked files but for a chart's templates, the last the whole project, none what is excluded."""
    project = tmp_path / "project"
    for name, skew in {
        "good.yaml": "1",
        "deploy/bad.yaml": "0",
        "chart/templates/web.yaml": "0",
        "text.yaml": '"1"',
        "vendor/old.yaml": "0",
    }.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(POD.replace("SKEW", skew))
    (project / ".kubectl-spread.yaml").write_text("exclude: vendor\n")
    env = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "PIP_COMPILE": "0"}
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        env.pop(name, None)
    subprocess.run(["git", "init", "-q", project], check=True, env=env)
    subprocess.run(["git", "add", "--all"], check=True, env=env, cwd=project)
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "--all-files", "--color=never"]
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)
    tracked, _, rest = done.stdout.partition("kubectl spread check --fix")
    mending, _, whole = rest.partition("check, the whole project")

    assert 1 == done.returncode, done.stdout + done.stderr
    assert ["deploy/bad.yaml:6:14"] == re.findall(r"^(\S+): error", mending, re.MULTILINE)
    assert POD.replace("SKEW", "1") == (project / "text.yaml").read_text()
    assert ["deploy/bad.yaml:6:14"] == re.findall(r"^(\S+): error SPR101", tracked, re.MULTILINE)
    assert {"chart/templates/web.yaml:6:14", "deploy/bad.yaml:6:14"} == {
        os.path.normpath(place) for place in re.findall(r"^(\S+): error SPR101", whole, re.MULTILINE)
    }
