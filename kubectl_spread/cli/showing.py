"""`check --show-files`: the files that would be checked, and the roots that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubectl_spread.cli import checking
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.rule_options import Inputs
from kubectl_spread.cli.stderr import complain
from kubectl_spread.errors import SourceError
from kubectl_spread.report.table import safe

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.check_source import Result


def show_files(given: Inputs, asked: checking.Asked) -> int:
    """Print a line for each file: its path, and if there are several roots, a tab and those that it belongs to."""
    from kubectl_spread.sources.files import files
    from kubectl_spread.sources.files import read_text

    errors = 0
    paths: list[str] = []
    results: list[Result] = []
    for found in files(given.paths, recursive=given.recursive, exclusion=given.exclusion):
        if isinstance(found, SourceError):
            errors += 1
            complain(found)
            continue
        paths.append(found.path)
        try:
            results += [asked.check(read_text(found.path))] if found.path != "-" else []
        except SourceError as error:
            errors += 1
            complain(error)
    roots = _roots(given, asked, results)
    is_one = len({root for names in roots.values() for root in names}) <= 1
    for path in paths:
        names = roots.get(path, ())
        shown = safe(path)
        click.echo(shown if is_one or not names else f"{shown}\t{safe(', '.join(names))}")
    return Exit.UNREADABLE if errors else Exit.CLEAN


def _roots(given: Inputs, asked: checking.Asked, results: list[Result]) -> dict[str, list[str]]:
    """The roots of each file that was read, by its name."""
    from kubectl_spread.lint.projects import roots_of

    rules = checking.rules_of(given, asked.config, [result.source for result in results], texts=())
    found: dict[str, list[str]] = {result.source.name: [] for result in results}
    for root in roots_of(results, rules, asked.namespace):
        for source in root.sources:
            if (shown := root.shown(source)) not in found[source.name]:
                found[source.name].append(shown)
    return found
