"""`kubectl spread snapshot`."""

from __future__ import annotations

from typing import Any

import click

from kubectl_spread.cli.exit import Exit
from kubectl_spread.cli.options import cluster_facts
from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import minor_version
from kubectl_spread.cli.progress import progress
from kubectl_spread.cli.stderr import complain
from kubectl_spread.cli.stderr import flush
from kubectl_spread.cli.stderr import warn

_EXTENSIONS = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz", ".gz")


@click.command()
@cluster_facts
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to: .json, .yaml, .gz; - is standard output.")
@click.option("--redact", is_flag=True, help="Put stand-ins for names, labels' values and images.")
@click.pass_context
def command(ctx: click.Context, facts: FactOptions, output: str, redact: bool) -> int:
    """Write the cluster facts to one file, which the other commands take as --snapshot.

    Only what the scheduler or this program reads is in it: never Secrets or ConfigMaps, environment or arguments. A
    redacted one leads to the same verdicts; docs/snapshot.md says what stays in it.

    \b
    Exit codes:
      0  it is written
      2  wrong usage
      3  an input could not be read, or the file could not be written

    \b
    Examples:
      # What kubectl printed, less all that is not needed
      kubectl spread snapshot --snapshot facts.yaml -o facts.json.gz

    \b
      # For somebody who must not know the names
      kubectl spread snapshot --snapshot facts.yaml --redact -o facts.yaml.gz
    """  # noqa: D301
    if output != "-" and not output.startswith("/dev/") and not output.endswith(_EXTENSIONS):
        raise click.UsageError(f"the file's name ends in .json, .yaml or .gz: {output}", ctx)
    with progress("reading the cluster facts"):
        objects, errors, version = _objects(facts, ctx)
    from kubectl_spread.sources import snapshot_file

    document = snapshot_file.document(objects, redact=redact, kubernetes_version=version)
    content = snapshot_file.rendered(document, output)
    if output == "-":
        click.echo(content, nl=False)
    else:
        from kubectl_spread.sources.write import write_bytes

        write_bytes(output, content)
    flush()
    for error in errors:
        complain(error)
    return Exit.UNREADABLE if errors else Exit.CLEAN


def _objects(facts: FactOptions, ctx: click.Context) -> tuple[list[dict[str, Any]], tuple[Any, ...], str]:
    """The objects, what could not be read, and the version whose rules apply."""
    if facts.topology is not None:
        raise click.UsageError("a made-up cluster needs no snapshot: its file is one already", ctx)
    if not facts.snapshot:
        raise click.UsageError("no cluster facts: give --snapshot", ctx)
    from kubectl_spread.sources import snapshot

    found = snapshot.objects(*facts.snapshot)
    for warning in found.warnings:
        warn(warning)
    minor = minor_version(facts)
    return found.objects, found.errors, f"1.{minor}" if minor is not None else snapshot.version_of(found.head)
