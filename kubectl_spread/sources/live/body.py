"""Response bodies, decoded here to limit their memory use."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

MAX_BODY_BYTES = 1 << 30
# A list of pods compresses by 10 to 60; deflate cannot do better than 1,032.
_MAX_RATIO = 300
_RATIO_FROM_BYTES = 64 << 20
_STEP_BYTES = 1 << 20


class TooLargeError(Exception):
    """A response that is larger than any list of a cluster."""


class CutOffError(Exception):
    """A response that ended early, or does not decode."""


def read(parts: Iterable[bytes], *, is_gzip: bool) -> bytes:
    """Return the decoded body.

    Args:
        parts: the body as it arrives.
        is_gzip: whether it is compressed.

    Raises:
        TooLargeError: it exceeds `MAX_BODY_BYTES`, or compresses far better than any list.
        CutOffError: the compressed text is incomplete or broken.
    """
    received = decoded = 0
    found: list[bytes] = []
    decoder = zlib.decompressobj(16 + zlib.MAX_WBITS) if is_gzip else None
    for part in parts:
        received += len(part)
        for piece in (part,) if decoder is None else _inflated(decoder, part):
            decoded += len(piece)
            is_bomb = decoded > _RATIO_FROM_BYTES and decoded > _MAX_RATIO * received
            if decoded > MAX_BODY_BYTES or is_bomb:
                raise TooLargeError
            found.append(piece)
    if decoder is not None and received and not decoder.eof:
        raise CutOffError
    return b"".join(found)


def _inflated(decoder: zlib._Decompress, part: bytes) -> Iterator[bytes]:
    """Yield the decompressed content of a part, at most `_STEP_BYTES` at a time."""
    try:
        while part:
            yield decoder.decompress(part, _STEP_BYTES)
            part = decoder.unconsumed_tail
    except zlib.error:
        raise CutOffError from None
