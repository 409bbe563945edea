"""`kubectl spread version`."""

from __future__ import annotations

import click

from kubectl_spread import __version__
from kubectl_spread.cli.exit import Exit

SCHEDULER = "v1.36.2"


@click.command()
@click.option("-o", "--output", type=click.Choice(["json"]), help="Output format.")
def command(output: str) -> int:
    """Print the version, and that of the kube-scheduler whose rules are followed.

    \b
    Examples:
      kubectl spread version
      kubectl spread version -o json
    """  # noqa: D301
    if output == "json":
        import json

        click.echo(json.dumps({"clientVersion": f"v{__version__}", "schedulerRules": SCHEDULER}, indent=2))
    else:
        click.echo(f"Client Version: v{__version__}\nScheduler Rules: {SCHEDULER}")
    return Exit.CLEAN
