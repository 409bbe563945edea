"""`kubectl spread demo`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple, Optional

import click

from kubectl_spread.cli.console import Exit, flush
from kubectl_spread.cli.options import option, SectionedCommand
from kubectl_spread.errors import SourceError
from kubectl_spread.schemas import data_directory


@click.command(cls=SectionedCommand)
@click.argument("steps", nargs=-1, metavar="[STEP]...")
@option(
    "--save DIR: Write the example's files to DIR/shop, to run the commands yourself.", type=click.Path(file_okay=False)
)
def command(steps: tuple[str, ...], save: Optional[str]) -> int:
    """Show the main commands on an example: a shop whose pods do not spread as intended.

    The demo needs neither files nor a cluster. It lists its steps, then runs them in this order and prints each command
    with its output. STEP is the name of a step; without STEP, all of them run.

    \b
    Examples:
      # See what the program does
      kubectl spread demo | less

    \b
      # Only some steps
      kubectl spread demo explain simulate

    \b
      # Play with the example
      kubectl spread demo --save . && kubectl spread check shop/web.yaml --snapshot shop/cluster.yaml

    \b
    Exit codes:
      0  the demo ran, whatever its commands found
      2  wrong usage
      3  the files could not be written
    """  # noqa: D301
    known = {step.name: step for step in STEPS}
    for name in steps:
        if name not in known:
            raise click.UsageError(f"no step is called `{name}`: the steps are {', '.join(known)}")
    chosen = [known[name] for name in dict.fromkeys(steps or known)]
    if save is not None:
        if steps:
            raise click.UsageError("--save writes files, and runs no step")
        return _save(save)
    width = max(map(len, known))
    rows = [f"{step.name.ljust(width)}   {step.reason}" for step in chosen]
    if len(chosen) > 1:
        click.echo(f"This demo runs {len(chosen)} commands on an example, a shop whose pods do not spread as intended:")
        click.echo("".join(f"  {number}. {row}\n" for number, row in enumerate(rows, start=1)))
    for number, step in enumerate(chosen):
        if number:
            click.echo("\n")
        _show(step)
    click.echo("\nTo run these commands yourself, write the files: kubectl spread demo --save DIR")
    return Exit.CLEAN


def _show(step: DemoStep) -> None:
    """Print a step's reason and command, then run the command in the directory of the example."""
    from kubectl_spread.cli.main import run

    click.echo(f"# {step.reason}")
    click.secho(f"$ kubectl spread {step.line}", bold=True)
    flush()
    # A configuration in a directory above an installed package must not change the result.
    hidden = ["--no-config"] if step.line.startswith("check") else []
    with working_directory(data_directory("examples")):
        code = run([*step.line.split(), *hidden])
    if code == Exit.READER_GONE:
        raise BrokenPipeError
    flush()
    click.echo(f"(exit code {code})")
    if code != step.code:
        raise SourceError("demo", f"`{step.name}` exited with {code}, not with {int(step.code)}")


@contextlib.contextmanager
def working_directory(path: str | os.PathLike[str]) -> Iterator[None]:
    """Change to a directory for a while. Python 3.10 lacks `contextlib.chdir`."""
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def _save(directory: str) -> int:
    """Write the example's files. Existing files are never replaced.

    Raises:
        SourceError: a file exists already, or cannot be written.
    """
    from kubectl_spread.sources.files import reason

    source = os.path.join(data_directory("examples"), FOLDER)
    target = os.path.join(directory, FOLDER)
    names = sorted(name for name in os.listdir(source) if name.endswith(".yaml"))
    for name in names:
        if os.path.lexists(os.path.join(target, name)):
            raise SourceError(os.path.join(target, name), "the file exists already; it is not replaced")
    for name in names:
        path = os.path.join(target, name)
        try:
            os.makedirs(target, exist_ok=True)
            with open(os.path.join(source, name), "rb") as original, open(path, "xb") as copy:
                copy.write(original.read())
        except OSError as error:
            raise SourceError(path, reason(error)) from None
        click.echo(path)
    return Exit.CLEAN


FOLDER = "shop"


class DemoStep(NamedTuple):
    """A command of the demo, the reason to run it, and its exit code."""

    name: str
    reason: str
    line: str
    code: int


STEPS = (
    DemoStep(
        "mistakes",
        "A manifest with four mistakes. The API server would refuse it.",
        "check shop/web-broken.yaml",
        Exit.FINDINGS,
    ),
    DemoStep(
        "check",
        "A valid manifest. Will all replicas find a node in a cluster with 5 nodes?",
        "check shop/web.yaml --snapshot shop/cluster.yaml",
        Exit.FINDINGS,
    ),
    DemoStep(
        "explain",
        "Why is one of its pods Pending in that cluster, and which change would help?",
        "explain pod web-6d4f9c7b58-9pdlw -n shop --snapshot shop/cluster.yaml",
        Exit.FINDINGS,
    ),
    DemoStep(
        "fixed",
        "The same manifest with the first suggestion. All replicas find a node.",
        "check shop/web-fixed.yaml --snapshot shop/cluster.yaml",
        Exit.CLEAN,
    ),
    DemoStep(
        "status",
        "Another day: a node is cordoned, and a scale-down left the running pods uneven.",
        "status -n shop --snapshot shop/running.yaml",
        Exit.FINDINGS,
    ),
    DemoStep(
        "simulate",
        "Would a restart even them out?",
        "simulate rollout restart deploy/web -n shop --snapshot shop/running.yaml",
        Exit.FINDINGS,
    ),
)
