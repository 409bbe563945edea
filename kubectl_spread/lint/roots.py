"""Roots: objects that are applied together, and only then count for one another.

A root is one of these: the resources of a kustomization, a directory of the configuration's `roots`, a directory or
the files from the command line, or one rendered text. A root with copies of an object is split into one root for each
copy (see `variants`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple, Optional, TYPE_CHECKING, Union

from kubectl_spread.lint.group import Area
from kubectl_spread.lint.kustomization import (
    ANYTHING,
    FILE_NAMES,
    Kustomization,
    Scaling,
    with_components,
)
from kubectl_spread.lint.workload import Subject
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.glob import Globs
from kubectl_spread.text.source import SourceFile

if TYPE_CHECKING:  # needed by few runs
    from kubectl_spread.lint.outside import Chart

Chain = tuple[Kustomization, ...]  # from the kustomization that lists a file to the outermost overlay


class RootKind(Enum):
    """The origin of a root."""

    KUSTOMIZATION = "kustomization"
    CONFIGURED = "config"
    DIRECTORY = "directory"
    FILES = "files"
    TEXT = "text"


class RootRules(NamedTuple):
    """The rules by which objects are grouped into roots.

    `directories` are the absolute paths of those named on the command line. `texts` are the names of sources that are
    roots of their own. `kustomizations` are by the absolute path of their directory, and `charts` by each directory
    that has values for them.
    """

    directories: tuple[str, ...] = ()
    configured: tuple[Globs, ...] = ()
    texts: frozenset[str] = frozenset()
    kustomizations: Mapping[str, Kustomization] = MappingProxyType({})
    charts: Mapping[str, Chart] = MappingProxyType({})


ONE_ROOT = RootRules()


class Held(NamedTuple):
    """An object, its namespace, and its workloads: none in a Service, several in an object with several templates."""

    manifest: Manifest
    namespace: str
    subjects: tuple[Subject, ...] = ()

    @property
    def key(self) -> Optional[tuple[str, str, str, str]]:
        """Return the identity that copies share; None for a generated name and for a patch."""
        name = fields(self.manifest.plain.get("metadata")).get("name")
        if not isinstance(name, str) or not name or any(subject.is_partial for subject in self.subjects):
            return None
        group = self.manifest.api_version.rpartition("/")[0]
        is_foreign = "." in group and not group.endswith(".k8s.io")
        return self.manifest.kind, group if is_foreign else "", self.namespace, name


class Root(NamedTuple):
    """Objects that are applied together.

    `sources` are those of all copies. `chains` are the kustomizations of files, by the files' absolute paths. `rivals`
    are the files and directories that hold copies of what others hold, by the names of their sources.
    """

    kind: RootKind
    path: str
    sources: tuple[SourceFile, ...]
    held: tuple[Held, ...]
    chains: Mapping[str, tuple[Chain, ...]]
    rivals: Mapping[str, str] = MappingProxyType({})

    def display_name(self, source: SourceFile) -> str:
        """Return the root of a file as `--show-files` prints it."""
        if self.kind is RootKind.KUSTOMIZATION:
            return f"{self.path} (kustomization)"
        return os.path.normpath(self.rivals.get(source.name, self.path))

    def area(self, manifest: Manifest) -> Optional[Area]:
        """Return the area in which a search found an object; None if every object in this root counts for it."""
        if self.kind is not RootKind.DIRECTORY:
            return None
        return Area(os.path.dirname(os.path.abspath(manifest.document.source.name)), bool(manifest.namespace))

    def replicas(self, manifest: Manifest) -> Optional[list[Optional[Scaling]]]:
        """Return what sets the replicas in each kustomization of this root; None if the object's file is in none."""
        if not self.chains:
            return None
        chains = self.chains.get(os.path.abspath(manifest.document.source.name))
        return None if chains is None else [_set_by(chain, manifest) for chain in chains]

    def labels(self, manifest: Manifest) -> Mapping[str, Optional[str]]:
        """Return the labels that kustomizations of this root add to an object's pods; see `Kustomization.labels`."""
        chains = self.chains.get(os.path.abspath(manifest.document.source.name), ()) if self.chains else ()
        return {key: value for chain in chains for item in chain for key, value in item.labels.items()}


def _set_by(chain: Chain, manifest: Manifest) -> Optional[Scaling]:
    names = [manifest.name]
    found = None
    for item in chain:
        names.append(f"{item.prefix}{names[-1]}{item.suffix}")
        for scaling in item.scalings:
            if scaling.target.covers(manifest.kind, names):
                found = scaling
    # Listed files are a base for overlays that may be in another repository.
    return ANYTHING if found is None and len(chain) == 1 else found


