"""Snapshots: cluster facts in one file, with names or with placeholders."""

from __future__ import annotations

from typing import Any, NamedTuple

from kubectl_spread.errors import RequestError, SourceError
from kubectl_spread.operations import cluster_facts
from kubectl_spread.operations.cluster_facts import ClusterSource

_EXTENSIONS = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz", ".gz")


class SnapshotRequest(NamedTuple):
    """The cluster facts to write, with the options of the snapshot.

    Attributes:
        source: the live cluster, or files of facts; the live cluster if none are named.
        redact: replace names, label values and images.
        path: the file; its name decides the format, `.json`, `.yaml` or `.gz`; `-` is JSON for standard output.
    """

    source: ClusterSource = ClusterSource()
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
    if source.topology is not None:
        raise RequestError("a made-up cluster needs no snapshot: use its topology file")
    session = cluster_facts.open_session(source)
    from kubectl_spread.sources import snapshot

    if session is not None:
        found = cluster_facts.live_objects(source, session)
    else:
        found = snapshot.load(*source.snapshot, keeps_objects=True)
    for warning in found.warnings:
        source.warn(warning)
    head = found.cluster
    if source.kubernetes_version and cluster_facts.release_of(source) is not None:
        from kubectl_spread.objects.releases.version import plain_text

        head = head._replace(kubernetes_version=plain_text(source.kubernetes_version) or head.kubernetes_version)
    if source.scheduler_config:
        from kubectl_spread.sources.files import read_text

        head = head._replace(scheduler_configuration=read_text(source.scheduler_config).text)
    if request.redact and head.scheduler_configuration:
        text = "the scheduler's configuration may contain names, so it is left out: pass it with --scheduler-config"
        source.warn(text)
        head = head._replace(scheduler_configuration="")
    document = snapshot.document(found.objects, head, redact=request.redact)
    return SnapshotResult(document, snapshot.render_snapshot(document, path), found.errors)


def write_snapshot(request: SnapshotRequest) -> SnapshotResult:
    """Take a snapshot and write it to the request's file, atomically.

    Raises:
        SourceError: the file cannot be written.
        SpreadError: as `take_snapshot` does.
    """
    found = take_snapshot(request)
    from kubectl_spread.sources.files import write

    write(request.path, found.content)
    return found
