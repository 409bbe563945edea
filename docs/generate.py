"""Writes the generated parts of README.md and docs/: real screens, and the list of rules.

`python docs/generate.py` rewrites them; `--check` says whether they are current, and changes nothing.

A generated part stands between `<!-- run: ARGUMENTS -->` (or `<!-- rules -->`, `<!-- kinds -->`) and `<!-- end -->`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from kubectl_spread.lint.catalogue import RULES
from kubectl_spread.objects.decode import path_text
from kubectl_spread.objects.kinds import EVERY
from kubectl_spread.objects.kinds import KINDS
from kubectl_spread.objects.workload import REVISION_LABEL_OF
from kubectl_spread.report.rules import row

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/rules.md", "docs/manifests.md", "docs/status.md")

_PART = re.compile(r"(<!-- (run: (?P<arguments>[^\n]*)|(?P<table>rules|kinds)) -->\n).*?(<!-- end -->)", re.DOTALL)


def rendered(text: str) -> str:
    """A page with its generated parts made anew."""
    return _PART.sub(_part, text)


def main() -> int:
    """Write the pages, or with --check only compare them."""
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
    tables = {"rules": _rules, "kinds": _kinds}
    body = tables[match["table"]]() if match["table"] else _screen(match["arguments"].strip())
    return f"{match[1]}{body}{match[match.lastindex or 0]}"


def _screen(arguments: str) -> str:
    command = [sys.executable, "-m", "kubectl_spread", *arguments.split()]
    done = subprocess.run(  # noqa: S603 (our own program)
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "110"},
    )
    return f"```console\n$ kubectl spread {arguments}\n{done.stdout}```\n"


def _rules() -> str:
    rows = [f"| {' | '.join(row(rule))} |" for rule in RULES.values()]
    head = "| code | name | severity | followed | fix | what it finds |"
    return "\n".join([head, "|---|---|---|---|---|---|", *rows, ""])


def _kinds() -> str:
    lines = ["| kind | group | pods | revision |", "|---|---|---|---|"]
    for entry in KINDS.values():
        groups = ", ".join(sorted(entry.groups)) or "core"
        pods = ", ".join(f"`{path_text(route) or 'itself'}`".replace(f".{EVERY}", EVERY) for route in entry.templates)
        revision = REVISION_LABEL_OF.get(entry.kind)
        lines.append(f"| {entry.kind} | {groups} | {pods} | {f'`{revision}`' if revision else ''} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
