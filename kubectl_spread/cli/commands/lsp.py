"""`kubectl spread lsp`."""

from __future__ import annotations

import os
import sys
from typing import Optional

import click

from kubectl_spread.cli.console import Exit, print_error
from kubectl_spread.cli.options import option, SectionedCommand
from kubectl_spread.errors import SpreadError
from kubectl_spread.operations.rule_choice import DocumentChecker, load_config, policy, RuleChoice

_OF_THE_EXTRA = ("pygls", "lsprotocol")


@click.command(cls=SectionedCommand)
@option("--stdio: Ignored: the server always uses standard input and output.", expose_value=False)
@option("--select RULES...: Run only these rules: codes, code prefixes or names, separated by commas.")
@option("--extend-select RULES...: Run these rules as well.")
@option("--ignore RULES...: Skip these rules. The longer prefix wins: --ignore SPR2 --select SPR201 runs SPR201.")
@option("--config FILE: Configuration file.  [default: .kubectl-spread.yaml here or in a parent directory]")
def command(
    select: tuple[str, ...], extend_select: tuple[str, ...], ignore: tuple[str, ...], config: Optional[str]
) -> int:
    """Start the language server: findings, fixes and rule pages in an editor.

    Editors start this command themselves; docs/editors.md shows how to configure them. It needs the extra
    kubectl-spread[lsp]. All open documents are checked together, like the files of one `check`.

    \b
    Examples:
      # Commands for an editor's configuration
      kubectl spread lsp
      kubectl spread lsp --ignore SPR4,selector-missing

    \b
    Exit codes:
      0  the editor shut the server down
      1  the editor closed the connection without a shutdown request
      2  wrong usage, or kubectl-spread[lsp] is not installed
      3  the configuration cannot be read
    """  # noqa: D301
    from kubectl_spread.lint.selection import Config

    choice = RuleChoice(select=select, extend_select=extend_select, ignore=ignore, config=config)
    try:
        settings = load_config(choice)
    except SpreadError as error:
        if config is not None:
            raise
        print_error(error)
        settings = Config(os.getcwd())
    checker = DocumentChecker(policy(choice, settings, minor=None), settings)
    if sys.stdin is None or sys.stdout is None:
        raise click.UsageError("standard input and output must be open: an editor communicates through them")
    try:
        from kubectl_spread.lsp import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _OF_THE_EXTRA:
            raise
        print_error("the language server needs pygls 2: pip install 'kubectl-spread[lsp]'")
        return Exit.USAGE
    return Exit.CLEAN if serve(checker) else Exit.FINDINGS
