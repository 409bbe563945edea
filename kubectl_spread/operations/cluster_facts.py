"""Cluster facts: their sources, the profiles and version to use with them, and notices while they are read."""

from __future__ import annotations

import contextlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from enum import Enum
from operator import attrgetter
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.errors import RequestError, SourceError
from kubectl_spread.sources.live.flags import as_words, Flags
from kubectl_spread.text.wording import comma_list

if TYPE_CHECKING:  # imported where they are used, as most of them load numpy
    from kubectl_spread.cluster.snapshot import Cluster
    from kubectl_spread.explain.placement import Placement
    from kubectl_spread.objects.releases.version import Release
    from kubectl_spread.objects.workloads.workload import Workload
    from kubectl_spread.scheduler.framework.plugin import Profile
    from kubectl_spread.sources.live.reading import Session
    from kubectl_spread.sources.live.resources import Question
    from kubectl_spread.sources.snapshot import SnapshotFacts
    from kubectl_spread.text.source import SourceFile


class Level(Enum):
    """The severity of a notice."""

    NOTE = "note"  # an assumption of the answer
    WARNING = "warning"  # an input is not as it should be


class Notice(NamedTuple):
    """A sentence for the user. The same notice may be sent more than once."""

    level: Level
    text: str


Listener = Callable[[Notice], None]


def ignore(_: Notice) -> None:
    """Drop a notice."""


class ClusterSource(NamedTuple):
    """The source of cluster facts: a live cluster, snapshots, a topology, or none.

    Attributes:
        live: read the cluster that kubectl uses.
        snapshot: files and directories that together make one cluster; `-` is standard input.
        topology: a made-up cluster, as `zones=3,nodes=2,cpu=4` or as a file.
        inside: the directory that must contain these files, if a scenario names them.
        scheduler_config: a KubeSchedulerConfiguration file; by default the facts' configuration, or kube-scheduler's
            defaults.
        kubernetes_version: the version to follow; by default the facts' version, or the newest.
        instance_types: a file with the instance types of NodePools. Without it, nodes and NodeClaims show them.
        karpenter_version: the release of Karpenter to follow. Without it, the image of Karpenter's Deployment decides.
        all_nodes: score every feasible node, in large clusters as well.
        seed: choose reproducibly at random among nodes of equal score; by default the first by name is taken.
        connection: kubectl's flags for a live cluster.
        listener: receives notices while the facts are read.
    """

    live: bool = False
    snapshot: tuple[str, ...] = ()
    topology: Optional[str] = None
    inside: Optional[str] = None
    scheduler_config: Optional[str] = None
    kubernetes_version: Optional[str] = None
    instance_types: Optional[str] = None
    karpenter_version: Optional[str] = None
    all_nodes: bool = False
    seed: Optional[int] = None
    connection: Flags = Flags()
    listener: Listener = ignore

    def command(self, *words: str) -> str:
        """Return a command of this program that asks the same cluster, with the flags that this one got."""
        own = self._replace(live=False, inside=None, connection=(), listener=None)  # type: ignore[arg-type]
        flags = {**own._asdict(), **self.connection._asdict()}
        return shlex.join(("kubectl", "spread", *words, *as_words(flags)))

    @property
    def is_given(self) -> bool:
        """Return whether any field is set, the listener left aside."""
        return any(self._replace(connection=(), listener=())) or any(self.connection)  # type: ignore[arg-type]

    @property
    def has_facts(self) -> bool:
        """Return whether any source of facts is set."""
        return self.live or bool(self.snapshot) or self.topology is not None

    def or_live(self) -> ClusterSource:
        """Return the live cluster if no other source is given."""
        return self if self.snapshot or self.topology is not None else self._replace(live=True)

    def note(self, text: str) -> None:
        """Send an assumption of the answer, unless the text is empty."""
        if text:
            self.listener(Notice(Level.NOTE, text))

    def warn(self, text: str) -> None:
        """Send a warning: an input is not as it should be."""
        self.listener(Notice(Level.WARNING, text))


