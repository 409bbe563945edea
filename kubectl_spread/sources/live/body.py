"""Response bodies, decoded here to limit their memory use."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterable, Iterator
from typing import Optional

MAX_BODY_BYTES = 1 << 30
# A list of pods compresses by 10 to 60; deflate cannot do better than 1,032.
_MAX_RATIO = 300
_RATIO_FROM_BYTES = 64 << 20
_STEP_BYTES = 1 << 20


class TooLargeError(Exception):
    """A response that is larger than any list of a cluster."""


class CutOffError(Exception):
    """A response that ended early, or does not decode."""


class ByteAllowance:
    """Memory for the bodies that are read at the same time, safe for several threads."""

    def __init__(self) -> None:
        self._taken = 0
        self._lock = threading.Lock()

    def take(self, count: int) -> None:
        """Count more bytes, or fewer if the number is negative.

        Raises:
            TooLargeError: all bodies together exceed `MAX_BODY_BYTES`.
        """
        with self._lock:
            self._taken += count
            if count > 0 and self._taken > MAX_BODY_BYTES:
                raise TooLargeError


def read(parts: Iterable[bytes], *, is_gzip: bool, room: Optional[ByteAllowance] = None) -> bytes:
    """Return the decoded body.

    Args:
        parts: the body as it arrives.
        is_gzip: whether it is compressed.
        room: memory that it shares with other bodies.

    Raises:
        TooLargeError: it does not fit into the room, or compresses far better than any list.
        CutOffError: the compressed text is incomplete or broken.
    """
    found: list[bytes] = []
    shared = room or ByteAllowance()
    try:
        for piece in _decoded(parts, is_gzip=is_gzip):
            found.append(piece)
            shared.take(len(piece))
        return b"".join(found)
    finally:
        shared.take(-sum(map(len, found)))


def _decoded(parts: Iterable[bytes], *, is_gzip: bool) -> Iterator[bytes]:
    received = decoded = 0
    decoder = zlib.decompressobj(16 + zlib.MAX_WBITS) if is_gzip else None
    for part in parts:
        received += len(part)
        for piece in (part,) if decoder is None else _inflated(decoder, part):
            decoded += len(piece)
            if decoded > _RATIO_FROM_BYTES and decoded > _MAX_RATIO * received:
                raise TooLargeError
            yield piece
    if decoder is not None and received and not decoder.eof:
        raise CutOffError


def _inflated(decoder: zlib._Decompress, part: bytes) -> Iterator[bytes]:
    """Yield the decompressed content of a part, at most `_STEP_BYTES` at a time."""
    try:
        while part:
            yield decoder.decompress(part, _STEP_BYTES)
            part = decoder.unconsumed_tail
    except zlib.error:
        raise CutOffError from None
