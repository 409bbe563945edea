"""The documentation site has a page for every rule, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from kubectl_spread.lint.registry import RULES

pytest.importorskip("mkdocs", reason="make site installs it")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


class _Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        found = dict(attrs)
        self.anchors |= {str(found["id"])} if "id" in found else set()
        link = found.get("href") if tag in ("a", "link") else found.get("src")
        self.links += [link] if link else []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert 0 == done.returncode, done.stdout + done.stderr
    return target


def test_every_rule_and_schema_has_its_place(site: Path) -> None:
    assert sorted(RULES) == sorted(path.name for path in (site / "rules").iterdir() if path.is_dir())
    assert {path.name for path in (ROOT / "schemas").glob("*.json")} == {p.name for p in (site / "schemas").iterdir()}


def test_every_example_has_a_page_with_pictures(site: Path) -> None:
    """The page shows the command, its output and the files, and frames the page of `-o html`, which loads nothing."""
    folders = {path.name for path in (ROOT / "examples" / "scenarios").iterdir()}
    files = [path for path in (ROOT / "examples" / "simulations").rglob("*.yaml") if "manifests" not in path.parts]
    pages = {path.name for path in (site / "examples").iterdir() if (path / "index.html").exists()}

    assert folders | {name for name in pages if name.startswith("simulate-")} == pages
    assert len(files) == len(pages - folders)
    for name in pages:
        text = (site / "examples" / name / "index.html").read_text(encoding="utf-8")
        drawn = (site / "examples" / "pages" / f"{name}.html").read_text(encoding="utf-8")
        assert "kubectl spread " in re.sub(r"<[^>]+>", "", text)
        assert f'<iframe src="../pages/{name}.html"' in text
        assert "default-src &#39;none&#39;" in drawn
        assert "<h1>" in drawn


def test_links_within_the_site_lead_to_pages_and_anchors(site: Path) -> None:
    """Links to GitHub lead to files of the repository."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.netloc:
                inside = re.match(r"/kubectl-spread/kubectl-spread/blob/main/(.+)", parts.path)
                broken += [(path, link)] if inside and not (ROOT / unquote(inside[1])).exists() else []
            elif path.name != "404.html" and not parts.scheme:
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                target = target / "index.html" if target.is_dir() else target
                is_there = target.exists() and (
                    not parts.fragment or target not in pages or (unquote(parts.fragment) in pages[target].anchors)
                )
                broken += [] if is_there else [(path, link)]

    assert [] == broken