class LoadedCluster(NamedTuple):
    """A cluster, its scheduler's profiles, and the errors of reading it. With a `seed`, ties are broken at random.

    `name` is the name of the live cluster, the files or the topology. `version` is the cluster's own, if known.
    """

    cluster: Cluster
    profiles: dict[str, Profile]
    seed: Optional[int]
    errors: tuple[SourceError, ...]
    name: str = ""
    version: str = ""

    @property
    def version_words(self) -> str:
        """Return `v1.34.1, by the rules of 1.34`."""
        minors = sorted({profile.minor for profile in self.profiles.values()})
        rules = f"rules of {', '.join(f'1.{minor}' for minor in minors)}"
        return f"{self.version}, by the {rules}" if self.version else rules


_MOST_ADVISED = 3  # workloads


def open_session(source: ClusterSource) -> Optional[Session]:
    """Return a connection to the live cluster, or None if another source is named. Nothing is sent yet.

    Raises:
        RequestError: more than one source of facts is named.
        SpreadError: the kubeconfig has no current cluster, or none of the given name.
    """
    names = ("live", "snapshot", "topology")
    chosen = [name for name in names if getattr(source, name) not in (False, (), None)]
    if len(chosen) > 1:
        raise RequestError(f"--{chosen[0]} and --{chosen[1]} exclude each other")
    if not source.live:
        return None
    from kubectl_spread.sources.live.reading import Session

    return Session(source.connection)


def load(
    source: ClusterSource, session: Optional[Session], question: Question, *, is_again: bool = False
) -> LoadedCluster:
    """Return the cluster that a source names.

    Args:
        source: the source.
        session: the connection to the live cluster, if that is the source.
        question: which objects of a live cluster are needed.
        is_again: the cluster was read before and will be read again, so its notices were given already.

    Raises:
        SourceError: there is no cluster in a file, or no scheduler would start with the configuration.
        ClusterError: the live cluster cannot be read.
    """
    if session is None:
        return load_files(source)
    from kubectl_spread.objects.releases.version import plain_text

    minor = minor_of(source) or session.version.release.minor
    if not (source.kubernetes_version or is_again):
        source.note(session.version.note)
    with contextlib.nullcontext() if is_again else contextlib.closing(session):
        facts = session.read(question, minor=minor, finds_scheduler=not source.scheduler_config)
    text = plain_text(session.version.text) or session.version.release.text
    followed = source._replace(kubernetes_version=source.kubernetes_version or text)
    profiles = load_profiles(followed, facts.scheduler.source)
    if not is_again:
        # Whether the answer depends on the scheduler's configuration: pods are placed, or its defaults shown
        is_placing = not question.is_overview or question.shows_defaults
        waits = any(question.namespace in ("", pod.namespace) for pod in facts.cluster.pending())
        is_named = facts.scheduler.is_certain or is_placing or waits
        _note_cluster(source, session, minor, (source.scheduler_config or facts.scheduler.said) if is_named else "")
        for unread in facts.unread:
            source.warn(str(unread))
    name, version = session.target.name, session.version.text
    cluster = _provisioned(facts.cluster, source)
    return LoadedCluster(cluster, profiles, source.seed, facts.errors, name, version)


def load_files(source: ClusterSource) -> LoadedCluster:
    """Return the cluster of a snapshot or topology.

    Raises:
        SourceError: as `load` does.
    """
    if source.snapshot.count("-") > 1:
        raise RequestError("standard input cannot be read twice")
    errors: tuple[SourceError, ...] = ()
    if source.snapshot:
        from kubectl_spread.sources import snapshot

        facts = snapshot.load(*source.snapshot, inside=source.inside)
        for warning in facts.warnings:
            source.warn(warning)
        cluster, errors = facts.cluster, facts.errors
    else:
        from kubectl_spread.sources import topology

        cluster = topology.load(source.topology or "", inside=source.inside)
    cluster = _provisioned(cluster, source)
    source = source._replace(kubernetes_version=source.kubernetes_version or cluster.kubernetes_version or None)
    from kubectl_spread.text.source import SourceFile

    held = cluster.scheduler_configuration
    profiles = load_profiles(source, SourceFile("the snapshot's schedulerConfiguration", held) if held else None)
    name = ", ".join("standard input" if path == "-" else path for path in source.snapshot) or source.topology or ""
    return LoadedCluster(cluster, profiles, source.seed, errors, name, cluster.kubernetes_version or "")


