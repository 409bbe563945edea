"""Cluster facts of a live cluster, and what is said of them on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_spread.cli.options import FactOptions
from kubectl_spread.cli.options import Facts
from kubectl_spread.cli.options import load_profiles
from kubectl_spread.cli.options import minor_version
from kubectl_spread.cli.stderr import note
from kubectl_spread.cli.stderr import warn
from kubectl_spread.objects.version import FIRST_MINOR

if TYPE_CHECKING:  # these load numpy
    from kubectl_spread.scheduler.framework.profile import Profile
    from kubectl_spread.sources.live.reading import Session
    from kubectl_spread.sources.live.resources import Question
    from kubectl_spread.sources.live.scheduler import Found


def load(named: FactOptions, session: Session, question: Question) -> Facts:
    """Read the live cluster, and say which one, by which rules, and what of it might not be read.

    Raises:
        ClusterError: it cannot be read.
        SourceError: no scheduler would start with the configuration.
    """
    minor = minor_version(named) or session.version.minor
    if session.version.note and not named.kubernetes_version:
        warn(session.version.note)
    try:
        facts = session.read(question, minor=minor, finds_scheduler=not named.scheduler_config)
    finally:
        session.close()
    followed = named._replace(kubernetes_version=f"1.{max(minor, FIRST_MINOR)}")
    profiles = _of_cluster(facts.scheduler, followed) if not named.scheduler_config else load_profiles(followed)
    _tell(session, minor, named.scheduler_config or facts.scheduler.said)
    for unread in facts.unread:
        warn(str(unread))
    return Facts(facts.cluster, profiles, named.all_nodes, named.seed, facts.errors)


def _of_cluster(found: Found, named: FactOptions) -> dict[str, Profile]:
    if found.source is None:
        return load_profiles(named)
    from kubectl_spread.scheduler import config
    from kubectl_spread.sources import scheduler_config

    loaded = scheduler_config.read(found.source, config.version_of(named.kubernetes_version or ""))
    for said in loaded.notes:
        warn(f"{found.source.name}: {said}")
    return loaded.profiles


def _tell(session: Session, minor: int, scheduler: str) -> None:
    version = session.version
    rules = "" if version.text.startswith(f"v1.{minor}.") else f", by the rules of 1.{minor}"
    note(f"cluster {session.target.name}, Kubernetes {version.text}{rules}; scheduler configuration: {scheduler}")
