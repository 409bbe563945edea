"""Messages on standard error; standard output has data only."""

from __future__ import annotations

import sys
from typing import Union

import click

from kubectl_spread.errors import SpreadError
from kubectl_spread.operations.inputs.notices import Level, Notice
from kubectl_spread.text.wording import safe


def flush() -> None:
    """Flush standard output, if it is open, so that it precedes later errors."""
    if sys.stdout is not None:
        sys.stdout.flush()


def print_error(what: Union[SpreadError, str]) -> None:
    """Print an error."""
    click.echo(f"error: {safe(str(what))}", err=True)


def warn(message: str) -> None:
    """Print a warning: an input is not as it should be."""
    click.echo(f"warning: {safe(message)}", err=True)


_NOTED = "kubectl_spread.noted"


def note(message: str) -> None:
    """Print an assumption of the answer, once in a run; nothing if the message is empty."""
    context = click.get_current_context(silent=True)
    noted = set() if context is None else context.find_root().meta.setdefault(_NOTED, set())
    if message and message not in noted:
        noted.add(message)
        click.echo(f"note: {safe(message)}", err=True)


def announce(notice: Notice) -> None:
    """Print a notice of an operation."""
    (note if notice.level is Level.NOTE else warn)(notice.text)
