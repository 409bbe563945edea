"""What each command imports: start-up is kept by not importing, and this asserts it without a stopwatch."""

from __future__ import annotations

import importlib.util
import inspect
import py_compile
import subprocess
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import Optional

import click
import pytest

import kubectl_spread
from kubectl_spread.cli import click_start, own_modules

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

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: web}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
"""


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


def test_checking_a_manifest_without_cluster_facts_imports_no_parser_where_it_is_simple(manifest: Path) -> None:
    """Its findings need none either; a value of two lines imports the parser, and nothing else that is heavy."""
    imported = imported_by("check", str(manifest), "--profile", "strict")
    manifest.write_text(MANIFEST.replace("image: web}", "image: web, args: [a,\n        b]}"))

    assert set() == imported & {*HEAVY, PARSER}
    assert {PARSER} == imported_by("check", str(manifest)) & {*HEAVY, PARSER}


def test_checking_a_manifest_imports_no_typing(manifest: Path) -> None:
    """Its annotations are texts. A module of another package that asks for it gets the real one."""
    code = """
import sys
from kubectl_spread.cli.click_start import import_click
import_click()
import kubectl_spread.cli.commands.check, kubectl_spread.lint.pipeline
assert "_typing" not in sys.modules
import typing
assert typing.get_args(typing.Optional[int]) == (int, type(None))
assert "_typing" in sys.modules and sys.modules["typing"] is not typing
from typing import Optional
assert Optional is typing.Optional
import numpy, kubectl_spread.scheduler.cycle, kubectl_spread.simulate.replicas
"""
    assert "_typing" not in imported_by("check", str(manifest), "--profile", "strict")
    assert 0 == subprocess.run([sys.executable, "-c", code], check=False).returncode


def test_counting_what_can_be_fixed_imports_neither_json_nor_textwrap(manifest: Path) -> None:
    """The fixes are tried in memory; text that goes to no terminal is not wrapped."""
    assert set() == imported_by("check", str(manifest), "--profile", "strict") & {"json", "textwrap"}


def test_a_config_does_not_import_anything_heavy_either(manifest: Path) -> None:
    (manifest.parent / "config.yaml").write_text("ignore: [SPR5]\nperFile:\n- {files: '*', severity: {SPR1: info}}\n")
    imported = imported_by("check", str(manifest), "--config", str(manifest.parent / "config.yaml"))

    assert "kubectl_spread.sources.json_schema" in imported
    assert set() == imported & HEAVY


def test_a_finding_does_not_import_anything_heavy_either(manifest: Path) -> None:
    manifest.write_text(MANIFEST.replace("maxSkew: 1", "maxSkew: one"))
    imported = imported_by("check", str(manifest), "-o", "json")

    assert set() == imported & HEAVY


def test_a_file_without_a_workload_is_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")

    assert PARSER not in imported_by("check", str(path))


def test_json_imports_no_yaml_parser(tmp_path: Path) -> None:
    """A manifest that a script has written."""
    path = tmp_path / "pod.json"
    path.write_text('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}')
    imported = imported_by("check", str(path))

    assert "kubectl_spread.text.json_nodes" in imported
    assert set() == imported & {*HEAVY, PARSER}


def test_explaining_a_message_imports_no_parser_and_nothing_heavy() -> None:
    imported = imported_by("explain", "--message", "0/3 nodes are available: 3 Insufficient cpu.")

    assert "kubectl_spread.messages.parse" in imported
    assert set() == imported & {*HEAVY, PARSER}


def test_placing_replicas_imports_numpy_and_not_jsonschema_or_kubernetes(manifest: Path) -> None:
    imported = imported_by("check", str(manifest), "--topology", "zones=2,nodes=1")

    assert "numpy" in imported
    assert set() == imported & {"jsonschema", "kubernetes"}


def test_jinja2_is_imported_for_pages_only(manifest: Path) -> None:
    """A page of a check without cluster facts does not need numpy either."""
    assert "jinja2" not in imported_by("check", str(manifest), "--topology", "zones=2,nodes=1")
    assert {"jinja2"} == imported_by("check", str(manifest), "-o", "html") & {"jinja2", "numpy"}


UNUSED_BY_US = {"inspect", "dis", "uuid", "platform", "gettext", "locale"}


@pytest.mark.parametrize("args", [("--version",), ("check", "--bogus"), ("check", "web.yaml")])
def test_click_does_not_bring_what_it_hardly_uses(args: tuple[str, ...], manifest: Path) -> None:
    imported = imported_by(*(str(manifest) if word == "web.yaml" else word for word in args))

    assert set() == imported & UNUSED_BY_US


def test_after_click_everybody_gets_the_real_modules() -> None:
    """The stand-ins are there only while click is imported; what they lack, they take from the real ones."""
    code = """
