"""Parameters of OpenShift Templates: their defaults take the place of placeholders.

Source: openshift/library-go pkg/template/templateprocessing, Processor.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from kubectl_spread.objects.reading.plain import fields
from kubectl_spread.text.node import Route

_NAME = r"\$\{(\w+)\}"
_VALUE = r"\$\{\{(\w+)\}\}"  # the whole text; its value may be a number
_KEPT = ("labels", "matchLabels", "annotations")  # they only have to be equal, and fixes copy them


class FilledObject(NamedTuple):
    """An object with defaults, and the routes of the values that came from them."""

    plain: dict[str, Any]
    routes: frozenset[Route]


def defaults(template: Mapping[str, Any]) -> dict[str, str]:
    """Return the default of each parameter that has one."""
    parameters = template.get("parameters")
    found = {}
    for item in map(fields, parameters if isinstance(parameters, list) else ()):
        name, value = item.get("name"), item.get("value")
        if isinstance(name, str) and isinstance(value, (str, int)) and value != "":
            found[name] = value if isinstance(value, str) else json.dumps(value)
    return found


def fill_defaults(plain: dict[str, Any], known: Mapping[str, str]) -> FilledObject:
    """Return an object with the defaults in the place of their placeholders; the given one is not changed."""
    routes: list[Route] = []
    changed = _filled(plain, known, (), routes=routes)
    return FilledObject(changed, frozenset(routes))


def _filled(value: Any, known: Mapping[str, str], route: Route, *, routes: list[Route]) -> Any:
    if isinstance(value, dict):
        return {
            key: item if key in _KEPT else _filled(item, known, (*route, key), routes=routes)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_filled(item, known, (*route, at), routes=routes) for at, item in enumerate(value)]
    if not isinstance(value, str) or "${" not in value:
        return value
    found = _evaluated(value, known)
    if found != value:
        routes.append(route)
    return found


def _evaluated(text: str, known: Mapping[str, str]) -> Any:
    """Return the value of a text; the text itself if a parameter has no default."""
    whole = re.fullmatch(_VALUE, text)
    if whole is None:
        return re.sub(_NAME, lambda match: known.get(match[1], match[0]), text)
    value = known.get(whole[1], text)
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
