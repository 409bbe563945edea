"""What each command imports: start-up is kept by not importing, and this asserts it without a stopwatch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.manifests import DEPLOYMENT, ZONES

HEAVY = {
    "numpy",
    "jsonschema",
    "kubernetes",
    "yaml",
    "rich",
    "requests",
    "asyncio",
    "importlib.metadata",
    "dataclasses",
    "lsprotocol",
    "prometheus_client",
    "pygls",
}
PARSER = "_ruamel_yaml"

MANIFEST = DEPLOYMENT + ZONES


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "web.yaml"
    path.write_text(MANIFEST)
    return path


def imported_by(*args: str) -> set[str]:
    """The modules that a run of the program imports."""
    command = [sys.executable, "-X", "importtime", "-m", "kubectl_spread", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--help",),
        ("--version",),
        ("--bogus",),
        ("check", "--help"),
        ("check", "--bogus"),
        ("demo", "--help"),
        ("exporter", "--help"),
        ("exporter", "--listen", "nowhere"),
        ("init", "--help"),
        ("lsp", "--help"),
        ("simulate", "--help"),
        ("rebalance", "--help"),
        ("rebalance", "--bogus"),
        ("simulate", "drain", "a", "--bogus"),
        ("version", "--client"),
    ],
)
def test_help_version_and_usage_errors_import_neither_a_parser_nor_anything_heavy(args: tuple[str, ...]) -> None:
    imported = imported_by(*args)

    assert "click" in imported
    assert set() == imported & {*HEAVY, PARSER, "json"}


def test_checking_a_manifest_without_cluster_facts_imports_the_parser_and_nothing_heavy(manifest: Path) -> None:
    """Its findings need nothing heavy either."""
    assert {PARSER} == imported_by("check", str(manifest)) & {*HEAVY, PARSER}
    assert {PARSER} == imported_by("check", str(manifest), "--profile", "strict") & {*HEAVY, PARSER}


def test_counting_what_can_be_fixed_imports_neither_json_nor_textwrap(manifest: Path) -> None:
    """The fixes are tried in memory; text that goes to no terminal is not wrapped."""
    assert set() == imported_by("check", str(manifest), "--profile", "strict") & {"json", "textwrap"}


def test_a_config_does_not_import_anything_heavy_either(manifest: Path) -> None:
    (manifest.parent / "config.yaml").write_text("ignore: [SPR5]\nperFile:\n- {files: '*', severity: {SPR1: info}}\n")
    imported = imported_by("check", str(manifest), "--config", str(manifest.parent / "config.yaml"))

    assert "kubectl_spread.sources.single_document" in imported
    assert set() == imported & HEAVY


def test_a_finding_does_not_import_anything_heavy_either(manifest: Path) -> None:
    manifest.write_text(MANIFEST.replace("maxSkew: 1", "maxSkew: one"))
    imported = imported_by("check", str(manifest), "-o", "json")

    assert set() == imported & HEAVY


def test_a_file_without_a_workload_is_not_parsed(tmp_path: Path) -> None:
    """A file that the command line names is, so that its syntax errors are reported."""
    path = tmp_path / "config.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")

    assert PARSER not in imported_by("check", str(tmp_path))
    assert PARSER in imported_by("check", str(path))


def test_json_imports_no_yaml_parser(tmp_path: Path) -> None:
    """A manifest that a script has written."""
    path = tmp_path / "pod.json"
    path.write_text('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}')
    imported = imported_by("check", str(path))

    assert "kubectl_spread.text.json_nodes" in imported
    assert set() == imported & {*HEAVY, PARSER}


def test_explaining_a_message_imports_no_parser_and_nothing_heavy() -> None:
    imported = imported_by("explain", "--message", "0/3 nodes are available: 3 Insufficient cpu.")

    assert "kubectl_spread.explain.messages.parse" in imported
    assert set() == imported & {*HEAVY, PARSER}


def test_placing_replicas_imports_numpy_and_not_jsonschema_or_kubernetes(manifest: Path) -> None:
    imported = imported_by("check", str(manifest), "--topology", "zones=2,nodes=1")

    assert "numpy" in imported
    assert set() == imported & {"jsonschema", "kubernetes"}


def test_jinja2_is_imported_for_pages_only(manifest: Path) -> None:
    """A page of a check without cluster facts does not need numpy either."""
    assert "jinja2" not in imported_by("check", str(manifest), "--topology", "zones=2,nodes=1")
    assert {"jinja2"} == imported_by("check", str(manifest), "-o", "html") & {"jinja2", "numpy"}


def test_without_node_pools_nothing_about_karpenter_is_imported(manifest: Path) -> None:
    """Neither for a placement with Pending pods nor for its explanation."""
    for command in (("check", str(manifest)), ("explain", "-f", str(manifest))):
        imported = imported_by(*command, "--topology", "zones=2,nodes=1,cpu=0")

        assert "kubectl_spread.explain.replicas" in imported
        assert [] == [name for name in imported if "provisioners" in name or name.endswith(".added_nodes")]


def test_an_interrupt_while_modules_are_imported_leaves_no_traceback() -> None:
    """As Ctrl-C in the first tenth of a second."""
    program = """
import sys

class Interrupted:
    def find_spec(self, name, *_):
        if name == "kubectl_spread.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from kubectl_spread.__main__ import main
main()
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (run.returncode, run.stdout, run.stderr.strip()) == (130, "", "interrupted")
