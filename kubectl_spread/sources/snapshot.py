"""Cluster facts from kubectl's output: a file or a directory of Lists, streams or single objects."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.cluster.building.build import ClusterBuilder
from kubectl_spread.cluster.building.shapes import SHAPES
from kubectl_spread.cluster.snapshot import Cluster, Unread
from kubectl_spread.errors import SourceError
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.pod_reader import PodReader
from kubectl_spread.objects.releases.version import plain_text, release_of, VersionError
from kubectl_spread.sources import files, topology
from kubectl_spread.text import compose, json_stream
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import comma_list, short

_MOST_NAMES = 6


class SnapshotFacts(NamedTuple):
    """A cluster, read errors, and warnings about other missing objects."""

    cluster: Cluster
    errors: tuple[SourceError, ...]
    warnings: tuple[str, ...] = ()


class _Item(NamedTuple):
    source: SourceFile
    document: int
    route: Route
    read: Union[Pod, dict[str, Any]]  # a pod, or an object that is still plain


def load(*paths: str, inside: Optional[str] = None) -> SnapshotFacts:
    """Read cluster facts; of two objects with one name the later one wins.

    `inside` is the directory that must contain the files, if a setting names them.

    A Snapshot or a List without nodes is accepted, too.

    Raises:
        SourceError: the path cannot be read, or there are no nodes and no list of objects.
    """
    errors: list[SourceError] = []
    warnings: list[str] = []
    assembler, pods = ClusterBuilder(), PodReader()
    head: dict[str, Any] = {}
    for given in files.inputs(paths, recursive=True, inside=inside):
        if isinstance(given, SourceError):
            errors.append(given)
            continue
        for item in _items(given.source, pods, errors, warnings, head):
            _add(item, assembler, errors)
    if warnings or not all(isinstance(error, _LostObjectError) for error in errors):
        assembler.leave_out({})  # A whole document, or a part of a list.
    if not assembler.has_nodes:
        warnings += _warning_without_nodes(paths, errors, head)
    complete, unread = extent_of(head)
    cluster = assembler.cluster()._replace(
        kubernetes_version=version_of(head),
        scheduler_configuration=configuration_of(head),
        read_at=time_of(head),
        complete=complete,
        unread=unread,
    )
    return SnapshotFacts(cluster, tuple(errors), tuple(warnings))


def configuration_of(head: dict[str, Any]) -> str:
    """Return the text of the scheduler's configuration in a snapshot; empty if it has none."""
    text = head.get("schedulerConfiguration")
    return text if isinstance(text, str) else ""


def time_of(head: dict[str, Any]) -> str:
    """Return when a snapshot was taken, RFC 3339; empty if it does not say."""
    text = head.get("readAt")
    return text if isinstance(text, str) else ""


# Kinds in every snapshot from before snapshots listed their kinds.
_ALWAYS_HELD = frozenset(
    {
        *("Node", "Pod", "Service", "ReplicationController", "ReplicaSet", "StatefulSet", "Deployment", "DaemonSet"),
        *("CronJob", "Job", "PodDisruptionBudget", "PriorityClass", "DeviceClass", "PersistentVolumeClaim"),
        *("PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"),
    }
)


def extent_of(head: dict[str, Any]) -> tuple[frozenset[str], tuple[Unread, ...]]:
    """Return the kinds that a snapshot has completely, and the kinds that were forbidden."""
    if head.get("kind") != "Snapshot":
        return frozenset(), ()
    kinds, unread = head.get("kinds"), head.get("unread")
    named = [kind for kind in kinds if isinstance(kind, str)] if isinstance(kinds, list) else []
    missing = [item for item in unread if isinstance(item, dict)] if isinstance(unread, list) else []
    found = tuple(Unread(*(str(item.get(field) or "") for field in _UNREAD_FIELDS)) for item in missing)
    return _ALWAYS_HELD if kinds is None else frozenset(named), found


_UNREAD_FIELDS = ("kind", "resource", "namespace")


def version_of(head: dict[str, Any]) -> str:
    """Return the cluster version in a snapshot; empty if it is missing or unknown."""
    version = head.get("kubernetesVersion")
    try:
        return plain_text(version) if isinstance(version, str) and release_of(version) else ""
    except VersionError:
        return ""


