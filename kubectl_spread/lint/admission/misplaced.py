"""Constraints in a place where the API server drops or refuses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_spread.lint.admission import fixes, refusal
from kubectl_spread.lint.finding import Finding
from kubectl_spread.lint.workload import FIELD
from kubectl_spread.objects.reading import decode
from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.objects.workloads.kinds import EVERY, PodPlace, WorkloadKind
from kubectl_spread.objects.workloads.manifest import Manifest
from kubectl_spread.text.node import Route

_NAMES = (FIELD.lower(), FIELD.lower()[:-1])  # in lower case; also the singular


def find_misplaced(manifest: Manifest, kind: WorkloadKind, places: list[PodPlace]) -> list[Finding]:
    """Return findings for constraints in a place where the API server drops or refuses them."""
    right = {(*place.spec, FIELD) for place in places}
    if not manifest.route and _is_named_rightly(manifest, right):
        return []
    findings = []
    for route in _routes_of_constraints(manifest.plain, ()):
        if route in right or (kind.is_foreign and not any(_is_in(route, place) for place in places)):
            continue  # outside its pods a foreign kind may use the name for something else
        home = next((place for place in places if _is_in(route, place)), kind.usual_place())
        field = decode.path_text(route)
        finding = refusal.finding(
            "SPR115",
            manifest,
            route,
            message=refusal.unknown_field(manifest, field),
            path=field,
            hint=f"did you mean `{FIELD}`?"
            if route[:-1] == home.spec
            else f"move it to {decode.path_text((*home.spec, FIELD)).replace('.' + EVERY, EVERY)}",
            key=True,
        )
        fix = fixes.for_misplaced(manifest, route, (*home.spec, FIELD)) if home in places else None
        findings.append(refusal.with_fix(finding, fix, manifest))
    return findings


def _is_in(route: Route, place: PodPlace) -> bool:
    return route[: len(place.template)] == place.template


def _is_named_rightly(manifest: Manifest, right: set[Route]) -> bool:
    """Return whether the text of the object names constraints only in the right places."""
    text = manifest.document.text.lower()
    return text.count(_NAMES[1]) == sum(_has(manifest.plain, route) for route in right)


def _has(plain: Any, route: Route) -> bool:
    """Return whether something is written at a route, null included."""
    for step in route[:-1]:
        plain = plain[step] if isinstance(step, int) else fields(plain).get(step)
    return route[-1] in fields(plain)


def _routes_of_constraints(plain: Any, route: Route) -> Iterator[Route]:
    if isinstance(plain, dict):
        for key, value in plain.items():
            if key.lower() in _NAMES and route[:1] != ("metadata",):
                yield (*route, key)
            elif isinstance(value, (dict, list)):
                yield from _routes_of_constraints(value, (*route, key))
    elif isinstance(plain, list):
        for index, item in enumerate(plain):
            yield from _routes_of_constraints(item, (*route, index))
