"""The baseline of `check`: accepted findings are left out, and present findings can be written as accepted."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple, TYPE_CHECKING

from kubectl_spread.errors import SourceError
from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.operations.check import CheckSettings, ReadFiles
    from kubectl_spread.report.check.baseline import Baseline
    from kubectl_spread.text.source import SourceFile


class NewFindings(NamedTuple):
    """The findings to report, the number of accepted ones, and notes about the baseline."""

    findings: list[Finding]
    known: int = 0
    notes: tuple[str, ...] = ()


def new_findings(findings: list[Finding], read: ReadFiles, settings: CheckSettings) -> NewFindings:
    """Return the findings outside the baseline; after writing it, only findings that it cannot hold.

    Raises:
        SourceError: the baseline cannot be read or written.
    """
    if settings.choice.write_baseline:
        return _write(findings, read, path=settings.choice.write_baseline)
    path = _path(settings)
    if not path or settings.choice.no_ignores:
        return NewFindings(findings)
    from kubectl_spread.report.check import baseline

    known = _read(path, settings)
    compared = baseline.compare(findings, known, files=read.seen, is_whole=read.is_whole)
    notes = (_gone(compared.gone, path),) if compared.gone else ()
    return NewFindings(compared.findings, compared.known, notes)


def outside(read: ReadFiles, settings: CheckSettings) -> Callable[[list[Finding]], list[Finding]]:
    """Return the function from findings to those outside the baseline.

    Raises:
        SourceError: the baseline cannot be read.
    """
    path = _path(settings)
    if not path or settings.choice.no_ignores or settings.choice.write_baseline:
        return lambda findings: findings
    from kubectl_spread.report.check import baseline

    known = _read(path, settings)
    return lambda findings: baseline.compare(findings, known, files=read.seen, is_whole=read.is_whole).findings


def _path(settings: CheckSettings) -> str:
    """Return the baseline that is named, relative to the working directory; empty if none is."""
    config = settings.config
    if settings.choice.baseline or not config.baseline:
        return settings.choice.baseline or ""
    return os.path.relpath(os.path.join(config.root, config.baseline))


def _read(path: str, settings: CheckSettings) -> Baseline:
    """Read the baseline. If the configuration names a file that cannot be read, raise the error at that line."""
    from kubectl_spread.sources.files import read_setting, read_text

    if settings.choice.baseline:
        return known_findings(read_text(path))
    try:
        return known_findings(read_setting(path, settings.config.root))
    except SourceError as error:
        from kubectl_spread.sources.config import at_setting

        raise at_setting(error, settings.config, ("baseline",)) from None


def known_findings(source: SourceFile) -> Baseline:
    """Return the baseline in a file.

    Raises:
        SourceError: the file is not a baseline; with the place of the first error.
    """
    from kubectl_spread.report.check import baseline
    from kubectl_spread.sources.single_document import Document, root_of

    found = baseline.read(source)
    if found is not None:
        return found
    what = "not a baseline; check --write-baseline FILE writes one"
    root = root_of(source, "a baseline")
    for error in Document(source, root, "baseline").errors if root is not None else ():
        raise SourceError(source.name, f"{error.message}: {what}", line=error.line, column=error.column)
    raise SourceError(source.name, what)


def _write(findings: list[Finding], read: ReadFiles, *, path: str) -> NewFindings:
    from kubectl_spread.report.check import baseline
    from kubectl_spread.sources.atomic_write import write
    from kubectl_spread.sources.files import read_text

    before = known_findings(read_text(path)) if os.path.isfile(path) and os.path.getsize(path) else None
    write(path, baseline.render(findings, path, before=before, files=read.seen, is_whole=read.is_whole))
    left = [finding for finding in findings if finding.is_unreadable]
    return NewFindings(left, len(findings) - len(left))


def _gone(count: int, path: str) -> str:
    them = "it" if count == 1 else "them"
    return f"{count_noun(count, 'finding')} of {path} no longer there: --write-baseline {path} leaves {them} out"
