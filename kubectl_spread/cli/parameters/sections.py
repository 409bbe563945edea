"""A command whose --help lists shared options in sections of their own, after the command's own options."""

from __future__ import annotations

import click

RULES, FACTS, CONNECTION = "Rules and files", "Cluster facts", "API server, as in kubectl"
_SECTIONS = ("Options", RULES, FACTS, CONNECTION)
_AS_WRITTEN = "\b\n"  # click keeps the lines of a paragraph that begins so
_COPIED = "Examples:"  # the heading of commands to copy: their lines stay whole, in this paragraph and all later ones


class SectionedCommand(click.Command):
    """A click command that prints its options by section; an option without a section is the command's own."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, with the lists of exit codes and steps wrapped to the terminal."""
        import inspect  # 2 ms, and only --help needs it

        described, heading, examples = inspect.cleandoc(self.help or "").partition(f"{_AS_WRITTEN}{_COPIED}")
        paragraphs = described.split("\n\n")
        formatter.write_paragraph()
        with formatter.indentation():
            width = formatter.width - formatter.current_indent
            text = "\n\n".join(_wrapped_list(item, width) for item in paragraphs)
            formatter.write_text(f"{text}{heading}{examples}")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section that has options."""
        rows: dict[str, list[tuple[str, str]]] = {section: [] for section in _SECTIONS}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx)
            if row is not None and row[1]:  # an argument has a row without text
                rows[getattr(param, "section", _SECTIONS[0])].append(row)
        for section, found in rows.items():
            if found:
                with formatter.section(section):
                    formatter.write_dl(found)


def _wrapped_list(paragraph: str, width: int) -> str:
    """Return a paragraph whose lines click keeps, with each line wrapped under its own text."""
    if not paragraph.startswith(_AS_WRITTEN):
        return paragraph
    lines = paragraph.removeprefix(_AS_WRITTEN).splitlines()
    return _AS_WRITTEN + "\n".join(_wrapped_item(line, width) for line in lines)


def _wrapped_item(line: str, width: int) -> str:
    """Return a line such as `  1  text`, with further lines of the text below its first word."""
    if len(line) <= width:
        return line
    import re
    import textwrap  # 1 ms

    label = re.match(r"\s*\S+(?: \S+)*\s{2,}(?=\S)", line)
    indent = len(label.group()) if label is not None else len(line) - len(line.lstrip())
    return textwrap.fill(line, width, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)
