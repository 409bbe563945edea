"""What goes to standard error: data stays alone on standard output."""

from __future__ import annotations

import sys
from typing import Union

import click

from kubectl_spread.errors import SpreadError
from kubectl_spread.report.table import safe


def flush() -> None:
    """Let what was printed come before what is complained of; a closed standard output took nothing."""
    if sys.stdout is not None:
        sys.stdout.flush()


def complain(what: Union[SpreadError, str]) -> None:
    """Say what could not be read, found or done."""
    click.echo(f"error: {safe(str(what))}", err=True)


def warn(message: str) -> None:
    """Say what was read and is not as it should be."""
    click.echo(f"warning: {safe(message)}", err=True)


def note(message: str) -> None:
    """Say what an answer rests on."""
    click.echo(f"note: {safe(message)}", err=True)


_NOTED = "kubectl_spread.noted"


def note_once(message: str) -> None:
    """Say what an answer rests on, once in a run; nothing where there is nothing to say."""
    context = click.get_current_context(silent=True)
    noted = set() if context is None else context.find_root().meta.setdefault(_NOTED, set())
    if message and message not in noted:
        noted.add(message)
        note(message)
