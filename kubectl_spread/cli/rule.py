"""`kubectl spread rule`."""

from __future__ import annotations

from typing import Any
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.exit import Exit

if TYPE_CHECKING:  # imported where it is used, so that --help stays fast
    from kubectl_spread.lint.finding import RuleMeta


@click.command()
@click.argument("rules", nargs=-1, metavar="[RULE]...", shell_complete=complete.rules)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(rules: tuple[str, ...], output: str) -> int:
    """Explain rules of check: what each finds, why, and what to do.

    RULE is a code, the beginning of codes, or a name. Without one, all rules are listed.

    \b
    Examples:
      kubectl spread rule
      kubectl spread rule SPR202
      kubectl spread rule selector-missing daemonset
      kubectl spread rule SPR2 -o json
    """  # noqa: D301
    from kubectl_spread.lint.catalogue import RULES

    chosen = [RULES[code] for code in _codes(rules)]
    if output == "json":
        import json

        click.echo(json.dumps([_plain(rule) for rule in chosen], indent=2))
    elif rules:
        click.echo("\n\n".join(_page(rule) for rule in chosen))
    else:
        click.echo("\n".join(_listed(chosen)))
    return Exit.CLEAN


def _codes(words: tuple[str, ...]) -> list[str]:
    from kubectl_spread.lint.select import selected
    from kubectl_spread.lint.select import UnknownRuleError

    try:
        return sorted(selected(words or ("ALL",), ()))
    except UnknownRuleError as error:
        raise click.UsageError(str(error)) from None


def _page(rule: RuleMeta) -> str:
    from kubectl_spread.lint.workloads import documentation

    return f"{rule.code} {rule.name} ({rule.severity.value})\n\n{documentation(rule)}"


def _plain(rule: RuleMeta) -> dict[str, Any]:
    from kubectl_spread.lint.workloads import documentation

    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "documentation": documentation(rule),
    }


def _listed(rules: list[RuleMeta]) -> list[str]:
    width = max(len(rule.name) for rule in rules)
    return [f"{rule.code}  {rule.name:<{width}}  {rule.severity.value:<7}  {rule.summary}" for rule in rules]
