"""`kubectl spread explain --message`: explain a pasted message. Nothing here loads numpy."""

from __future__ import annotations

import sys

import click

from kubectl_spread.cli.console import terminal
from kubectl_spread.cli.console.stderr import flush, print_error
from kubectl_spread.cli.exit import Exit

_WIDTH = 80  # if the output is not a terminal


def explain_message(text: str, output: str, *, colour: bool, is_alone: bool) -> int:
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
            "\n".join(report.lines(item, width=terminal.table_width() or _WIDTH, colour=colour)) for item in found
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
