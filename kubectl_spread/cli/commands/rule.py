"""`kubectl spread rule`."""

from __future__ import annotations

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.exit import Exit


@click.command()
@click.argument("rules", nargs=-1, metavar="[RULE]...", shell_complete=complete.rules)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format."
)
def command(rules: tuple[str, ...], output: str) -> int:
    """List the rules of check, or explain some: what they find, why it matters, what to do.

    RULE is a code, a code prefix or a name. Without RULE, all rules are listed. Opinions run only if they are selected.
    Rules that need cluster facts run with --live, --snapshot or --topology, or if the configuration has `domains`.

    \b
    Examples:
      # List all rules
      kubectl spread rule

    \b
      # Explain one rule, two rules, all rules of a group
      kubectl spread rule SPR202
      kubectl spread rule selector-missing daemonset
      kubectl spread rule SPR2 -o json
    """  # noqa: D301
    from kubectl_spread.lint.catalogue.registry import RULES
    from kubectl_spread.report import rules as report

    chosen = [RULES[code] for code in _codes(rules)]
    if output == "json":
        import json

        click.echo(json.dumps([report.plain(rule) for rule in chosen], indent=2))
    elif rules:
        click.echo("\n\n".join(map(report.page, chosen)))
    else:
        click.echo("\n".join(report.listed(chosen)))
    return Exit.CLEAN


def _codes(words: tuple[str, ...]) -> list[str]:
    from kubectl_spread.lint.selection.select import selected, UnknownRuleError

    if not all(word.strip(" ,") for word in words):
        raise click.UsageError("a rule is empty: name a code, a code prefix or a name")
    try:
        return sorted(selected(words or ("ALL",), ()))
    except UnknownRuleError as error:
        raise click.UsageError(str(error)) from None
