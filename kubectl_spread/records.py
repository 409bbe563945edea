"""NamedTuple that works like typing's, and is created in a tenth of the time.

A command imports a hundred records, and typing.NamedTuple takes a fifth of its start-up for them: it compiles the
annotation of each field and the constructor of each record. Here annotations stay texts, methods are shared, and a
record gets its constructor with its first instance. One compiled constructor serves all records with as many fields.
For type checkers there is no difference.

A module that makes records has `from __future__ import annotations`.
"""

from __future__ import annotations

import functools
from types import CodeType, FunctionType
from typing import Any, TYPE_CHECKING

__all__ = ["NamedTuple", "cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
    from typing import NamedTuple
else:
    from collections import _tuplegetter  # in C, as those of namedtuple

    class cached_property:  # noqa: N801 (as functools has it)
        """An attribute that is computed on first use, without the lock that Python has around it before 3.12."""

        def __init__(self, compute: Any) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            found = vars(instance)[self._name] = self._compute(instance)
            return found

    class _Record(tuple):
        """What all records share: the methods of a named tuple."""

        __slots__ = ()

        def __new__(cls, /, *values: Any, **named: Any) -> Any:
            """Make the first instance of a record: half of all records have none in a run."""
            made = _constructor(cls.__qualname__, cls._fields, tuple(cls._field_defaults.values()))
            cls.__new__ = staticmethod(made)
            return made(cls, *values, **named)

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
            for at, field in enumerate(fields):
                body[field] = _tuplegetter(at, field)
            body.update(__slots__=(), __match_args__=fields, _fields=fields, _field_defaults=defaults)
            return type(name, (_Record,), body)

    class NamedTuple(metaclass=_Maker):
        """As typing.NamedTuple."""
