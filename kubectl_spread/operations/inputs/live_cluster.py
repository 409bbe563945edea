"""Cluster facts of a live cluster, with notices about its name and unreadable resources."""

from __future__ import annotations

from typing import Any, NamedTuple, TYPE_CHECKING

from kubectl_spread.errors import SourceError
from kubectl_spread.operations.inputs import cluster_source, notices
from kubectl_spread.operations.inputs.cluster_source import ClusterSource, LoadedCluster
from kubectl_spread.sources.live.resources import Question

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.cluster.snapshot import Cluster, Unread
    from kubectl_spread.scheduler.framework.profile import Profile
    from kubectl_spread.sources.live import reading
    from kubectl_spread.sources.live.reading import Session
    from kubectl_spread.sources.live.scheduler import ConfigurationText


class SnapshotObjects(NamedTuple):
    """The objects of a cluster, the objects that do not decode, and the cluster's version and configuration.

    read_at, complete, unread: as in `Cluster`.
    """

    objects: tuple[dict[str, Any], ...]
    errors: tuple[SourceError, ...]
    kubernetes_version: str
    scheduler_configuration: str
    read_at: str = ""
    complete: frozenset[str] = frozenset()
    unread: tuple[Unread, ...] = ()


def load(source: ClusterSource, session: Session, question: Question, *, is_again: bool = False) -> LoadedCluster:
    """Read the live cluster.

    Args:
        source: names the version and configuration to use, if any.
        session: the connection.
        question: which objects are needed.
        is_again: the cluster was read before and will be read again, so its notices were given already.

    Raises:
        ClusterError: it cannot be read.
        SourceError: no scheduler would start with the configuration.
    """
    minor = cluster_source.minor_of(source) or session.version.minor
    if not (source.kubernetes_version or is_again):
        notices.note(source.listener, session.version.note)
    facts = _read(source, session, question, minor=minor, is_again=is_again)
    followed = source._replace(kubernetes_version=source.kubernetes_version or session.version.release.text)
    if source.scheduler_config:
        profiles = cluster_source.load_profiles(followed)
    else:
        profiles = _profiles_of(facts.scheduler, followed)
    if not is_again:
        is_named = facts.scheduler.is_certain or _rests_on_scheduler(facts.cluster, question)
        _note_cluster(source, session, minor, (source.scheduler_config or facts.scheduler.said) if is_named else "")
        for unread in facts.unread:
            notices.warn(source.listener, str(unread))
    name, version = session.target.name, session.version.text
    return LoadedCluster(facts.cluster, profiles, source.all_nodes, source.seed, facts.errors, name, version)


def objects(source: ClusterSource, session: Session) -> SnapshotObjects:
    """Read everything that a snapshot holds.

    Raises:
        ClusterError: it cannot be read.
    """
    minor = cluster_source.minor_of(source) or session.version.minor
    question = Question("", is_overview=True, keeps_objects=True, fallback=session.target.namespace)
    facts = _read(source, session, question, minor=minor, is_again=False)
    _note_cluster(source, session, minor, facts.scheduler.said)
    for unread in facts.unread:
        notices.warn(source.listener, str(unread))
    configuration = facts.scheduler.source
    version = cluster_source.version_text(source) or session.version.snapshot_text
    text = "" if configuration is None else configuration.text
    cluster = facts.cluster
    return SnapshotObjects(
        facts.objects, facts.errors, version, text, cluster.read_at, cluster.complete, cluster.unread
    )


def _read(
    source: ClusterSource, session: Session, question: Question, *, minor: int, is_again: bool
) -> reading.LiveFacts:
    try:
        return session.read(question, minor=minor, finds_scheduler=not source.scheduler_config)
    finally:
        if not is_again:
            session.close()


def _profiles_of(found: ConfigurationText, source: ClusterSource) -> dict[str, Profile]:
    """Return the profiles of the cluster's configuration, or the default ones."""
    if found.source is None:
        return cluster_source.load_profiles(source)
    from kubectl_spread.scheduler.configuration import profiles as scheduler_profiles
    from kubectl_spread.sources import scheduler_config

    loaded = scheduler_config.read(found.source, scheduler_profiles.version_of(source.kubernetes_version or ""))
    for note in loaded.notes:
        notices.warn(source.listener, f"{found.source.name}: {note}")
    return loaded.profiles


def _rests_on_scheduler(cluster: Cluster, question: Question) -> bool:
    """Return whether an answer depends on the scheduler's configuration: pods are placed, or its defaults shown."""
    if not question.is_overview or question.shows_defaults:
        return True
    return any(question.namespace in ("", pod.namespace) for pod in cluster.pending())


def _note_cluster(source: ClusterSource, session: Session, minor: int, scheduler: str) -> None:
    """Note which cluster was read; `scheduler` is empty if nothing depends on its configuration."""
    version = session.version
    rules = "" if version.text.startswith(f"v1.{minor}.") else f", by the rules of 1.{minor}"
    configuration = f"; scheduler configuration: {scheduler}" if scheduler else ""
    text = f"cluster {session.target.name}, Kubernetes {version.text}{rules}{configuration}"
    notices.note(source.listener, text)
