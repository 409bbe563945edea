"""NamedTuple that works like typing's, and is created in a tenth of the time.

A command imports a hundred records, and typing.NamedTuple takes a fifth of its start-up for them: it compiles the
annotation of each field and the constructor of each record. Here annotations stay texts, methods are shared, and a
record gets its constructor with its first instance. One compiled constructor serves all records with as many fields.
For type checkers there is no difference.

A module that makes records has `from __future__ import annotations`.

Enum works like enum's. It lacks auto(), aliases and members with methods of their own, and is created in a quarter of
the time. The modules that `check` imports use it; they have a dozen closed choices.
"""

from __future__ import annotations

import functools
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, TYPE_CHECKING

__all__ = ["Enum", "NamedTuple", "cached_property"]

if TYPE_CHECKING:
    from enum import Enum
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
        made = FunctionType(code, {"_new": _new}, "__new__", defaults)
        made.__qualname__ = f"{name}.__new__"
        return made

    _new = tuple.__new__
    # Compiled with this module. To compile one at each start takes as long as to load a module.
    _WRITTEN_OUT = (
        lambda z: _new(z, ()),
        lambda z, a: _new(z, (a,)),
        lambda z, a, b: _new(z, (a, b)),
        lambda z, a, b, c: _new(z, (a, b, c)),
        lambda z, a, b, c, d: _new(z, (a, b, c, d)),
        lambda z, a, b, c, d, e: _new(z, (a, b, c, d, e)),
        lambda z, a, b, c, d, e, f: _new(z, (a, b, c, d, e, f)),
        lambda z, a, b, c, d, e, f, g: _new(z, (a, b, c, d, e, f, g)),
        lambda z, a, b, c, d, e, f, g, h: _new(z, (a, b, c, d, e, f, g, h)),
        lambda z, a, b, c, d, e, f, g, h, i: _new(z, (a, b, c, d, e, f, g, h, i)),
        lambda z, a, b, c, d, e, f, g, h, i, j: _new(z, (a, b, c, d, e, f, g, h, i, j)),
        lambda z, a, b, c, d, e, f, g, h, i, j, k: _new(z, (a, b, c, d, e, f, g, h, i, j, k)),
        lambda z, a, b, c, d, e, f, g, h, i, j, k, m: _new(z, (a, b, c, d, e, f, g, h, i, j, k, m)),
        lambda z, a, b, c, d, e, f, g, h, i, j, k, m, n: _new(z, (a, b, c, d, e, f, g, h, i, j, k, m, n)),
        lambda z, a, b, c, d, e, f, g, h, i, j, k, m, n, o: _new(z, (a, b, c, d, e, f, g, h, i, j, k, m, n, o)),
    )

    @functools.cache
    def _code(count: int) -> CodeType:
        """Return the code of a constructor for any record of so many fields; compile it if there are many fields."""
        if count < len(_WRITTEN_OUT):
            return _WRITTEN_OUT[count].__code__
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

    class _EnumType(type):
        """The class of Enum: turns the plain values in the body of a subclass into its members."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            values = {key: value for key, value in body.items() if key[0] != "_" and not hasattr(value, "__get__")}
            made = super().__new__(cls, name, bases, {key: body[key] for key in body if key not in values})
            made._member_map_ = {key: _member(made, key, value) for key, value in values.items()}
            made._by_value = {member.value: member for member in made._member_map_.values()}
            return made

        def __call__(cls, value: Any) -> Any:
            """Return the member with a value."""
            if value.__class__ is cls:
                return value
            try:
                return cls._by_value[value]
            except (KeyError, TypeError):
                raise ValueError(f"{value!r} is not a valid {cls.__qualname__}") from None

        def __getitem__(cls, name: str) -> Any:
            return cls._member_map_[name]

        def __iter__(cls) -> Any:
            return iter(cls._member_map_.values())

        def __len__(cls) -> int:
            return len(cls._member_map_)

        def __bool__(cls) -> bool:
            return True

        def __contains__(cls, item: Any) -> bool:
            return item.__class__ is cls

        @property
        def __members__(cls) -> MappingProxyType[str, Any]:
            return MappingProxyType(cls._member_map_)

    def _member(owner: type, name: str, value: Any) -> Any:
        """Return a new member of an enum, which is also an attribute of it."""
        made = object.__new__(owner)
        made.__dict__.update(name=name, value=value)
        setattr(owner, name, made)
        return made

    class Enum(metaclass=_EnumType):
        """As enum.Enum: a closed choice, whose members are compared by identity."""

        def __setattr__(self, name: str, value: Any) -> None:
            raise AttributeError(f"{type(self).__name__} cannot be changed")

        def __repr__(self) -> str:
            return f"<{self}: {self.value!r}>"

        def __str__(self) -> str:
            return f"{type(self).__name__}.{self.name}"

        def __reduce__(self) -> tuple[Any, ...]:
            return type(self), (self.value,)

        def __copy__(self) -> Any:
            return self

        def __deepcopy__(self, _: Any) -> Any:
            return self