def _provisioned(cluster: Cluster, source: ClusterSource) -> Cluster:
    """Return the cluster with the instance types and the release of Karpenter that the user names."""
    if not (source.instance_types or source.karpenter_version):
        return cluster
    from kubectl_spread.provisioners import reading
    from kubectl_spread.sources import files
    from kubectl_spread.sources.single_document import root_of
    from kubectl_spread.text.node import to_plain

    path, table = source.instance_types or "", None
    if path:
        table = to_plain(root_of(files.read_text(path), "a table of instance types"))
    return reading.with_settings(cluster, path, table, source.karpenter_version)


def with_manifests(known: LoadedCluster, sources: list[SourceFile], namespace: str) -> LoadedCluster:
    """Return the cluster after applying the manifests' supporting objects, for example nodes and quotas."""
    from kubectl_spread.sources import manifest_objects

    cluster, errors = manifest_objects.with_manifests(known.cluster, sources, namespace)
    return known._replace(cluster=cluster, errors=(*known.errors, *errors))


def unknown_namespaces(names: Iterable[str], cluster: Cluster) -> tuple[str, ...]:
    """Return a note on namespaces that a cluster lacks; none if the facts do not list all namespaces."""
    is_listed = "kube-system" in cluster.namespaces
    lacking = sorted({*filter(None, names)} - _EVERYWHERE - cluster.namespaces.keys()) if is_listed else []
    noun, they = ("namespace", "it exists") if len(lacking) == 1 else ("namespaces", "they exist")
    text = f"the cluster facts have no {noun} {comma_list(lacking)}: kubectl creates no object there until {they}"
    return (text,) if lacking else ()


_EVERYWHERE = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})  # The API server creates them.


def of_one_cluster(workloads: Iterable[Workload]) -> list[list[Workload]]:
    """Return lists of workloads that may be in one cluster: copies of an object are in different lists."""
    copies: Counter[str] = Counter()
    clusters: dict[int, list[Workload]] = {}
    for owner in workloads:
        clusters.setdefault(copies[owner.key] if owner.name else 0, []).append(owner)
        copies[owner.key] += 1
    return list(clusters.values())


def place(
    workloads: list[Workload], known: LoadedCluster, *, explain_first: bool = False, evicts: bool = False
) -> list[Placement]:
    """Place workloads on a cluster; `explain_first` and `evicts` as in `explain.replicas.place`."""
    from kubectl_spread.cluster.snapshot import key_of
    from kubectl_spread.engine import placing
    from kubectl_spread.explain import replicas  # numpy: 80 ms

    scaled = []
    for workload in filter(attrgetter("is_simulated"), workloads):
        scaler, number = known.cluster.autoscalers.get(key_of(workload)), workload.replicas
        if scaler is not None and number is not None:
            workload = workload._replace(replicas=scaler.nearest(number))  # noqa: PLW2901
        scaled.append(workload)
    placements = replicas.place(
        scaled,
        known.cluster,
        known.profiles,
        pick=None if known.seed is None else placing.seeded_pick(known.seed),
        explain_first=explain_first,
        evicts=evicts,
    )
    if not known.cluster.provisioning:
        return placements
    from kubectl_spread.explain.placement import with_prospects

    placements = with_prospects(placements, known.cluster, known.profiles)
    stuck = [
        at
        for at, item in enumerate(placements)
        if not all(found.is_running or found.gaps for found in item.added_nodes.values())
    ]
    for at in stuck[:_MOST_ADVISED] if evicts else ():
        from kubectl_spread.advice import problem as problems  # 100 ms
        from kubectl_spread.advice.search import suggest

        problem = problems.of_placements(placements, at, known.cluster, known.profiles)
        best = suggest(problem, most=1).items[:1] if problem is not None else ()
        placements[at] = placements[at]._replace(advice=best[0].title if best else "")
    return placements


