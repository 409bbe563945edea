"""A page of the site for each example: what it shows, its files, its output, and the page with pictures.

The pages with pictures are made by the commands of examples/README.md. They load nothing from the network.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from ruamel.yaml import YAML

from kubectl_spread.cli.commands.demo import working_directory
from kubectl_spread.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
GITHUB = "https://github.com/kubectl-spread/kubectl-spread/blob/main"
_ROW = re.compile(r"^\| \[(.+?)\]\(scenarios/([\w-]+)\) \| `(.+?)` \|", re.MULTILINE)


class Example(NamedTuple):
    """An example. name: of its page. folder: where the command runs. files: whose text the page shows."""

    name: str
    title: str
    command: str
    folder: Path
    files: tuple[Path, ...]


class Drawn(NamedTuple):
    """The text of an example's page in Markdown, and its page with pictures."""

    markdown: str
    html: str


def scenarios() -> Iterator[Example]:
    """Yield the examples of the table in examples/README.md."""
    for title, name, command in _ROW.findall((EXAMPLES / "README.md").read_text(encoding="utf-8")):
        folder = EXAMPLES / "scenarios" / name
        named = [folder / word for word in shlex.split(command) if (folder / word).is_file()]
        yield Example(name, title, command, folder, tuple(named))


def simulations() -> Iterator[Example]:
    """Yield the scenarios over time, with the titles that they have."""
    for file in sorted((EXAMPLES / "simulations").rglob("*.yaml")):
        if re.search(r"^kind: Scenario$", file.read_text(encoding="utf-8"), re.MULTILINE):
            loaded = YAML(typ="safe").load(file)
            name = "simulate-" + "-".join(file.relative_to(EXAMPLES / "simulations").with_suffix("").parts)
            files = tuple((file.parent / path).resolve() for path in loaded.get("manifests", ()))
            yield Example(name, loaded["name"], f"simulate run {file.name}", file.parent, (file, *files))


def drawn(example: Example) -> Drawn:
    """Run an example's command, and return its pages."""
    with working_directory(example.folder), tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        text = _output([*shlex.split(example.command), "-o", "text", "--color", "never"])
        _output([*shlex.split(example.command), "-o", f"html={page}"])
        html = page.read_text(encoding="utf-8")
    return Drawn("\n\n".join(_parts(example, text)) + "\n", html)


def index(title: str, about: str, examples: list[Example]) -> str:
    """Return a page with links to the pages of examples."""
    lines = [f"- [{example.title[:1].upper()}{example.title[1:]}](examples/{example.name}.md)" for example in examples]
    return f"# {title}\n\n{about}\n\n" + "\n".join(lines) + "\n"


def _output(command: list[str]) -> str:
    """Run a command of the program and return what it prints to standard output."""
    out = io.StringIO()
    os.environ["COLUMNS"] = "110"
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        run(command)
    return out.getvalue()


def _parts(example: Example, text: str) -> Iterator[str]:
    yield f"# {example.title[:1].upper()}{example.title[1:]}"
    yield f"```console\n$ kubectl spread {example.command}\n{text.rstrip()}\n```"
    yield f"[The page of this command](pages/{example.name}.html), made with `-o html`:"
    yield (
        f'<iframe src="../pages/{example.name}.html" class="page" title="The page of this command" loading="lazy">'
        "</iframe>"
    )
    for file in dict.fromkeys(example.files):
        path = file.relative_to(ROOT).as_posix()
        yield f"[`{path}`]({GITHUB}/{path})"
        yield f"```yaml\n{file.read_text(encoding='utf-8').rstrip()}\n```"
