"""The Kubernetes objects of a document, with the way back to their text; defaults of OpenShift Templates.

A parameter's default takes the place of its placeholder.
Source: openshift/library-go pkg/template/templateprocessing, Processor.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Optional

from kubectl_spread.objects.constraints import constraint_lists
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading.plain import as_text, fields
from kubectl_spread.objects.workloads.kinds import BUILT_IN, Kinds, WorkloadKind
from kubectl_spread.text import compose
from kubectl_spread.text.compose import Document
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place, SourceFile

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
        metadata = fields(self.plain, "metadata")
        return as_text(metadata.get("name")) or as_text(metadata.get("generateName"))

    @property
    def namespace(self) -> str:
        return as_text(fields(self.plain, "metadata").get("namespace"))

    @property
    def source(self) -> SourceFile:
        """Return the source of the object's document."""
        return self.document.source

    @property
    def ref(self) -> ObjectKey:
        """Return the object's name in findings."""
        return ObjectKey(self.kind, self.namespace, self.name)

    def place(self, route: Route, *, key: bool = False) -> Place:
        """Return the place of a route of this object in the source."""
        return Place(self.document.source, self.document.place((*self.route, *route), key=key))


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
        kind, api_version = as_text(item.get("kind")), as_text(item.get("apiVersion"))
        found = Manifest(document, route, item, kind, api_version, kinds.of(kind, api_version))
        known = parameter_defaults(document.plain) if route and route[0] == "objects" else {}
        if known:  # an object of an OpenShift Template
            plain, routes = fill_defaults(item, known)
            found = found._replace(plain=plain, defaults=routes)
        yield found


def objects_of(source: SourceFile, wanted: Callable[[str], bool] = bool) -> Iterator[Manifest]:
    """Yield the objects of a source; parts that are not YAML, or not wanted by their text, are left out."""
    return itertools.chain.from_iterable(map(manifests, compose.documents(source, wanted)))


def _objects(route: Route, plain: Any) -> Iterator[tuple[Route, dict[str, Any]]]:
    if not isinstance(plain, dict):
        return
    kind, api_version = as_text(plain.get("kind")), as_text(plain.get("apiVersion"))
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


def wrong_items(plain: Any, kinds: Kinds = BUILT_IN, route: Route = ()) -> Iterator[tuple[Route, str]]:
    """Yield the places in Lists of known kinds where an object is missing, and what is wrong there."""
    kind = as_text(plain.get("kind")) if isinstance(plain, dict) else ""
    if not kind:
        if route:
            yield route, "is not an object with a kind"
        return
    item_kind = kind.removesuffix("List")
    if item_kind == kind or not (kind == "List" or kinds.of(item_kind, as_text(plain.get("apiVersion")))):
        return
    items = plain.get("items")
    if not isinstance(items, list):
        if items is not None:
            yield (*route, "items"), "is not a list"
        return
    for index, item in enumerate(items):
        named = {"kind": item_kind, **item} if item_kind and isinstance(item, dict) else item
        yield from wrong_items(named, kinds, (*route, "items", index))


_NAME = r"\$\{(\w+)\}"
_VALUE = r"\$\{\{(\w+)\}\}"  # the whole text; its value may be a number
_KEPT = ("labels", "matchLabels", "annotations")  # they only have to be equal, and fixes copy them


def parameter_defaults(template: Mapping[str, Any]) -> dict[str, str]:
    """Return the default of each parameter that has one."""
    import json  # 5 ms; few files are templates

    parameters = template.get("parameters")
    found = {}
    for item in map(fields, parameters if isinstance(parameters, list) else ()):
        name, value = item.get("name"), item.get("value")
        if isinstance(name, str) and isinstance(value, (str, int)) and value != "":
            found[name] = value if isinstance(value, str) else json.dumps(value)
    return found


def fill_defaults(plain: dict[str, Any], known: Mapping[str, str]) -> tuple[dict[str, Any], frozenset[Route]]:
    """Return a new object with the defaults in the place of their placeholders, and the routes of these values."""
    routes: list[Route] = []
    return _filled(plain, known, (), routes=routes), frozenset(routes)


def _filled(value: Any, known: Mapping[str, str], route: Route, *, routes: list[Route]) -> Any:
    if isinstance(value, dict):
        return {
            key: item if key in _KEPT else _filled(item, known, (*route, key), routes=routes)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_filled(item, known, (*route, at), routes=routes) for at, item in enumerate(value)]
    if not isinstance(value, str) or "${" not in value:
        return value
    whole = re.fullmatch(_VALUE, value)
    found: Any = known.get(whole[1], value) if whole else re.sub(_NAME, lambda at: known.get(at[1], at[0]), value)
    if whole:
        import json  # 5 ms

        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(found)
    if found != value:
        routes.append(route)
    return found
