"""Objects of manifests: what `check` and `explain` apply to the cluster facts, and what steps of `simulate` name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, Optional, Union

from kubectl_spread.cluster import build
from kubectl_spread.cluster.shapes import is_of_another_group, SHAPES
from kubectl_spread.cluster.snapshot import Cluster
from kubectl_spread.errors import joined, RefusedError, SourceError, SpreadError
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields, Plain
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.manifest import Manifest, objects_of
from kubectl_spread.sources import files, kustomize
from kubectl_spread.sources.files import Input
from kubectl_spread.sources.single_document import root_of
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import short

_KIND = re.compile(rf"""["']?kind["']?\s*:\s*["']?(?:{"|".join(build.APPLIED_KINDS)}|[A-Za-z]*List)\b""")


def looks_like_facts(text: str) -> bool:
    """Return whether a text may contain one of the objects."""
    return _KIND.search(text) is not None


def with_manifests(
    cluster: Cluster, sources: Iterable[SourceFile], namespace: str
) -> tuple[Cluster, list[SourceError]]:
    """Return the cluster after applying the manifests, except for their workloads, and read errors of the manifests.

    Args:
        cluster: before the manifests.
        sources: the manifests. Invalid YAML is skipped here, because the check reports it.
        namespace: of objects without one.
    """
    found: list[Plain] = []
    errors: list[SourceError] = []
    lost: list[ObjectKey] = []
    for source in sources:
        for manifest in objects_of(source, looks_like_facts):
            if manifest.kind in build.APPLIED_KINDS and not is_of_another_group(manifest.plain):
                wrong = _undecodable(manifest, " is left out")
                errors += wrong
                found += [] if wrong else [manifest.plain]
                lost += [ObjectKey(manifest.kind, manifest.namespace or namespace, manifest.name)] if wrong else []
    after = cluster._replace(undecodable=(*cluster.undecodable, *lost))
    return (build.add_objects(after, found, namespace) if found else after), errors


def _undecodable(manifest: Manifest, what: str) -> list[SourceError]:
    """Return the errors that prevent an object from being applied; `what` follows its name."""
    return [
        manifest.source.error(
            manifest.place(problem.route).span.start,
            f"{manifest.kind} {short(manifest.name)}{what}: {decode.problem_text(problem)}",
        )
        for problem in decode.type_problems(manifest.plain, SHAPES[manifest.kind])
    ]


def too_large(subjects: Iterable[Subject]) -> Iterator[SourceError]:
    """Yield an error for each workload with more pods than are simulated."""
    for subject in subjects:
        owner, place = subject.workload, subject.place(("spec", "replicas"))
        if not owner.is_simulated:
            what = f"{owner.kind} {short(owner.name)}: {decode.too_many(owner.replicas or 0)}"
            yield place.source.error(place.span.start, what)


_EXTENSIONS = "[.json .yaml .yml]"  # resource.FileExtensions
_CLUSTER_WIDE = frozenset((*build.CLUSTER_WIDE_KINDS, "Node", "CSINode", "CSIDriver"))
_AROUND = frozenset((*build.APPLIED_KINDS, "Node", "HorizontalPodAutoscaler"))


class StepObjects:
    """Reader of the objects that steps name. An error in one object is added to `errors`, and the others are used."""

    def __init__(
        self,
        directory: str = "",
        *,
        inside: Optional[str] = None,
        allow_remote: bool = False,
        minor: Optional[int] = None,
    ) -> None:
        """Set up the reader.

        Args:
            directory: base of relative paths.
            inside: directory that must contain the files, if a scenario names them.
            allow_remote: whether kustomize may download.
            minor: of the API server that validates the objects, if it is known.
        """
        self._minor = minor
        self.errors: list[SourceError] = []
        self._refusals: list[SourceError] = []
        self._directory = directory
        self._inside = inside
        self._allow_remote = allow_remote

    def _path(self, path: str) -> str:
        return path if path == files.STDIN else os.path.join(self._directory, path)

    def objects(
        self, paths: tuple[str, ...], directories: tuple[str, ...], *, recursive: bool, namespace: str
    ) -> list[Plain]:
        """Return the objects of manifests and kustomizations that the API server would accept.

        Raises:
            SourceError: there is no object, or a path does not exist; then kubectl applies nothing.
            RefusedError: the directories have no manifests, or the API server would refuse every object.
        """
        given = list(files.inputs(tuple(map(self._path, paths)), recursive=recursive, inside=self._inside))
        missing = {path for path in map(self._path, paths) if path != files.STDIN and not os.path.exists(path)}
        if missing:
            raise joined([item for item in given if isinstance(item, SourceError) and item.source in missing])
        if directories:
            given += kustomize.render_directories(
                tuple(map(self._path, directories)), inside=self._inside, allow_remote=self._allow_remote
            )
        if not given:
            named = " ".join(paths)
            raise RefusedError(f"error: error reading [{named}]: recognized file extensions are {_EXTENSIONS}")
        found = self.of_inputs(given, namespace)
        if not found and self.errors:
            raise self.lost()
        return found

    def lost(self) -> SpreadError:
        """Return the errors so far as one: a refusal if the API server would refuse each object that is missing."""
        if len(self._refusals) == len(self.errors):
            return RefusedError(f"error: {'; '.join(map(str, self.errors))}")
        return joined(self.errors)

    def of_inputs(self, given: Iterable[Union[Input, SourceError]], namespace: str) -> list[Plain]:
        """Return the objects of inputs, each with its namespace."""
        found: list[Plain] = []
        for item in given:
            if isinstance(item, SourceError):
                self.errors.append(item)
                continue
            objects = list(self._of_source(item.source, namespace))
            if not objects and not any(error.source == item.source.name for error in self.errors):
                self.errors.append(SourceError(item.source.name, "it contains no object that can be simulated"))
            found += objects
        return found

    def _of_source(self, source: SourceFile, namespace: str) -> Iterator[Plain]:
        """Yield the objects of a source that the API server would accept; record the errors of the others."""
        lost = set()
        result = check_source(source, named=True, codes=(), namespace=namespace, minor=self._minor)
        for finding, error in result.errors():
            self.errors.append(error)
            self._refusals += [] if finding.is_unreadable else [error]
            lost.add((finding.object.kind, finding.object.namespace or namespace, finding.object.name))
        self.errors += too_large(result.workloads)
        good = {_key(checked.manifest, namespace) for checked in result.workloads if checked.workload.is_simulated}
        for manifest in objects_of(source):
            key = _key(manifest, namespace)
            is_refused = key not in good and (key in lost or manifest.workload_kind is not None)
            if is_refused or not self._is_usable(manifest):
                continue
            metadata = fields(manifest.plain, "metadata")
            placed = {**metadata, "namespace": metadata.get("namespace") or namespace}
            yield manifest.plain if manifest.kind in _CLUSTER_WIDE else {**manifest.plain, "metadata": placed}

    def _is_usable(self, manifest: Manifest) -> bool:
        """Return whether an object takes part; record an error if it does not decode."""
        if manifest.kind in KINDS and not (manifest.kind == "Service" and not is_of_another_group(manifest.plain)):
            return manifest.workload_kind is not None
        if manifest.kind not in _AROUND:
            return False
        problems = _undecodable(manifest, "")
        self.errors += problems
        return not problems

    def value(self, text: str, name: str) -> Any:
        """Return the value of a JSON or YAML text.

        Raises:
            SourceError: it is neither.
        """
        root = root_of(SourceFile(name, text), "a patch")
        if root is None:
            raise SourceError(name, "a patch must be one YAML document, this has 0")
        return nodes.to_plain(root)

    def value_of_file(self, path: str) -> Any:
        """Return the value of a JSON or YAML file.

        Raises:
            SourceError: it cannot be read, or is neither.
        """
        source = files.read_text(self._path(path), inside=self._inside)
        return self.value(source.text, source.name)


def _key(manifest: Manifest, namespace: str) -> tuple[str, str, str]:
    return (manifest.kind, manifest.namespace or namespace, manifest.name)
