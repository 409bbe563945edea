"""Fix findings: in memory for a diff, or in the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple, TYPE_CHECKING

from kubectl_spread.errors import RequestError, SourceError
from kubectl_spread.operations import check
from kubectl_spread.operations.check import CheckRequest, CheckResult, CheckRun

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.lint.fixing import FixResult, SkippedFix
    from kubectl_spread.text.source import Place, SourceFile

    FindingsOf = Callable[[list[Result]], list[Finding]]  # of a run over inputs, without those of the baseline

_DEVICES = ("/dev/", "/proc/")
_MOST_FIXED = 100_000  # characters of files whose fixes are tried, to count them
_MOST_JUDGED = 500_000  # characters of all files


class FixPreview(NamedTuple):
    """The changes that fixes would make.

    Attributes:
        changes: the files that would change, with their new texts.
        fixed: the number of findings that would be fixed.
        errors: inputs that could not be read.
        is_unreadable: a document could not be decoded.
        left: the findings that could be fixed if nothing changes.
    """

    changes: tuple[tuple[SourceFile, str], ...]
    fixed: int
    errors: list[SourceError]
    is_unreadable: bool
    left: Fixable


class Fixable(NamedTuple):
    """The numbers of findings that safe fixes remove, and that unsafe fixes remove besides.

    They are exact, unless the inputs are large: then they are the numbers of findings with fixes.
    """

    safe: int = 0
    unsafe: int = 0
    is_exact: bool = True


def preview_fixes(request: CheckRequest, *, unsafe: bool = False) -> FixPreview:
    """Return the changes that `fix_files` would make; write nothing.

    Raises:
        SpreadError: as `check_files` does.
    """
    run = check.prepare(request)
    findings_of = _shown_by(run)
    fixed = _apply(run, findings_of, unsafe=unsafe)
    for refusal in fixed.refused:
        _warn(run, refusal, refusal.finding.place)
    changes = tuple(
        (old.source, new.source.text)
        for old, new in zip(run.results, fixed.results, strict=True)
        if old.source.text != new.source.text
    )
    left = Fixable() if changes else _fixable(fixed.first, run, findings_of)
    is_unreadable = any(finding.is_unreadable for finding in fixed.first)
    return FixPreview(changes, len(fixed.fixed), run.errors, is_unreadable, left)


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
    if "-" in request.paths:
        raise RequestError("standard input cannot be fixed in place: see --diff")
    for path in request.paths:
        is_device = os.path.abspath(path).startswith(_DEVICES)  # /dev/stdin may lead to a regular file
        if is_device or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):
            raise RequestError(f"{path} cannot be fixed in place: it is not a regular file; see --diff")
    if request.kustomize:
        raise RequestError("what kustomize renders cannot be fixed in place: see --diff")
    run = check.prepare(request)
    fixed = _apply(run, _shown_by(run), unsafe=unsafe)
    errors = write(run.results, fixed.results)
    for refusal in fixed.refused:
        if os.path.realpath(refusal.place.source.name) not in errors:
            _warn(run, refusal, refusal.place)
    results = [
        _reread(old, run) if os.path.realpath(old.source.name) in errors else new
        for old, new in zip(run.results, fixed.results, strict=True)
    ]
    number = sum(os.path.realpath(finding.place.source.name) not in errors for finding in fixed.fixed)
    left = run._replace(results=results, unread=[*run.unread, *errors.values()], fixed=number)
    return check.result_of(check.with_cluster(left, run.known))


def count_fixable(result: CheckResult) -> Fixable:
    """Count the findings of a result that a run with fixes would fix."""
    findings = result.report.findings
    if all(item.repair is None for item in findings):
        return Fixable()
    return _fixable(findings, result.run, _shown_by(result.run))


def _fixable(findings: list[Finding], run: CheckRun, findings_of: FindingsOf) -> Fixable:
    """Count the fixes of findings: make them in memory, or count the findings with fixes in large inputs."""
    repairs = [item.repair for item in findings if item.repair is not None]
    safe_ones = sum(repair.fix.is_safe for repair in repairs)
    touched = {id(repair.source) for repair in repairs}
    sizes = {id(item.source): len(item.source.text) for item in run.results}
    if sum(sizes[key] for key in touched) > _MOST_FIXED or sum(sizes.values()) > _MOST_JUDGED:  # it would take long
        return Fixable(safe_ones, len(repairs) - safe_ones, is_exact=False)

    def fixed(*, unsafe: bool) -> int:
        first = [findings]  # they are known already
        outcome = _apply(run, lambda found: first.pop() if first else findings_of(found), unsafe=unsafe)
        return len(outcome.fixed)

    safe = fixed(unsafe=False) if safe_ones else 0
    return Fixable(safe, fixed(unsafe=True) - safe if safe_ones < len(repairs) else 0)


def _shown_by(run: CheckRun) -> FindingsOf:
    """Return the function from inputs to the findings that the run shows: the baseline's are not fixed either.

    Raises:
        SourceError: the baseline cannot be read.
    """
    known = check.read_baseline(run.settings)
    if known is None:
        return lambda results: run.judge(results).findings
    from kubectl_spread.report.check import baseline  # loads json

    return lambda results: (
        baseline.compare(run.judge(results).findings, known, files=run.seen, is_whole=run.is_whole).findings
    )


def _apply(run: CheckRun, findings_of: FindingsOf, *, unsafe: bool) -> FixResult:
    """Apply fixes in memory."""
    from kubectl_spread.lint.fixing import apply_fixes

    return apply_fixes(
        run.results, findings_of, recheck=run.settings.read, is_wanted=lambda repair: unsafe or repair.fix.is_safe
    )


def _warn(run: CheckRun, refusal: SkippedFix, place: Place) -> None:
    """Warn why a fix was not made, with the place in the file on disk."""
    from kubectl_spread.report.check.text import location

    text = f"{location(place)}: {refusal.finding.rule.code} is not fixed: {refusal.reason}"
    run.settings.source.warn(text)


def write(before: Sequence[Result], after: Sequence[Result]) -> dict[str, SourceError]:
    """Write the changed files. Return the errors of failed writes, by real path."""
    from kubectl_spread.sources.files import rewrite

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


def _reread(old: Result, run: CheckRun) -> Result:
    """Return a file's present content, or its earlier content if it cannot be read any more."""
    from kubectl_spread.sources.files import read_text

    if not os.path.isfile(old.source.name):
        return old  # a pipe gives its text once
    try:
        source = read_text(old.source.name)
    except SourceError:
        return old
    return old if source.text == old.source.text else run.settings.read(source)
