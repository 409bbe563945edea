"""A command whose --help lists shared options in sections of their own, after the command's own options."""

from __future__ import annotations

import click

RULES, FACTS, CONNECTION = "Rules and files", "Cluster facts", "API server, as in kubectl"
_SECTIONS = ("Options", RULES, FACTS, CONNECTION)


class SectionedCommand(click.Command):
    """A click command that prints its options by section; an option without a section is the command's own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section that has options."""
        rows: dict[str, list[tuple[str, str]]] = {section: [] for section in _SECTIONS}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx)
            if row is not None:
                rows[getattr(param, "section", _SECTIONS[0])].append(row)
        for section, found in rows.items():
            if found:
                with formatter.section(section):
                    formatter.write_dl(found)
