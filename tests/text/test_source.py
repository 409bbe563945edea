"""A text lasts as long as somebody uses it."""

from __future__ import annotations

import gc
import weakref

from kubectl_spread.text.source import SourceFile


class Watched(SourceFile):
    """One whose end can be seen."""

    __slots__ = ("__weakref__",)


def test_a_text_is_freed_with_its_last_user() -> None:
    """No circle of references keeps it: a large snapshot goes without a garbage collection, which commands turn off."""
    gc.disable()
    try:
        source = Watched("a.yaml", "kind: Pod\n")
        seen = weakref.ref(source)
        del source
        assert seen() is None
    finally:
        gc.enable()
