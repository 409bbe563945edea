"""Names of every kind on every page: nothing runs, nothing becomes markup, nothing is wider than the screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cli.main import run
from tests.browser import needs_browser, run_in_pages
from tests.cli.running_objects import constraint, deployment, node, pod, replica_set
from tests.pages.parsing import assert_is_closed_off

NAMES = {
    "script": "</script><script>document.title='taken'</script>",
    "attributes": "\"'><img src=x onerror=document.title='taken'>&lt;",
    "style": "</style><style>*{display:none}</style>",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈 ẑ̃̃̃",
    "right to left": "עברית\u202eevil\u202c العربية",
    "long": "x" * 253,
    "template": "{{ 7 * 7 }}{% raw %}`</code>`",
    "control": "\x1b[31m\x00\x07\u2028\ufeff",
}
COMMANDS = {
    "status": ["status", "-A", "--snapshot", "facts.json"],
    "check": ["check", "web.json", "--snapshot", "facts.json"],
    "explain": ["explain", "-f", "web.json", "--snapshot", "facts.json"],
    "simulate": ["simulate", "-f", "web.json", "--snapshot", "facts.json", "cordon", "b1"],
    "guarantee": ["guarantee", "-f", "web.json", "--snapshot", "facts.json", "--less-than", "zone=1/9"],
}


def made(command: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page about a workload, nodes, a zone, a label, a taint and messages with a name."""
    monkeypatch.chdir(folder)
    written = deployment(constraint(topologyKey=name), constraint(max_skew=2), replicas=2)
    written["metadata"]["name"] = name
    nodes: list[dict[str, Any]] = [node(name, name, taints=[{"key": name, "effect": "PreferNoSchedule"}])]
    nodes[0]["metadata"]["labels"][name] = name
    nodes.append(node("b1", "b"))
    running = pod("web-1", name)
    waiting = pod("web-2", "")
    waiting["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": name}]
    objects = [*nodes, deployment(constraint(topologyKey=name)), replica_set(), running, waiting]
    Path("facts.json").write_text(json.dumps({"kind": "List", "items": objects}))
    Path("web.json").write_text(json.dumps(written))
    run([*COMMANDS[command], "-o", f"html={command}.html"])
    return folder / f"{command}.html"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_is_text(command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control characters, and marks that turn the direction of text, are not on the page."""
    text = made(command, name, tmp_path, monkeypatch).read_text(encoding="utf-8")

    page = assert_is_closed_off(text, has_script=command in ("simulate", "guarantee", "status"))
    assert not set("\x00\x07\x1b\u2028\u202e\u202c\ufeff") & set(text)
    assert "{{ 7 * 7 }}" in page.words or name != NAMES["template"]


LOG_COMMANDS = ("::error::z", "##[error]z", "##vso[task.setvariable]z", "##teamcity[x]", "\x1b[31m", "\nfirst::x")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_in_a_log_commands_no_ci_system(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No line on standard output begins with a name, and no name has a workflow command or an escape."""
    made(command, f"first{' '.join(LOG_COMMANDS)}", tmp_path, monkeypatch)
    capsys.readouterr()
    run([*COMMANDS[command], "-o", "html"])
    page = capsys.readouterr().out.partition("</style>")[2].partition("<script>")[0]

    assert "task.setvariable" in page
    assert not [text for text in ("::", "##", "\x1b") if text in page]
    assert not [line for line in page.splitlines() if line.strip().startswith("first")]


LOOK = """(document, window) => ({
  title: document.title, shown: document.querySelector("h1").getClientRects().length,
  wide: document.documentElement.scrollWidth, width: document.documentElement.clientWidth,
  images: document.querySelectorAll("img").length})"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_browser_shows_names_and_runs_nothing(script: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a narrow screen; also with scripting off."""
    pages = []
    for at, name in enumerate(NAMES.values()):
        folder = tmp_path / str(at)
        folder.mkdir()
        pages += [(made(command, name, folder, monkeypatch), 420) for command in COMMANDS]
    found = run_in_pages(pages, LOOK, tmp_path, script=script)

    for (page, _), item in zip(pages, found, strict=True):
        assert "taken" != item["title"], page
        assert item["shown"], page
        assert 0 == item["images"], page
        assert item["wide"] <= item["width"], page
