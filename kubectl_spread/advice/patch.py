"""Edits of plain values (RFC 6902).

The same operations are shown, simulated and passed to kubectl.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from kubectl_spread.text.node import Route

Plain = dict[str, Any]

ADD, REMOVE, TEST = "add", "remove", "test"
END = "-"  # Last step of a path; it appends to a list.


class Op(NamedTuple):
    """A single operation; `add` replaces an existing field."""

    op: str
    path: Route
    value: Any = None

    def under(self, prefix: Route) -> Op:
        """Return the operation for an object that contains this one under the prefix."""
        return self._replace(path=(*prefix, *self.path))

    def document(self) -> Plain:
        """Return the operation as a JSON Patch object."""
        document: Plain = {"op": self.op, "path": pointer(self.path)}
        return document if self.op == REMOVE else {**document, "value": self.value}


def put_op(path: Route, value: Any) -> Op:
    """Return the operation that sets a field, whether it exists or not; its parent must exist."""
    return Op(ADD, path, value)


def drop(path: Route) -> Op:
    """Return the operation that removes an existing field."""
    return Op(REMOVE, path)


def test(path: Route, value: Any) -> Op:
    """Return the operation that makes the patch fail if the value differs."""
    return Op(TEST, path, value)


def pointer(path: Route) -> str:
    """Return the path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def apply_ops(value: Any, ops: Iterable[Op]) -> Any:
    """Return the value after all operations, in order; parts that they do not touch are shared with the original.

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
