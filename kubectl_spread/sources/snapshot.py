"""Cluster facts in files: kubectl's output (Lists, streams, single objects), topologies, and snapshots.

The schema of a snapshot is schemas/snapshot.json.
"""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.cluster.build import ClusterBuilder
from kubectl_spread.cluster.shapes import is_of_another_group, SHAPES
from kubectl_spread.cluster.snapshot import Cluster, Unread
from kubectl_spread.errors import joined, SourceError
from kubectl_spread.objects.pod import Pod
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, numbered_mappings, Plain, value_at
from kubectl_spread.objects.reading.read import PodReader
from kubectl_spread.objects.releases.version import plain_text, release_of, VersionError
from kubectl_spread.sources import files, topology
from kubectl_spread.text import compose, json_nodes
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import comma_list, short


class SnapshotFacts(NamedTuple):
    """A cluster, read errors, warnings about other missing objects, and on request the objects themselves."""

    cluster: Cluster
    errors: tuple[SourceError, ...]
    warnings: tuple[str, ...] = ()
    objects: tuple[Plain, ...] = ()


def load(*paths: str, inside: Optional[str] = None, keeps_objects: bool = False) -> SnapshotFacts:
    """Read cluster facts; of two objects with one name the later one wins.

    A Snapshot or a NodeList without nodes is accepted, too.

    Args:
        paths: the files.
        inside: the directory that must contain them, if a setting names them.
        keeps_objects: also return the objects unchanged, limited to kinds that are evaluated.

    Raises:
        SourceError: the path cannot be read, or there are no nodes and no list of objects.
    """
    reading, builder = _Reading(paths, inside), ClusterBuilder()
    objects: list[Plain] = []
    nodes: dict[tuple[str, str], None] = {}  # names and labels
    for item in reading.items(None if keeps_objects else PodReader()):
        if isinstance(item.read, Pod):
            builder.add_pod(item.read)
        elif reading.decodes(item):
            builder.add(item.read)
            metadata = fields(item.read, "metadata")
            if item.read["kind"] == "Node":
                nodes[str(metadata.get("name")), repr(metadata.get("labels"))] = None
            objects += [item.read] if keeps_objects else []
        elif item.read.get("kind") in SHAPES and not is_of_another_group(item.read):
            builder.leave_out(item.read)
    if reading.warnings or len(reading.errors) > reading.undecodable:
        builder.leave_out({})  # A whole document, or a part of a list.
    cluster = builder.cluster()._replace(**_head(reading.head))
    uses = Counter([*(f"name {name}" for name, _ in nodes), *(f"uid {pod.uid}" for pod in cluster.pods)])
    if shared := [what for what, number in uses.items() if number > 1]:
        text = f"different objects have the {comma_list(shared, most=2)}, so the answer may be about the wrong one"
        reading.warnings.append(f"{comma_list(paths)}: {text}")
    if not (cluster.nodes or cluster.provisioning):  # NodePools can make nodes.
        reading.refuse_without_nodes()
    return SnapshotFacts(cluster, tuple(reading.errors), tuple(reading.warnings), tuple(objects))


_HEAD = {
    "kubernetes_version": "kubernetesVersion",
    "scheduler_configuration": "schedulerConfiguration",
    "read_at": "readAt",
}


def _head(plain: Plain) -> dict[str, Any]:
    """Read the fields of a snapshot beside its objects; an unknown version and values of other types are left out."""
    head: dict[str, Any] = {name: plain[key] for name, key in _HEAD.items() if isinstance(plain.get(key), str)}
    try:
        version = head.pop("kubernetes_version", "")
        head |= {"kubernetes_version": plain_text(version)} if version and release_of(version) else {}
    except VersionError:
        pass
    if plain.get("kind") == "Snapshot":
        kinds, unread = plain.get("kinds"), numbered_mappings(plain.get("unread"))
        named = frozenset(kind for kind in kinds if isinstance(kind, str)) if isinstance(kinds, list) else frozenset()
        names_of_unread = ("kind", "resource", "namespace")
        head["complete"] = _ALWAYS_HELD if kinds is None else named
        head["unread"] = tuple(Unread(*(str(item.get(field) or "") for field in names_of_unread)) for _, item in unread)
    return head