def live_objects(source: ClusterSource, session: Session) -> SnapshotFacts:
    """Read everything that a snapshot holds.

    Raises:
        ClusterError: it cannot be read.
    """
    from kubectl_spread.objects.releases.version import plain_text
    from kubectl_spread.sources.live.resources import Question
    from kubectl_spread.sources.snapshot import SnapshotFacts

    minor = minor_of(source) or session.version.release.minor
    question = Question("", is_overview=True, keeps_objects=True, fallback=session.target.namespace)
    with contextlib.closing(session):
        facts = session.read(question, minor=minor, finds_scheduler=not source.scheduler_config)
    _note_cluster(source, session, minor, facts.scheduler.said)
    configuration = facts.scheduler.source
    cluster = facts.cluster._replace(
        kubernetes_version=plain_text(session.version.text),
        scheduler_configuration="" if configuration is None else configuration.text,
    )
    return SnapshotFacts(cluster, facts.errors, tuple(map(str, facts.unread)), facts.objects)


def _note_cluster(source: ClusterSource, session: Session, minor: int, scheduler: str) -> None:
    """Note which cluster was read; `scheduler` is empty if nothing depends on its configuration."""
    version = session.version
    rules = "" if version.text.startswith(f"v1.{minor}.") else f", by the rules of 1.{minor}"
    configuration = f"; scheduler configuration: {scheduler}" if scheduler else ""
    text = f"cluster {session.target.name}, Kubernetes {version.text}{rules}{configuration}"
    source.note(text)


def release_of(source: ClusterSource) -> Optional[Release]:
    """Return the requested release; None if none is requested. Send a notice about a release that was never measured.

    Raises:
        RequestError: the version does not exist.
    """
    if not source.kubernetes_version:
        return None
    from kubectl_spread.objects.releases import version

    try:
        release = version.release_of(source.kubernetes_version)
    except version.VersionError as error:
        raise RequestError(str(error)) from None
    source.note(version.note_on(release))
    return release


def minor_of(source: ClusterSource) -> Optional[int]:
    """Return the minor version to follow; None if none is requested."""
    from kubectl_spread.objects.releases.version import nearest_release

    release = release_of(source)
    return None if release is None else nearest_release(release).minor


def load_profiles(source: ClusterSource, held: Optional[SourceFile] = None) -> dict[str, Profile]:
    """Return the scheduler's profiles.

    Args:
        source: names a configuration file and a version, or neither.
        held: the configuration in the cluster facts, used if no file is named.

    Raises:
        SourceError: no scheduler would start with the configuration.
    """
    from kubectl_spread.objects.releases.version import LATEST, nearest_release
    from kubectl_spread.scheduler import profiles as scheduler_profiles  # numpy: 80 ms
    from kubectl_spread.scheduler.cycle import ALL
    from kubectl_spread.sources import scheduler_config

    release = nearest_release(release_of(source) or LATEST)
    found = None
    if name := source.scheduler_config:
        found = scheduler_config.load(name, release)
    elif held is not None:
        name, found = held.name.removeprefix("the snapshot's "), scheduler_config.read(held, release)
    for note in () if found is None else found.notes:
        source.warn(f"{name}: {note}")
    profiles = scheduler_profiles.profiles(None, release) if found is None else found.profiles
    if source.all_nodes:
        profiles = {key: item._replace(percentage_of_nodes_to_score=ALL) for key, item in profiles.items()}
    return profiles