class Objects(NamedTuple):
    """Decodable objects of cluster facts, read errors, warnings, and the head of the snapshot."""

    objects: list[dict[str, Any]]
    errors: tuple[SourceError, ...]
    warnings: tuple[str, ...]
    head: dict[str, Any]


def objects(*paths: str) -> Objects:
    """Read the objects of cluster facts unchanged, limited to kinds that are evaluated.

    Raises:
        SourceError: as `load` does.
    """
    errors: list[SourceError] = []
    warnings: list[str] = []
    found: list[dict[str, Any]] = []
    head: dict[str, Any] = {}
    for given in files.inputs(paths, recursive=True):
        if isinstance(given, SourceError):
            errors.append(given)
            continue
        for item in _items(given.source, None, errors, warnings, head):
            plain = item.read
            if isinstance(plain, dict) and _is_readable(item, plain, errors):
                found.append(plain)
    if not any(plain.get("kind") == "Node" for plain in found):
        warnings += _warning_without_nodes(paths, errors, head)
    return Objects(found, tuple(errors), tuple(warnings), head)


def _warning_without_nodes(paths: tuple[str, ...], errors: list[SourceError], head: dict[str, Any]) -> list[str]:
    """Return a warning that a list of objects has no node; none for a snapshot or a list of nodes.

    Raises:
        SourceError: the input is not a list of objects, or an object could not be read.
    """
    without = SourceError(
        ", ".join(paths),
        "no Node in it, so nothing can be placed; "
        "save the output of `kubectl get nodes,namespaces,pods,replicasets -A -o yaml`",
    )
    if not errors and not head and len(paths) == 1:
        _refuse_empty(paths[0])
    if errors or not head:
        lost: list[SourceError] = [error for error in errors if isinstance(error, _LostNodeError)]
        first, *others = lost or (errors if len(errors) == 1 else [without])
        first.others = tuple(others)
        raise first
    return [] if head.get("kind") in ("Snapshot", "NodeList") else [str(without)]


def _refuse_empty(path: str) -> None:
    """Raise SourceError if a path is an empty file, or a directory without a file of facts."""
    if os.path.isfile(path) and not os.path.getsize(path):
        raise SourceError(path, "the file is empty")
    if not os.path.isdir(path):
        return
    entries = sorted(os.listdir(path))
    if not entries:
        raise SourceError(path, "no file in the directory")
    if next(iter(files.inputs((path,), recursive=True)), None) is None:
        others = comma_list(entries, most=_MOST_NAMES)
        raise SourceError(path, f"no .yaml, .yml or .json file in the directory, only {others}")


def _add(item: _Item, assembler: ClusterBuilder, errors: list[SourceError]) -> None:
    if isinstance(item.read, Pod):
        assembler.add_pod(item.read)
        return
    if _is_readable(item, item.read, errors):
        assembler.add(item.read)
    elif item.read.get("kind") in SHAPES:
        assembler.leave_out(item.read)


def _is_readable(item: _Item, plain: dict[str, Any], errors: list[SourceError]) -> bool:
    """Return whether an object is of an evaluated kind and decodes; decoding errors are recorded."""
    shape = SHAPES.get(str(plain.get("kind")))
    if shape is None:
        return False
    if decode.decodes(plain, shape):
        return True
    problems = [problem for problem in decode.problems(plain, shape) if problem.kind is decode.ProblemKind.TYPE]
    errors += [_located(item, plain, problem) for problem in problems]
    return False


def _items(
    source: SourceFile,
    pods: Optional[PodReader],
    errors: list[SourceError],
    warnings: list[str],
    head: dict[str, Any],
) -> Iterator[_Item]:
    """Yield the objects of a text; `head` is filled with the fields of a Snapshot."""
    for index, document in _documents(source, pods, errors):
        plain = document
        if isinstance(plain, dict) and plain.get("kind") == "Snapshot":
            head.update({key: item for key, item in plain.items() if key != "items"})
        elif isinstance(plain, dict) and isinstance(plain.get("items"), list):
            head.setdefault("kind", plain.get("kind"))
        elif topology.is_topology(plain):
            plain = {"kind": "List", "items": _of_topology(source, errors)}
        if _is_truncated(plain):
            warnings.append(f"{source.name}: the {plain['kind']} is not complete: it is one page of a longer list")
        yield from _flattened(source, index, plain, errors)


