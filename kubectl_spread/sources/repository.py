"""Survey of a repository for `init`: its Kubernetes objects, and the settings that fit them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple, Optional

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.kustomization import FILE_NAMES, Kustomization
from kubectl_spread.lint.workload import FIELD
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.releases.version import minor_of, VersionError
from kubectl_spread.objects.workloads.manifest import looks_like_objects, Manifest, manifests
from kubectl_spread.sources import files
from kubectl_spread.sources.kustomize import kustomizations
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
        vendored: directories with other projects' manifests that have no constraints, which were not read.
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
    for path in _files(root, vendored):
        paths.append(path)
        if len(paths) > _MOST_FILES:
            break
    sources = tuple(_texts(root, paths[:_MOST_FILES]))
    charts = _outermost(os.path.dirname(item.name) for item in sources if os.path.basename(item.name) == _CHART)
    plain = (
        source
        for source in sources
        if "templates" not in source.name.split("/")[:-1] or not any(_is_below(source.name, chart) for chart in charts)
    )
    objects = tuple(item for source in plain for item in _objects(source))
    absolute = [SourceFile(os.path.join(root, *source.name.split("/")), source.text) for source in sources]
    known = kustomizations(item for item in absolute if os.path.basename(item.name) in FILE_NAMES)
    return Repository(root, sources, objects, charts, known, tuple(vendored), len(paths) <= _MOST_FILES)


def _files(root: str, vendored: list[str]) -> Iterator[str]:
    """Yield the files to read; directories of other projects without constraints are added to `vendored`."""
    for directory, folders, names in os.walk(root):
        inside = os.path.relpath(directory, root).replace(os.sep, "/")
        prefix = "" if inside == "." else f"{inside}/"
        foreign = {name: _manifests_of(os.path.join(directory, name)) for name in folders if name in VENDORED}
        unread = {*_SKIPPED, *(name for name, kind in foreign.items() if kind is not _Foreign.CONSTRAINTS)}
        vendored += [f"{prefix}{name}" for name, kind in sorted(foreign.items()) if kind is _Foreign.MANIFESTS]
        folders[:] = sorted(name for name in folders if name not in unread and name not in files.OF_TOOLS)
        for name in sorted(names):
            is_manifest = name.endswith(files.EXTENSIONS) and name not in files.CONFIGS
            if is_manifest or name in FILE_NAMES:
                yield f"{prefix}{name}"


class _Foreign(Enum):
    """The content of a directory of other projects."""

    NOTHING = "nothing"
    MANIFESTS = "manifests"
    CONSTRAINTS = "constraints"


def _manifests_of(directory: str) -> _Foreign:
    found = _Foreign.NOTHING
    for here, _, names in os.walk(directory):
        for name in names:
            if name.endswith((".yaml", ".yml")):
                found = _Foreign.MANIFESTS
                if any(FIELD in source.text for source in _texts(here, [name])):
                    return _Foreign.CONSTRAINTS
    return found


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


def _outermost(directories: Iterator[str]) -> tuple[str, ...]:
    found: list[str] = []
    for directory in sorted(directories):
        if not any(_is_below(directory, other) for other in found):
            found.append(directory)
    return tuple(found)


def _is_below(path: str, directory: str) -> bool:
    return directory in ("", path) or path.startswith(f"{directory}/")


_LABELS = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


class VersionHint(NamedTuple):
    """A Kubernetes version that a Node object names."""

    file: str
    version: str  # such as 1.33


class ZoneHint(NamedTuple):
    """Values of a node label that a file lists."""

    file: str
    key: str
    values: tuple[str, ...]


class Proposal(NamedTuple):
    """Settings that fit a repository, each with its origin.

    Attributes:
        vendored: directories with other projects' manifests, without constraints.
        roots: globs of directories that hold copies of the same objects, one for each cluster.
        versions: the versions that Node objects name.
        zones: the values of topology labels that files list.
        compares_files: whether several files belong together, so that the whole project should be checked at once.
    """

    vendored: tuple[str, ...]
    roots: tuple[str, ...]
    versions: tuple[VersionHint, ...]
    zones: tuple[ZoneHint, ...]
    compares_files: bool

    @property
    def version(self) -> str:
        """Return the lowest version; empty if there is none."""
        return min((hint.version for hint in self.versions), key=minor_of, default="")

    @property
    def domains(self) -> dict[str, tuple[str, ...]]:
        """Return the values of each label. Labels for which files list different values are left out."""
        by_key: dict[str, set[tuple[str, ...]]] = {}
        for hint in self.zones:
            by_key.setdefault(hint.key, set()).add(hint.values)
        return {key: next(iter(values)) for key, values in sorted(by_key.items()) if len(values) == 1}


def propose(repository: Repository) -> Proposal:
    """Return the settings for a repository."""
    roots = _roots(repository)
    kinds = {item.kind for item in repository.objects}
    return Proposal(
        vendored=repository.vendored,
        roots=roots,
        versions=tuple(_versions(repository)),
        zones=tuple(_zones(repository)),
        compares_files=bool(roots or repository.kustomizations or kinds & {"HorizontalPodAutoscaler", "ScaledObject"}),
    )


def _versions(repository: Repository) -> Iterator[VersionHint]:
    """Yield the versions of the kubelets of Node objects, once for each file and version."""
    known = set()
    for item in _nodes(repository):
        text = str(fields(fields(item.plain.get("status")).get("nodeInfo")).get("kubeletVersion") or "")
        version = re.match(r"v?(1\.\d+)", text)
        if version is not None and _is_known(version[1]) and (file_of(item), version[1]) not in known:
            known.add((file_of(item), version[1]))
            yield VersionHint(file_of(item), version[1])


def _is_known(version: str) -> bool:
    try:
        minor_of(version)
    except VersionError:
        return False
    return True


def _zones(repository: Repository) -> list[ZoneHint]:
    """Return the values of the nodes' labels for zones and regions, by file."""
    values: dict[tuple[str, str], set[str]] = {}
    for item in _nodes(repository):
        labels = fields(fields(item.plain.get("metadata")).get("labels"))
        for key in _LABELS:
            if isinstance(labels.get(key), str) and labels[key]:
                values.setdefault((file_of(item), key), set()).add(labels[key])
    return [ZoneHint(file, key, tuple(sorted(each))) for (file, key), each in sorted(values.items())]


