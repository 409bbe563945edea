"""The Kubernetes objects of a document, with the way back to their text."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.constraints import constraint_lists
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.workloads.kinds import BUILT_IN, Kinds, WorkloadKind
from kubectl_spread.text.compose import Document
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place

# Compiled on first use.
_OBJECT = r"""(?m)(?:^[ \t]*(?:-[ \t]+)?|[{,]\s*)["']?kind["']?[ \t]*:"""
# The schema in a definition names the field, and may be thousands of lines long.
_DEFINITION = r"""kind["']?\s*:\s*["']?CustomResourceDefinition\b"""


class Manifest(NamedTuple):
    """An object; `route` is its place in the document, () unless it is an item of a List.

    `workload_kind` is None for a kind without a known pod template. `defaults` are the routes of values that are
    defaults of an OpenShift Template's parameters.
    """

    document: Document
    route: Route
    plain: dict[str, Any]
    kind: str
    api_version: str
    workload_kind: Optional[WorkloadKind] = None
    defaults: frozenset[Route] = frozenset()

    @property
    def name(self) -> str:
        metadata = self._metadata()
        return _text(metadata.get("name")) or _text(metadata.get("generateName"))

    @property
    def namespace(self) -> str:
        return _text(self._metadata().get("namespace"))

    @property
    def ref(self) -> ObjectKey:
        """Return the object's name in findings."""
        return ObjectKey(self.kind, self.namespace, self.name)

    def place(self, route: Route, *, key: bool = False) -> Place:
        """Return the place of a route of this object in the source."""
        return Place(self.document.source, self.document.place((*self.route, *route), key=key))

    def _metadata(self) -> dict[str, Any]:
        metadata = self.plain.get("metadata")
        return metadata if isinstance(metadata, dict) else {}


def looks_like_objects(text: str) -> bool:
    """Return whether a text may hold a Kubernetes object: it has a `kind:`."""
    return "\nkind:" in text or re.search(_OBJECT, text) is not None


def looks_relevant(text: str, *, around: frozenset[str], kinds: Kinds = BUILT_IN) -> bool:
    """Return whether a text may hold a workload, an object of one of the kinds `around`, or constraints."""
    return kinds.may_be_in(text) or _names_one_of(around).search(text) is not None or may_hold_constraints(text)


@functools.cache
def _names_one_of(kinds: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"""["']?kind["']?\s*:\s*["']?(?:{"|".join(sorted(kinds))})\b""")


def may_hold_constraints(text: str) -> bool:
    """Return whether a text may hold constraints outside known kinds, and is not a definition of a kind."""
    return constraint_lists.may_hold(text) and not (
        "CustomResourceDefinition" in text and re.search(_DEFINITION, text) is not None
    )


def manifests(document: Document, kinds: Kinds = BUILT_IN) -> Iterator[Manifest]:
    """Yield the objects of a document, and the items of its Lists one by one."""
    for route, item in _objects((), document.plain):
        kind, api_version = _text(item.get("kind")), _text(item.get("apiVersion"))
        found = Manifest(document, route, item, kind, api_version, kinds.of(kind, api_version))
        yield found if not route or route[0] != "objects" else _with_defaults(found)


def _with_defaults(manifest: Manifest) -> Manifest:
    """Return an object of an OpenShift Template with the defaults of the parameters."""
    from kubectl_spread.objects.workloads import parameters  # few files are templates

    known = parameters.defaults(manifest.document.plain)
    if not known:
        return manifest
    plain, routes = parameters.fill_defaults(manifest.plain, known)
    return manifest._replace(plain=plain, defaults=routes)


def _objects(route: Route, plain: Any) -> Iterator[tuple[Route, dict[str, Any]]]:
    if not isinstance(plain, dict):
        return
    kind, api_version = _text(plain.get("kind")), _text(plain.get("apiVersion"))
    if kind == "Template" and isinstance(plain.get("objects"), list):  # of OpenShift
        for index, item in enumerate(plain["objects"]):
            yield from _objects((*route, "objects", index), item)
        return
    items = plain.get("items")
    if kind.endswith("List") and isinstance(items, list):
        item_kind = kind[: -len("List")]
        for index, item in enumerate(items):
            named = (
                {"kind": item_kind, "apiVersion": api_version, **item} if item_kind and isinstance(item, dict) else item
            )
            yield from _objects((*route, "items", index), named)
    elif kind:
        yield route, plain


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