def _of_topology(source: SourceFile, errors: list[SourceError]) -> list[dict[str, Any]]:
    """Return the objects of a topology; none, with an error, if it is invalid."""
    try:
        return topology.objects(source)
    except SourceError as error:
        errors.append(error)
        return []


def _is_truncated(plain: Any) -> bool:
    """Return whether the List is incomplete according to the API server."""
    if not isinstance(plain, dict) or not str(plain.get("kind") or "").endswith("List"):
        return False
    metadata = plain.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("continue"))


def _flattened(source: SourceFile, document: int, root: Any, errors: list[SourceError]) -> Iterator[_Item]:
    """Yield the objects of a document and of its Lists. Items that are no objects are errors.

    A stack replaces recursion, because JSON may be nested deeper than Python allows.
    """
    stack: list[tuple[Route, Any]] = [((), root)]
    while stack:
        route, plain = stack.pop()
        if isinstance(plain, Pod):
            yield _Item(source, document, route, plain)
            continue
        kind = plain.get("kind") if isinstance(plain, dict) else None
        if not isinstance(kind, str):
            if route and plain:  # nothing is lost with an empty item
                errors.append(_at(source, document, route, f"{decode.short_path(route)}: not an object with a kind"))
            continue
        items = plain.get("items")
        is_list = kind.endswith("List") or kind == "Snapshot"
        if is_list and items is not None and not isinstance(items, list):
            errors.append(_at(source, document, (*route, "items"), f"items of the {short(kind)}: not a list"))
        elif is_list and items is not None:
            item_kind = _item_kind(kind)
            named = [{"kind": item_kind, **item} if item_kind and isinstance(item, dict) else item for item in items]
            stack += [((*route, "items", index), item) for index, item in enumerate(named)][::-1]
        else:
            yield _Item(source, document, route, plain)


def _item_kind(kind: str) -> str:
    """Return the kind of a list's items, for items without a kind."""
    return kind.removesuffix("List") if kind != "Snapshot" else ""


def _documents(source: SourceFile, pods: Optional[PodReader], errors: list[SourceError]) -> Iterator[tuple[int, Any]]:
    """Yield the documents as plain values, except pods in lists; JSON is read with the faster parser."""
    if source.text.lstrip()[:1] == "{":
        try:
            read = functools.partial(_pod_if_it_is, pods) if pods is not None else _as_it_is
            documents = json_stream.values(source.text, read)
        except (ValueError, RecursionError):
            pass  # The text may be YAML.
        else:
            yield from enumerate(documents)
            return
    for document in compose.compose(source):
        if isinstance(document, compose.SyntaxProblem):
            line, column = source.position(document.span.start)
            errors.append(SourceError(source.name, document.sentence, line=line, column=column))
        else:
            yield document.number, document.plain


def _as_it_is(item: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    return item


def _pod_if_it_is(pods: PodReader, item: dict[str, Any], document: dict[str, Any]) -> Union[Pod, dict[str, Any]]:
    """Return a pod that decodes as a `Pod`, so that large clusters need not be in memory as plain values.

    The document decides later whether the pod counts, because its kind may follow its items.
    """
    kind = item.get("kind", _item_kind(str(document.get("kind") or "")))
    found = pods.pod(item) if kind == "Pod" else None
    return item if found is None else found


class _LostObjectError(SourceError):
    """An object does not decode."""


class _LostNodeError(_LostObjectError):
    """A node does not decode. If no other node is left, this is why."""


def _located(item: _Item, plain: dict[str, Any], problem: decode.Problem) -> SourceError:
    """Return the error of one field with its line."""
    name = (plain.get("metadata") or {}).get("name", "?") if isinstance(plain.get("metadata"), dict) else "?"
    message = f"{plain.get('kind')} {short(name)} is left out: {decode.problem_text(problem)}"
    found = _at(item.source, item.document, (*item.route, *problem.route), message)
    error = _LostNodeError if plain.get("kind") == "Node" else _LostObjectError
    return error(found.source, found.message, line=found.line, column=found.column)


def _at(source: SourceFile, number: int, route: Route, message: str) -> SourceError:
    """Return an error at a route of a document. The text is only parsed again if there is an error."""
    for document in compose.compose(source):
        if isinstance(document, compose.Document) and document.number == number:
            line, column = source.position(nodes.place(document.root, route).start)
            return SourceError(source.name, message, line=line, column=column)
    return SourceError(source.name, message)
