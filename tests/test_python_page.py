"""The examples of docs/python.md run, and print what they should."""

from __future__ import annotations

import contextlib
import importlib
import io
import pkgutil
import re
from pathlib import Path

import pytest

from kubectl_spread import operations

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def output_of(example: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that an example prints in a checkout."""
    monkeypatch.chdir(ROOT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "docs/python.md", "exec"), {})
    return printed.getvalue().splitlines()


def test_manifests_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = output_of(EXAMPLES[0], monkeypatch)

    assert ["SPR101 error", "SPR104 error", "SPR107 error", "SPR110 error"] == [
        " ".join(line.split()[:2]) for line in lines
    ]


def test_replicas_are_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ["Deployment shop/web 4 placed, 0 Pending"] == output_of(EXAMPLES[1], monkeypatch)


def test_a_workload_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    first, message = output_of(EXAMPLES[2], monkeypatch)

    assert "db-2 Pending" == first
    assert message.startswith("0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match pod")


def test_running_pods_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [
        "api topology.kubernetes.io/zone 2 uneven",
        "web topology.kubernetes.io/zone 3 violated",
        "db topology.kubernetes.io/zone 1 ok",
    ] == output_of(EXAMPLES[3], monkeypatch)


def test_a_wrong_request_is_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = output_of(EXAMPLES[4], monkeypatch)

    assert "SPR9999" in line


def test_the_page_names_every_request_with_its_functions() -> None:
    """Each request of a command is in the table; what the page names exists. Scenarios are files for the command."""
    modules = [item.name for item in pkgutil.iter_modules(operations.__path__) if item.name != "scenarios"]
    known = {name: vars(importlib.import_module(f"{operations.__name__}.{name}")) for name in modules}
    requests = {
        (name, text)
        for name, names in known.items()
        for text, member in names.items()
        if text.endswith("Request") and member.__module__.endswith(f".{name}")
    }
    rows = re.findall(r"^\| (.*) \| `(\w+)\.(\w+Request)` \|", PAGE, re.MULTILINE)

    assert requests == {(module, name) for _, module, name in rows}
    assert all(
        name in known[module] for functions, *_ in rows for module, name in re.findall(r"(\w+)\.(\w+)", functions)
    )
