"""Paths of pod specs in a repository's custom resources, for `podspecPaths`.

A path is proposed only for a whole pod spec with constraints: it has containers. Constraints in an operator's own
fields are checked better without a path, because the operator decides what else is in the pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Optional

from kubectl_spread.lint.workload import FIELD
from kubectl_spread.objects.constraints import constraint_lists
from kubectl_spread.objects.constraints.constraint_lists import ConstraintList
from kubectl_spread.objects.constraints.operators import operator_of
from kubectl_spread.objects.workloads.kinds import BUILT_IN
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.sources.repository.scan import file_of, Repository
from kubectl_spread.text.node import Route

_ANY = "*"


class PodPathHint(NamedTuple):
    """A pod spec or pod template in a custom resource. path: as in `podspecPaths`. files: with such objects."""

    kind: str
    group: str
    path: str
    is_spec: bool
    files: tuple[str, ...]


class _Key(NamedTuple):
    kind: str
    group: str
    is_spec: bool


def pod_paths(repository: Repository) -> Iterator[PodPathHint]:
    """Yield the paths of pod specs in kinds whose pods are unknown, by kind."""
    found: dict[_Key, dict[Route, set[str]]] = {}
    for item in repository.objects:
        for key, route in _pod_specs(item):
            found.setdefault(key, {}).setdefault(route, set()).add(file_of(item))
    for key, files in sorted(found.items()):
        for route, same in _merged(files):
            names = sorted({name for part in same for name in files[part]})
            yield PodPathHint(key.kind, key.group, _text(route), key.is_spec, tuple(names))


def _pod_specs(item: Manifest) -> Iterator[tuple[_Key, Route]]:
    """Yield where a custom resource has whole pod specs with constraints."""
    group = item.api_version.rpartition("/")[0]
    if item.workload_kind is not None or "." not in group or not isinstance(item.plain, dict):
        return
    for found in constraint_lists.search(item.plain, lambda kind, version: BUILT_IN.of(kind, version) is not None):
        if not isinstance(found, ConstraintList) or found.is_patch or found.is_merged or found.route[-1] != FIELD:
            continue
        route = found.route[:-1]
        if not _is_pod_spec(_at(item.plain, route)) or operator_of(item.kind, item.api_version, found.route):
            continue
        is_template = len(route) > 1 and route[-1] == "spec" and "metadata" in _at(item.plain, route[:-1])
        yield _Key(item.kind, group, not is_template), route[:-1] if is_template else route


def _is_pod_spec(value: Any) -> bool:
    containers = value.get("containers") if isinstance(value, dict) else None
    return isinstance(containers, list) and any(isinstance(item, dict) for item in containers)


def _at(plain: Any, route: Route) -> Any:
    for step in route:
        plain = plain[step]
    return plain


def _merged(routes: Iterable[Route]) -> Iterator[tuple[Route, list[Route]]]:
    """Yield paths, each with the routes that it covers: paths that differ in one name share a `*`."""
    general: dict[Route, list[Route]] = {}
    for route in sorted(routes, key=str):
        general.setdefault(tuple(_ANY if not _is_plain(step) else step for step in route), []).append(route)
    left = list(general)
    while left:
        first, *left = left
        place = next((found for other in left if (found := _difference(first, other)) is not None), None)
        alike = [other for other in left if place is not None and _difference(first, other) == place]
        left = [other for other in left if other not in alike]
        path = first if place is None else (*first[:place], _ANY, *first[place + 1 :])
        yield path, [route for part in (first, *alike) for route in general[part]]


def _is_plain(step: object) -> bool:
    """Return whether a path can name a key: an index and a name with dots cannot be written."""
    return isinstance(step, str) and bool(step) and not any(mark in step for mark in ".*[]")


def _difference(one: Route, other: Route) -> Optional[int]:
    """Return the only place in which two routes differ, below `spec`; None if there are none or several."""
    places = [at for at, (first, second) in enumerate(zip(one, other, strict=False)) if first != second]
    return places[0] if len(one) == len(other) and len(places) == 1 and 0 < places[0] < len(one) - 1 else None


def _text(route: Route) -> str:
    return ".".join(map(str, route))
