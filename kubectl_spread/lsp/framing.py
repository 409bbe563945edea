"""The stream of messages from a client: `Content-Length: N`, an empty line, and N bytes.

pygls skips a header that it does not understand, and then reads the message itself as headers. Everything after that is
lost without an error. Here an invalid header ends the connection instead.
"""

from __future__ import annotations

import re
from typing import BinaryIO

MOST_BYTES = 1 << 30  # of one message; no editor opens such a file
_LONGEST = 1 << 13  # bytes of a header line

_HEADER = re.compile(rb"(?P<name>[A-Za-z][A-Za-z0-9-]*):[ \t]*(?P<value>[^\r\n]*?)[ \t]*\r?\n")
_LENGTH = re.compile(rb"[0-9]{1,10}")
_SHOWN = 40  # characters of an invalid header


class FramedInput:
    """Standard input as pygls reads it; `problem` is the client's error that ended it, if any."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.problem = ""

    def readline(self) -> bytes:
        """Return the next header line, or an empty one at the end."""
        line = self._stream.readline(_LONGEST)
        if not line.strip():
            return line
        header = _HEADER.fullmatch(line)
        if header is None:
            return self._end(f"not a header of a message: {_shown(line)}")
        if header["name"].lower() != b"content-length":
            return line
        if not _LENGTH.fullmatch(header["value"]) or int(header["value"]) > MOST_BYTES:
            return self._end(f"not a length of a message: Content-Length: {_shown(header['value'])}")
        return b"Content-Length: %d\r\n" % int(header["value"])

    def read(self, size: int) -> bytes:
        """Return a message of this size, or empty bytes if the client disconnected."""
        body = self._stream.read(size)
        if len(body) < size:
            return self._end(f"the client ended in the middle of a message, after {len(body)} of {size} bytes")
        return body

    def _end(self, problem: str) -> bytes:
        self.problem = problem
        return b""


def _shown(text: bytes) -> str:
    """Return text for people: escaped, and no more than a few characters."""
    shown = text.rstrip(b"\r\n").decode("latin-1").encode("unicode_escape").decode()
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
