"""What fixing would change, as a unified diff that `git apply` and `patch` take."""

from __future__ import annotations

import difflib
import re

from kubectl_spread.report.table import paint
from kubectl_spread.report.table import safe
from kubectl_spread.text.source import SourceFile

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def render(before: SourceFile, text: str, *, colour: bool) -> str:
    """The diff of one file, with the line ends of the file."""
    name = safe(before.name).lstrip("/")
    lines = difflib.unified_diff(_lines(before.text), _lines(text), f"a/{name}", f"b/{name}")
    return "".join(_shown(line, colour=colour) for line in lines)


def _lines(text: str) -> list[str]:
    """The lines as `patch` sees them: nothing but a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _shown(line: str, *, colour: bool) -> str:
    body, end = (line[:-1], "\n") if line.endswith("\n") else (line, "\n\\ No newline at end of file\n")
    style = _STYLES.get(line[:1])
    return (paint(body, style, colour=colour) if style else body) + end
