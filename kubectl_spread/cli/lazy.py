"""Commands that are imported when they run, not when the program starts."""

from __future__ import annotations

import importlib
from typing import NamedTuple
from typing import Optional

import click


class Entry(NamedTuple):
    """A command's module, which has it as `command`, and its line in the help."""

    module: str
    help: str


class LazyGroup(click.Group):
    """A group whose commands are in a table; its help is printed from the table alone."""

    entries: dict[str, Entry] = {}  # noqa: RUF012 (set once, by the subclass)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = importlib.import_module(entry.module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Available Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])
