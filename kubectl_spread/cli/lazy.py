"""Commands that are imported when they run, not when the program starts."""

from __future__ import annotations

import importlib
from typing import NamedTuple, Optional, TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class CommandEntry(NamedTuple):
    """A command's module, which has it as `command`, and its line in the help."""

    module: str
    help: str


class LazyGroup(click.Group):
    """A group whose commands are in a table; its help is printed from the table alone."""

    entries: dict[str, CommandEntry] = {}  # noqa: RUF012 (set once, by the subclass)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = importlib.import_module(entry.module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[Optional[str], Optional[click.Command], list[str]]:
        """Return the command of the first argument.

        Raises:
            UsageError: there is none; the message names the command that was probably meant.
        """
        if args[0] not in self.entries and not ctx.resilient_parsing:
            from kubectl_spread.text.wording import did_you_mean  # not needed for known commands

            near = did_you_mean(args[0], self.entries)
            if near:
                raise click.UsageError(f"no such command '{args[0]}': {near}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands with their descriptions, without importing them; then the group's own options."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=entry.help) for name, entry in self.entries.items() if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Available Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])
