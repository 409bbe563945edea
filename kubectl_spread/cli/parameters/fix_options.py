"""Options of `check` that fix findings, and the diff that --diff prints."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import click

from kubectl_spread.cli.console.stderr import print_error
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.parameters.options import gather_options
from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:  # imported where they are used, so that --help stays fast
    from kubectl_spread.operations.check import CheckRequest
    from kubectl_spread.operations.fix import Fixable


class FixOptions(NamedTuple):
    """The command line's options for fixes."""

    fix: bool
    unsafe_fixes: bool
    diff: bool

    def check(self) -> None:
        """Raise a usage error if the options do not go together."""
        if self.unsafe_fixes and not (self.fix or self.diff):
            raise click.UsageError("--unsafe-fixes needs --fix or --diff")


_OPTIONS = (
    click.option("--fix", is_flag=True, help="Apply the fixes that keep a manifest's meaning to the files."),
    click.option(
        "--unsafe-fixes", is_flag=True, help="With --fix or --diff: also apply fixes that may change where pods run."
    ),
    click.option("--diff", is_flag=True, help="Print what --fix would change as a diff; write nothing."),
)


fix_options = gather_options("fixes", FixOptions, _OPTIONS, fields=FixOptions._fields)


def offer(count: Fixable) -> str:
    """Return a line with the number of fixable findings and the command; empty if there are none."""
    about = "" if count.is_exact else "about "
    parts = [f"{about}{count.safe} with --fix"] if count.safe else []
    parts += [f"{about}{count.unsafe} with --fix --unsafe-fixes"] if count.unsafe else []
    return f"\ncan be fixed: {', '.join(parts)}" if parts else ""


def _nothing(count: Fixable) -> str:
    """Return why a diff is empty."""
    if count.unsafe and not count.safe:
        have = "finding has an unsafe fix" if count.unsafe == 1 else "findings have unsafe fixes"
        return f"no safe fix; {count.unsafe} {have}: add --unsafe-fixes"
    return f"nothing to fix{offer(count)}"


def show(request: CheckRequest, fixes: FixOptions, *, colour: bool) -> int:
    """Print the diff of every text that would change, and the errors; return the exit code."""
    from kubectl_spread.operations.fix import preview_fixes
    from kubectl_spread.report.diff import render

    found = preview_fixes(request, unsafe=fixes.unsafe_fixes)
    for error in found.errors:
        print_error(error)
    for source, text in found.changes:
        click.echo(render(source, text, colour=colour), nl=False, color=True)
    if found.changes:
        summary = f"would fix {count_noun(found.fixed, 'finding')} in {count_noun(len(found.changes), 'file')}"
    else:
        summary = _nothing(found.left)
    click.echo(summary, err=True)
    if found.errors:
        return Exit.UNREADABLE
    return Exit.FINDINGS if found.changes else Exit.CLEAN
