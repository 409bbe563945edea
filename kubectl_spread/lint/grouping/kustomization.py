"""Kustomizations: the files that each lists, and the replicas that it sets.

They are read as data, without running kustomize. That is enough to know which objects are applied together, and which
replicas will run. Field names are those of kustomize's `Kustomization` and `Component`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional, Union

from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.records import Enum, NamedTuple

FILE_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

_REPLICAS_POINTER = "/spec/replicas"
_MOST_LEVELS = 20  # of components in components; they may lead in a circle
_REPETITION = r"[*+{]"


class UnknownReplicas(Enum):
    """Replicas that a kustomization sets to a number that cannot be read."""

    REPLICAS = "unknown"


Replicas = Union[int, None, UnknownReplicas]  # None if nothing sets them


class PatchTarget(NamedTuple):
    """The objects that a patch or an entry of `replicas` changes; kind and name are regular expressions.

    `is_exact`: no selector and no namespace narrows it, so that a match is certain.
    """

    kind: str
    name: str
    is_exact: bool = True

    def covers(self, kind: str, names: Iterable[str]) -> bool:
        """Return whether an object of this kind, with any of these names, is changed."""
        return _fits(self.kind, kind) and any(_fits(self.name, name) for name in names)


class Scaling(NamedTuple):
    """A place in a kustomization that sets the replicas of some objects."""

    target: PatchTarget
    replicas: Replicas


_ANYTHING = Scaling(PatchTarget(".*", ".*"), UnknownReplicas.REPLICAS)


class Kustomization(NamedTuple):
    """One kustomization file.

    Paths are absolute.
    listed: its resources, bases and components: files and directories.
    patches: the files that hold patches.
    scalings: in the order of application, after the scalings of the `components`.
    """

    directory: str
    listed: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    scalings: tuple[Scaling, ...] = ()
    prefix: str = ""
    suffix: str = ""
    components: tuple[str, ...] = ()


def with_components(item: Kustomization, known: Mapping[str, Kustomization], depth: int = 0) -> tuple[Scaling, ...]:
    """Return the scalings of a kustomization and of its components, which change all its objects."""
    if depth > _MOST_LEVELS:
        return item.scalings
    found: list[Scaling] = []
    for path in item.components:
        component = known.get(path)
        found += [_ANYTHING] if component is None else with_components(component, known, depth + 1)
    return (*found, *item.scalings)


def kustomization(directory: str, plain: Mapping[str, Any], documents: Mapping[str, list[Any]]) -> Kustomization:
    """Parse a kustomization file.

    Args:
        directory: the absolute path of its directory.
        plain: its only document.
        documents: the plain documents of its readable patches. The key is the absolute path of a file, or the text
            of an inline patch.
    """
    listed = [
        _below(directory, text) for key in ("resources", "bases", "components") for text in _texts(plain.get(key))
    ]
    patches = list(patches_of(directory, plain))
    scalings = [
        scaling for patch in patches for scaling in _scalings(documents.get(patch.path or patch.inline), patch.target)
    ]
    scalings += [
        Scaling(PatchTarget(".*", re.escape(str(entry.get("name")))), _count(entry.get("count")))
        for entry in _entries(plain.get("replicas"))
    ]
    scalings += [_ANYTHING] if plain.get("transformers") else []
    return Kustomization(
        directory,
        tuple(path for path in listed if path),
        tuple(patch.path for patch in patches if patch.path),
        tuple(scalings),
        _text(plain.get("namePrefix")),
        _text(plain.get("nameSuffix")),
        tuple(path for text in _texts(plain.get("components")) if (path := _below(directory, text))),
    )


class Patch(NamedTuple):
    """A patch of a kustomization: the absolute path of its file, or its inline text."""

    path: str
    inline: str
    target: Optional[PatchTarget]


def patches_of(directory: str, plain: Mapping[str, Any]) -> Iterator[Patch]:
    """Yield the patches of a kustomization, in the order in which they are applied."""
    entries = [
        {"patch": text} if "\n" in text else {"path": text} for text in _texts(plain.get("patchesStrategicMerge"))
    ]
    entries += [*_entries(plain.get("patches")), *_entries(plain.get("patchesJson6902"))]
    for entry in entries:
        path = _below(directory, _text(entry.get("path")))
        yield Patch(path, "" if path else _text(entry.get("patch")), _target(entry.get("target")))


def _scalings(held: Optional[list[Any]], target: Optional[PatchTarget]) -> Iterator[Scaling]:
    """Yield what the documents of a patch set; `UnknownReplicas` for an unreadable one."""
    if held is None:
        yield _ANYTHING if target is None else Scaling(target, UnknownReplicas.REPLICAS)
        return
    operations = [item for document in held if isinstance(document, list) for item in document]
    for operation in map(fields, operations):
        if operation.get("path") == _REPLICAS_POINTER and target is not None:
            value = operation.get("value") if operation.get("op") in ("add", "replace") else None
            yield _scaling(target, _count(value))
    for document in map(fields, held):
        spec = fields(document.get("spec"))
        if "replicas" in spec:
            yield _scaling(target or _named_in(document), _count(spec["replicas"]))


def _scaling(target: PatchTarget, replicas: Replicas) -> Scaling:
    return Scaling(target, replicas if target.is_exact else UnknownReplicas.REPLICAS)


def _named_in(document: Mapping[str, Any]) -> PatchTarget:
    """Return the object that a strategic merge patch names itself."""
    name = _text(fields(document.get("metadata")).get("name"))
    return PatchTarget(re.escape(_text(document.get("kind"))), re.escape(name))


def _target(plain: Any) -> Optional[PatchTarget]:
    if not isinstance(plain, dict):
        return None
    kind, name = _text(plain.get("kind")) or ".*", _text(plain.get("name")) or ".*"
    narrowing = ("labelSelector", "annotationSelector", "namespace")
    is_exact = not any(plain.get(key) for key in narrowing) and _is_simple(kind) and _is_simple(name)
    return PatchTarget(kind if _is_simple(kind) else ".*", name if _is_simple(name) else ".*", is_exact)


def _is_simple(pattern: str) -> bool:
    """Return whether matching takes linear time: Python's expressions, other than kustomize's, may be exponential."""
    return len(re.findall(_REPETITION, pattern)) <= 1


def _count(value: Any) -> Replicas:
    return value if isinstance(value, int) and not isinstance(value, bool) else UnknownReplicas.REPLICAS


def _fits(pattern: str, text: str) -> bool:
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        return pattern == text


def _below(directory: str, text: str) -> str:
    """Return an absolute path; empty if the text is not a local path."""
    if not text or "://" in text or "\n" in text or "?ref=" in text:
        return ""
    return os.path.normpath(os.path.join(directory, text))


def _entries(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
