"""`kubectl spread simulate run`; loads numpy."""

from __future__ import annotations

import click

from kubectl_spread.cli.console.progress import Progress
from kubectl_spread.cli.console.search import interruptible, ShownWatch
from kubectl_spread.cli.console.stderr import flush
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.parameters.outputs import page_source
from kubectl_spread.operations.scenarios import run_scenarios, ScenarioRequest
from kubectl_spread.report import scenarios as report
from kubectl_spread.report.scenarios import ScenarioResult
from kubectl_spread.report.simulation import render
from kubectl_spread.report.table import Style


def run(request: ScenarioRequest, under_way: Progress, *, output: str, width: int, colour: bool) -> int:
    """Run scenarios, print each result as soon as it is complete, and return the exit code."""
    watch = ShownWatch(under_way, steps=2)

    def begin(file: str) -> None:
        watch.name = f"{file}: "

    found: list[ScenarioResult] = []
    with interruptible(watch):
        for result in run_scenarios(request, watch, begin):
            found.append(result)
            if output == "text":
                click.echo("\n".join(report.lines(result, width=width, colour=colour)), color=True)
    _print_end(found, output, width=width, colour=colour)
    flush()
    if watch.is_stopped:
        return Exit.INTERRUPTED
    if any(result.errors for result in found):
        return Exit.UNREADABLE
    return Exit.CLEAN if all(result.is_fine for result in found) else Exit.FINDINGS


def _print_end(found: list[ScenarioResult], output: str, *, width: int, colour: bool) -> None:
    if output == "json":
        from kubectl_spread.report.documents import dumps

        click.echo(dumps(report.document(found)))
    elif output == "junit":
        click.echo(report.junit(found))
    elif output == "html":
        from kubectl_spread.report.pages import simulation as pages

        click.echo(pages.render_scenarios(found, page_source(None)), nl=False)
    elif len(found) == 1 and found[0].simulation.steps:
        click.echo(f"\n{render(found[0].simulation, Style(width, colour))}", color=True)
    else:
        click.echo(f"\n{report.total(found)}")
