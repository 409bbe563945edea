"""`kubectl spread simulate --replicas MIN..MAX` and `--hpa`; loads numpy."""

from __future__ import annotations

from typing import Optional

import click

from kubectl_spread.cli.console.progress import Progress
from kubectl_spread.cli.console.search import interruptible, ShownWatch
from kubectl_spread.cli.console.stderr import flush, print_error
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.parameters.outputs import page_source
from kubectl_spread.kubectl.parsing import replica_range
from kubectl_spread.operations import replica_table
from kubectl_spread.operations.simulate import SimulateInputs, SimulateRequest
from kubectl_spread.report import replicas as report


def run(
    request: SimulateRequest,
    read: SimulateInputs,
    under_way: Progress,
    *,
    replicas: Optional[str],
    output: str,
    width: int,
) -> int:
    """Print the table, and return the exit code; without `replicas` the range of a step or of the autoscaler counts."""
    text = replicas or replica_range(request.commands)
    numbers = None if request.has_autoscalers else replica_table.counts(text)
    watch = ShownWatch(under_way, steps=1 + len(request.commands))
    with interruptible(watch):
        found = replica_table.table(request, read, numbers=numbers, watch=watch)
    if output == "json":
        from kubectl_spread.report.documents import dumps

        click.echo(dumps(report.document(found)))
    elif output == "html":
        from kubectl_spread.report.pages import simulation as pages

        click.echo(pages.render_table(found, page_source(read.known)), nl=False)
    else:
        click.echo("\n".join(report.text(found, width=width)))
    flush()
    for error in found.errors:
        print_error(error)
    if found.is_interrupted:
        return Exit.INTERRUPTED
    if found.errors:
        return Exit.UNREADABLE
    return Exit.CLEAN if found.is_fine else Exit.FINDINGS