def roots(sources: Sequence[SourceFile], held: Iterable[Held], rules: RootRules) -> list[Root]:
    """Return the roots in the order of their first sources; a file of several kustomizations is in several."""
    by_source: dict[int, list[Held]] = {}
    for item in held:
        by_source.setdefault(id(item.manifest.document.source), []).append(item)
    found = []
    for root in _before_copies(sources, rules):
        inside = [item for source in root.sources for item in by_source.get(id(source), ())]
        found += _split(root, inside)
    return found


def _before_copies(sources: Sequence[SourceFile], rules: RootRules) -> list[Root]:
    grouped: dict[tuple[RootKind, str], dict[int, SourceFile]] = {}
    chains: dict[tuple[RootKind, str], dict[str, tuple[Chain, ...]]] = {}
    known = {path: with_components(item, rules.kustomizations) for path, item in rules.kustomizations.items()}
    listed, patches = _listed(known)
    for source in sources:
        path = os.path.abspath(source.name)
        for chain in listed.get(path, ()):
            key = _configured(chain[-1].directory, rules) or (RootKind.KUSTOMIZATION, chain[-1].directory)
            grouped.setdefault(key, {})[id(source)] = source
            by_path = chains.setdefault(key, {})
            by_path[path] = (*by_path.get(path, ()), chain)
        if path not in listed:
            key = (RootKind.TEXT, path) if path in patches else _plain(source.name, path, rules)
            grouped.setdefault(key, {})[id(source)] = source
    return [
        Root(
            kind,
            path if kind is RootKind.TEXT and not os.path.isabs(path) else os.path.relpath(path or "."),
            tuple(held.values()),
            (),
            chains.get((kind, path), {}),
        )
        for (kind, path), held in grouped.items()
    ]


def _plain(name: str, path: str, rules: RootRules) -> tuple[RootKind, str]:
    """Return the root of a file that no kustomization lists."""
    if name in rules.texts:
        return RootKind.TEXT, name
    configured = _configured(path, rules)
    if configured is not None:
        return configured
    named = [directory for directory in rules.directories if _is_below(path, directory)]
    return (RootKind.DIRECTORY, max(named, key=len)) if named else (RootKind.FILES, "")


def _configured(path: str, rules: RootRules) -> Optional[tuple[RootKind, str]]:
    """Return the innermost of the config's roots that a path is in."""
    tops = [top for globs in rules.configured if (top := _top(path, globs)) is not None]
    return (RootKind.CONFIGURED, max(tops, key=len)) if tops else None


def _top(path: str, globs: Globs) -> Optional[str]:
    """Return the outermost directory above a path that a glob matches."""
    if not {".", "./"}.isdisjoint(globs.patterns) and _is_below(path, globs.root):
        return globs.root
    found = None
    while globs.match(path) and _is_below(path, globs.root):
        found, path = path, os.path.dirname(path)
    return found


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(os.path.join(directory, ""))


def _listed(known: Mapping[str, Kustomization]) -> tuple[dict[str, list[Chain]], set[str]]:
    """Return the chains of kustomizations to each file, and the files that are patches."""
    used = {path for item in known.values() for path in item.listed if path in known and path != item.directory}
    listed: dict[str, list[Chain]] = {}
    for directory, item in known.items():
        if directory not in used:
            for path, chain in _reached((item,), known):
                listed.setdefault(path, []).append(chain)
    return listed, {path for item in known.values() for path in item.patches} - listed.keys()


def _reached(chain: Chain, known: Mapping[str, Kustomization]) -> Iterator[tuple[str, Chain]]:
    """Yield the files that the first of a chain of kustomizations lists, itself or through others."""
    for name in FILE_NAMES:
        yield os.path.join(chain[0].directory, name), chain
    for path in chain[0].listed:
        inner = known.get(path)
        if inner is None:
            yield path, chain
        elif all(inner is not item for item in chain):
            yield from _reached((inner, *chain), known)


def reached_files(item: Kustomization, known: Mapping[str, Kustomization]) -> Iterator[str]:
    """Yield the files that a kustomization lists, itself or through others."""
    return (path for path, _ in _reached((item,), known))


def _split(root: Root, inside: list[Held]) -> list[Root]:
    """Yield one root for each variant of its content."""
    found = variants(
        [
            CopyPath(tuple(item.manifest.document.source.name.replace(os.sep, "/").split("/")), item.key)
            for item in inside
        ]
    )
    rivals = {inside[number].manifest.document.source.name: "/".join(steps) for number, steps in found.rivals.items()}
    return [root._replace(held=tuple(inside[number] for number in numbers), rivals=rivals) for numbers in found.sets]


_WORD = r"[A-Za-z0-9]+"


class CopyPath(NamedTuple):
    """An object that may have copies: the steps of its path, and its identity; None if it has none."""

    steps: tuple[str, ...]
    key: Optional[Hashable]


