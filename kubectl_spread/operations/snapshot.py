"""Snapshots: cluster facts in one file, with names or with placeholders."""

from __future__ import annotations

from typing import Any, NamedTuple, TYPE_CHECKING

from kubectl_spread.errors import RequestError, SourceError
from kubectl_spread.operations.inputs import cluster_facts, cluster_source, notices
from kubectl_spread.operations.inputs.cluster_source import ClusterSource

if TYPE_CHECKING:  # loads numpy
    from kubectl_spread.operations.inputs.live_cluster import SnapshotObjects

_EXTENSIONS = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz", ".gz")


class SnapshotRequest(NamedTuple):
    """The cluster facts to write, with the options of the snapshot.

    Attributes:
        source: the live cluster, or files of facts; the live cluster if none are named.
        redact: replace names, label values and images.
        path: the file; its name decides the format, `.json`, `.yaml` or `.gz`; `-` is JSON for standard output.
    """

    source: ClusterSource = ClusterSource(live=True)
    redact: bool = False
    path: str = "-"


class SnapshotResult(NamedTuple):
    """A snapshot.

    Attributes:
        document: the snapshot, which other operations accept.
        content: the document in the format of the file.
        errors: objects that could not be read.
    """

    document: dict[str, Any]
    content: bytes
    errors: tuple[SourceError, ...]


def take_snapshot(request: SnapshotRequest) -> SnapshotResult:
    """Return the cluster facts as one document; write nothing.

    Raises:
        RequestError: the request contradicts itself, or the file's name has no known ending.
        SourceError: the cluster facts cannot be read.
        ClusterError: the live cluster cannot be read.
    """
    path = request.path
    if path != "-" and not path.startswith("/dev/") and not path.endswith(_EXTENSIONS):
        raise RequestError(f"the file name must end in .json, .yaml or .gz: {path}")
    source = request.source.or_live()
    found = _objects(source)
    from kubectl_spread.sources import snapshot_file

    configuration = "" if request.redact else found.scheduler_configuration
    if request.redact and found.scheduler_configuration:
        text = "the scheduler's configuration may contain names, so it is left out: pass it with --scheduler-config"
        notices.warn(source.listener, text)
    document = snapshot_file.document(
        found.objects,
        redact=request.redact,
        kubernetes_version=found.kubernetes_version,
        scheduler_configuration=configuration,
        read_at=found.read_at,
        complete=found.complete,
        unread=found.unread,
    )
    return SnapshotResult(document, snapshot_file.render_snapshot(document, path), found.errors)


def write_snapshot(request: SnapshotRequest) -> SnapshotResult:
    """Take a snapshot and write it to the request's file, atomically.

    Raises:
        SourceError: the file cannot be written.
        SpreadError: as `take_snapshot` does.
    """
    found = take_snapshot(request)
    from kubectl_spread.sources.atomic_write import write_bytes

    write_bytes(request.path, found.content)
    return found


def _objects(source: ClusterSource) -> SnapshotObjects:
    """Return the objects, the errors, and the version and configuration that belong to them."""
    if source.topology is not None:
        raise RequestError("a made-up cluster needs no snapshot: use its topology file")
    session = cluster_facts.open_session(source)
    from kubectl_spread.operations.inputs import live_cluster

    if session is not None:
        return _with_configuration(live_cluster.objects(source, session), source)
    from kubectl_spread.sources import snapshot

    found = snapshot.objects(*source.snapshot)
    for warning in found.warnings:
        notices.warn(source.listener, warning)
    version = cluster_source.version_text(source) or snapshot.version_of(found.head)
    configuration = snapshot.configuration_of(found.head)
    extent = snapshot.extent_of(found.head)
    read_at = snapshot.time_of(found.head)
    known = live_cluster.SnapshotObjects(tuple(found.objects), found.errors, version, configuration, read_at, *extent)
    return _with_configuration(known, source)


def _with_configuration(found: SnapshotObjects, source: ClusterSource) -> SnapshotObjects:
    """Return the objects with the scheduler's configuration that the source names, if any."""
    if not source.scheduler_config:
        return found
    from kubectl_spread.sources.files import read_text

    return found._replace(scheduler_configuration=read_text(source.scheduler_config).text)
