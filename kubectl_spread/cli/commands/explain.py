"""`kubectl spread explain`."""

from __future__ import annotations

import sys
from typing import Any, Optional, TYPE_CHECKING

import click

from kubectl_spread.cli import complete, console
from kubectl_spread.cli.console import Exit, finish, flush, print_error, progress
from kubectl_spread.cli.options import (
    answer_options,
    cluster_facts,
    Count,
    DOCUMENTS,
    kustomize_option,
    namespace_option,
    option,
    Output,
    page_source,
    print_document,
    redirect_output,
    SectionedCommand,
)
from kubectl_spread.cli.targets import namespace_of, selection, without_files
from kubectl_spread.text.wording import safe

if TYPE_CHECKING:
    from kubectl_spread.operations.explain import ExplainResult

_MESSAGE_WIDTH = 80  # of an explained message, if the width of the output is unknown


@click.command(cls=SectionedCommand)
@click.argument("targets", nargs=-1, shell_complete=complete.targets, metavar="[TYPE NAME | TYPE/NAME]...")
@option(
    "-f, --filename FILE...: Explain the next pod of each workload in a manifest; - is standard input.", name="paths"
)
@kustomize_option
@cluster_facts
@option("--message TEXT: Explain a pasted message instead of a pod; - is standard input.")
@namespace_option()
@option("-A, --all-namespaces: Explain the Pending pods of all namespaces.")
@option("--node NODE: Show all details of one node instead of a summary of all nodes.", default="")
@option(
    "--suggestions N: Number of changes to suggest for a Pending pod; 0 turns suggestions off.",
    type=Count(0),
    default=3,
)
@answer_options("text", "json", "yaml", "html")
def command(
    targets: tuple[str, ...],
    message: Optional[str],
    all_namespaces: bool,
    output: Output,
    **asked: Any,
) -> int:
    """Explain why a pod is Pending, or why it runs where it does.

    The answer starts with the reason. Then come the change that helps best, what it brings and costs, the pods of each
    domain, and other changes. Each change was simulated first. If the pod's controller is not in the facts, one
    with its pods and default settings was, and the answer says so.

    \b
    Examples:
      # A pod, or the Pending pods of a workload (its next pod if none is Pending)
      kubectl spread explain pod web-7d9f-x2x4 -n shop
      kubectl spread explain deploy/web -n shop --snapshot facts.yaml
      # Everything that is Pending
      kubectl spread explain -A
      # Why not on this node?
      kubectl spread explain pod web-7d9f-x2x4 -n shop --node n1
      # The next pod of a manifest before it is applied
      kubectl spread explain -f web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi
      # Messages of the scheduler, an autoscaler or the API server; no cluster is needed
      kubectl get events -n shop --field-selector reason=FailedScheduling | kubectl spread explain --message -

    \b
    Exit codes:
      0  the pods run, or would be scheduled; one more pod of a complete workload may wait
      1  a pod stays Pending, is refused, unpredictable or does not exist, or a message is not understood
      2  wrong usage
      3  an input could not be read, or the cluster could not be reached
    """  # noqa: D301
    if message is not None:
        if targets or asked["paths"] or asked["kustomize"] or asked["node"] or asked["source"].is_given:
            raise click.UsageError("--message cannot be combined with a pod, a node, a manifest or a cluster")
        with redirect_output(output):
            return _explain_message(message, output)
    targets, asked["paths"] = without_files(targets, asked["paths"])
    named = selection(targets, verb="explain")
    if named.kinds:
        raise click.UsageError(f"the name is missing: write {targets[0]} NAME or {targets[0]}/NAME")
    asked["namespace"] = namespace_of(named, asked["namespace"], all_namespaces=all_namespaces)
    with progress("reading the cluster facts") as under_way:
        from kubectl_spread.operations import explain  # numpy: 80 ms

        is_brief = output.format == "text" and not output.style.is_detailed
        wanted = explain.ExplainRequest(named.targets, **asked, is_brief=is_brief)
        found = explain.explain_pods(wanted, is_read=lambda: setattr(under_way, "stage", "explaining"))
    with redirect_output(output):
        _print(found, output)
    flush()
    for note in found.notes:
        click.echo(safe(note), err=True)
    return finish((*found.errors, *found.missing), is_fine=found.is_fine)


def _print(found: ExplainResult, output: Output) -> None:
    """Print the reports, and below a text the unreadable resources of the cluster."""
    has_answer = found.reports or not found.missing
    if output.format in DOCUMENTS and has_answer:
        from kubectl_spread.report.explain import document

        print_document(document.explanations(found.reports), output.format)
    elif output.format == "html" and has_answer:
        from kubectl_spread.report.explain import html  # jinja2: 30 ms

        click.echo(html.render(found.reports, page_source(found.known, output.style), found.known.cluster), nl=False)
    elif output.format == "text":
        from kubectl_spread.report import documents
        from kubectl_spread.report.explain import text as explain_text

        text = explain_text.text(found.reports, output.style)
        if text:
            click.echo(text, color=output.colour)
        if found.known.cluster.unread:
            click.echo(f"\n{documents.line(found.known.cluster.unread)}")


def _explain_message(text: str, output: Output) -> int:
    """Print the meaning of a message; `-` reads it from standard input.

    Returns:
        1 if parts were not understood, or there is no message; else 0.

    Raises:
        click.UsageError: there is no text, or HTML is requested.
    """
    if output.format == "html":
        raise click.UsageError("--message supports -o text, json and yaml only")
    from kubectl_spread.explain.messages.parse import parse_all
    from kubectl_spread.report import messages as report

    if text == "-":
        raw = b"" if sys.stdin is None else sys.stdin.buffer.read()  # None: it is closed
        is_of_windows = raw[:2] in (b"\xff\xfe", b"\xfe\xff")  # a shell of Windows writes UTF-16
        text = raw.decode("utf-16" if is_of_windows else "utf-8", "replace")
    if not text.strip():
        raise click.UsageError("the message is empty")
    found = parse_all(text)
    if output.format in DOCUMENTS:
        print_document(report.document(found), output.format)
    else:
        width = console.table_width() or _MESSAGE_WIDTH
        click.echo(report.text(found, width=width), color=output.colour)
    missed = sum(len(item.not_understood) for item in found)
    if not missed and all(item.form != "unknown" for item in found):
        return Exit.CLEAN
    flush()
    parts = "one part of the text was" if missed == 1 else f"{missed} parts of the text were"
    print_error(f"{parts} not understood" if missed else "the text holds no message; paste the Events of the pod, too")
    return Exit.FINDINGS