from kubectl_spread.cli.click_start import import_click
import_click()
import inspect, uuid, gettext, click
assert inspect.signature and uuid.uuid4 and gettext.translation
assert click.UUID.convert(f"{{{7:032x}}}", None, None) == uuid.UUID(int=7)
assert click.core.inspect is not inspect
assert click.core.inspect.isfunction is inspect.isfunction
"""
    assert 0 == subprocess.run([sys.executable, "-c", code], check=False).returncode


@pytest.mark.parametrize(
    "text", ["", " one", "one\n    two\n      three\n\n    four\n", "\n\n  a\n\tb\n \n", "a\n \n  b"]
)
def test_help_texts_lose_their_indentation_as_inspect_strips_it(text: str) -> None:
    assert inspect.cleandoc(text) == click_start._cleandoc(text)


@pytest.mark.parametrize("name", ["text", "text.node", "report.pages", "errors", "cli.own_modules"])
def test_our_finder_makes_the_specs_that_pythons_finders_make(name: str) -> None:
    full = f"kubectl_spread.{name}"
    parent = sys.modules[importlib.import_module(full).__name__.rpartition(".")[0]]
    ours = own_modules._OwnModules.find_spec(full, parent.__path__)
    theirs = PathFinder.find_spec(full, parent.__path__)

    assert ours is not None
    assert theirs is not None
    assert isinstance(ours.loader, SourceFileLoader)
    assert isinstance(theirs.loader, SourceFileLoader)
    assert (ours.name, ours.submodule_search_locations) == (theirs.name, theirs.submodule_search_locations)
    assert (ours.origin, ours.cached, ours.has_location) == (theirs.origin, theirs.cached, theirs.has_location)
    assert ours.loader.get_code(full) == theirs.loader.get_code(full)


@pytest.mark.parametrize("compiled", [b"", b"no code", b"\0" * 16, None])
def test_our_loader_compiles_a_module_whose_compiled_file_is_not_up_to_date(
    compiled: Optional[bytes], tmp_path: Path
) -> None:
    """A compiled file is used while it has the time and size of its source, and no matter where it was compiled."""
    source = tmp_path / "some.py"
    source.write_text("NAME = __file__\n")
    written = Path(py_compile.compile(str(source), dfile="elsewhere/some.py") or "")

    def loaded() -> list[object]:
        spec = own_modules._OwnModules.find_spec("kubectl_spread.some", [str(tmp_path)])
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        code = spec.loader.get_code("kubectl_spread.some")  # type: ignore[attr-defined]
        return [module.NAME, code.co_filename]

    assert [str(source), str(source)] == loaded()
    if compiled is None:
        source.write_text("NAME = 'changed'\n")
        assert ["changed", str(source)] == loaded()
    else:
        written.write_bytes(compiled)
        assert [str(source), str(source)] == loaded()


def test_our_finder_leaves_everything_else_to_pythons_finders(tmp_path: Path) -> None:
    find = own_modules._OwnModules.find_spec

    assert find("click.core", click.__path__) is None
    assert find("kubectl_spread") is None
    assert find("kubectl_spread.there_is_none", kubectl_spread.__path__) is None
    assert find("kubectl_spread.errors", [str(tmp_path / "archive.zip" / "kubectl_spread")]) is None
