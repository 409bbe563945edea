"""The documentation is what the program does."""

from __future__ import annotations

import importlib
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
CONTRIBUTORS = ("CONTRIBUTING.md", "docs/development/architecture.md", "docs/development/testing.md")


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


def test_the_pages_for_contributors_name_what_exists() -> None:
    """Files, modules with or without `.py`, and `module.name`; a placeholder such as <rule> stands for any name."""
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in CONTRIBUTORS]
    words = {word for text in texts for word in re.findall(r"`([\w.-]+/[^`\s]*)`", text)}
    tops = [ROOT, ROOT / "kubectl_spread", ROOT / "tests"]

    def exists(word: str) -> bool:
        pattern = re.sub(r"<\w+>", "*", word.rstrip("/"))
        module, _, name = pattern.rpartition(".")
        for top in tops:
            if any(top.glob(pattern)) or any(top.glob(f"{pattern}.py")):
                return True
            if any(re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")) for path in top.glob(f"{module}.py")):
                return True
        return False

    assert len(words) > 50
    assert set() == {word for word in words if not exists(word) and not word.startswith("kubectl-spread.test/")}


def test_the_entries_of_the_packages_exist() -> None:
    """The table of packages has each package, and `package.entry` can be imported."""
    page = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w[^|]*) \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    packages = {path.parent.name for path in (ROOT / "kubectl_spread").glob("*/__init__.py")}

    assert packages <= {name for names, _ in rows for name in re.findall(r"`(\w+)`", names)}
    for package, entries in rows:
        for entry in re.findall(r"`([\w.]+\.\w+)`", entries):
            module, _, name = f"kubectl_spread.{package.strip('`')}.{entry}".rpartition(".")
            assert hasattr(importlib.import_module(module), name), (package, entry)
