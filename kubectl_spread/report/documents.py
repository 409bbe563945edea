"""JSON documents as text: what all of them share. Their schemas are in `schemas/`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kubectl_spread.cluster.snapshot import Unread
from kubectl_spread.objects.workloads.kinds import KINDS

API_VERSION = "kubectl-spread/v1"


def dumps(document: dict[str, Any]) -> str:
    """Return a document as indented JSON, without characters that a terminal would obey."""
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False))


def escape_json(text: str) -> str:
    """Return JSON with the same meaning, without characters that a terminal would obey, except line breaks."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text)


def line(unread: Iterable[Unread]) -> str:
    """Return `partly known: may not list cronjobs; outside shop: pods`; empty if everything was read."""
    by_namespace: dict[str, list[str]] = {}
    for item in sorted(unread, key=lambda item: item.namespace):
        by_namespace.setdefault(item.namespace, []).append(item.plural)
    parts = [
        f"outside {namespace}: {', '.join(plurals)}" if namespace else ", ".join(plurals)
        for namespace, plurals in by_namespace.items()
    ]
    return f"partly known: may not list {'; '.join(parts)}" if parts else ""


def of_workloads(unread: Iterable[Unread]) -> tuple[Unread, ...]:
    """Return the kinds of workloads that may not be read in any namespace."""
    return tuple(item for item in unread if item.kind in KINDS and not item.namespace)


def document(unread: Iterable[Unread]) -> list[dict[str, Any]]:
    """Return the same for a report."""
    return [{"kind": item.kind, "resource": item.plural, "onlyNamespace": item.namespace or None} for item in unread]
