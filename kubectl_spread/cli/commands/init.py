"""`kubectl spread init`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli.console import Exit, flush
from kubectl_spread.cli.options import colour_option, SectionedCommand, wants_colour
from kubectl_spread.errors import SourceError
from kubectl_spread.text.wording import count_noun, safe

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kubectl_spread.operations.init import FileChange, SetupPlan


def _directories(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete directories. `click.Path` does this only if it refuses files, in its own words."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


@click.command(cls=SectionedCommand)
@click.argument("directory", default=".", metavar="[DIRECTORY]", shell_complete=_directories)
@colour_option
@click.option("--write", is_flag=True, help="Write the files. Without this option, only the changes are shown.")
def command(directory: str, color: str, write: bool) -> int:
    """Propose a configuration and a pre-commit hook that fit a repository.

    init reads the repository of DIRECTORY (default: the working directory). It looks for manifests,
    kustomizations, charts, copies for several clusters, and Node objects. It prints the new .kubectl-spread.yaml as
    a diff, and in a git repository also the change to .pre-commit-config.yaml.

    An existing file keeps its content: settings and hooks that it lacks are added at its end. If a file cannot be
    edited safely, init prints what to add.

    \b
    Exit codes:
      0  the files were shown or written, or nothing is missing
      2  wrong usage, or the existing configuration is invalid
      3  a file could not be read or written

    \b
    Examples:
      # Show what would be written
      kubectl spread init

    \b
      # Write it, then check the whole repository
      kubectl spread init --write && kubectl spread check --project
    """  # noqa: D301
    from kubectl_spread.operations.init import plan_setup
    from kubectl_spread.operations.init import write as write_files

    if not os.path.isdir(directory):
        raise SourceError(directory or '""', _problem(directory))
    plan = plan_setup(directory)
    _print_survey(plan)
    if write:
        for path in write_files(plan):
            click.echo(f"wrote {_shown(path)}")
    else:
        _print_diffs(plan, colour=wants_colour(color))
    flush()
    for change in plan.changes:
        _print_rest(change)
    if any(change.is_change for change in plan.changes):
        click.echo(
            "next: kubectl spread check --project" if write else "nothing was written; --write writes these files",
            err=True,
        )
    return Exit.CLEAN


def _problem(path: str) -> str:
    """Return why init cannot look at a path."""
    if os.path.lexists(path) and not os.path.islink(path):
        return "init looks at a directory; this is a file"
    return "no such file or directory"


def _print_survey(plan: SetupPlan) -> None:
    found = plan.repository
    parts = [
        f"{count_noun(len(found.workloads), 'workload')}",
        f"{count_noun(len(found.kustomizations), 'kustomization')}",
        f"{count_noun(len(found.charts), 'chart')}",
    ]
    click.echo(f"{_shown(plan.root)}: {', '.join(parts)} in {count_noun(len(found.sources), 'file')}", err=True)
    if not found.is_complete:
        click.echo(f"note: the repository has more files; only the first {len(found.sources)} were read", err=True)


def _print_diffs(plan: SetupPlan, *, colour: bool) -> None:
    from kubectl_spread.report import diff
    from kubectl_spread.text.source import SourceFile

    for change in plan.changes:
        name = os.path.relpath(change.path, plan.root)
        text = diff.render(SourceFile(name, change.before or ""), change.after, colour=colour)
        click.echo(
            text if change.before is not None else text.replace(f"a/{name}", "/dev/null", 1), nl=False, color=True
        )


def _print_rest(change: FileChange) -> None:
    """Print lines to add to a file by hand, or that it needs none."""
    name = _shown(change.path)
    if change.advice:
        click.echo(f"{name} cannot be edited safely; add this to it:\n\n{_safe_lines(change.advice)}", err=True)
    elif not change.is_change:
        click.echo(f"{name} has everything already", err=True)


def _safe_lines(text: str) -> str:
    """Return text for a terminal, line by line."""
    return "\n".join(map(safe, text.split("\n")))


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return safe(path if relative.startswith("..") else relative)
