"""Options that several commands share."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any
from typing import NamedTuple
from typing import Optional
from typing import TYPE_CHECKING
from typing import TypeVar
from typing import Union

import click

from kubectl_spread.cli import complete
from kubectl_spread.cli.complete import FILE
from kubectl_spread.cli.stderr import note_once
from kubectl_spread.cli.stderr import warn
from kubectl_spread.errors import SourceError
from kubectl_spread.sources.live.flags import Flags

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.cluster.snapshot import Cluster
    from kubectl_spread.objects.version import Release
    from kubectl_spread.objects.workload import Workload
    from kubectl_spread.scheduler.framework.profile import Profile
    from kubectl_spread.simulate.placement import Placement
    from kubectl_spread.sources.files import Input
    from kubectl_spread.sources.live.reading import Session
    from kubectl_spread.sources.live.resources import Question
    from kubectl_spread.text.source import SourceFile

F = TypeVar("F", bound=Callable[..., Any])


class FactOptions(NamedTuple):
    """Where the cluster facts come from, as the command line says it."""

    live: bool
    snapshot: tuple[str, ...]
    topology: Optional[str]
    scheduler_config: Optional[str]
    kubernetes_version: Optional[str]
    all_nodes: bool
    seed: Optional[int]
    connection: Flags

    @property
    def are_named(self) -> bool:
        """Whether any of the options is there."""
        return any(self._replace(connection=())) or any(self.connection)  # type: ignore[arg-type]

    def or_live(self) -> FactOptions:
        """The live cluster where the options name no other facts."""
        return self if self.snapshot or self.topology is not None else self._replace(live=True)


class Facts(NamedTuple):
    """A cluster, its scheduler's profiles, and what could not be read of it; with a `seed` ties are drawn."""

    cluster: Cluster
    profiles: dict[str, Profile]
    all_nodes: bool
    seed: Optional[int]
    errors: tuple[SourceError, ...]


_CONNECTION = (
    click.option(
        "--kubeconfig",
        type=FILE,
        metavar="FILE",
        help="Kubeconfig file to use.  [default: $KUBECONFIG or ~/.kube/config]",
    ),
    click.option("--context", metavar="NAME", shell_complete=complete.contexts, help="Kubeconfig context to use."),
    click.option("--cluster", metavar="NAME", shell_complete=complete.clusters, help="Kubeconfig cluster to use."),
    click.option("--user", metavar="NAME", shell_complete=complete.users, help="Kubeconfig user to use."),
    click.option("-s", "--server", metavar="URL", help="Address and port of the API server."),
    click.option("--token", metavar="TOKEN", help="Bearer token for the API server."),
    click.option(
        "--certificate-authority", type=FILE, metavar="FILE", help="Certificate file of the API server's authority."
    ),
    click.option("--client-certificate", type=FILE, metavar="FILE", help="Client certificate file for TLS."),
    click.option("--client-key", type=FILE, metavar="FILE", help="Client key file for TLS."),
    click.option("--tls-server-name", metavar="NAME", help="Host name to expect in the API server's certificate."),
    click.option(
        "--insecure-skip-tls-verify", is_flag=True, help="Do not verify the API server's certificate (insecure)."
    ),
    click.option("--as", "impersonate", metavar="NAME", help="User or service account to impersonate."),
    click.option("--as-uid", "impersonate_uid", metavar="UID", help="UID to impersonate."),
    click.option(
        "--as-group", "impersonate_group", multiple=True, metavar="NAME", help="Group to impersonate. Repeatable."
    ),
    click.option(
        "--as-user-extra",
        "impersonate_extra",
        multiple=True,
        metavar="KEY=VALUE",
        help="Extra user attribute to impersonate. Repeatable.",
    ),
    click.option(
        "--request-timeout", metavar="DURATION", help="Time limit for each request: 5s, 1m30s; 0 is none.  [default: 0]"
    ),
)

