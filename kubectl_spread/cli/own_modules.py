"""A finder for the modules of this package, in front of Python's own finders.

A short run imports more than a hundred of these modules. Python asks every finder for each of them, and the last one
tries six file extensions. This finder knows that a module here is a file or a directory with source, which takes a
twentieth off the start-up. Everything else, for example a package in a zip file, is left to Python's finders.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader

TYPE_CHECKING = False  # `typing` is imported by what needs it, see cli/click_start
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Optional

_PREFIX = f"{__name__.partition('.')[0]}."


class _OwnModules:
    """A finder for `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: Optional[Sequence[str]] = None, _: object = None) -> Optional[ModuleSpec]:
        """Return the spec of a module of this package, as Python's finders make it; None if there is no such file."""
        if not path or not name.startswith(_PREFIX):
            return None
        base = f"{path[0]}{os.sep}{name.rpartition('.')[2]}"
        file = f"{base}.py"
        is_package = not os.path.isfile(file)
        if is_package:
            file = f"{base}{os.sep}__init__.py"
            if not os.path.isfile(file):
                return None
        spec = ModuleSpec(name, SourceFileLoader(name, file), origin=file, is_package=is_package)
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(base)
        return spec


def install() -> None:
    """Ask this finder before all others."""
    if _OwnModules not in sys.meta_path:
        sys.meta_path.insert(0, _OwnModules)
