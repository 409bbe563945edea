"""What `check --fix` and `check --diff` do with the texts once they are mended."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.stderr import warn
from kubectl_spread.errors import SourceError
from kubectl_spread.report.table import counted

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.lint.mend import Mended
    from kubectl_spread.lint.run import Result


def mended(results: list[Result], judge: Callable[[list[Result]], list[Finding]], *, with_unsafe: bool) -> Mended:
    """Fix in memory what the user wants fixed, and say what could not be."""
    from kubectl_spread.lint.mend import mend
    from kubectl_spread.lint.run import check_source
    from kubectl_spread.report.findings import location

    outcome = mend(
        results,
        judge,
        recheck=partial(check_source, named=False),
        is_wanted=lambda repair: with_unsafe or repair.fix.is_safe,
    )
    for finding, reason in outcome.refused:
        warn(f"{location(finding.place)}: {finding.rule.code} is not fixed: {reason}")
    return outcome


def write(before: list[Result], after: list[Result]) -> list[SourceError]:
    """Write the files whose text has changed; the errors of those that cannot be written."""
    from kubectl_spread.sources.write import rewrite

    errors = []
    written = set()
    for old, new in zip(before, after, strict=True):
        file = os.path.realpath(old.source.name)
        if old.source.text == new.source.text or file in written:
            continue
        written.add(file)
        try:
            rewrite(old.source, new.source.text)
        except SourceError as error:
            errors.append(error)
    return errors


def show(before: list[Result], outcome: Mended, *, colour: bool) -> int:
    """Print the diff of every text that would change; the exit code."""
    from kubectl_spread.report.diff import render

    changes = [
        (old.source, new.source.text)
        for old, new in zip(before, outcome.results, strict=True)
        if old.source.text != new.source.text
    ]
    for source, text in changes:
        click.echo(render(source, text, colour=colour), nl=False, color=True)
    would = f"would fix {counted(len(outcome.fixed), 'finding')} in {counted(len(changes), 'file')}"
    click.echo(would if changes else "nothing to fix", err=True)
    return Exit.FINDINGS if changes else Exit.CLEAN
