"""Output formats with optional files: `-o html` and `-o html=FILE`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, TYPE_CHECKING

import click

if TYPE_CHECKING:  # these load numpy and jinja2
    from kubectl_spread.operations.inputs.cluster_source import LoadedCluster
    from kubectl_spread.report.pages.page import PageSource


class Output(NamedTuple):
    """A format and its file; standard output if the file is empty."""

    format: str
    file: str = ""


class FormatChoice(click.Choice):  # type: ignore[type-arg]
    """One of several formats, with a file if the output does not go to standard output."""

    def convert(self, value: Any, param: Optional[click.Parameter], ctx: Optional[click.Context]) -> Output:
        """Parse `FORMAT` or `FORMAT=FILE`."""
        if isinstance(value, Output):
            return value
        name, separator, file = str(value).partition("=")
        known = super().convert(name, param, ctx)
        if separator and not file:
            self.fail(f"no file is named: {value}", param, ctx)
        return Output(known, file)

    def get_metavar(self, *args: Any, **kwargs: Any) -> str:
        """Return `[text|json|html][=FILE]`."""
        return f"[{'|'.join(map(str, self.choices))}][=FILE]"


@contextlib.contextmanager
def redirect_output(output: Optional[Output]) -> Iterator[None]:
    """Write standard output to the file of an output, if it has one.

    Raises:
        SourceError: the file cannot be written; its old content is unchanged.
    """
    if output is None or not output.file:
        yield
        return
    held = io.StringIO()
    with contextlib.redirect_stdout(held):
        yield
    from kubectl_spread.sources.atomic_write import write

    write(output.file, held.getvalue())


def page_source(known: Optional[LoadedCluster]) -> PageSource:
    """Return the origin of a page that is made now."""
    from datetime import datetime, timezone

    from kubectl_spread.report.pages.page import PageSource  # jinja2: 30 ms

    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return PageSource("", "", now) if known is None else PageSource(known.name, known.version_words, now)
