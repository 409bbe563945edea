"""Kustomizations: the files that each lists, and the replicas that it sets.

They are read as data, without running kustomize. That is enough to know which objects are applied together, and which
replicas will run. Field names are those of kustomize's `Kustomization` and `Component`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Optional, Union

from kubectl_spread.objects.reading.plain import as_text, fields, numbered_mappings
from kubectl_spread.text.compose import Document
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import Place, Span

FILE_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

_REPLICAS_POINTER = "/spec/replicas"
_MOST_LEVELS = 20  # of components in components; they may lead in a circle
_REPETITION = r"[*+{]"


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
    """A place in a kustomization that sets the replicas of some objects; None for a number that cannot be read."""

    target: PatchTarget
    replicas: Optional[int]
    origin: Optional[Place] = None


ANYTHING = Scaling(PatchTarget(".*", ".*"), None)


class Kustomization(NamedTuple):
    """One kustomization file.

    Paths are absolute.
    listed: its resources, bases and components: files and directories.
    patches: the files that hold patches.
    scalings: in the order of application, after the scalings of the `components`.
    is_rendered: only kustomize knows its objects: it renders charts, runs programs, or reads other repositories.
    patch_targets: what the patches are for, by the path of a file, or by the place of an inline patch; those that name
        their target themselves are left out.
    labels: that it adds to pod templates; None for the value of one that it adds to selectors, too.
    """

    directory: str
    listed: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    scalings: tuple[Scaling, ...] = ()
    prefix: str = ""
    suffix: str = ""
    components: tuple[str, ...] = ()
    is_rendered: bool = False
    patch_targets: Mapping[Union[str, Span], tuple[PatchTarget, ...]] = MappingProxyType({})
    labels: Mapping[str, Optional[str]] = MappingProxyType({})


def with_components(item: Kustomization, known: Mapping[str, Kustomization], depth: int = 0) -> Kustomization:
    """Return a kustomization with the scalings and labels of its components, which change all its objects."""
    scalings: list[Scaling] = []
    labels: dict[str, Optional[str]] = {}
    for path in item.components if depth <= _MOST_LEVELS else ():
        component = known.get(path)
        inner = None if component is None else with_components(component, known, depth + 1)
        scalings += [ANYTHING] if inner is None else inner.scalings
        labels.update({} if inner is None else inner.labels)
    return item._replace(scalings=(*scalings, *item.scalings), labels={**labels, **item.labels})


def kustomization(
    directory: str, document: Optional[Document], documents: Mapping[str, list[Document]]
) -> Kustomization:
    """Parse a kustomization file.

    Args:
        directory: the absolute path of its directory.
        document: its only document; None if it is empty.
        documents: the documents of its readable patches. The key is the absolute path of a file, or the text of an
            inline patch.
    """
    plain = {} if document is None else fields(document.plain)

    def paths(*keys: str) -> tuple[str, ...]:
        every = (_below(directory, text) for key in keys for text in _texts(plain.get(key)))
        return tuple(filter(None, every))

    patches = list(patches_of(directory, plain))
    scalings: list[Scaling] = []
    targets: dict[Union[str, Span], tuple[PatchTarget, ...]] = {}
    if document is not None:
        for patch in patches:
            place = Place(document.source, document.place(patch.route))
            held = documents.get(patch.path or patch.inline)
            scalings += _scalings(held, patch.target, where=None if patch.path else place)
            if patch.target is not None:
                key = patch.path or place.span
                targets[key] = (*targets.get(key, ()), patch.target)
        for at, entry in numbered_mappings(plain.get("replicas")):
            target = PatchTarget(".*", re.escape(str(entry.get("name"))))
            place = Place(document.source, document.place(("replicas", at, "count")))
            scalings.append(Scaling(target, _count(entry.get("count")), place))
    scalings += [ANYTHING] if plain.get("transformers") else []
    labels: dict[str, Optional[str]] = dict.fromkeys(fields(plain, "commonLabels"))
    for _, entry in numbered_mappings(plain.get("labels")):
        if entry.get("includeSelectors") or entry.get("includeTemplates"):
            is_selected = bool(entry.get("includeSelectors"))
            pairs = fields(entry, "pairs")
            labels.update({name: None if is_selected else str(value) for name, value in pairs.items()})
    return Kustomization(
        directory,
        paths("resources", "bases", "components"),
        tuple(patch.path for patch in patches if patch.path),
        tuple(scalings),
        as_text(plain.get("namePrefix")),
        as_text(plain.get("nameSuffix")),
        paths("components"),
        any(plain.get(key) for key in _RENDERED),
        targets,
        labels,
    )


_RENDERED = ("helmCharts", "helmChartInflationGenerator", "generators", "transformers")


class Patch(NamedTuple):
    """A patch of a kustomization.

    path: absolute path of its file; empty for an inline patch. inline: text of an inline patch. target: objects that it
    changes; None if its own names say so. route: place of its entry in the kustomization.
    """

    path: str
    inline: str
    target: Optional[PatchTarget]
    route: Route


def patches_of(directory: str, plain: Mapping[str, Any]) -> Iterator[Patch]:
    """Yield the patches of a kustomization, in the order in which they are applied."""
    for key in ("patchesStrategicMerge", "patches", "patchesJson6902"):
        entries = plain.get(key)
        for at, entry in enumerate(entries if isinstance(entries, list) else ()):
            if key == "patchesStrategicMerge":  # of texts
                entry = {"patch" if "\n" in entry else "path": entry} if isinstance(entry, str) else None  # noqa: PLW2901
            if isinstance(entry, dict):
                path = _below(directory, as_text(entry.get("path")))
                inline = "" if path else as_text(entry.get("patch"))
                route: Route = (key, at, "patch") if "target" in entry else (key, at)
                yield Patch(path, inline, _target(entry.get("target")), route)


def _scalings(
    held: Optional[list[Document]], target: Optional[PatchTarget], *, where: Optional[Place]
) -> Iterator[Scaling]:
    """Yield the replicas that the documents of a patch set; unknown ones for an unreadable patch.

    `where` is the place of an inline patch; None for a file.
    """
    if held is None:
        yield ANYTHING if target is None else Scaling(target, None)
        return
    found: list[tuple[PatchTarget, Any, Document, Route]] = []
    for document in held:
        for at, operation in enumerate(map(fields, document.plain if isinstance(document.plain, list) else ())):
            if operation.get("path") == _REPLICAS_POINTER and target is not None:
                value = operation.get("value") if operation.get("op") in ("add", "replace") else None
                found.append((target, value, document, (at, "value")))
        plain = fields(document.plain)
        spec, name = fields(plain, "spec"), as_text(fields(plain, "metadata").get("name"))
        if "replicas" in spec:
            itself = PatchTarget(re.escape(as_text(plain.get("kind"))), re.escape(name))
            found.append((target or itself, spec["replicas"], document, ("spec", "replicas")))
    for changed, value, document, route in found:
        place = where or Place(document.source, document.place(route))
        yield Scaling(changed, _count(value) if changed.is_exact else None, place)


def _target(plain: Any) -> Optional[PatchTarget]:
    if not isinstance(plain, dict):
        return None
    kind, name = as_text(plain.get("kind")) or ".*", as_text(plain.get("name")) or ".*"
    narrowing = ("labelSelector", "annotationSelector", "namespace")
    is_exact = not any(plain.get(key) for key in narrowing) and _is_simple(kind) and _is_simple(name)
    return PatchTarget(kind if _is_simple(kind) else ".*", name if _is_simple(name) else ".*", is_exact)


def _is_simple(pattern: str) -> bool:
    """Return whether matching takes linear time: Python's expressions, other than kustomize's, may be exponential."""
    return len(re.findall(_REPETITION, pattern)) <= 1


def _count(value: Any) -> Optional[int]:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


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


def _texts(value: Any) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
