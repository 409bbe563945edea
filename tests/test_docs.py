"""The documentation is what the program does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from kubectl_spread import schemas
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.sources import config, topology

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_generated_parts_are_current() -> None:
    """`make docs` would change nothing."""
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True)

    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.slow
def test_the_page_of_examples_is_current() -> None:
    """`make docs` would not change examples/README.md."""
    done = subprocess.run([sys.executable, ROOT / "docs" / "examples.py", "--check"], capture_output=True, text=True)

    assert (0, "") == (done.returncode, done.stderr)


def test_the_page_of_examples_has_every_scenario_once() -> None:
    """A new folder needs a place in one of the groups."""
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(scenarios/([^)]+)\)", page)

    assert sorted(path.name for path in (ROOT / "examples" / "scenarios").iterdir()) == sorted(linked)


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")) + ["../README.md"])
def test_links_lead_to_files(page: str) -> None:
    """Relative links of a page exist."""
    path = (ROOT / "docs" / page).resolve()
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text(encoding="utf-8"))

    assert [] == [target for target in targets if not (path.parent / target).exists()]


def test_the_topology_page_s_example_builds_a_cluster(tmp_path: Path) -> None:
    """The YAML of docs/topology.md is a topology."""
    (example,) = re.findall(
        r"```yaml\n(.*?)```", (ROOT / "docs" / "topology.md").read_text(encoding="utf-8"), re.DOTALL
    )
    file = tmp_path / "topology.yaml"
    file.write_text(example)
    cluster: Cluster = topology.load(str(file))

    assert ["cp", "old-1", "worker-a1", "worker-a2", "worker-b1", "worker-b2"] == [node.name for node in cluster.nodes]
    assert 2 == len(cluster.pods)


def test_the_configuration_page_s_example_has_every_key(tmp_path: Path) -> None:
    """It is a config, and each key of the schema that a config may have beside the others is in it."""
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    file = tmp_path / ".kubectl-spread.yaml"
    file.write_text(example)
    schema = schemas.load("config")["properties"]
    config.load(str(file))
    written = YAML(typ="safe").load(example)

    assert set(schema) - {"select"} == set(written)
    for name in ("ignores", "podspecPaths"):
        assert set(schema[name]["items"]["properties"]) == {key for entry in written[name] for key in entry}
    assert set(schema["perFile"]["items"]["properties"]) - {"extendSelect"} == {
        key for entry in written["perFile"] for key in entry
    }
