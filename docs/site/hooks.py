"""Hooks of mkdocs: pages that are not in docs/, and links that lead out of docs/.

The navigation is made of the pages that exist. Pages of rules come from the registry, the first page from README.md,
the examples from examples/README.md, and the JSON schemas are copied. Links to other files of the repository lead to
GitHub.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from kubectl_spread import operations
from kubectl_spread.lint.registry import RULES
from kubectl_spread.report import rules as report

sys.path.insert(0, str(Path(__file__).parent))  # mkdocs loads this file alone
import gallery

ROOT = Path(__file__).resolve().parent.parent.parent
GITHUB = "https://github.com/kubectl-spread/kubectl-spread/blob/main"
_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)\s]+)(?=\))")
_COPIED = {"index.md": "README.md", "examples.md": "examples/README.md"}


_REFERENCE = ("configuration.md", "rules.md", "releases.md", "limits.md")
_ELSEWHERE = ("install.md", "python.md")
_DEMOS = {  # pages of the first page, by their names: what they show, and the command
    "explain": ("Why is the pod Pending?", "explain deploy/web -n shop --snapshot cluster.yaml"),
    "simulate": ("What would a restart do?", "simulate rollout restart deploy/web -n shop --snapshot running.yaml"),
}


def on_config(config: Any) -> Any:
    """Make the navigation: guides in the order in which README.md names them, and every page of docs/ somewhere."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    docs = ROOT / "docs"
    names = sorted((path.name for path in docs.glob("*.md")), key=lambda name: _place(name, readme))
    guides = [name for name in names if name not in (*_REFERENCE, *_ELSEWHERE)]
    development = sorted(path.relative_to(docs).as_posix() for path in (docs / "development").glob("*.md"))
    decisions = sorted(path.relative_to(docs).as_posix() for path in (docs / "development" / "decisions").glob("*.md"))
    config.nav = [
        {"Home": "index.md"},
        "install.md",
        {"Guides": guides},
        {"Reference": [name for name in _REFERENCE if name in names]},
        {"Examples": [{"Manifests and clusters": "examples.md"}, {"Scenarios over time": "simulations.md"}]},
        {"Python": ["python.md", {"API": "api.md"}]},
        {"Development": [*development, {"Decisions": decisions}]},
    ]
    return config


def _place(name: str, readme: str) -> tuple[int, str]:
    found = readme.find(f"(docs/{name}")
    return (found if found >= 0 else len(readme), name)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and files that are not in docs/."""
    for page, source in _COPIED.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for rule in RULES.values():
        text = f"# {report.title(rule)}\n\n{report.markdown(rule)}\n"
        files.append(File.generated(config, f"rules/{rule.code}.md", content=text))
    files.append(File.generated(config, "api.md", content=operations_page()))
    scenarios, simulations = list(gallery.scenarios()), list(gallery.simulations())
    about = "Rollouts, drains, outages and scaling, with what `simulate run` expects of them."
    index = gallery.index("Scenarios over time", about, simulations)
    files.append(File.generated(config, "simulations.md", content=index))
    for example in (*scenarios, *simulations):
        made = gallery.drawn(example)
        files.append(File.generated(config, f"examples/{example.name}.md", content=made.markdown))
        files.append(File.generated(config, f"examples/pages/{example.name}.html", content=made.html))
    for name, (_, command) in _DEMOS.items():
        made = gallery.drawn(gallery.Example(name, name, command, ROOT / "examples" / "shop", ()))
        files.append(File.generated(config, f"demo/{name}.html", content=made.html))
    for schema in sorted((ROOT / "schemas").glob("*.json")):
        files.append(File.generated(config, f"schemas/{schema.name}", content=schema.read_text(encoding="utf-8")))
    return files


def operations_page() -> str:
    """Return the page about the functions and records of `kubectl_spread.operations` that docs/python.md names."""
    named = set(re.findall(r"\b([a-z_]+)\.(\w+)", (ROOT / "docs" / "python.md").read_text(encoding="utf-8")))
    known = {item.name for item in pkgutil.iter_modules(operations.__path__)}
    parts = ["# Python API", str(inspect.getdoc(operations))]
    for module, name in sorted(item for item in named if item[0] in known):
        member = getattr(importlib.import_module(f"{operations.__name__}.{module}"), name, None)
        if member is None:
            continue  # a value of that name in an example
        text = str(inspect.getdoc(member))
        sections = re.sub(r"^(Args|Attributes|Raises|Returns):$", r"\n**\1**\n", text, flags=re.MULTILINE)
        lines = re.sub(r"^ {4}(\w+): ", r"- `\1`: ", sections, flags=re.MULTILINE)
        parts.append(f"## {module}.{name}\n\n```python\n{name}{inspect.signature(member)}\n```\n\n{lines}")
    return "\n\n".join(parts) + "\n"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001 (mkdocs names it)
    """Point the links of a page to pages of the site, or else to GitHub."""
    path = page.file.src_uri
    page.meta.setdefault("search", {"boost": 0.2 if path.startswith(("examples/", "development/")) else 3.0})
    if path == "index.md":
        markdown = markdown.replace("<!-- end -->", f"<!-- end -->\n\n{_demos()}", 1)
    source = _COPIED.get(path, f"docs/{path}")
    text = _LINK.sub(lambda match: link(match[1], source, path, files), markdown)
    return _with_rule_links(text) if path == "rules.md" else text


def _demos() -> str:
    """Return the tool at work: the pages of two commands."""
    return "\n\n".join(
        f"**{title}** `kubectl spread {command} -o html`\n\n"
        f'<iframe class="page" src="demo/{name}.html" title="{title}" loading="lazy"></iframe>'
        for name, (title, command) in _DEMOS.items()
    )


def link(target: str, source: str, page: str, files: Files) -> str:
    """Return a link of a file of the repository as a link of its page."""
    name, mark, anchor = target.partition("#")
    inside = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
    found = next((site for site, original in _COPIED.items() if original == inside), inside.removeprefix("docs/"))
    if inside.startswith("examples/scenarios/"):
        found = f"examples/{posixpath.basename(inside)}.md"
    if found.startswith("../") or files.get_file_from_path(found) is None:
        return f"{GITHUB}/{inside}{mark}{anchor}"
    return f"{posixpath.relpath(found, posixpath.dirname(page) or '.')}{mark}{anchor}"


def _with_rule_links(text: str) -> str:
    """Link the codes in the table of rules to their pages."""
    return re.sub(r"^\| (SPR\d{3}) ", r"| [\1](rules/\1.md) ", text, flags=re.MULTILINE)
