"""What the shell completes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_LEVELS = ("error", "warning", "info")


def rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes and names of rules, the last of several by commas."""
    before, comma, word = incomplete.rpartition(",")
    return [_item(f"{before}{comma}{name}", summary) for name, summary in _known() if _begins(name, word)]


def levels_of_rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """RULE=LEVEL, first the rule, then the level."""
    word, equals, level = incomplete.partition("=")
    if equals:
        return [_item(f"{word}={name}") for name in _LEVELS if name.startswith(level)]
    return [_item(f"{name}=", summary) for name, summary in _known() if _begins(name, word)]


def _known() -> list[tuple[str, str]]:
    from kubectl_spread.lint.catalogue import RULES

    return [(name, rule.summary) for rule in RULES.values() for name in (rule.code, rule.name)]


def _begins(name: str, word: str) -> bool:
    """A code in either case, a name only as it is written; before the first letter, codes alone."""
    return name.startswith(word.upper()) or bool(word and name.startswith(word))


def _item(value: str, summary: str = "") -> CompletionItem:
    from click.shell_completion import CompletionItem

    return CompletionItem(value, help=summary)