_OPTIONS = (
    click.option("--live", is_flag=True, help="Read cluster facts from the live cluster that kubectl would use."),
    click.option(
        "--snapshot",
        multiple=True,
        type=FILE,
        metavar="PATH",
        help="Read cluster facts from a file or directory: a snapshot, or output of kubectl get -o yaml. Repeatable.",
    ),
    click.option(
        "--topology",
        metavar="SPEC",
        help="Make up a cluster: zones=3,nodes=2,cpu=4,memory=16Gi (nodes per zone), or a YAML file of node groups.",
    ),
    click.option("--scheduler-config", type=FILE, metavar="FILE", help="KubeSchedulerConfiguration file."),
    click.option(
        "--kubernetes-version",
        metavar="VERSION",
        help="Kubernetes version to follow, 1.18 to 1.36: 1.34 or v1.34.2.  [default: the cluster's, else 1.36]",
    ),
    click.option(
        "--seed",
        type=int,
        metavar="N",
        help="Choose randomly among nodes of equal score, the same way for the same N.  [default: by name]",
    ),
    click.option(
        "--all-nodes",
        is_flag=True,
        help="Score every feasible node. By default, 100 or more nodes are sampled as kube-scheduler does.",
    ),
)


def cluster_facts(function: F) -> F:
    """The options that name a cluster; the command gets them as one argument, `facts`."""
    return connection(gathering("facts", FactOptions, _OPTIONS)(function))


def connection(function: F) -> F:
    """The options that name an API server, and as whom to ask it; the command gets them as `connection`."""
    return gathering("connection", Flags, _CONNECTION)(function)


def gathering(name: str, record: Any, options: tuple[Callable[[F], F], ...]) -> Callable[[F], F]:
    """A decorator that adds options, and gives the command their values as one argument, a NamedTuple."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def gathered(*args: Any, **kwargs: Any) -> Any:
            values = record(**{field: kwargs.pop(field) for field in record._fields})
            return function(*args, **{name: values}, **kwargs)

        wrapped: Any = gathered
        for option in reversed(options):
            wrapped = option(wrapped)
        result: F = wrapped
        return result

    return decorate


def kustomize_option(function: F) -> F:
    """-k."""
    return click.option(
        "-k",
        "--kustomize",
        multiple=True,
        type=FILE,
        metavar="DIR",
        help="Render a directory with kubectl kustomize. Repeatable.",
    )(function)


def colour_option(function: F) -> F:
    """--color."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colour the output.",
    )(function)


def wants_colour(choice: str) -> bool:
    """As kubectl decides: a terminal that is not dumb, and no NO_COLOR in the environment."""
    if choice != "auto":
        return choice == "always"
    is_terminal = sys.stdout is not None and sys.stdout.isatty()  # None: it is closed
    return is_terminal and os.environ.get("TERM") != "dumb" and "NO_COLOR" not in os.environ


def kustomized(directories: tuple[str, ...]) -> Iterator[Union[Input, SourceError]]:
    """What kustomize makes of directories."""
    if directories:
        from kubectl_spread.sources import kustomize  # subprocess: 5 ms

        yield from kustomize.kustomized(directories)


def open_session(named: FactOptions) -> Optional[Session]:
    """The live cluster, where the options name it; nothing is sent yet.

    Raises:
        SpreadError: no cluster is known, or none is known by the names in the flags.
    """
    if sum((named.live, bool(named.snapshot), named.topology is not None)) > 1:
        chosen = [flag for flag in ("live", "snapshot", "topology") if getattr(named, flag) not in (False, (), None)]
        raise click.UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other")
    if not named.live:
        return None
    from kubectl_spread.sources.live.reading import Session

    return Session(named.connection)


def load_facts(
    named: FactOptions, session: Optional[Session] = None, question: Optional[Question] = None
) -> Optional[Facts]:
    """The cluster that the options name; None where they name none.

    Args:
        named: the options.
        session: the live cluster, where it is asked.
        question: what it is asked.

    Raises:
        SourceError: there is no cluster in what was named, or no scheduler would start with the configuration.
        ClusterError: the live cluster cannot be read.
    """
    if session is not None and question is not None:
        from kubectl_spread.cli import live

        return live.load(named, session, question)
    return None if not named.snapshot and named.topology is None else named_facts(named)


