"""Manifests and patches that steps of `simulate` refer to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional, Union

from kubectl_spread.cluster.building import apply_manifests
from kubectl_spread.cluster.building.shapes import is_of_another_group, SHAPES
from kubectl_spread.errors import RefusedError, SourceError
from kubectl_spread.lint.check_source import check_source
from kubectl_spread.lint.finding import Severity
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.workloads.kinds import KINDS
from kubectl_spread.objects.workloads.manifest import Manifest, manifests
from kubectl_spread.sources import files
from kubectl_spread.sources.files import Input
from kubectl_spread.sources.kustomizing import kustomize
from kubectl_spread.sources.single_document import root_of
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import short

Plain = dict[str, Any]

_EXTENSIONS = "[.json .yaml .yml]"  # resource.FileExtensions
_CLUSTER_WIDE = frozenset(
    ("Node", "Namespace", "PersistentVolume", "StorageClass", "PriorityClass", "RuntimeClass", "CSINode", "CSIDriver")
)
_AROUND = frozenset((*apply_manifests.KINDS, "Node", "HorizontalPodAutoscaler"))


class StepObjects:
    """Reader of the objects that steps name. An error in one object is added to `errors`, and the others are used."""

    def __init__(self, directory: str = "", *, inside: Optional[str] = None, allow_remote: bool = False) -> None:
        """Set up the reader.

        Args:
            directory: base of relative paths.
            inside: directory that must contain the files, if a scenario names them.
            allow_remote: whether kustomize may download.
        """
        self.errors: list[SourceError] = []
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
            RefusedError: the directories have no manifests.
        """
        given = list(files.inputs(tuple(map(self._path, paths)), recursive=recursive, inside=self._inside))
        missing = {path for path in map(self._path, paths) if path != files.STDIN and not os.path.exists(path)}
        if missing:
            raise _joined([item for item in given if isinstance(item, SourceError) and item.source in missing])
        if directories:
            given += kustomize.render_directories(
                tuple(map(self._path, directories)), inside=self._inside, allow_remote=self._allow_remote
            )
        if not given:
            named = " ".join(paths)
            raise RefusedError(f"error: error reading [{named}]: recognized file extensions are {_EXTENSIONS}")
        found = self.of_inputs(given, namespace)
        if not found and self.errors:
            raise _joined(self.errors)
        return found

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
        refused = self._refused(source, namespace)
        for document in compose.compose(source):
            if isinstance(document, compose.SyntaxProblem):
                continue  # It is reported as a finding.
            for manifest in manifests(document):
                key = (manifest.kind, manifest.namespace or namespace, manifest.name)
                if key not in refused and self._is_usable(manifest):
                    yield _placed(manifest.plain, namespace)

    def _refused(self, source: SourceFile, namespace: str) -> set[tuple[str, str, str]]:
        """Record the workloads that the API server would refuse, and return their keys."""
        result = check_source(source, named=True, codes=(), namespace=namespace)
        for finding in result.findings:
            if finding.rule.severity is Severity.ERROR:
                line, column = source.position(finding.place.span.start)
                message = f"{finding.rule.code} {finding.message}"
                self.errors.append(SourceError(source.name, message, line=line, column=column))
        good = {_key(checked.manifest, namespace) for checked in result.workloads}
        every = {
            _key(manifest, namespace)
            for document in compose.compose(source)
            if isinstance(document, compose.Document)
            for manifest in manifests(document)
            if manifest.workload_kind is not None
        }
        return every - good

    def _is_usable(self, manifest: Manifest) -> bool:
        """Return whether an object takes part; record an error if it does not decode."""
        if manifest.kind in KINDS and not (manifest.kind == "Service" and not is_of_another_group(manifest.plain)):
            return manifest.workload_kind is not None
        if manifest.kind not in _AROUND:
            return False
        problems = [
            item
            for item in decode.problems(manifest.plain, SHAPES[manifest.kind])
            if item.kind is decode.ProblemKind.TYPE
        ]
        source = manifest.document.source
        for problem in problems:
            line, column = source.position(manifest.place(problem.route).span.start)
            what = f"{manifest.kind} {short(manifest.name)}: {decode.problem_text(problem)}"
            self.errors.append(SourceError(source.name, what, line=line, column=column))
        return not problems

    def value(self, text: str, name: str) -> Any:
        """Return the value of a JSON or YAML text.

        Raises:
            SourceError: it is neither.
        """
        return _value(SourceFile(name, text))

    def value_of_file(self, path: str) -> Any:
        """Return the value of a JSON or YAML file.

        Raises:
            SourceError: it cannot be read, or is neither.
        """
        path = self._path(path)
        return _value(files.read_text(path) if self._inside is None else files.read_setting(path, self._inside))


def _joined(errors: Sequence[SourceError]) -> SourceError:
    """Return the first of several errors, with the others."""
    first, *others = errors
    first.others = tuple(others)
    return first


def _value(source: SourceFile) -> Any:
    root = root_of(source, "a patch")
    if root is None:
        raise SourceError(source.name, "a patch must be one YAML document, this has 0")
    return nodes.to_plain(root)


def _key(manifest: Manifest, namespace: str) -> tuple[str, str, str]:
    return (manifest.kind, manifest.namespace or namespace, manifest.name)


def _placed(plain: Plain, namespace: str) -> Plain:
    """Return an object with its namespace."""
    if plain.get("kind") in _CLUSTER_WIDE:
        return plain
    metadata = plain.get("metadata") or {}
    return {**plain, "metadata": {**metadata, "namespace": metadata.get("namespace") or namespace}}