# Kinds in every snapshot from before snapshots listed their kinds.
_ALWAYS_HELD = frozenset(
    {
        *("Node", "Pod", "Service", "ReplicationController", "ReplicaSet", "StatefulSet", "Deployment", "DaemonSet"),
        *("CronJob", "Job", "PodDisruptionBudget", "PriorityClass", "DeviceClass", "PersistentVolumeClaim"),
        *("PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"),
    }
)


class _Item(NamedTuple):
    """An object of a document: a pod, or an object that is still plain."""

    source: SourceFile
    document: int
    route: Route
    read: Union[Pod, Plain]

    def error(self, problem: decode.Problem) -> SourceError:
        """Return the error of a field that does not decode, with its line."""
        plain: Any = self.read
        name = fields(plain, "metadata").get("name", "?")
        message = f"{plain.get('kind')} {short(name)} is left out: {decode.problem_text(problem)}"
        return _at(self.source, self.document, (*self.route, *problem.route), message)


class _Reading:
    """The objects of some files; read errors, warnings and the head of a snapshot are collected."""

    def __init__(self, paths: tuple[str, ...], inside: Optional[str] = None) -> None:
        self.errors: list[SourceError] = []
        self.undecodable = 0  # errors of fields that do not decode
        self.lost_nodes: list[SourceError] = []  # such errors of nodes: the reason if no other node is left
        self.warnings: list[str] = []
        self.head: Plain = {}
        self._paths = paths
        self._inside = inside

    def items(self, pods: Optional[PodReader] = None) -> Iterator[_Item]:
        """Yield the objects. With `pods`, pods of large lists are read at once, so that memory is saved."""
        for given in files.inputs(self._paths, recursive=True, inside=self._inside):
            if isinstance(given, SourceError):
                self.errors.append(given)
                continue
            source = given.source
            for index, plain in _documents(source, pods, self.errors):
                kind = str(fields(plain).get("kind") or "")
                if kind == "Snapshot":
                    self.head.update({key: item for key, item in plain.items() if key != "items"})
                elif isinstance(fields(plain).get("items"), list):
                    self.head.setdefault("kind", plain.get("kind"))
                elif topology.is_topology(plain):
                    plain = {"kind": "List", "items": []}  # noqa: PLW2901
                    try:
                        plain["items"] = topology.objects(source)
                    except SourceError as error:
                        self.errors.append(error)
                if kind.endswith("List") and value_at(plain, ("metadata", "continue")):
                    text = f"{source.name}: the {kind} is not complete: it is one page of a longer list"
                    self.warnings.append(text)
                yield from _flattened(source, index, plain, self.errors)

    def decodes(self, item: _Item) -> bool:
        """Return whether a plain object is of an evaluated kind and decodes; decoding errors are recorded."""
        plain: Any = item.read
        shape = SHAPES.get(str(plain.get("kind")))
        if shape is None or is_of_another_group(plain):
            return False
        if decode.decodes(plain, shape):
            return True
        lost = list(map(item.error, decode.type_problems(plain, shape)))
        self.errors += lost
        self.undecodable += len(lost)
        self.lost_nodes += lost if plain["kind"] == "Node" else []
        return False

    def refuse_without_nodes(self) -> None:
        """Raise SourceError if a node is missing or could not be read; a snapshot or a list of nodes may have none."""
        if self.head.get("kind") in ("Snapshot", "NodeList") and not self.errors:
            return
        without = SourceError(
            ", ".join(self._paths),
            "no Node in it, so nothing can be placed; "
            "save the output of `kubectl get nodes,namespaces,pods,replicasets -A -o yaml`",
        )
        if not self.errors and not self.head and len(self._paths) == 1:
            _refuse_empty(self._paths[0])
        raise joined(self.lost_nodes or (self.errors if len(self.errors) == 1 else [without]))


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
        others = comma_list(entries)
        raise SourceError(path, f"no .yaml, .yml or .json file in the directory, only {others}")


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
        items = plain.get("items") if isinstance(plain, dict) else None
        is_list = isinstance(kind, str) and (kind.endswith("List") or kind == "Snapshot")
        if (is_list or (kind is None and not route)) and items is not None and not isinstance(items, list):
            what = f"items of the {short(kind)}: not a list" if kind is not None else "items must be a list"
            errors.append(_at(source, document, (*route, "items"), what))
        elif kind is None and not route and items:
            errors.append(_at(source, document, ("items",), "items: the list has no kind"))
        elif not isinstance(kind, str):
            if route and plain:  # nothing is lost with an empty item
                errors.append(_at(source, document, route, f"{decode.short_path(route)}: not an object with a kind"))
        elif is_list and items is not None:
            item_kind = "" if kind == "Snapshot" else kind.removesuffix("List")  # of items that name none
            named = [{"kind": item_kind, **item} if item_kind and isinstance(item, dict) else item for item in items]
            stack += [((*route, "items", index), item) for index, item in enumerate(named)][::-1]
        else:
            yield _Item(source, document, route, plain)


