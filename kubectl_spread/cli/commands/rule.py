"""`kubectl spread rule`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.console import Exit, flush, table_width
from kubectl_spread.cli.options import DOCUMENTS, option, print_document, SectionedCommand
from kubectl_spread.text.wording import count_noun

if TYPE_CHECKING:
    from kubectl_spread.lint.finding import RuleMeta

_MOST_SHOWN = 10
_REFERENCE = re.compile(r"(?i:spr\d*|[a-z\d]+(-[a-z\d]+)+|all)|SPR\w*", re.ASCII)


@click.command(cls=SectionedCommand)
@click.argument("rules", nargs=-1, metavar="[RULE... | WORD...]", shell_complete=complete.rules)
@option("-o, --output [text|json|yaml]: Output format.", default="text")
def command(rules: tuple[str, ...], output: str) -> int:
    """List the rules of check, explain some, or search them by the words of a message.

    RULE is a code, a code prefix or a name. Without RULE, all rules are listed. Any other WORD is searched for in the
    rules' names and pages. The best match comes first; if only one rule matches, its page is printed.

    Opinions run only if they are selected. Rules that need cluster facts run with --live, --snapshot or --topology, or
    if the configuration has `domains`.

    \b
    Examples:
      # List all rules
      kubectl spread rule

    \b
      # Explain one rule, two rules, all rules of a group
      kubectl spread rule SPR202
      kubectl spread rule selector-missing daemonset
      kubectl spread rule SPR2 -o json

    \b
      # Which rules are about cordoned nodes?
      kubectl spread rule cordoned nodes

    \b
    Exit codes:
      0  a rule was found
      2  wrong usage, or no rule matches
    """  # noqa: D301
    from kubectl_spread.lint.registry import RULES
    from kubectl_spread.report import rules as report

    width = table_width()
    names_rules = all(map(_is_reference, rules))
    chosen = [RULES[code] for code in _codes(rules)] if names_rules else _search(rules)
    if output in DOCUMENTS:
        print_document([report.plain(rule) for rule in chosen], output)
    elif (rules and names_rules) or len(chosen) == 1:
        click.echo("\n\n".join(report.page(rule, width) for rule in chosen))
    elif names_rules:
        click.echo("\n".join(report.list_rules(chosen, width)))
    else:
        click.echo("\n".join(report.list_rules(chosen[:_MOST_SHOWN], width)))
        flush()
        left = len(chosen) - _MOST_SHOWN
        more = f"{count_noun(left, 'more rule')} of lower rank; " if left > 0 else ""
        click.echo(f"{more}`kubectl spread rule {chosen[0].code}` prints the page of the best match", err=True)
    return Exit.CLEAN


def _is_reference(word: str) -> bool:
    """Return whether a word is meant as a code, a prefix or a name of a rule, or as several with commas."""
    from kubectl_spread.lint.registry import RULES

    names = {rule.name for rule in RULES.values()}
    parts = [part.strip() for part in word.split(",")]
    return all(not part or part in names or _REFERENCE.fullmatch(part) for part in parts)


def _search(words: tuple[str, ...]) -> list[RuleMeta]:
    """Return the rules that match a text, the best first.

    Raises:
        UsageError: none does.
    """
    from kubectl_spread.explain.messages.parse import parse
    from kubectl_spread.lint.finding import search
    from kubectl_spread.lint.registry import RULES

    text = " ".join(words)
    found = search(text, RULES.values())
    if parse(text).form != "unknown":
        click.echo("hint: `kubectl spread explain --message` explains this message in full", err=True)
    if found:
        return found
    if len(words) == 1 and not re.search(r"\s", text):
        _codes(words)
    raise click.UsageError(f"no rule has the words `{text}` in its name or page")


def _codes(words: tuple[str, ...]) -> list[str]:
    from kubectl_spread.lint.selection import selected_codes, UnknownRuleError

    if not all(word.strip(" ,") for word in words):
        raise click.UsageError("a rule is empty: name a code, a code prefix or a name")
    try:
        return sorted(selected_codes(words or ("ALL",), ()))
    except UnknownRuleError as error:
        raise click.UsageError(str(error)) from None