def named_facts(named: FactOptions) -> Facts:
    """The cluster of the snapshot or topology that the options name.

    Raises:
        SourceError: as `load_facts` does.
    """
    if named.snapshot.count("-") > 1:
        raise click.UsageError("standard input cannot be read twice")
    cluster, errors = _cluster(named)
    named = named._replace(kubernetes_version=named.kubernetes_version or cluster.kubernetes_version or None)
    profiles = load_profiles(named, held=cluster.scheduler_configuration)
    return Facts(cluster, profiles, named.all_nodes, named.seed, errors)


def load_profiles(named: FactOptions, *, held: str = "") -> dict[str, Profile]:
    """The profiles of the scheduler that the options name, else of a configuration that the facts hold."""
    from kubectl_spread.objects.version import followed
    from kubectl_spread.objects.version import LATEST
    from kubectl_spread.scheduler.configuration import profiles as scheduler_profiles  # numpy: 80 ms

    release = followed(named_release(named) or LATEST)
    if not named.scheduler_config and not held:
        return scheduler_profiles.profiles(None, release)
    from kubectl_spread.sources import scheduler_config

    if named.scheduler_config:
        loaded = scheduler_config.load(named.scheduler_config, release)
    else:
        from kubectl_spread.text.source import SourceFile

        loaded = scheduler_config.read(SourceFile("the snapshot's schedulerConfiguration", held), release)
    for note in loaded.notes:
        warn(f"{named.scheduler_config or 'schedulerConfiguration'}: {note}")
    return loaded.profiles


def named_release(named: FactOptions) -> Optional[Release]:
    """Return the release that --kubernetes-version names, and say it, once, if nobody measured it."""
    if not named.kubernetes_version:
        return None
    from kubectl_spread.objects import version

    try:
        release = version.release_of(named.kubernetes_version)
    except version.VersionError as error:
        raise click.UsageError(str(error)) from None
    note_once(version.note_on(release))
    return release


def named_version(named: FactOptions) -> str:
    """Return what --kubernetes-version names, as a snapshot holds it: `1.34` or `1.34.2`; empty where it names none."""
    if named_release(named) is None or named.kubernetes_version is None:
        return ""
    from kubectl_spread.objects.version import plain_text

    return plain_text(named.kubernetes_version)


def minor_version(named: FactOptions) -> Optional[int]:
    """The minor version whose rules --kubernetes-version asks for."""
    from kubectl_spread.objects.version import followed

    release = named_release(named)
    return None if release is None else followed(release).minor


def with_manifests(known: Facts, sources: list[SourceFile], namespace: str) -> Facts:
    """The facts once the objects that stand beside the workloads are applied."""
    from kubectl_spread.sources import supporting_objects

    found = supporting_objects.with_manifests(known.cluster, sources, namespace)
    return known._replace(cluster=found.cluster, errors=(*known.errors, *found.errors))


def place(
    workloads: list[Workload], known: Facts, *, explain_first: bool = False, evicts: bool = False
) -> list[Placement]:
    """Place workloads as the options say; `explain_first` and `evicts` as in `replicas.place`."""
    from kubectl_spread.simulate import replicas  # numpy: 80 ms

    return replicas.place(
        workloads,
        known.cluster,
        known.profiles,
        pick=None if known.seed is None else replicas.seeded(known.seed),
        all_nodes=known.all_nodes,
        explain_first=explain_first,
        evicts=evicts,
    )


def _cluster(named: FactOptions) -> tuple[Cluster, tuple[SourceError, ...]]:
    if named.snapshot:
        from kubectl_spread.sources import snapshot as snapshots

        facts = snapshots.load(*named.snapshot)
        for warning in facts.warnings:
            warn(warning)
        return facts.cluster, facts.errors
    from kubectl_spread.sources import topology as topologies

    return topologies.load(named.topology or ""), ()
