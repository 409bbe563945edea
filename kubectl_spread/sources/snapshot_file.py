"""Writer of snapshots: one file, JSON or YAML, optionally compressed; its schema is schemas/snapshot.json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kubectl_spread.cluster.sharing.prune import drop_idle_events, prune_object
from kubectl_spread.cluster.sharing.redact import redact_objects
from kubectl_spread.cluster.snapshot import Unread

Plain = dict[str, Any]

API_VERSION = "kubectl-spread/v1"


def document(
    objects: Iterable[Plain],
    *,
    redact: bool,
    kubernetes_version: str = "",
    scheduler_configuration: str = "",
    read_at: str = "",
    complete: Iterable[str] = (),
    unread: Iterable[Unread] = (),
) -> Plain:
    """Return a Snapshot of objects, which must decode.

    Args:
        objects: as the API server or kubectl returned them.
        redact: whether to replace names by placeholders.
        kubernetes_version: of the cluster, `v1.34.2`; empty if unknown.
        scheduler_configuration: the text of a KubeSchedulerConfiguration.
        read_at: when the objects were read, RFC 3339; empty if unknown.
        complete: kinds with all objects of the cluster included.
        unread: kinds whose list is forbidden; a redacted document omits their namespaces.
    """
    items: Iterable[Plain] = (found for plain in objects if (found := prune_object(plain)) is not None)
    items = drop_idle_events(items)
    head: Plain = {"apiVersion": API_VERSION, "kind": "Snapshot", "redacted": redact}
    if kubernetes_version:
        head["kubernetesVersion"] = kubernetes_version
    if scheduler_configuration:
        head["schedulerConfiguration"] = scheduler_configuration
    if read_at:
        head["readAt"] = read_at
    head["kinds"] = sorted(complete)
    if missing := [_unread(item, redact=redact) for item in unread]:
        head["unread"] = missing
    return {**head, "items": list(redact_objects(items) if redact else items)}


def _unread(item: Unread, *, redact: bool) -> Plain:
    where = {"namespace": item.namespace} if item.namespace and not redact else {}
    return {"kind": item.kind, "resource": item.plural, **where}


def render_snapshot(snapshot: Plain, path: str) -> bytes:
    """Return a Snapshot in the format of the file name: .yaml or .yml, else JSON; compressed for .gz."""
    name = path.removesuffix(".gz")
    text = _yaml(snapshot) if name.endswith((".yaml", ".yml")) else _json(snapshot)
    content = text.encode()
    if not path.endswith(".gz"):
        return content
    import gzip

    return gzip.compress(content, mtime=0)  # The output is deterministic.


def _json(snapshot: Plain) -> str:
    """Return the Snapshot as JSON with one object per line, which is easy to compare."""
    head = json.dumps({key: item for key, item in snapshot.items() if key != "items"})
    items = ",\n".join(json.dumps(item, separators=(",", ":")) for item in snapshot["items"])
    return f'{head[:-1]}, "items": [\n{items}\n]}}\n'


def _yaml(snapshot: Plain) -> str:
    from kubectl_spread.text.emit import emit

    return emit(snapshot)
