"""A finder and loader for the modules of this package, in front of Python's own finders.

A short run imports more than a hundred of these modules. Python asks every finder for each of them, and the last one
tries six file extensions. This finder knows that a module here is a file or a directory with source. Its loader reads
an up-to-date compiled file in fewer steps. Together this takes a tenth off the start-up. Everything else, for example
a package in a zip file, is left to Python's finders.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib import _bootstrap_external  # importlib.util costs 2 ms
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType

TYPE_CHECKING = False  # `typing` is imported by what needs it, see cli/click_start
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Optional

_PREFIX = f"{__name__.partition('.')[0]}."
_BEFORE, _, _AFTER = _bootstrap_external.cache_from_source("@.py").partition("@")  # of the name of a compiled file
# The beginning of a compiled file that names the time and size of its source.
_BY_TIME = _bootstrap_external.MAGIC_NUMBER + bytes(4)


class _OwnLoader(SourceFileLoader):
    """Python's loader, with a short way to a compiled file next to its source."""

    def __init__(self, name: str, path: str, compiled: str, status: os.stat_result) -> None:
        super().__init__(name, path)
        self._compiled = compiled
        self._header = _BY_TIME + b"".join(
            (number & 0xFFFFFFFF).to_bytes(4, "little") for number in (int(status.st_mtime), status.st_size)
        )

    def get_code(self, fullname: str) -> Optional[CodeType]:
        """Return the code in the compiled file.

        Python's loader makes it if the file is not up to date, or was compiled elsewhere and names another path.
        """
        try:
            with open(self._compiled, "rb", 0) as file:
                content = file.read()
        except OSError:
            return super().get_code(fullname)
        if content[: len(self._header)] == self._header:
            code = marshal.loads(memoryview(content)[len(self._header) :])  # noqa: S302 (as Python's loader does)
            if isinstance(code, CodeType) and code.co_filename == self.path:
                return code
        return super().get_code(fullname)


class _OwnModules:
    """A finder for `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: Optional[Sequence[str]] = None, _: object = None) -> Optional[ModuleSpec]:
        """Return the spec of a module of this package, as Python's finders make it; None if there is no such file."""
        if not path or not name.startswith(_PREFIX):
            return None
        directory, tail = path[0], name.rpartition(".")[2]
        return _spec(name, directory, tail) or _spec(name, f"{directory}{os.sep}{tail}", "__init__")


def _spec(name: str, directory: str, tail: str) -> Optional[ModuleSpec]:
    """Return the spec of the module in a file; None if there is no such file."""
    file = f"{directory}{os.sep}{tail}.py"
    try:
        status = os.stat(file)
    except OSError:
        return None
    compiled = f"{directory}{os.sep}{_BEFORE}{tail}{_AFTER}"
    is_package = tail == "__init__"
    spec = ModuleSpec(name, _OwnLoader(name, file, compiled, status), origin=file, is_package=is_package)
    spec.has_location = True
    spec.cached = compiled
    if spec.submodule_search_locations is not None:
        spec.submodule_search_locations.append(directory)
    return spec


def install() -> None:
    """Ask this finder before all others."""
    if _OwnModules not in sys.meta_path and sys.pycache_prefix is None:
        sys.meta_path.insert(0, _OwnModules)
