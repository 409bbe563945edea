"""Roots: objects that are applied together, and only then count for one another.

A root is one of these: the resources of a kustomization, a directory of the configuration's `roots`, a directory or
the files from the command line, or one rendered text. A root with copies of an object is split into one root for each
copy (see `variants`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple, Optional, TYPE_CHECKING

from kubectl_spread.containers import grouped
from kubectl_spread.lint.kustomization import (
    ANYTHING,
    FILE_NAMES,
    Kustomization,
    Scaling,
    with_components,
)
from kubectl_spread.lint.workload import Area, Subject
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.glob import Globs, is_below
from kubectl_spread.text.source import SourceFile

if TYPE_CHECKING:  # needed by few runs
    from kubectl_spread.lint.check_source import Result
    from kubectl_spread.lint.outside import Chart

_Key = tuple[str, str, str, str]
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
    def key(self) -> Optional[_Key]:
        """Return the identity that copies share; None for a generated name and for a patch."""
        name = fields(self.manifest.plain, "metadata").get("name")
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
        return Area(os.path.dirname(manifest.source.path), bool(manifest.namespace))

    def chains_of(self, manifest: Manifest) -> tuple[Chain, ...]:
        """Return the kustomizations of this root that list an object's file, themselves or through others."""
        return self.chains.get(manifest.source.path, ()) if self.chains else ()

    def replicas(self, manifest: Manifest) -> list[Optional[Scaling]]:
        """Return what sets the replicas in each kustomization of this root that has the object."""
        return [_set_by(chain, manifest) for chain in self.chains_of(manifest)]

    def labels(self, manifest: Manifest) -> Mapping[str, Optional[str]]:
        """Return the labels that kustomizations of this root add to an object's pods; see `Kustomization.labels`."""
        return {
            key: value for chain in self.chains_of(manifest) for item in chain for key, value in item.labels.items()
        }


def _set_by(chain: Chain, manifest: Manifest) -> Optional[Scaling]:
    """Return what sets the replicas of an object, in a chain of kustomizations."""
    names = names_in(chain, manifest.name)
    found = None
    for number, item in enumerate(chain):
        for scaling in item.scalings:
            if scaling.target.covers(manifest.kind, names[: number + 2]):
                found = scaling
    # Listed files are a base for overlays that may be in another repository.
    return ANYTHING if found is None and len(chain) == 1 else found


def names_in(chain: Chain, name: str) -> list[str]:
    """Return the names that an object has on its way through a chain of kustomizations, its own first."""
    names = [name]
    for item in chain:
        names.append(f"{item.prefix}{names[-1]}{item.suffix}")
    return names


def _held(result: Result, namespace: str) -> Iterator[Held]:
    by_manifest = grouped((id(subject.manifest), subject) for subject in result.subjects)
    for subjects in by_manifest.values():
        yield Held(subjects[0].manifest, subjects[0].workload.namespace, tuple(subjects))
    for manifest in result.others:
        yield Held(manifest, manifest.namespace or namespace)


def roots_of(results: Sequence[Result], rules: RootRules, namespace: str) -> list[Root]:
    """Return the roots in the order of their first sources; a file of several kustomizations is in several."""
    by_source = {id(result.source): list(_held(result, namespace)) for result in results}
    sources: dict[tuple[RootKind, str], dict[int, SourceFile]] = {}
    chains: dict[tuple[RootKind, str], dict[str, tuple[Chain, ...]]] = {}
    known = {path: with_components(item, rules.kustomizations) for path, item in rules.kustomizations.items()}
    used = {path for item in known.values() for path in item.listed if path in known and path != item.directory}
    outermost = (item for directory, item in known.items() if directory not in used)
    listed = grouped(found for item in outermost for found in reached((item,), known))  # chains to each file
    patches = {path for item in known.values() for path in item.patches} - listed.keys()
    for source in (result.source for result in results):
        path = source.path
        for chain in listed.get(path, ()):
            key = _configured(chain[-1].directory, rules) or (RootKind.KUSTOMIZATION, chain[-1].directory)
            sources.setdefault(key, {})[id(source)] = source
            by_path = chains.setdefault(key, {})
            by_path[path] = (*by_path.get(path, ()), chain)
        if path not in listed:
            key = (RootKind.TEXT, path) if path in patches else _plain(source.name, path, rules)
            sources.setdefault(key, {})[id(source)] = source
    roots = []
    for (kind, path), inside in sources.items():
        shown = path if kind is RootKind.TEXT and not os.path.isabs(path) else os.path.relpath(path or ".")
        root = Root(kind, shown, tuple(inside.values()), (), chains.get((kind, path), {}))
        roots += _split(root, [item for number in inside for item in by_source.get(number, ())])
    return roots


