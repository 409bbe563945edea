"""Cluster facts from what kubectl printed: a file or a directory of Lists, streams or single objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.cluster.snapshot import OwnerKey
from kubectl_spread.errors import SourceError
from kubectl_spread.objects import decode
from kubectl_spread.objects import read
from kubectl_spread.objects import spread
from kubectl_spread.objects.node import Node
from kubectl_spread.objects.pod import Pod
from kubectl_spread.sources import files
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile

_SHAPES = {
    "Node": decode.NODE,
    "Pod": decode.POD,
    "Namespace": decode.Struct("Namespace", {"metadata": decode.OBJECT_META}),
}
_CONTROLLED = ("ReplicaSet", "Job")  # controllers that a workload above them controls


class Facts(NamedTuple):
    """A cluster, and what could not be read of it."""

    cluster: Cluster
    errors: tuple[SourceError, ...]


class _Item(NamedTuple):
    source: SourceFile
    document: int
    route: Route
    plain: dict[str, Any]


def load(path: str) -> Facts:
    """Read cluster facts.

    Raises:
        SourceError: the path cannot be read, or there is no node in it.
    """
    errors: list[SourceError] = []
    found = _Found()
    for given in files.inputs((path,), recursive=True):
        if isinstance(given, SourceError):
            errors.append(given)
            continue
        for item in _items(given.source, errors):
            found.add(item, errors)
    if not found.nodes and len(errors) == 1:
        raise errors[0]
    if not found.nodes:
        raise SourceError(
            path, "no Node in it, so nothing can be placed; `kubectl get nodes,namespaces,pods -A -o yaml` prints one"
        )
    return Facts(found.cluster(), tuple(errors))


class _Found:
    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.namespaces: dict[str, dict[str, str]] = {}
        self.owners: dict[OwnerKey, OwnerKey] = {}

    def add(self, item: _Item, errors: list[SourceError]) -> None:
        kind = item.plain.get("kind")
        if kind in _CONTROLLED:
            self._add_controlled(str(kind), item.plain)
        if kind not in _SHAPES:
            return
        problems = [
            problem for problem in decode.problems(item.plain, _SHAPES[str(kind)]) if problem.kind is decode.Kind.TYPE
        ]
        if problems:
            errors += [_located(item, problem) for problem in problems]
            return
        metadata = item.plain.get("metadata") or {}
        if kind == "Node":
            self.nodes[metadata.get("name") or ""] = read.node(item.plain)
        elif kind == "Namespace":
            self.namespaces[metadata.get("name") or ""] = spread.labels(metadata)
        else:
            pod = read.pod(item.plain)
            self.pods[pod.key] = pod

    def cluster(self) -> Cluster:
        ordered = sorted(self.nodes.values(), key=lambda node: node.name)
        return Cluster(tuple(ordered), tuple(self.pods.values()), dict(self.namespaces), self.owners)

    def _add_controlled(self, kind: str, plain: dict[str, Any]) -> None:
        metadata = plain.get("metadata") or {}
        owner = read.controller(metadata)
        if owner is not None:
            namespace = metadata.get("namespace") or "default"
            self.owners[OwnerKey(kind, namespace, metadata.get("name") or "")] = OwnerKey(
                owner.kind, namespace, owner.name
            )


def _items(source: SourceFile, errors: list[SourceError]) -> Iterator[_Item]:
    for index, plain in _documents(source, errors):
        yield from _flattened(source, index, (), plain)


def _flattened(source: SourceFile, document: int, route: Route, plain: Any) -> Iterator[_Item]:
    if not isinstance(plain, dict):
        return
    kind, items = plain.get("kind"), plain.get("items")
    if isinstance(items, list) and isinstance(kind, str) and (kind.endswith("List") or kind == "Snapshot"):
        item_kind = kind.removesuffix("List") if kind != "Snapshot" else ""
        for index, item in enumerate(items):
            named = {"kind": item_kind, **item} if item_kind and isinstance(item, dict) else item
            yield from _flattened(source, document, (*route, "items", index), named)
    elif isinstance(kind, str):
        yield _Item(source, document, route, plain)


def _documents(source: SourceFile, errors: list[SourceError]) -> Iterator[tuple[int, Any]]:
    """Documents as plain values; JSON goes through the faster parser."""
    if source.text.lstrip()[:1] == "{":
        stream = _json_stream(source.text)
        if stream is not None:
            yield from enumerate(stream)
            return
    for document in compose.compose(source):
        if isinstance(document, compose.SyntaxProblem):
            line, column = source.position(document.span.start)
            errors.append(SourceError(source.name, document.message, line=line, column=column))
        else:
            yield document.number, nodes.to_plain(document.root)


def _json_stream(text: str) -> Optional[list[Any]]:
    """The values of concatenated JSON documents; None where the text is not JSON (it may be YAML)."""
    decoder = json.JSONDecoder()
    values: list[Any] = []
    at = 0
    while True:
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        if at == len(text):
            return values
        try:
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            return None
        values.append(value)


def _located(item: _Item, problem: decode.Problem) -> SourceError:
    """The error of one field, with its line; composing again costs only where something is wrong."""
    name = (item.plain.get("metadata") or {}).get("name", "?") if isinstance(item.plain.get("metadata"), dict) else "?"
    message = f"{item.plain.get('kind')} {name} is left out: {decode.path_text(problem.route)}: {problem.message}"
    for document in compose.compose(item.source):
        if isinstance(document, compose.Document) and document.number == item.document:
            span = nodes.place(document.root, (*item.route, *problem.route))
            line, column = item.source.position(span.start)
            return SourceError(item.source.name, message, line=line, column=column)
    return SourceError(item.source.name, message)