def _nodes(repository: Repository) -> list[Manifest]:
    """Return the nodes, except those of examples and tests."""
    nodes = (item for item in repository.objects if item.kind == "Node" and item.api_version == "v1")
    return [item for item in nodes if re.search(_EXAMPLES, file_of(item)) is None]


_EXAMPLES = r"(?i)(?:^|[/_.-])(?:examples?|samples?|tests?|testdata|fixtures?|openapi|swagger|docs?)(?:[/_.-]|$)"


def _roots(repository: Repository) -> tuple[str, ...]:
    """Return the globs of sibling directories that hold copies of objects."""
    parents = {_siblings(directories) for directories in _copies(repository) if len(directories) > 1}
    found = {parent for parent in parents if parent is not None}
    inner = {parent for parent in found if any(other != parent and _is_below(parent, other) for other in found)}
    return tuple(f"{parent}/*" if parent else "./*" for parent in sorted(found - inner))


def _copies(repository: Repository) -> Iterable[set[str]]:
    """Return the directories of each named workload; a kustomization's files have their root already."""
    kustomized = {path for item in repository.kustomizations.values() for path in (*item.listed, *item.patches)}
    copies: dict[tuple[str, str, str], set[str]] = {}
    for item in repository.workloads:
        file = file_of(item)
        is_named = isinstance(fields(item.plain.get("metadata")).get("name"), str)
        if is_named and os.path.join(repository.root, *file.split("/")) not in kustomized:
            copies.setdefault((item.kind, item.namespace, item.name), set()).add(os.path.dirname(file))
    return copies.values()


def _siblings(directories: Iterable[str]) -> Optional[str]:
    """Return the directory whose children tell the others apart; None if one of the others is that directory."""
    parts = [directory.split("/") if directory else [] for directory in directories]
    shortest = min(map(len, parts))
    depth = next((at for at in range(shortest) if len({steps[at] for steps in parts}) > 1), shortest)
    return None if depth == shortest else "/".join(parts[0][:depth])