class _Variant(NamedTuple):
    """A set of compatible objects, by number, and the words in the paths of objects that have rivals."""

    members: tuple[int, ...]
    words: frozenset[str] = frozenset()


class _Unit(NamedTuple):
    """A file or directory: its name, the keys of its objects, and its variants."""

    name: str
    keys: frozenset[Hashable]
    variants: tuple[_Variant, ...]


class Variants(NamedTuple):
    """Sets of objects, by number, without two of one key; each object is in at least one.

    `rivals` are the paths of the outermost files and directories that have rivals, by the objects in them.
    """

    sets: list[list[int]]
    rivals: dict[int, tuple[str, ...]]


def variants(placed: Sequence[CopyPath]) -> Variants:
    """Return the largest sets of objects that fit together."""
    keys = [item.key for item in placed if item.key is not None]
    if len(set(keys)) == len(keys):
        return Variants([list(range(len(placed)))], {})
    rivals: dict[int, tuple[str, ...]] = {}
    unit = _unit("", range(len(placed)), placed, depth=0, found=rivals)
    return Variants([sorted(variant.members) for variant in unit.variants], rivals)


def _unit(
    name: str, numbers: Iterable[int], placed: Sequence[CopyPath], *, depth: int, found: dict[int, tuple[str, ...]]
) -> _Unit:
    """Return the file or directory at a depth of a path; record the objects with rivals in `found`."""
    numbers = list(numbers)
    keys = [key for number in numbers if (key := placed[number].key) is not None]
    if len(set(keys)) == len(keys):
        return _Unit(name, frozenset(keys), (_Variant(tuple(numbers)),))
    inner: dict[Union[str, int], list[int]] = {}
    for number in numbers:
        steps = placed[number].steps
        inner.setdefault(steps[depth] if depth < len(steps) else number, []).append(number)
    units = [
        _unit(step, members, placed, depth=depth + 1, found=found) if isinstance(step, str) else _single(placed, step)
        for step, members in inner.items()
    ]
    rivals = _rivals(units)
    for members, others in zip(inner.values(), rivals, strict=True):
        if others:
            found.update((number, placed[number].steps[: depth + 1]) for number in members)
    return _Unit(name, frozenset(keys), tuple(_joined(units, rivals)))


def _single(placed: Sequence[CopyPath], number: int) -> _Unit:
    key = placed[number].key
    return _Unit("", frozenset(() if key is None else (key,)), (_Variant((number,)),))


def _joined(units: list[_Unit], rivals: list[set[int]]) -> list[_Variant]:
    """Return the variants of a directory, from the variants of its entries."""
    found: list[_Variant] = []
    covered: set[tuple[int, int]] = set()
    for at, unit in enumerate(units):
        is_free = not rivals[at] and len(unit.variants) == 1
        for which in range(0 if is_free else len(unit.variants)):
            if (at, which) not in covered:
                chosen = _chosen(units, rivals, at=at, which=which)
                covered.update(chosen.items())
                found.append(_union(units, rivals, chosen))
    return found or [_union(units, rivals, dict.fromkeys(range(len(units)), 0))]


def _rivals(units: list[_Unit]) -> list[set[int]]:
    """Return, for each unit, the numbers of the units that share a key with it."""
    owners: dict[Hashable, list[int]] = {}
    for at, unit in enumerate(units):
        for key in unit.keys:
            owners.setdefault(key, []).append(at)
    shared = {frozenset(group) for group in map(tuple, owners.values()) if len(group) > 1}
    rivals: list[set[int]] = [set() for _ in units]
    for group in shared:
        for at in group:
            rivals[at] |= group
    for at, found in enumerate(rivals):
        found.discard(at)
    return rivals


def _chosen(units: list[_Unit], rivals: list[set[int]], *, at: int, which: int) -> dict[int, int]:
    """Return the variant of each other unit that fits a variant of one unit best."""
    words = units[at].variants[which].words | (_words(units[at].name) if rivals[at] else frozenset())
    chosen = {at: which}
    blocked = {at, *rivals[at]}
    open_ones = [other for other in range(len(units)) if other not in blocked]
    for other in sorted(open_ones, key=lambda item: -len(_words(units[item].name) & words) if rivals[item] else 1):
        if other in blocked:
            continue
        choices = units[other].variants
        chosen[other] = max(range(len(choices)), key=lambda item: len(choices[item].words & words))
        blocked |= rivals[other]
    return chosen


def _union(units: list[_Unit], rivals: list[set[int]], chosen: dict[int, int]) -> _Variant:
    members: list[int] = []
    words: set[str] = set()
    for at, which in sorted(chosen.items()):
        members += units[at].variants[which].members
        words |= units[at].variants[which].words
        words |= _words(units[at].name) if rivals[at] else frozenset()
    return _Variant(tuple(members), frozenset(words))


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(_WORD, name.lower()))
