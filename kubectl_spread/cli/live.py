"""Cluster facts of a live cluster, and what is said of them on standard error."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple
from typing import TYPE_CHECKING

from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import Facts
from kubectl_spread.cli.options import load_profiles
from kubectl_spread.cli.options import minor_version
from kubectl_spread.cli.options import named_version
from kubectl_spread.cli.stderr import note
from kubectl_spread.cli.stderr import note_once
from kubectl_spread.cli.stderr import warn
from kubectl_spread.errors import SourceError
from kubectl_spread.sources.live.resources import Question

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.cluster.snapshot import Cluster
    from kubectl_spread.cluster.snapshot import Unread
    from kubectl_spread.scheduler.framework.profile import Profile
    from kubectl_spread.sources.live import reading
    from kubectl_spread.sources.live.reading import Session
    from kubectl_spread.sources.live.scheduler import Found


class Snapshot(NamedTuple):
    """The objects of a live cluster, what of them does not decode, and by which rules it is to be judged.

    complete, unread: as in `Cluster`.
    """

    objects: tuple[dict[str, Any], ...]
    errors: tuple[SourceError, ...]
    kubernetes_version: str
    scheduler_configuration: str
    complete: frozenset[str] = frozenset()
    unread: tuple[Unread, ...] = ()


def load(named: FactOptions, session: Session, question: Question, *, is_again: bool = False) -> Facts:
    """Read the live cluster, and say which one, by which rules, and what of it might not be read.

    Args:
        named: what the command line says.
        session: it is asked here.
        question: what is asked.
        is_again: it was asked before, and will be asked again: all has been said but for what cannot be read.

    Raises:
        ClusterError: it cannot be read.
        SourceError: no scheduler would start with the configuration.
    """
    minor = minor_version(named) or session.version.minor
    if not (named.kubernetes_version or is_again):
        note_once(session.version.note)
    facts = _read(named, session, question, minor=minor, is_again=is_again)
    followed = named._replace(kubernetes_version=named.kubernetes_version or session.version.release.text)
    profiles = _of_cluster(facts.scheduler, followed) if not named.scheduler_config else load_profiles(followed)
    if not is_again:
        is_told = facts.scheduler.is_certain or _rests_on_scheduler(facts.cluster, question)
        _tell(session, minor, (named.scheduler_config or facts.scheduler.said) if is_told else "")
        for unread in facts.unread:
            warn(str(unread))
    return Facts(facts.cluster, profiles, named.all_nodes, named.seed, facts.errors)


def snapshot(named: FactOptions, session: Session) -> Snapshot:
    """Read all that a snapshot holds, and say what might not be read.

    Raises:
        ClusterError: it cannot be read.
    """
    minor = minor_version(named) or session.version.minor
    question = Question("", is_overview=True, keeps_objects=True, fallback=session.target.namespace)
    facts = _read(named, session, question, minor=minor, is_again=False)
    _tell(session, minor, facts.scheduler.said)
    for unread in facts.unread:
        warn(str(unread))
    source = facts.scheduler.source
    version = named_version(named) or session.version.written
    text = "" if source is None else source.text
    return Snapshot(facts.objects, facts.errors, version, text, facts.cluster.complete, facts.cluster.unread)


def _read(named: FactOptions, session: Session, question: Question, *, minor: int, is_again: bool) -> reading.Facts:
    try:
        return session.read(question, minor=minor, finds_scheduler=not named.scheduler_config)
    finally:
        if not is_again:
            session.close()


def _of_cluster(found: Found, named: FactOptions) -> dict[str, Profile]:
    if found.source is None:
        return load_profiles(named)
    from kubectl_spread.scheduler.configuration import profiles as scheduler_profiles
    from kubectl_spread.sources import scheduler_config

    loaded = scheduler_config.read(found.source, scheduler_profiles.version_of(named.kubernetes_version or ""))
    for said in loaded.notes:
        warn(f"{found.source.name}: {said}")
    return loaded.profiles


def _rests_on_scheduler(cluster: Cluster, question: Question) -> bool:
    """Return whether an answer depends on the scheduler's configuration: pods are placed, or its defaults shown."""
    if not question.is_overview or question.shows_defaults:
        return True
    return any(question.namespace in ("", pod.namespace) for pod in cluster.pending())


def _tell(session: Session, minor: int, scheduler: str) -> None:
    """Say which cluster it is; `scheduler` is empty where nothing depends on its configuration."""
    version = session.version
    rules = "" if version.text.startswith(f"v1.{minor}.") else f", by the rules of 1.{minor}"
    configuration = f"; scheduler configuration: {scheduler}" if scheduler else ""
    note(f"cluster {session.target.name}, Kubernetes {version.text}{rules}{configuration}")
