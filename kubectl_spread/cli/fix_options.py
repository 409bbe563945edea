"""What `check --fix` and `check --diff` do with the texts once they are mended."""

from __future__ import annotations

import os
from collections.abc import Callable
from collections.abc import Sequence
from typing import NamedTuple
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.options import gathering
from kubectl_spread.cli.stderr import complain
from kubectl_spread.cli.stderr import warn
from kubectl_spread.errors import SourceError
from kubectl_spread.lint.wording import counted

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.lint.apply_fixes import Mended
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.finding import Finding
    from kubectl_spread.lint.finding import Repair
    from kubectl_spread.lint.pipeline import Judged
    from kubectl_spread.text.source import SourceFile


class FixOptions(NamedTuple):
    """What the command line wants mended."""

    fix: bool
    unsafe_fixes: bool
    diff: bool

    def wants(self, repair: Repair) -> bool:
        """Whether a fix is to be made, in the file or in a diff."""
        return (self.fix or self.diff) and (self.unsafe_fixes or repair.fix.is_safe)

    def check(self, paths: tuple[str, ...], kustomized: tuple[str, ...]) -> None:
        """Raise a usage error where this cannot be done."""
        if self.fix and not self.diff and "-" in paths:
            raise click.UsageError("standard input cannot be fixed in place: see --diff")
        if self.fix and not self.diff and kustomized:
            raise click.UsageError("what kustomize renders cannot be fixed in place: see --diff")
        if self.unsafe_fixes and not (self.fix or self.diff):
            raise click.UsageError("--unsafe-fixes goes with --fix or --diff")


_OPTIONS = (
    click.option("--fix", is_flag=True, help="Apply the fixes that keep a manifest's meaning to the files."),
    click.option(
        "--unsafe-fixes", is_flag=True, help="With --fix or --diff: also apply fixes that may change where pods run."
    ),
    click.option("--diff", is_flag=True, help="Print what --fix would change as a diff; write nothing."),
)


fix_options = gathering("fixes", FixOptions, _OPTIONS)


def offer(
    results: list[Result], findings: list[Finding], tried: FixOptions, *, recheck: Callable[[SourceFile], Result]
) -> str:
    """Return a line that says how many findings can be fixed, and how; what was tried is done, or was refused."""
    left = [item for item in findings if item.repair is not None and not tried.wants(item.repair)]
    if not left:
        return ""
    from kubectl_spread.lint.apply_fixes import fixable

    safe = [item for item in left if item.repair is not None and item.repair.fix.is_safe]
    count = len(fixable(results, safe, recheck=recheck))
    others = len(fixable(results, left, recheck=recheck)) - count if len(safe) < len(left) else 0
    parts = [f"{count} with --fix"] if count else []
    parts += [f"{others} with --fix --unsafe-fixes"] if others else []
    return f"\ncan be fixed: {', '.join(parts)}" if parts else ""


def mended(
    results: list[Result],
    judge: Callable[[Sequence[Result]], Judged],
    fixes: FixOptions,
    *,
    recheck: Callable[[SourceFile], Result],
) -> Mended:
    """Fix in memory what the user wants fixed, and say what could not be."""
    from kubectl_spread.lint.apply_fixes import mend
    from kubectl_spread.report.findings import location

    outcome = mend(
        results,
        lambda found: judge(found).findings,
        recheck=recheck,
        is_wanted=fixes.wants,
    )
    for finding, reason in outcome.refused:
        warn(f"{location(finding.place)}: {finding.rule.code} is not fixed: {reason}")
    return outcome


def write(before: list[Result], after: list[Result]) -> dict[str, SourceError]:
    """Write the files whose text has changed; return the errors of those that cannot be written, by real path."""
    from kubectl_spread.sources.atomic_write import clean
    from kubectl_spread.sources.atomic_write import rewrite

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


def show(
    before: list[Result],
    outcome: Mended,
    fixes: FixOptions,
    *,
    recheck: Callable[[SourceFile], Result],
    errors: list[SourceError],
    colour: bool,
) -> int:
    """Print the diff of every text that would change, and the errors; the exit code."""
    from kubectl_spread.report.diff import render

    for error in errors:
        complain(error)
    changes = [
        (old.source, new.source.text)
        for old, new in zip(before, outcome.results, strict=True)
        if old.source.text != new.source.text
    ]
    for source, text in changes:
        click.echo(render(source, text, colour=colour), nl=False, color=True)
    would = f"would fix {counted(len(outcome.fixed), 'finding')} in {counted(len(changes), 'file')}"
    offered = "" if changes else offer(outcome.results, outcome.findings, fixes, recheck=recheck)
    click.echo(would if changes else f"nothing to fix{offered}", err=True)
    if errors:
        return Exit.UNREADABLE
    return Exit.FINDINGS if changes else Exit.CLEAN