def _plain(name: str, path: str, rules: RootRules) -> tuple[RootKind, str]:
    """Return the root of a file that no kustomization lists."""
    if name in rules.texts:
        return RootKind.TEXT, name
    configured = _configured(path, rules)
    if configured is not None:
        return configured
    named = [directory for directory in rules.directories if is_below(path, directory)]
    return (RootKind.DIRECTORY, max(named, key=len)) if named else (RootKind.FILES, "")


def _configured(path: str, rules: RootRules) -> Optional[tuple[RootKind, str]]:
    """Return the innermost of the config's roots that a path is in."""
    tops = [top for globs in rules.configured if (top := _top(path, globs)) is not None]
    return (RootKind.CONFIGURED, max(tops, key=len)) if tops else None


def _top(path: str, globs: Globs) -> Optional[str]:
    """Return the outermost directory above a path that a glob matches."""
    if not {".", "./"}.isdisjoint(globs.patterns) and is_below(path, globs.root):
        return globs.root
    found = None
    while globs.match(path) and is_below(path, globs.root):
        found, path = path, os.path.dirname(path)
    return found


def reached(chain: Chain, known: Mapping[str, Kustomization]) -> Iterator[tuple[str, Chain]]:
    """Yield the files that the first of a chain of kustomizations lists, itself or through others."""
    for name in FILE_NAMES:
        yield os.path.join(chain[0].directory, name), chain
    for path in chain[0].listed:
        inner = known.get(path)
        if inner is None:
            yield path, chain
        elif all(inner is not item for item in chain):
            yield from reached((inner, *chain), known)


_WORD = r"[A-Za-z0-9]+"


class _Variant(NamedTuple):
    """A set of compatible objects, by number, and the words in the paths of objects that have rivals."""

    members: tuple[int, ...]
    words: frozenset[str] = frozenset()


class _Unit(NamedTuple):
    """A file or directory: its name, the keys of its objects, and its variants."""

    name: str
    keys: frozenset[Optional[_Key]]
    variants: tuple[_Variant, ...]


def _split(root: Root, inside: list[Held]) -> list[Root]:
    """Return one root for each of the largest sets of objects of a root that fit together: no two have one key."""
    keys = [item.key for item in inside]
    if _are_different(keys):
        return [root._replace(held=tuple(inside))]
    steps = [tuple(item.manifest.source.name.replace(os.sep, "/").split("/")) for item in inside]
    found: dict[int, int] = {}  # how many steps lead to the outermost file or directory that has rivals, by object

    def unit(name: str, numbers: list[int], depth: int) -> _Unit:
        """Return the file or directory at a depth of a path."""
        held = [keys[number] for number in numbers]
        if _are_different(held):
            return _Unit(name, frozenset(held) - {None}, (_Variant(tuple(numbers)),))
        inner = grouped((steps[number][depth] if depth < len(steps[number]) else number, number) for number in numbers)
        units = [unit(step if isinstance(step, str) else "", members, depth + 1) for step, members in inner.items()]
        rivals = _rivals(units)
        for members, others in zip(inner.values(), rivals, strict=True):
            if others:
                found.update(dict.fromkeys(members, depth + 1))
        variants: list[_Variant] = []
        covered: set[tuple[int, int]] = set()
        for at, item in enumerate(units):
            is_free = not rivals[at] and len(item.variants) == 1
            for which in range(0 if is_free else len(item.variants)):
                if (at, which) not in covered:
                    chosen = _chosen(units, rivals, at=at, which=which)
                    covered.update(chosen.items())
                    variants.append(_union(units, rivals, chosen))
        whole = variants or [_union(units, rivals, dict.fromkeys(range(len(units)), 0))]
        return _Unit(name, frozenset(held) - {None}, tuple(whole))

    sets = unit("", list(range(len(inside))), 0).variants
    rivals = {inside[number].manifest.source.name: "/".join(steps[number][:depth]) for number, depth in found.items()}
    return [
        root._replace(held=tuple(inside[number] for number in sorted(item.members)), rivals=rivals) for item in sets
    ]


def _are_different(keys: list[Optional[_Key]]) -> bool:
    """Return whether no two objects have one key."""
    known = [key for key in keys if key is not None]
    return len(set(known)) == len(known)


def _rivals(units: list[_Unit]) -> list[set[int]]:
    """Return, for each unit, the numbers of the units that share a key with it."""
    owners = grouped((key, at) for at, unit in enumerate(units) for key in unit.keys)
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
