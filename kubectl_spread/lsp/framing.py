"""The stream of messages from a client: `Content-Length: N`, an empty line, and N bytes.

pygls skips a header that it does not understand, and then reads the message itself as headers. Everything after that is
lost without an error. Here an invalid header ends the connection instead. A message that is not JSON is refused by
itself, because the next one begins after its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import BinaryIO

from kubectl_spread.lsp.refusal import escape_for_display, Refusal, refusal_of

MOST_BYTES = 1 << 30  # of one message; no editor opens such a file
_LONGEST = 1 << 13  # bytes of a header line

_HEADER = re.compile(rb"(?P<name>[A-Za-z][A-Za-z0-9-]*):[ \t]*(?P<value>[^\r\n]*?)[ \t]*\r?\n")
_LENGTH = re.compile(rb"[0-9]{1,10}")


class FramedInput:
    """Standard input as pygls reads it.

    `problem` is the client's error that ended it, if any. `refuse` gets the reason for each message that is skipped.
    """

    def __init__(self, stream: BinaryIO, refuse: Callable[[Refusal], None]) -> None:
        self._stream = stream
        self._refuse = refuse
        self._length = 0
        self.problem = ""

    def readline(self) -> bytes:
        """Return the next header line, or an empty one at the end."""
        line = self._stream.readline(_LONGEST)
        if not line.strip():
            return line
        header = _HEADER.fullmatch(line)
        if header is None:
            return self._end(f"not a header of a message: {escape_for_display(line)}")
        if header["name"].lower() != b"content-length":
            return line
        if not _LENGTH.fullmatch(header["value"]) or int(header["value"]) > MOST_BYTES:
            return self._end(f"not a length of a message: Content-Length: {escape_for_display(header['value'])}")
        self._length = int(header["value"])
        return b"Content-Length: %d\r\n" % self._length

    def read(self, size: int) -> bytes:
        """Return the message of this size, or the next one in order; empty bytes if the client disconnected."""
        body = self._body(size)
        while body and (refusal := refusal_of(body)) is not None:
            self._refuse(refusal)
            body = self._body(self._next_length())
        return body

    def _body(self, size: int) -> bytes:
        body = self._stream.read(size) if size else b""
        if len(body) < size:
            return self._end(f"the client ended in the middle of a message, after {len(body)} of {size} bytes")
        return body

    def _next_length(self) -> int:
        """Read the headers of the next message, and return its length; 0 at the end."""
        self._length = 0
        while line := self.readline():
            if not line.strip() and self._length:
                return self._length
        return 0

    def _end(self, problem: str) -> bytes:
        self.problem = problem
        return b""
