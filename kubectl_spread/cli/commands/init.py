"""`kubectl spread init`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli.console import Exit, flush
from kubectl_spread.cli.options import colour_option, option, SectionedCommand, wants_colour
from kubectl_spread.errors import SourceError
from kubectl_spread.text.wording import count_noun, safe

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _directories(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete directories. `click.Path` does this only if it refuses files, in its own words."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


@click.command(cls=SectionedCommand)
@click.argument("directory", default=".", metavar="[DIRECTORY]", shell_complete=_directories)
@colour_option
@option("--write: Write the files. Without this option, only the changes are shown.")
def command(directory: str, color: str, write: bool) -> int:
    """Propose a configuration and a pre-commit hook that fit a repository.

    init reads the repository of DIRECTORY (default: the working directory). It looks for manifests,
    kustomizations and Node objects. It prints the new .kubectl-spread.yaml as a diff, and in a git repository also the
    change to .pre-commit-config.yaml.

    An existing file keeps its content: settings and hooks that it lacks are added at its end. If a file cannot be
    edited safely, init prints what to add.

    \b
    Examples:
      # Show what would be written
      kubectl spread init

    \b
      # Write it, then check the whole repository
      kubectl spread init --write && kubectl spread check

    \b
    Exit codes:
      0  the files were shown or written, or nothing is missing
      2  wrong usage, or the existing configuration is invalid
      3  a file could not be read or written
    """  # noqa: D301
    from kubectl_spread import __version__
    from kubectl_spread.operations.init import plan_setup, REPOSITORY_URL
    from kubectl_spread.operations.init import write as write_files
    from kubectl_spread.report import diff
    from kubectl_spread.text.source import SourceFile

    if not os.path.isdir(directory):
        is_file = os.path.lexists(directory) and not os.path.islink(directory)
        why = "init looks at a directory; this is a file" if is_file else "no such file or directory"
        raise SourceError(directory or '""', why)
    plan = plan_setup(directory)
    numbers = {"workload": plan.workloads, "kustomization": plan.kustomizations}
    parts = ", ".join(count_noun(len(items), noun) for noun, items in numbers.items())
    click.echo(f"{_shown(plan.root)}: {parts} in {count_noun(len(plan.sources), 'file')}", err=True)
    for path in write_files(plan) if write else ():
        click.echo(f"wrote {_shown(path)}")
    for change in () if write else plan.changes:
        name = os.path.relpath(change.path, plan.root)
        text = diff.render(SourceFile(name, change.before or ""), change.after)
        text = text if change.before is not None else text.replace(f"a/{name}", "/dev/null", 1)
        click.echo(text, nl=False, color=wants_colour(color))
    flush()
    for change in plan.changes:
        name = _shown(change.path)
        if change.advice:
            advice = "\n".join(map(safe, change.advice.split("\n")))
            click.echo(f"{name} cannot be edited safely; add this to it:\n\n{advice}", err=True)
        elif not change.is_change:
            click.echo(f"{name} has everything already", err=True)
    if len(plan.changes) == 1:
        click.echo("no pre-commit hook is proposed: this is not a git repository", err=True)
    if any(change.is_change for change in plan.changes):
        hint = (
            "next: kubectl spread check; with --topology zones=3,nodes=2 it also places the pods\n"
            f"a workflow with `uses: kubectl-spread/kubectl-spread@v{__version__}` checks the same on GitHub: "
            f"{REPOSITORY_URL}/blob/main/docs/install.md#github-actions"
        )
        click.echo(hint if write else "nothing was written; --write writes these files", err=True)
    return Exit.CLEAN


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return safe(path if relative.startswith("..") else relative)
