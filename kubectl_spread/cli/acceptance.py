"""The baseline of `check`: what is known already is not told, and what is found can become known."""

from __future__ import annotations

import os
from typing import NamedTuple
from typing import TYPE_CHECKING

from kubectl_spread.cli.checking import Asked
from kubectl_spread.cli.checking import Read
from kubectl_spread.lint.wording import counted

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.lint.finding import Finding


class Fresh(NamedTuple):
    """The findings that are to be told, how many are known, and what is to be said of the baseline."""

    findings: list[Finding]
    known: int = 0
    notes: tuple[str, ...] = ()


def fresh(findings: list[Finding], read: Read, asked: Asked) -> Fresh:
    """The findings that the baseline does not have, or none once it is written."""
    if asked.choices.write_baseline:
        return _written(findings, read, path=asked.choices.write_baseline)
    path = _path(asked)
    if not path or asked.choices.no_ignores:
        return Fresh(findings)
    from kubectl_spread.report import baseline
    from kubectl_spread.sources.files import read_text

    compared = baseline.compare(findings, baseline.read(read_text(path)), files=read.seen, is_whole=read.is_whole)
    return Fresh(compared.findings, compared.known, (_gone(compared.gone, path),) if compared.gone else ())


def _path(asked: Asked) -> str:
    """The baseline that is named, in the working directory or beside the config; empty where none is."""
    config = asked.config
    if asked.choices.baseline or not config.baseline:
        return asked.choices.baseline or ""
    return os.path.relpath(os.path.join(config.root, config.baseline))


def _written(findings: list[Finding], read: Read, *, path: str) -> Fresh:
    from kubectl_spread.report import baseline
    from kubectl_spread.sources.atomic_write import write
    from kubectl_spread.sources.files import read_text

    before = baseline.read(read_text(path)) if os.path.isfile(path) and os.path.getsize(path) else None
    write(path, baseline.render(findings, path, before=before, files=read.seen, is_whole=read.is_whole))
    left = [finding for finding in findings if finding.is_unreadable]
    return Fresh(left, len(findings) - len(left))


def _gone(count: int, path: str) -> str:
    them = "it" if count == 1 else "them"
    return f"{counted(count, 'finding')} of {path} no longer there: --write-baseline {path} leaves {them} out"
