"""Findings about fields that the API server refuses: their messages, places and fixes."""

from __future__ import annotations

from typing import Any, Optional

from kubectl_spread.lint.finding import Finding, Fix, Place
from kubectl_spread.lint.registry import RULES
from kubectl_spread.lint.workload import reference, repair
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Route


def finding(
    code: str, manifest: Manifest, route: Route, *, message: str, path: str, hint: str, key: bool = False
) -> Finding:
    return Finding(
        RULES[code],
        message,
        Place(manifest.document.source, manifest.place(route, key=key)),
        reference(manifest),
        path,
        hint,
    )


def with_fix(finding: Finding, fix: Optional[Fix], manifest: Manifest) -> Finding:
    return finding._replace(repair=repair(fix, manifest))


def value_at(manifest: Manifest, route: Route) -> Any:
    found = nodes.follow(manifest.document.root, (*manifest.route, *route))
    return None if found is None else nodes.to_plain(found)


def text_at(manifest: Manifest, route: Route) -> str:
    """Return the text at a route."""
    span = manifest.place(route)
    return manifest.document.source.text[span.start : span.end]


def unhandled_kind_message(manifest: Manifest, why: str) -> str:
    """Return the API server's message for its own kinds; for other kinds their pods fail."""
    if manifest.workload_kind is not None and not manifest.workload_kind.has_fixed_place:
        return f"no pod of this {manifest.kind} can be created: {why}"
    version = manifest.api_version.rpartition("/")[2]
    return f'{manifest.kind} in version "{version}" cannot be handled as a {manifest.kind}: {why}'


def unknown_field(manifest: Manifest, path: str) -> str:
    """Return kubectl's message; Helm and others do not ask for strict decoding."""
    if manifest.workload_kind is not None and not manifest.workload_kind.has_fixed_place:
        return f'unknown field "{path}": strict validation refuses it, otherwise it is dropped'
    refusal = unhandled_kind_message(manifest, f'strict decoding error: unknown field "{path}"')
    return f"{refusal}; without strict decoding it is dropped, with a warning from 1.27 on"
