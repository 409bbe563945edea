"""Files that we write: whole, or not at all."""

from __future__ import annotations

import codecs
import os
import tempfile

from kubectl_spread.errors import SourceError
from kubectl_spread.text.source import SourceFile


def write(path: str, text: str) -> None:
    """Put a text in a file; one that is there is replaced at once, and keeps its mode. A link's target is written.

    Raises:
        SourceError: the file cannot be written; what was there is as it was.
    """
    write_bytes(path, text.encode())


def write_bytes(path: str, content: bytes) -> None:
    """Put bytes in a file, as `write` does a text.

    Raises:
        SourceError: the file cannot be written; what was there is as it was.
    """
    target = os.path.realpath(path)
    if path.startswith("/dev/") or (os.path.exists(target) and not os.path.isfile(target)):
        _straight(path, content)  # a device or a pipe; /dev/stdout may lead to a file that is not ours to replace
        return
    try:
        mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else 0o666 & ~_umask()
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".kubectl-spread-")
    except OSError as error:
        raise _failed(path, error) from None
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(draft, mode)
        os.replace(draft, target)
    except OSError as error:
        os.unlink(draft)
        raise _failed(path, error) from None


def rewrite(source: SourceFile, text: str) -> None:
    """Put a new text in the file that a source was read from; a byte order mark stays.

    Raises:
        SourceError: the file cannot be written, or is not what was read any more; it is as it was.
    """
    from kubectl_spread.sources.files import read_text

    if read_text(source.name).text != source.text:
        raise SourceError(source.name, "not fixed: the file has changed since it was read")
    with open(source.name, "rb") as file:
        mark = file.read(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8)
    write(source.name, ("\ufeff" if mark else "") + text)


def _straight(path: str, content: bytes) -> None:
    try:
        with open(path, "ab") as file:
            file.write(content)
    except OSError as error:
        raise _failed(path, error) from None


def _failed(path: str, error: OSError) -> SourceError:
    return SourceError(path, f"cannot be written: {(error.strerror or str(error)).lower()}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