def _documents(source: SourceFile, pods: Optional[PodReader], errors: list[SourceError]) -> Iterator[tuple[int, Any]]:
    """Yield the documents as plain values, except pods in lists; JSON is read with the faster parser."""
    if source.text.lstrip()[:1] == "{":
        try:
            documents = json_nodes.values(source.text, None if pods is None else functools.partial(_pod_if_it_is, pods))
        except (ValueError, RecursionError):
            pass  # The text may be YAML.
        else:
            yield from enumerate(documents)
            return
    number = 0
    for found in compose.values(source):
        if isinstance(found, compose.SyntaxProblem):
            errors.append(source.error(found.span.start, found.sentence))
        else:
            yield number, found
            number += 1


def _pod_if_it_is(pods: PodReader, plain: Plain) -> Union[Pod, Plain]:
    """Return a pod of a cluster that decodes as a `Pod`, so that large clusters need not be in memory as plain values.

    The document decides later whether the pod counts. References to pods have no status, nor have templates.
    """
    found = pods.pod(plain) if "status" in plain and plain.get("kind") == "Pod" else None
    return plain if found is None else found


def _at(source: SourceFile, number: int, route: Route, message: str) -> SourceError:
    """Return an error at a route of a document. The text is only parsed again if there is an error."""
    for document in compose.documents(source):
        if document.number == number:
            return document.error(route, message)
    return SourceError(source.name, message)


def document(objects: Iterable[Plain], head: Cluster, *, redact: bool) -> Plain:
    """Return a Snapshot of objects, which must decode, as the API server or kubectl returned them.

    Its other fields are those of the cluster `head`.

    A redacted document has placeholders instead of names, and no namespaces of kinds that may not be read.
    """
    from kubectl_spread.cluster.redact import redact_objects
    from kubectl_spread.cluster.shapes import drop_idle_events, prune_object

    items: Iterable[Plain] = (found for plain in objects if (found := prune_object(plain)) is not None)
    items = drop_idle_events(items)
    plain: Plain = {"apiVersion": topology.API_VERSION, "kind": "Snapshot", "redacted": redact}
    plain |= {key: text for name, key in _HEAD.items() if (text := getattr(head, name))}
    plain["kinds"] = sorted(head.complete)
    if head.unread:
        plain["unread"] = [
            {"kind": item.kind, "resource": item.plural}
            | ({"namespace": item.namespace} if item.namespace and not redact else {})
            for item in head.unread
        ]
    return {**plain, "items": list(redact_objects(items) if redact else items)}


def render_snapshot(snapshot: Plain, path: str) -> bytes:
    """Return a Snapshot in the format of the file name: .yaml or .yml, else JSON; compressed for .gz."""
    name = path.removesuffix(".gz")
    if name.endswith((".yaml", ".yml")):
        from kubectl_spread.text.scalars import emit

        content = emit(snapshot).encode()
    else:
        # One object per line is easy to compare.
        head = json.dumps({key: item for key, item in snapshot.items() if key != "items"})
        items = ",\n".join(json.dumps(item, separators=(",", ":")) for item in snapshot["items"])
        content = f'{head[:-1]}, "items": [\n{items}\n]}}\n'.encode()
    if not path.endswith(".gz"):
        return content
    import gzip

    return gzip.compress(content, mtime=0)  # The output is deterministic.
