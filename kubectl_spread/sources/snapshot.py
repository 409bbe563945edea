"""Cluster facts from what kubectl printed: a file or a directory of Lists, streams or single objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from typing import NamedTuple
from typing import Optional

from kubectl_spread.cluster.assemble import Assembler
from kubectl_spread.cluster.assemble import SHAPES
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import SourceError
from kubectl_spread.objects import decode
from kubectl_spread.sources import files
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text import surrogates
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile


class Facts(NamedTuple):
    """A cluster, what could not be read of it, and what is missing for another reason."""

    cluster: Cluster
    errors: tuple[SourceError, ...]
    warnings: tuple[str, ...] = ()


class _Item(NamedTuple):
    source: SourceFile
    document: int
    route: Route
    plain: dict[str, Any]


def load(*paths: str) -> Facts:
    """Read cluster facts; of two objects with one name the one read later counts.

    Raises:
        SourceError: the path cannot be read, or there is no node in any.
    """
    errors: list[SourceError] = []
    warnings: list[str] = []
    assembler = Assembler()
    for given in files.inputs(paths, recursive=True):
        if isinstance(given, SourceError):
            errors.append(given)
            continue
        for item in _items(given.source, errors, warnings):
            _add(item, assembler, errors)
    if not assembler.has_nodes and len(errors) == 1:
        raise errors[0]
    if not assembler.has_nodes:
        raise SourceError(
            ", ".join(paths),
            "no Node in it, so nothing can be placed; "
            "`kubectl get nodes,namespaces,pods,replicasets -A -o yaml` prints one",
        )
    return Facts(assembler.cluster(), tuple(errors), tuple(warnings))


def _add(item: _Item, assembler: Assembler, errors: list[SourceError]) -> None:
    shape = SHAPES.get(str(item.plain.get("kind")))
    if shape is None:
        return
    if decode.decodes(item.plain, shape):
        assembler.add(item.plain)
        return
    problems = [problem for problem in decode.problems(item.plain, shape) if problem.kind is decode.Kind.TYPE]
    errors += [_located(item, problem) for problem in problems]


def _items(source: SourceFile, errors: list[SourceError], warnings: list[str]) -> Iterator[_Item]:
    for index, plain in _documents(source, errors):
        if _is_truncated(plain):
            warnings.append(
                f"{source.name}: the {plain['kind']} is not complete: it was read in pieces, and this is one of them"
            )
        yield from _flattened(source, index, plain)


def _is_truncated(plain: Any) -> bool:
    """Whether the API server said that there is more than this List holds."""
    if not isinstance(plain, dict) or not str(plain.get("kind") or "").endswith("List"):
        return False
    metadata = plain.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("continue"))


def _flattened(source: SourceFile, document: int, root: Any) -> Iterator[_Item]:
    """The objects of a document, Lists taken apart; with a stack, for JSON may nest deeper than Python may."""
    stack: list[tuple[Route, Any]] = [((), root)]
    while stack:
        route, plain = stack.pop()
        kind = plain.get("kind") if isinstance(plain, dict) else None
        if not isinstance(kind, str):
            continue
        items = plain.get("items")
        if isinstance(items, list) and (kind.endswith("List") or kind == "Snapshot"):
            item_kind = kind.removesuffix("List") if kind != "Snapshot" else ""
            named = [{"kind": item_kind, **item} if item_kind and isinstance(item, dict) else item for item in items]
            stack += [((*route, "items", index), item) for index, item in enumerate(named)][::-1]
        else:
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
            errors.append(SourceError(source.name, document.sentence, line=line, column=column))
        else:
            yield document.number, nodes.to_plain(document.root)


def _json_stream(text: str) -> Optional[list[Any]]:
    """The values of concatenated JSON documents; None where the text is not JSON (it may be YAML)."""
    text = surrogates.without_lone(text)
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
        except (ValueError, RecursionError):  # of no JSON; of an integer too long to be one
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
