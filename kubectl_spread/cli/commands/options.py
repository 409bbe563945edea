"""`kubectl spread options`."""

from __future__ import annotations

from typing import cast

import click

from kubectl_spread.cli.console import Exit
from kubectl_spread.cli.options import cluster_facts, colour_option, SectionedCommand, SHARED


class _SharedFlags(SectionedCommand):
    """A command that takes no flags itself, and prints those of others."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse --help alone."""
        return click.Command("options", params=[]).parse_args(ctx, args)


@click.command(cls=_SharedFlags)
@cluster_facts
@colour_option
@click.pass_context
def command(ctx: click.Context, /, **_: object) -> int:
    """List the flags that most commands share: where the cluster facts come from, and which cluster and user.

    The exit codes are shared, too: 0 nothing to report, 1 findings, 2 wrong usage, 3 an input or the cluster could not
    be read, 130 interrupted.

    \b
    Examples:
      # The facts of another context, of a file, of a made-up cluster
      kubectl spread status -A --context prod
      kubectl spread explain web -n shop --snapshot facts.yaml
      kubectl spread check web.yaml --topology zones=3,nodes=2,cpu=4,memory=16Gi
    """  # noqa: D301
    formatter = ctx.make_formatter()
    cast(SectionedCommand, ctx.command).format_options(ctx, formatter, SHARED)
    click.echo(formatter.getvalue().strip("\n"))
    return Exit.CLEAN
