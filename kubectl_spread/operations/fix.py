"""Fix findings: in memory for a diff, or in the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kubectl_spread.errors import RequestError, SourceError
from kubectl_spread.operations import check
from kubectl_spread.operations.check import CheckRequest, CheckResult, CheckSettings, PreparedCheck, ReadFiles
from kubectl_spread.operations.inputs import notices
from kubectl_spread.records import NamedTuple

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.finding import DocumentFix, Finding
    from kubectl_spread.lint.fixing.apply_fixes import FixResult
    from kubectl_spread.text.source import SourceFile


class ChangedFile(NamedTuple):
    """A file, and its text after the fixes."""

    source: SourceFile
    text: str


class FixPreview(NamedTuple):
    """The changes that fixes would make.

    Attributes:
        changes: the files that would change.
        fixed: the number of findings that would be fixed.
        errors: inputs that could not be read.
        left: the findings that remain, with their inputs, for `fixable`.
    """

    changes: tuple[ChangedFile, ...]
    fixed: int
    errors: list[SourceError]
    left: list[Finding]
    results: Sequence[Result]
    settings: CheckSettings


class Fixable(NamedTuple):
    """The numbers of findings with safe fixes, and with only unsafe fixes, which may change where pods run."""

    safe: int = 0
    unsafe: int = 0


def preview_fixes(request: CheckRequest, *, unsafe: bool = False) -> FixPreview:
    """Return the changes that `fix_files` would make; write nothing.

    Raises:
        SpreadError: as `check_files` does.
    """
    prepared = check.prepare(request)
    fixed = _fixed(prepared, unsafe=unsafe)
    changes = tuple(
        ChangedFile(old.source, new.source.text)
        for old, new in zip(prepared.read.results, fixed.results, strict=True)
        if old.source.text != new.source.text
    )
    return FixPreview(changes, len(fixed.fixed), prepared.errors, fixed.findings, fixed.results, prepared.settings)


def fix_files(request: CheckRequest, *, unsafe: bool = False) -> CheckResult:
    """Fix the files in place, and return the remaining findings.

    A file is replaced whole or not at all. A fix that would change anything else is reverted, with a warning.

    Args:
        request: as for `check_files`, without standard input and directories for kustomize.
        unsafe: also apply fixes that may change where pods run.

    Raises:
        RequestError: an input is not a file.
        SpreadError: as `check_files` does.
    """
    refuse_texts(request)
    prepared = check.prepare(request)
    fixed = _fixed(prepared, unsafe=unsafe)
    read = _written(prepared.read, fixed, prepared.settings)
    return check.result_of(check.prepared(prepared.settings, read, prepared.known))


def refuse_texts(request: CheckRequest) -> None:
    """Raise a RequestError if an input cannot be fixed in place."""
    if "-" in request.paths:
        raise RequestError("standard input cannot be fixed in place: see --diff")
    for path in request.paths:
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            raise RequestError(f"{path} cannot be fixed in place: it is not a regular file; see --diff")
    if request.kustomize:
        raise RequestError("what kustomize renders cannot be fixed in place: see --diff")


def fixable(
    findings: Sequence[Finding],
    results: Sequence[Result],
    settings: CheckSettings,
    *,
    tried: Callable[[DocumentFix], bool],
) -> Fixable:
    """Count the findings that can be fixed; fixes that were tried are made already, or were refused."""
    left = [item for item in findings if item.repair is not None and not tried(item.repair)]
    if not left:
        return Fixable()
    from kubectl_spread.lint.fixing.apply_fixes import fixable as fixable_findings

    safe = [item for item in left if item.repair is not None and item.repair.fix.is_safe]
    count = len(fixable_findings(results, safe, recheck=settings.read))
    if len(safe) == len(left):
        return Fixable(count)
    return Fixable(count, len(fixable_findings(results, left, recheck=settings.read)) - count)


def _fixed(prepared: PreparedCheck, *, unsafe: bool) -> FixResult:
    """Fix in memory; fixes that do more than they should are refused with a warning."""
    from kubectl_spread.lint.fixing.apply_fixes import apply_fixes
    from kubectl_spread.report.check.findings import location

    outcome = apply_fixes(
        prepared.read.results,
        lambda found: prepared.judge(found).findings,
        recheck=prepared.settings.read,
        is_wanted=lambda repair: unsafe or repair.fix.is_safe,
    )
    for finding, reason in outcome.refused:
        text = f"{location(finding.place)}: {finding.rule.code} is not fixed: {reason}"
        notices.warn(prepared.settings.source.listener, text)
    return outcome


def _written(read: ReadFiles, outcome: FixResult, asked: CheckSettings) -> ReadFiles:
    """Write the texts, and return the inputs as they are on disk: with the old text if writing failed."""
    errors = write(read.results, outcome.results)
    results = [
        _on_disk(old, asked) if os.path.realpath(old.source.name) in errors else new
        for old, new in zip(read.results, outcome.results, strict=True)
    ]
    fixed = sum(os.path.realpath(finding.place.source.name) not in errors for finding in outcome.fixed)
    return read._replace(results=results, errors=[*read.errors, *errors.values()], fixed=fixed)


def write(before: Sequence[Result], after: Sequence[Result]) -> dict[str, SourceError]:
    """Write the changed files. Return the errors of failed writes, by real path."""
    from kubectl_spread.sources.atomic_write import clean, rewrite

    for directory in dict.fromkeys(os.path.dirname(os.path.realpath(result.source.name)) for result in before):
        clean(directory)
    errors = {}
    written = set()
    for old, new in zip(before, after, strict=True):
        file = os.path.realpath(old.source.name)
        if old.source.text == new.source.text or file in written:
            continue
        written.add(file)
        try:
            rewrite(old.source, new.source.text)
        except SourceError as error:
            errors[file] = error
    return errors


def _on_disk(old: Result, asked: CheckSettings) -> Result:
    """Return a file's present content, or its earlier content if it cannot be read any more."""
    from kubectl_spread.sources.files import read_text

    if not os.path.isfile(old.source.name):
        return old  # a pipe gives its text once
    try:
        source = read_text(old.source.name)
    except SourceError:
        return old
    return old if source.text == old.source.text else asked.read(source)
