"""A faster import of click, without modules that it imports but hardly uses: a quarter of the start-up.

click needs `inspect` to strip help texts, `uuid` and `datetime` for types of options that are not used here,
`gettext` to look for translations that do not exist, `threading` for one class of `_thread`, `weakref` to forget
streams that are gone, and `typing.TypedDict` for type checkers. Stand-ins replace these modules only while click is
imported. Later imports get the real modules. A stand-in takes missing attributes from the real module.

The stand-in of `typing` stays, but only for click and the packages named below. They never evaluate their annotations,
and loading the real module takes a tenth of the time that `check` needs beyond Python's own start. All other modules
get the real one.
"""

from __future__ import annotations

import _thread
import importlib
import sys
from types import ModuleType


class _StandIn(ModuleType):
    """A module with a few own attributes. It imports the real module on the first use of another attribute."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self.__name__), name)


def import_click() -> None:
    """Import click, unless it is already."""
    if "click" in sys.modules:
        return
    made = [item for item in _stand_ins() if item.__name__ not in sys.modules]
    sys.modules.update((item.__name__, item) for item in made)
    sys.modules.setdefault("typing", _Typing("typing"))
    try:
        import click  # noqa: F401 (whoever imports it later gets what is made here)
    finally:
        for item in made:
            del sys.modules[item.__name__]
            vars(item).pop("UUID", None)  # from now on the real one


def _stand_ins() -> tuple[ModuleType, ...]:
    """Return modules with the few attributes that click reads while it is imported."""
    needed: dict[str, dict[str, object]] = {
        "inspect": {"cleandoc": _cleandoc},
        "uuid": {"UUID": type("UUID", (), {})},  # click's classes name it in their types
        "datetime": {"datetime": type("datetime", (), {})},  # and this one
        "gettext": {"gettext": _gettext, "ngettext": _ngettext},
        "threading": {"local": _thread._local},  # noqa: SLF001 (threading has it from there)
        "weakref": {"WeakKeyDictionary": dict},  # from a standard stream to its wrapper
    }
    made = tuple(map(_StandIn, needed))
    for item in made:
        vars(item).update(needed[item.__name__])
    return made


class _Name:
    """A name of `typing` in its stand-in; found without the error that Python makes before it calls `__getattr__`."""

    def __init__(self, name: str, hint: object) -> None:
        self._name = name
        self._hint = hint

    def __get__(self, stand_in: _Typing, _: object) -> object:
        asking = sys._getframe(1).f_globals.get("__name__", "")  # noqa: SLF001 (as namedtuple finds its module)
        return self._hint if asking.startswith(_ASKING) else stand_in.real(self._name)


class _Typing(ModuleType):
    """Stand-in for `typing`: the names in annotations and base classes, which are not evaluated here."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.real(name)

    def real(self, name: str) -> object:
        """Return an attribute of the real module, which replaces this one."""
        if sys.modules.get("typing") is self:
            del sys.modules["typing"]
        return getattr(importlib.import_module("typing"), name)


# The packages that a check without cluster facts imports: the others use numpy or pygls, which need the real module.
_PACKAGES = ("records", "text", "objects", "lint", "sources", "operations", "report", "cli", "schemas", "cluster.facts")
_ASKING = ("click.", *(f"kubectl_spread.{package}" for package in _PACKAGES))


class _Hint:
    """Stand-in for types in an alias, and for type variables."""

    def __getitem__(self, item: object) -> object:
        return self

    def __call__(self, *args: object, **named: object) -> object:
        return self

    def __or__(self, other: object) -> object:
        return self

    __ror__ = __or__


class _Base:
    """Stand-in for Generic and Protocol."""

    __slots__ = ()

    def __class_getitem__(cls, item: object) -> object:
        return cls


class _TypedDict(dict[str, object]):
    """A mapping whose keys only type checkers know."""

    def __init_subclass__(cls, *, total: bool = True) -> None:
        pass


def _cast(_: object, value: object) -> object:
    return value


_TYPES = (
    *("Any", "AnyStr", "BinaryIO", "Callable", "ClassVar", "ContextManager", "Final", "IO", "Iterator", "Literal"),
    *("NoReturn", "Optional", "SupportsFloat", "SupportsIndex", "SupportsInt"),
    *("TextIO", "TypeAlias", "TypeVar", "Union"),
)
_HINTS: dict[str, object] = {
    **dict.fromkeys(_TYPES, _Hint()),
    **dict.fromkeys(("Generic", "Protocol"), _Base),
    "TYPE_CHECKING": False,
    "TypedDict": _TypedDict,
    "cast": _cast,
    "overload": lambda function: function,
}
for _name, _hint in _HINTS.items():
    setattr(_Typing, _name, _Name(_name, _hint))


def _cleandoc(text: str) -> str:
    """Return a help text without its indentation, as inspect.cleandoc does."""
    first, *others = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[margin:] for line in others)]).strip("\n")


def _gettext(message: str) -> str:
    """Return the message untranslated."""
    return message


def _ngettext(one: str, many: str, count: int) -> str:
    return one if count == 1 else many
