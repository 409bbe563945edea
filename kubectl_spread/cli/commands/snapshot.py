"""`kubectl spread snapshot`."""

from __future__ import annotations

import functools

import click

from kubectl_spread.cli.console import finish, progress
from kubectl_spread.cli.options import cluster_facts, option, SectionedCommand
from kubectl_spread.errors import ClusterError, NoClusterError
from kubectl_spread.operations.cluster_facts import ClusterSource
from kubectl_spread.operations.snapshot import SnapshotRequest, take_snapshot, write_snapshot


@click.command(cls=SectionedCommand)
@functools.partial(cluster_facts, hidden=("topology", "seed", "all_nodes"))
@option(
    "-o, --output FILE: File to write: .json or .yaml, also with .gz; - is standard output.  [default: -]", default="-"
)
@option("--redact: Replace names, label values and images with placeholders.")
def command(source: ClusterSource, output: str, redact: bool) -> int:
    """Save the cluster facts to a file that other commands read with --snapshot.

    The file holds only fields that the scheduler or this program reads: no Secrets, no ConfigMaps, no environment
    variables, no arguments. A redacted snapshot leads to the same verdicts; docs/snapshot.md lists what is kept.

    \b
    Examples:
      # Save the live cluster
      kubectl spread snapshot -o facts.json.gz

    \b
      # Keep only the needed fields of what kubectl printed
      kubectl spread snapshot --snapshot facts.yaml -o facts.json.gz

    \b
      # Share a snapshot without names
      kubectl spread snapshot --redact -o facts.yaml.gz

    \b
    Exit codes:
      0  the snapshot was written
      2  wrong usage
      3  an input could not be read, the cluster could not be reached, or the file could not be written
    """  # noqa: D301
    request = SnapshotRequest(source, redact, output)
    with progress("reading the cluster facts"):
        try:
            found = take_snapshot(request) if output == "-" else write_snapshot(request)
        except NoClusterError as error:
            raise ClusterError(f"no cluster is configured: {error.why}. Use --kubeconfig or --snapshot") from None
    if output == "-":
        click.echo(found.content, nl=False)
    return finish(found.errors, is_fine=True)
