"""`kubectl spread version`."""

from __future__ import annotations

import functools

import click

from kubectl_spread import __version__
from kubectl_spread.cli.console import Exit, warn
from kubectl_spread.cli.options import connection, option, print_document, SectionedCommand
from kubectl_spread.errors import ClusterError
from kubectl_spread.sources.live.flags import Flags

SCHEDULER = "v1.36.2"
_PATIENCE = "5s"


@click.command(cls=SectionedCommand)
@option("--client: Do not contact the API server.")
@option("-o, --output [json|yaml]: Output format.")
@functools.partial(connection, timeout=_PATIENCE)
def command(output: str, connection: Flags, *, client: bool) -> int:
    """Print the versions of this program, of the kube-scheduler it follows, and of the API server.

    The API server is contacted if a kubeconfig or a service account names one. If it cannot be reached, a warning says
    so and the other versions are printed.

    \b
    Examples:
      # All versions; only this program's, as JSON
      kubectl spread version
      kubectl spread version --client -o json
    """  # noqa: D301
    versions = {"Client Version": f"v{__version__}", "Scheduler Rules": SCHEDULER}
    server = "" if client else _server_version(connection)
    versions |= {"Server Version": server} if server else {}
    if output:
        print_document(
            {f"{name[0].lower()}{name[1:].replace(' ', '')}": text for name, text in versions.items()}, output
        )
    else:
        click.echo("\n".join(f"{name}: {text}" for name, text in versions.items()))
    return Exit.CLEAN


def _server_version(flags: Flags) -> str:
    """Return the server's version; empty if no server is configured, or if it cannot be reached."""
    from kubectl_spread.sources.live.reading import Session

    try:
        session = Session(flags._replace(request_timeout=flags.request_timeout or _PATIENCE))
    except ClusterError as error:
        if any(flags):
            warn(str(error))
        return ""
    try:
        return session.version.text
    except ClusterError as error:
        warn(str(error))
        return ""
    finally:
        session.close()
