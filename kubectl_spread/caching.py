"""Methods that compute each answer once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, TypeVar

_Method = TypeVar("_Method", bound=Callable[..., Any])


def cached_method(method: _Method) -> _Method:
    """Let each object keep the method's results by its arguments, which must be hashable.

    `functools.cache` would keep the objects alive; garbage is not collected (`__main__`).
    """
    name = f"_results_of_{method.__name__}"

    def cached(self: Any, *args: Any) -> Any:
        try:
            return self.__dict__[name][args]
        except KeyError:
            pass
        result = self.__dict__.setdefault(name, {})[args] = method(self, *args)
        return result

    cached.__doc__ = method.__doc__
    return cast(_Method, cached)
