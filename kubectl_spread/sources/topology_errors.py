"""Sentences for the errors that the jsonschema package finds in a topology file, each with its route."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from kubectl_spread.objects.reading.decode import path_text
from kubectl_spread.text.node import Route
from kubectl_spread.text.wording import did_you_mean, join_with_and

_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}
_PYTHON_TYPES = ((bool, "boolean"), (str, "string"), ((int, float), "number"), (list, "array"), (dict, "object"))


class TopologyError(NamedTuple):
    """An error at a route; the message begins with the route. `is_key`: the key is wrong, not its value."""

    route: Route
    message: str
    is_key: bool = False


def topology_errors(errors: Iterable[Any]) -> list[TopologyError]:
    """Return the errors of jsonschema in our words, without repetitions."""
    return list(dict.fromkeys(item for error in errors for item in _of(error)))


def _of(error: Any) -> Iterator[TopologyError]:
    route = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        for name in error.instance:
            if name not in known:
                near = did_you_mean(name, known) or f"the keys are {', '.join(known)}"
                yield TopologyError((*route, name), f"{_at(route)}unknown key `{name}`: {near}", is_key=True)
    else:
        yield TopologyError(route, _at(route) + _SENTENCES[error.validator](error.validator_value, error.instance))


def _at(route: Route) -> str:
    return f"{path_text(route)}: " if route else ""


def _type(wanted: Any, value: Any) -> str:
    names = " or ".join(_TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted))
    return f"must be {names}, not {_shown(value)}"


def _shown(value: Any) -> str:
    """Return a value with its type; of a collection, only its type."""
    if value is None:
        return "empty"
    name = _TYPES[next(name for python_type, name in _PYTHON_TYPES if isinstance(value, python_type))]
    if isinstance(value, (list, dict)):
        return name
    return f"{name}: {str(value).lower() if isinstance(value, bool) else value}"


def _missing(wanted: Any, value: Any) -> str:
    names = [f"`{name}`" for name in wanted if name not in value]
    return f"{join_with_and(names)} {'is' if len(names) == 1 else 'are'} missing"


def _repeated(_: Any, value: Any) -> str:
    return f"`{next(item for at, item in enumerate(value) if item in value[:at])}` is in the list twice"


_SENTENCES: dict[str, Callable[[Any, Any], str]] = {
    "type": _type,
    "required": _missing,
    "const": lambda wanted, value: f"must be {wanted}, not {_shown(value) if not isinstance(value, str) else value}",
    "minItems": lambda *_: "the list is empty",
    "minLength": lambda *_: "the text is empty",
    "uniqueItems": _repeated,
    "minimum": lambda wanted, value: f"must be at least {wanted:,}, not {value}",
    "maximum": lambda wanted, value: f"must be at most {wanted:,}, not {value}",
    "pattern": lambda _, value: f"`{value}` is not a taint, such as key=value:NoSchedule",
    "anyOf": lambda *_: "must be a number from 1 to 15,000, or a list of different names of zones",
}
