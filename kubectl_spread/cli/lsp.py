"""`kubectl spread lsp`."""

from __future__ import annotations

import os
import sys
from typing import Optional
from typing import TYPE_CHECKING

import click

from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.rule_options import ChoiceOptions
from kubectl_spread.cli.rule_options import load_config
from kubectl_spread.cli.rule_options import policy
from kubectl_spread.cli.stderr import complain
from kubectl_spread.errors import SpreadError

if TYPE_CHECKING:  # imported where it is used, so that --help stays fast
    from kubectl_spread.lsp.judge import Judge

_OF_THE_EXTRA = ("pygls", "lsprotocol")


@click.command()
@click.option("--stdio", is_flag=True, expose_value=False, help="Speak over standard input and output, as always.")
@click.option("--select", multiple=True, metavar="RULES", help="Only these rules: codes, prefixes or names, by commas.")
@click.option("--extend-select", multiple=True, metavar="RULES", help="These rules besides the default ones.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Not these rules; of two, the longer prefix counts.")
@click.option("--config", type=FILE, metavar="FILE", help="The config.  [default: .kubectl-spread.yaml here or above]")
def command(
    select: tuple[str, ...], extend_select: tuple[str, ...], ignore: tuple[str, ...], config: Optional[str]
) -> int:
    """Serve an editor: findings while you type, their fixes, and what their rules mean.

    A language server (LSP) for editors to start; see docs/editors.md. It needs kubectl-spread[lsp]. The documents that
    are open are checked together, as the files of one `check` are.

    \b
    Exit codes:
      0  the editor shut it down
      1  the editor went without a word
      2  wrong usage, or kubectl-spread[lsp] is not installed
      3  what the editor sent were no messages of the protocol

    \b
    Examples:
      # In the configuration of an editor
      kubectl spread lsp
      kubectl spread lsp --ignore SPR4,double-hard
    """  # noqa: D301
    judge = _judge(ChoiceOptions(select=select, extend_select=extend_select, ignore=ignore, config=config))
    if sys.stdin is None or sys.stdout is None:
        raise click.UsageError("standard input and output must be open: an editor speaks over them")
    try:
        from kubectl_spread.lsp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _OF_THE_EXTRA:
            raise
        complain("the language server needs pygls 2: pip install 'kubectl-spread[lsp]'")
        return Exit.USAGE
    return Exit.CLEAN if serve(judge) else Exit.FINDINGS


def _judge(choices: ChoiceOptions) -> Judge:
    """What is told of a project: by the flags, and by the config, without it where it cannot be followed."""
    from kubectl_spread.lint.selection.policy import Config
    from kubectl_spread.lsp.judge import Judge

    try:
        config = load_config(choices)
    except SpreadError as error:
        if choices.config is not None:
            raise
        complain(error)
        config = Config(os.getcwd())
    return Judge(policy(choices, config, minor=None), config)
