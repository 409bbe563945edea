"""Edits of plain values (RFC 6902): what is shown, what is simulated and what kubectl applies is one thing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from typing import NamedTuple

from kubectl_spread.text.node import Route

Plain = dict[str, Any]

ADD, REMOVE, TEST = "add", "remove", "test"
END = "-"  # the last step of a path that appends to a list


class Op(NamedTuple):
    """One operation; `add` of a field that is there replaces it."""

    op: str
    path: Route
    value: Any = None

    def under(self, prefix: Route) -> Op:
        """The same for an object that has this one somewhere inside."""
        return self._replace(path=(*prefix, *self.path))

    def document(self) -> Plain:
        """The operation as JSON has it."""
        document: Plain = {"op": self.op, "path": pointer(self.path)}
        return document if self.op == REMOVE else {**document, "value": self.value}


def put(path: Route, value: Any) -> Op:
    """Write a field, whether it is there or not; what it is in must be there."""
    return Op(ADD, path, value)


def drop(path: Route) -> Op:
    """Remove what is there."""
    return Op(REMOVE, path)


def test(path: Route, value: Any) -> Op:
    """Let the patch fail where something else is there."""
    return Op(TEST, path, value)


def pointer(path: Route) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def applied(value: Any, ops: Iterable[Op]) -> Any:
    """A value with operations done one after another; what they do not touch is shared with the value given.

    Raises:
        KeyError, IndexError, TypeError: an operation does not fit the value.
        ValueError: a test fails.
    """
    for op in ops:
        value = _applied(value, op.path, op)
    return value


def _applied(value: Any, path: Route, op: Op) -> Any:
    if not path:
        if op.op == TEST and value != op.value:
            raise ValueError(pointer(op.path))
        return value if op.op == TEST else op.value
    step, rest = path[0], path[1:]
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    if rest or op.op == TEST:
        copy[step] = _applied(value[step], rest, op)
    elif op.op == REMOVE:
        del copy[step]
    elif isinstance(copy, list):
        copy.insert(len(copy) if step == END else int(step), op.value)
    else:
        copy[step] = op.value
    return copy
