"""`kubectl spread snapshot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.options import cluster_facts
from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import named_version
from kubectl_spread.cli.options import open_session
from kubectl_spread.cli.progress import progress
from kubectl_spread.cli.stderr import complain
from kubectl_spread.cli.stderr import flush
from kubectl_spread.cli.stderr import warn

if TYPE_CHECKING:  # loads numpy
    from kubectl_spread.cli.live import Snapshot

_EXTENSIONS = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz", ".gz")


@click.command()
@cluster_facts
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    default="-",
    help="File to write: .json or .yaml, also with .gz; - is standard output.  [default: -]",
)
@click.option("--redact", is_flag=True, help="Replace names, label values and images with placeholders.")
@click.pass_context
def command(ctx: click.Context, facts: FactOptions, output: str, redact: bool) -> int:
    """Save the cluster facts to a file that other commands read with --snapshot.

    The file holds only fields that the scheduler or this program reads: no Secrets, no ConfigMaps, no environment
    variables, no arguments. A redacted snapshot leads to the same verdicts; docs/snapshot.md lists what is kept.

    \b
    Exit codes:
      0  the snapshot was written
      2  wrong usage
      3  an input could not be read, the cluster could not be reached, or the file could not be written

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
    """  # noqa: D301
    if output != "-" and not output.startswith("/dev/") and not output.endswith(_EXTENSIONS):
        raise click.UsageError(f"the file's name ends in .json, .yaml or .gz: {output}", ctx)
    with progress("reading the cluster facts"):
        found = _objects(facts.or_live(), ctx)
    from kubectl_spread.sources import snapshot_file

    configuration = "" if redact else found.scheduler_configuration
    if redact and found.scheduler_configuration:
        warn("the scheduler's configuration may hold names and is left out: give it with --scheduler-config")
    document = snapshot_file.document(
        found.objects,
        redact=redact,
        kubernetes_version=found.kubernetes_version,
        scheduler_configuration=configuration,
        complete=found.complete,
        unread=found.unread,
    )
    content = snapshot_file.rendered(document, output)
    if output == "-":
        click.echo(content, nl=False)
    else:
        from kubectl_spread.sources.atomic_write import write_bytes

        write_bytes(output, content)
    flush()
    for error in found.errors:
        complain(error)
    return Exit.UNREADABLE if found.errors else Exit.CLEAN


def _objects(facts: FactOptions, ctx: click.Context) -> Snapshot:
    """The objects, what could not be read, and by which rules they are to be judged."""
    if facts.topology is not None:
        raise click.UsageError("a made-up cluster needs no snapshot: its file is one already", ctx)
    session = open_session(facts)
    from kubectl_spread.cli import live

    if session is not None:
        return _with_configuration(live.snapshot(facts, session), facts)
    from kubectl_spread.sources import snapshot

    found = snapshot.objects(*facts.snapshot)
    for warning in found.warnings:
        warn(warning)
    version = named_version(facts) or snapshot.version_of(found.head)
    configuration = snapshot.configuration_of(found.head)
    known = live.Snapshot(tuple(found.objects), found.errors, version, configuration, *snapshot.extent_of(found.head))
    return _with_configuration(known, facts)


def _with_configuration(found: Snapshot, facts: FactOptions) -> Snapshot:
    """With the scheduler's configuration that the command line names."""
    if not facts.scheduler_config:
        return found
    from kubectl_spread.sources.files import read_text

    return found._replace(scheduler_configuration=read_text(facts.scheduler_config).text)
