"""`kubectl spread explain`."""

from __future__ import annotations

import sys
from typing import Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete, console
from kubectl_spread.cli.console import Exit, finish, flush, print_error, progress
from kubectl_spread.cli.options import (
    as_usage_errors,
    cluster_facts,
    colour_option,
    filename_option,
    kustomize_option,
    namespace_option,
    Output,
    output_option,
    page_source,
    redirect_output,
    SectionedCommand,
    wants_colour,
    wide_option,
)
from kubectl_spread.cli.targets import parse_targets
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.selection import ObjectName
from kubectl_spread.text.wording import safe

if TYPE_CHECKING:
    from kubectl_spread.cluster.snapshot import Cluster
    from kubectl_spread.operations.explain import ExplainResult

_WIDTH = 120  # if the width of the output is unknown
_MESSAGE_WIDTH = 80  # likewise, of an explained message


@click.command(cls=SectionedCommand)
@click.argument("targets", nargs=-1, shell_complete=complete.targets, metavar="[TYPE NAME | TYPE/NAME]...")
@filename_option("Explain the next pod of each workload in a manifest; - is standard input.")
@kustomize_option
@cluster_facts
@click.option("--message", metavar="TEXT", help="Explain a pasted message instead of a pod; - is standard input.")
@namespace_option("Namespace of the pod or workload.  [default: the context's]")
@click.option(
    "--node", metavar="NODE", default="", help="Show all details of one node instead of a summary of all nodes."
)
@click.option(
    "--suggestions",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of changes to suggest for a Pending pod; 0 turns suggestions off.",
)
@wide_option
@output_option("text", "json", "html")
@colour_option
@click.pass_context
def command(
    ctx: click.Context,
    targets: tuple[str, ...],
    filename: tuple[str, ...],
    kustomize: tuple[str, ...],
    facts: ClusterSource,
    message: Optional[str],
    namespace: Optional[str],
    node: str,
    suggestions: int,
    *,
    allow_remote: bool,
    wide: bool,
    output: Output,
    color: str,
) -> int:
    """Explain why a pod is Pending, or why it runs where it does.

    The answer has the verdict, the scheduler's message, the nodes grouped by reason, the arithmetic of each constraint,
    the requirements that conflict, and changes that would help. Each suggested change was simulated first.

    \b
    Exit codes:
      0  the pods run, or would be scheduled
      1  a pod stays Pending, cannot be predicted or does not exist, or a message is not understood
      2  wrong usage
      3  an input could not be read, or the cluster could not be reached

    \b
    Examples:
      # Explain a pod of the live cluster, or of a snapshot
      kubectl spread explain pod web-7d9f-x2x4 -n shop
      kubectl spread explain pod web-7d9f-x2x4 -n shop --snapshot facts.yaml

    \b
      # Explain the Pending pods of a workload, or its next pod if none is Pending
      kubectl spread explain deploy/web -n shop

    \b
      # Why not on this node?
      kubectl spread explain pod web-7d9f-x2x4 -n shop --node n1

    \b
      # Explain the next pod of a manifest before it is applied
      kubectl spread explain -f web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi

    \b
      # Explain messages of the scheduler, an autoscaler or the API server; no cluster is needed
      kubectl get events -n shop --field-selector reason=FailedScheduling | kubectl spread explain --message -
    """  # noqa: D301
    if message is not None:
        is_alone = not (targets or filename or kustomize or node or facts.is_given)
        with redirect_output(output):
            return _explain_message(message, output.format, colour=wants_colour(color), is_alone=is_alone)
    named = _named(targets, ctx)
    with as_usage_errors(ctx), progress("reading the cluster facts") as under_way:
        from kubectl_spread.operations import explain  # numpy: 80 ms

        request = explain.ExplainRequest(named, filename, kustomize, facts, namespace, node, suggestions, allow_remote)
        given = explain.read_inputs(request)
        under_way.stage = "explaining"
        found = explain.explain(given)
    with redirect_output(output):
        if found.reports or not found.missing:
            _print(found, output.format, colour=wants_colour(color), is_wide=wide)
        _print_unread(found.known.cluster, output.format)
    flush()
    for note in found.notes:
        click.echo(safe(note), err=True)
    return finish((*found.errors, *found.missing), is_fine=found.is_fine)


def _print_unread(cluster: Cluster, output: str) -> None:
    """Print the unreadable resources of the cluster below the text."""
    if output == "text" and cluster.unread:
        from kubectl_spread.report import documents

        click.echo(f"\n{documents.line(cluster.unread)}")


def _named(words: tuple[str, ...], ctx: click.Context) -> tuple[ObjectName, ...]:
    """Parse `pod a b` or `pod/a deploy/b` as kubectl does; a type without a name is an error."""
    found = parse_targets(words, ctx, verb="explain")
    if found.kinds:
        raise click.UsageError(f"the name is missing: write {words[0]} NAME or {words[0]}/NAME", ctx)
    return found.targets


def _print(found: ExplainResult, output: str, *, colour: bool, is_wide: bool) -> None:
    if output == "json":
        from kubectl_spread.report.documents import dumps
        from kubectl_spread.report.explain import document

        click.echo(dumps(document.explanations(found.reports)))
        return
    if output == "html":
        from kubectl_spread.report.explain import html  # jinja2: 30 ms

        click.echo(html.render(found.reports, page_source(found.known)), nl=False)
        return
    from kubectl_spread.report.explain import text as explain_text
    from kubectl_spread.report.table import Style

    text = explain_text.text(found.reports, Style(console.width(_WIDTH), colour, is_wide))
    if text:
        click.echo(text, color=True)


def _explain_message(text: str, output: str, *, colour: bool, is_alone: bool) -> int:
    """Print the meaning of a message; `-` reads it from standard input.

    Returns:
        1 if parts were not understood, else 0.

    Raises:
        click.UsageError: there is no text, HTML is requested, or a pod, a manifest or a cluster is named, too.
    """
    if not is_alone:
        raise click.UsageError(
            "--message cannot be combined with a pod, a node, a manifest or a cluster", click.get_current_context()
        )
    if output == "html":
        raise click.UsageError("--message supports -o text and json only", click.get_current_context())
    from kubectl_spread.explain.messages.parse import parse_all
    from kubectl_spread.report import messages as report

    if text == "-":
        text = _standard_input()
    if not text.strip():
        raise click.UsageError("the message is empty", click.get_current_context())
    found = parse_all(text)
    if output == "json":
        from kubectl_spread.report.documents import dumps

        click.echo(dumps(report.document(found)))
    else:
        blocks = [
            "\n".join(report.lines(item, width=console.table_width() or _MESSAGE_WIDTH, colour=colour))
            for item in found
        ]
        click.echo("\n\n".join(blocks), color=True)
    missed = sum(len(item.not_understood) for item in found)
    if not missed:
        return Exit.CLEAN
    flush()
    print_error(
        "one part of the text was not understood" if missed == 1 else f"{missed} parts of the text were not understood"
    )
    return Exit.FINDINGS


def _standard_input() -> str:
    """Return standard input as text, also if it is UTF-16 from a Windows shell."""
    if sys.stdin is None:  # it is closed
        return ""
    raw = sys.stdin.buffer.read()
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return raw.decode(encoding, "replace")
