"""Generator of the parts of README.md and docs/ that come from the program: real output, rules and kinds.

`python docs/generate.py` rewrites them. With `--check` it only reports the pages that are not current.

A generated part is between `<!-- run: ARGUMENTS -->`, `<!-- rules -->`, `<!-- kinds -->` or `<!-- releases -->` and
`<!-- end -->`.
`<!-- run: ARGUMENTS | BEGINNING; BEGINNING -->` keeps only the paragraphs of the output that begin so.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from kubectl_spread.lint.registry import RULES
from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.objects.releases.behaviours import Impact, table
from kubectl_spread.objects.releases.version import Release
from kubectl_spread.objects.workloads.kinds import EVERY, KINDS
from kubectl_spread.objects.workloads.workload import REVISION_LABEL_OF
from kubectl_spread.report.rules import row

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "README.md",
    "docs/rules.md",
    "docs/explain.md",
    "docs/manifests.md",
    "docs/simulate.md",
    "docs/rebalance.md",
    "docs/guarantee.md",
    "docs/status.md",
    "docs/releases.md",
)

_PART = re.compile(
    r"(<!-- (run: (?P<arguments>[^\n]*)|(?P<table>rules|kinds|releases)) -->\n).*?(<!-- end -->)", re.DOTALL
)


def rendered(text: str) -> str:
    """Return a page with its generated parts rewritten."""
    return _PART.sub(_part, text)


def main() -> int:
    """Write the pages, or only compare them with --check."""
    check_only = "--check" in sys.argv[1:]
    outdated = 0
    for page in PAGES:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        current = rendered(text)
        if current != text and check_only:
            outdated += 1
            sys.stderr.write(f"{page} is not current: run `make docs`\n")
        elif current != text:
            path.write_text(current, encoding="utf-8")
    return int(outdated > 0)


def _part(match: re.Match[str]) -> str:
    tables = {"rules": _rules, "kinds": _kinds, "releases": _releases}
    body = tables[match["table"]]() if match["table"] else _screen(match["arguments"].strip())
    return f"{match[1]}{body}{match[match.lastindex or 0]}"


def _screen(run: str) -> str:
    arguments, _, beginnings = run.partition(" | ")
    command = [sys.executable, "-m", "kubectl_spread", *shlex.split(arguments)]
    done = subprocess.run(  # noqa: S603 (our own program)
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "110"},
    )
    output = _excerpt(done.stdout, beginnings.split("; ")) if beginnings else done.stdout
    return f"```console\n$ kubectl spread {arguments}\n{output}```\n"


def _excerpt(output: str, beginnings: list[str]) -> str:
    """Return the paragraphs that begin with one of some texts, with `...` for those left out between them."""
    kept: list[str] = []
    paragraphs = output.rstrip("\n").split("\n\n")
    for missing in (text for text in beginnings if not any(item.startswith(text) for item in paragraphs)):
        raise SystemExit(f"no paragraph of the output begins with {missing!r}")
    for paragraph in paragraphs:
        if paragraph.startswith(tuple(beginnings)):
            kept.append(paragraph)
        elif kept and kept[-1] != "...":
            kept.append("...")
    return "\n\n".join(kept[:-1] if kept[-1] == "..." else kept) + "\n"


def _rules() -> str:
    rows = [f"| {' | '.join(row(rule))} |" for rule in RULES.values()]
    head = "| code | name | severity | runs | fix | what it finds |"
    return "\n".join([head, "|---|---|---|---|---|---|", *rows, ""])


def _kinds() -> str:
    lines = ["| kind | group | pods | revision |", "|---|---|---|---|"]
    for entry in KINDS.values():
        groups = ", ".join(sorted(entry.groups)) or "core"
        pods = ", ".join(f"`{path_text(route) or 'itself'}`".replace(f".{EVERY}", EVERY) for route in entry.templates)
        revision = REVISION_LABEL_OF.get(entry.kind)
        lines.append(f"| {entry.kind} | {groups} | {pods} | {f'`{revision}`' if revision else ''} |")
    return "\n".join([*lines, ""])


_HEADINGS = {
    Impact.PLACEMENT: "Where pods go",
    Impact.TEXT: "Reasons, codes and messages",
    Impact.SCORES: "The table of scores",
    Impact.TIME: "What controllers do",
    Impact.VALIDATION: "What the API server refuses",
}


def _releases() -> str:
    """Return a table for each effect: which part behaves how since which release, and upstream's file."""
    lines = []
    for effect, heading in _HEADINGS.items():
        lines += [f"### {heading}", "", "| behaviour | part | since | source |", "|---|---|---|---|"]
        for item in (item for item in table() if item.effect is effect):
            eras = "<br>".join(f"{_version(era.since, is_recorded=era.is_recorded)}: {era.words}" for era in item.eras)
            lines.append(f"| {item.name} | {item.reader} | {eras} | `{item.source}` |".replace("\n", " "))
        lines.append("")
    return "\n".join(lines)


def _version(release: Release, *, is_recorded: bool) -> str:
    """Return `1.24`, or `1.34.3` for a change in a patch release."""
    return f"{release.text if release.patch else f'1.{release.minor}'}{'' if is_recorded else ' (not recorded)'}"


if __name__ == "__main__":
    sys.exit(main())
