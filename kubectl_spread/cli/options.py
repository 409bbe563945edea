"""Options that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any
from typing import Optional
from typing import TypeVar

import click

from kubectl_spread.errors import SourceError
from kubectl_spread.report.table import safe

F = TypeVar("F", bound=Callable[..., Any])


def cluster_facts(function: F) -> F:
    """--snapshot and --topology."""
    function = click.option(
        "--topology",
        metavar="SPEC",
        help="A made-up cluster: zones=3,nodes=2,cpu=4,memory=16Gi (nodes per zone), or a YAML file of node groups.",
    )(function)
    return click.option(
        "--snapshot",
        metavar="PATH",
        help="Cluster facts: a file or directory of what kubectl get -o yaml or json printed.",
    )(function)


def colour_option(function: F) -> F:
    """--color."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="When to colour the output.",
    )(function)


def wants_colour(choice: str) -> bool:
    """Kubectl's rule: a terminal that is not dumb, and no NO_COLOR in the environment."""
    if choice != "auto":
        return choice == "always"
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and "NO_COLOR" not in os.environ


def complain(error: SourceError) -> None:
    """Say on stderr what could not be read."""
    click.echo(f"error: {safe(str(error))}", err=True)


def load_facts(snapshot: Optional[str], topology: Optional[str]) -> tuple[Any, list[SourceError]]:
    """The cluster that the options name, and what could not be read of it; None without options.

    Raises:
        SourceError: there is no cluster in what was named.
    """
    if snapshot and topology:
        raise click.UsageError("--snapshot and --topology exclude each other")
    if snapshot:
        from kubectl_spread.sources import snapshot as snapshots

        facts = snapshots.load(snapshot)
        return facts.cluster, list(facts.errors)
    if topology:
        from kubectl_spread.sources import topology as topologies

        return topologies.load(topology), []
    return None, []
