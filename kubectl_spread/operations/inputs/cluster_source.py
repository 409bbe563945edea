"""Sources of cluster facts, with the scheduler profiles and the Kubernetes version to use."""

from __future__ import annotations

from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.errors import RequestError, SourceError
from kubectl_spread.operations.inputs import notices
from kubectl_spread.operations.inputs.notices import Listener
from kubectl_spread.sources.live.flags import Flags

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.cluster.snapshot import Cluster
    from kubectl_spread.objects.releases.version import Release
    from kubectl_spread.scheduler.framework.profile import Profile


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
    all_nodes: bool = False
    seed: Optional[int] = None
    connection: Flags = Flags()
    listener: Listener = notices.ignore

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


class LoadedCluster(NamedTuple):
    """A cluster, its scheduler's profiles, and the errors of reading it. With a `seed`, ties are broken at random.

    `name` is the name of the live cluster, the files or the topology. `version` is the cluster's own, if known.
    """

    cluster: Cluster
    profiles: dict[str, Profile]
    all_nodes: bool
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
    notices.note(source.listener, version.note_on(release))
    return release


def version_text(source: ClusterSource) -> str:
    """Return the requested version as a snapshot writes it, `1.34` or `1.34.2`; empty if none is requested."""
    if release_of(source) is None or source.kubernetes_version is None:
        return ""
    from kubectl_spread.objects.releases.version import plain_text

    return plain_text(source.kubernetes_version)


def minor_of(source: ClusterSource) -> Optional[int]:
    """Return the minor version to follow; None if none is requested."""
    from kubectl_spread.objects.releases.version import nearest_release

    release = release_of(source)
    return None if release is None else nearest_release(release).minor


def load_profiles(source: ClusterSource, *, held: str = "") -> dict[str, Profile]:
    """Return the scheduler's profiles.

    Args:
        source: names a configuration file and a version, or neither.
        held: the text of the configuration in the cluster facts, used if no file is named.

    Raises:
        SourceError: no scheduler would start with the configuration.
    """
    from kubectl_spread.objects.releases.version import LATEST, nearest_release
    from kubectl_spread.scheduler.configuration import profiles as scheduler_profiles  # numpy: 80 ms

    release = nearest_release(release_of(source) or LATEST)
    if not source.scheduler_config and not held:
        return scheduler_profiles.profiles(None, release)
    from kubectl_spread.sources import scheduler_config

    if source.scheduler_config:
        loaded = scheduler_config.load(source.scheduler_config, release)
    else:
        from kubectl_spread.text.source import SourceFile

        loaded = scheduler_config.read(SourceFile("the snapshot's schedulerConfiguration", held), release)
    for note in loaded.notes:
        notices.warn(source.listener, f"{source.scheduler_config or 'schedulerConfiguration'}: {note}")
    return loaded.profiles
