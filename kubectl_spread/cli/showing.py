"""`check --show-files`: list the files that would be checked, with their roots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubectl_spread.cli.console.stderr import print_error
from kubectl_spread.cli.exit import Exit
from kubectl_spread.errors import SourceError
from kubectl_spread.operations import check
from kubectl_spread.operations.check import CheckRequest
from kubectl_spread.operations.inputs.rule_choice import InputPaths
from kubectl_spread.text.wording import safe

if TYPE_CHECKING:  # imported where they are used, so that --help and usage errors stay fast
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.selection import Config


def show_files(request: CheckRequest, config: Config) -> int:
    """Print a line for each file: its path and, if there are several roots, a tab and its roots."""
    from kubectl_spread.sources.files import files, read_text

    given = check.paths_of(request, config)
    asked = check.settings(request.choice, config, source=request.source, namespace=request.namespace)
    errors = 0
    paths: list[str] = []
    results: list[Result] = []
    for found in files(given.paths, recursive=given.recursive, exclusion=given.exclusion):
        if isinstance(found, SourceError):
            errors += 1
            print_error(found)
            continue
        paths.append(found.path)
        try:
            results += [asked.read(read_text(found.path))] if found.path != "-" else []
        except SourceError as error:
            errors += 1
            print_error(error)
    roots = _roots(given, asked, results)
    is_one = len({root for names in roots.values() for root in names}) <= 1
    for path in paths:
        names = roots.get(path, ())
        shown = safe(path)
        click.echo(shown if is_one or not names else f"{shown}\t{safe(', '.join(names))}")
    return Exit.UNREADABLE if errors else Exit.CLEAN


def _roots(given: InputPaths, asked: check.CheckSettings, results: list[Result]) -> dict[str, list[str]]:
    """Return the roots of each file that was read, by its name."""
    from kubectl_spread.lint.projects import roots_of

    rules = check.root_rules_of(given, asked.config, [result.source for result in results], texts=())
    found: dict[str, list[str]] = {result.source.name: [] for result in results}
    for root in roots_of(results, rules, asked.namespace):
        for source in root.sources:
            if (shown := root.display_name(source)) not in found[source.name]:
                found[source.name].append(shown)
    return found
