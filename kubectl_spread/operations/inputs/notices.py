"""Notices: sentences about assumptions of an answer, sent while an operation runs."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple


class Level(Enum):
    """The severity of a notice."""

    NOTE = "note"  # an assumption of the answer
    WARNING = "warning"  # an input is not as it should be


class Notice(NamedTuple):
    """A sentence for the user. The same notice may be sent more than once."""

    level: Level
    text: str


Listener = Callable[[Notice], None]


def ignore(_: Notice) -> None:
    """Drop a notice."""


def note(listener: Listener, text: str) -> None:
    """Send a note, unless the text is empty."""
    if text:
        listener(Notice(Level.NOTE, text))


def warn(listener: Listener, text: str) -> None:
    """Pass a warning on."""
    listener(Notice(Level.WARNING, text))
