"""NamedTuple, as typing has it, made in a sixth of the time.

A command imports a hundred records, and typing.NamedTuple takes a fifth of its start-up for them: it compiles the
annotation of each field and the constructor of each record. Here annotations stay texts, methods are shared, and one
compiled constructor serves all records with as many fields. For type checkers there is no difference.

A module that makes records has `from __future__ import annotations`.
"""

from __future__ import annotations

import functools
from types import CodeType, FunctionType
from typing import Any, TYPE_CHECKING

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import _tuplegetter  # in C, as those of namedtuple

    class _Record(tuple):
        """What all records share: the methods of a named tuple."""

        __slots__ = ()

        @classmethod
        def _make(cls, values: Any) -> Any:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changed: Any) -> Any:
            made = self._make(map(changed.pop, self._fields, self))
            if changed:
                raise ValueError(f"Got unexpected field names: {list(changed)!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            written = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({written})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    def _constructor(name: str, fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
        """Return the function that makes a record, with the fields as its parameters."""
        code = _code(len(fields)).replace(co_varnames=("_cls", *fields))
        made = FunctionType(code, {"_new": tuple.__new__}, "__new__", defaults)
        made.__qualname__ = f"{name}.__new__"
        return made

    @functools.cache
    def _code(count: int) -> CodeType:
        """Compile a constructor for any record of so many fields; to compile is most of the work."""
        fields = "".join(f"_{at}, " for at in range(count))
        return eval(f"lambda _cls, {fields}: _new(_cls, ({fields}))").__code__  # noqa: S307 (made of numbers)

    class _Maker(type):
        """The class of NamedTuple: turns each subclass of it into a record with the subclass's attributes."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.get("__annotations__", {}))
            defaults = {field: body[field] for field in fields if field in body}
            body.update((field, _tuplegetter(at, field)) for at, field in enumerate(fields))
            body.update(__slots__=(), __match_args__=fields, _fields=fields, _field_defaults=defaults)
            body["__new__"] = _constructor(body["__qualname__"], fields, tuple(defaults.values()))
            return type(name, (_Record,), body)

    class NamedTuple(metaclass=_Maker):
        """As typing.NamedTuple."""
