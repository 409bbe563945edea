"""Files of a repository that `init` looks at, and the Kubernetes objects in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.kustomization import FILE_NAMES, Kustomization
from kubectl_spread.objects.workloads.manifest import looks_like_objects, Manifest, manifests
from kubectl_spread.sources import files
from kubectl_spread.sources.kustomizing.kustomizations import kustomizations
from kubectl_spread.text.compose import compose, Document
from kubectl_spread.text.source import SourceFile

VENDORED = ("node_modules", "third_party", "vendor")
_SKIPPED = ("__pycache__", "build", "dist", "venv")
_CHART = "Chart.yaml"
_MOST_FILES, _LARGEST_FILE = 20_000, 8 << 20  # bytes


class Repository(NamedTuple):
    """Content of a repository; all paths are relative to `root`, with slashes.

    Attributes:
        root: the absolute path.
        sources: every text that was read.
        objects: the Kubernetes objects in them, without those in templates of charts.
        charts: directories with a `Chart.yaml` that are in no other chart.
        kustomizations: by their absolute directory.
        vendored: directories with other projects' manifests, which were not read.
        is_complete: false if the repository has too many files to read all of them.
    """

    root: str
    sources: tuple[SourceFile, ...]
    objects: tuple[Manifest, ...]
    charts: tuple[str, ...]
    kustomizations: dict[str, Kustomization]
    vendored: tuple[str, ...]
    is_complete: bool = True

    @property
    def workloads(self) -> list[Manifest]:
        return [item for item in self.objects if item.workload_kind is not None]


def file_of(item: Manifest) -> str:
    """Return the file of an object, relative to the repository."""
    return item.document.source.name


def scan(root: str) -> Repository:
    """Read a repository. Files that cannot be read or parsed are skipped, because `check` reports them.

    Raises:
        SourceError: the directory cannot be read.
    """
    try:
        os.scandir(root).close()
    except OSError as error:
        raise SourceError(root, (error.strerror or str(error)).lower()) from None
    vendored: list[str] = []
    paths: list[str] = []
    for path in _paths(root, vendored):
        paths.append(path)
        if len(paths) > _MOST_FILES:
            break
    sources = tuple(_texts(root, paths[:_MOST_FILES]))
    charts = _outermost(os.path.dirname(item.name) for item in sources if os.path.basename(item.name) == _CHART)
    objects = tuple(item for source in sources if not _is_template(source.name, charts) for item in _objects(source))
    absolute = [SourceFile(os.path.join(root, *source.name.split("/")), source.text) for source in sources]
    known = kustomizations(item for item in absolute if os.path.basename(item.name) in FILE_NAMES)
    return Repository(root, sources, objects, charts, known, tuple(vendored), len(paths) <= _MOST_FILES)


def _paths(root: str, vendored: list[str]) -> Iterator[str]:
    """Yield the files to read; directories of other projects are added to `vendored`."""
    for directory, folders, names in os.walk(root):
        inside = os.path.relpath(directory, root).replace(os.sep, "/")
        prefix = "" if inside == "." else f"{inside}/"
        vendored += [f"{prefix}{name}" for name in sorted(folders) if name in VENDORED and _has_yaml(directory, name)]
        folders[:] = sorted(name for name in folders if _is_read(name))
        for name in sorted(names):
            is_manifest = name.endswith(files.EXTENSIONS) and name not in files.CONFIGS
            if is_manifest or name in FILE_NAMES:
                yield f"{prefix}{name}"


def _is_read(folder: str) -> bool:
    return not folder.startswith(".") and folder not in VENDORED and folder not in _SKIPPED


def _has_yaml(directory: str, name: str) -> bool:
    found = os.walk(os.path.join(directory, name))
    return any(file.endswith((".yaml", ".yml")) for _, _, names in found for file in names)


def _texts(root: str, paths: list[str]) -> Iterator[SourceFile]:
    for path in paths:
        full = os.path.join(root, *path.split("/"))
        try:
            if not os.path.isfile(full) or os.path.getsize(full) > _LARGEST_FILE:
                continue
            yield SourceFile(path, files.read_text(full).text)
        except (OSError, SourceError):
            continue


def _objects(source: SourceFile) -> Iterator[Manifest]:
    if not source.name.endswith(files.EXTENSIONS) or not looks_like_objects(source.text):
        return
    for document in compose(source):
        if isinstance(document, Document):
            yield from manifests(document)


def _is_template(name: str, charts: tuple[str, ...]) -> bool:
    return any(_is_below(name, chart) and "templates" in name.split("/")[:-1] for chart in charts)


def _outermost(directories: Iterator[str]) -> tuple[str, ...]:
    found: list[str] = []
    for directory in sorted(directories):
        if not any(_is_below(directory, other) for other in found):
            found.append(directory)
    return tuple(found)


def _is_below(path: str, directory: str) -> bool:
    return directory in ("", path) or path.startswith(f"{directory}/")
