"""Atomic writes of files."""

from __future__ import annotations

import codecs
import contextlib
import os
import tempfile
from typing import Optional

from kubectl_spread.errors import SourceError
from kubectl_spread.sources import files
from kubectl_spread.text.source import SourceFile

_CHANGED = "not fixed: the file has changed since it was read"


def write(path: str, text: str) -> None:
    """Write a text to a file atomically. An existing file keeps its mode, and a symbolic link's target is written.

    Raises:
        SourceError: the file cannot be written; its old content is unchanged.
    """
    write_bytes(path, text.encode())


def write_bytes(path: str, content: bytes, *, known: Optional[os.stat_result] = None) -> None:
    """Write bytes to a file, like `write`. A file that is no longer as `known` is left alone.

    Raises:
        SourceError: the file cannot be written, or has changed; its old content is unchanged.
    """
    target = os.path.realpath(path)
    try:
        if path.startswith("/dev/") or (os.path.exists(target) and not os.path.isfile(target)):
            with open(path, "ab") as file:  # /dev/stdout may lead to a file that is not ours to replace
                file.write(content)
            return
        old = os.stat(target) if os.path.exists(target) else None
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".kubectl-spread-")
        try:
            with open(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if old is not None:
                with contextlib.suppress(OSError, AttributeError):  # only root gives files away; not on Windows
                    os.chown(draft, old.st_uid, old.st_gid)
            os.chmod(draft, 0o666 & ~_umask() if old is None else old.st_mode & 0o7777)
            if known is not None and _version(os.stat(path)) != _version(known):
                raise SourceError(path, _CHANGED)  # noqa: TRY301 (the draft is removed)
            os.replace(draft, target)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise SourceError(path, f"cannot be written: {(error.strerror or str(error)).lower()}") from None


def rewrite(source: SourceFile, text: str) -> None:
    """Write a new text to the file of a source; its byte order mark stays.

    Raises:
        SourceError: the file cannot be written, is compressed, or has changed since it was read; it is left unchanged.
    """
    try:
        state = os.stat(source.name)
    except OSError as error:
        raise SourceError(source.name, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    raw = files.read_bytes(source.name)
    if files.decompress(source.name, raw) is not raw:
        raise SourceError(source.name, "not fixed: it is compressed")
    if files.decode_text(source.name, raw) != source.text:
        raise SourceError(source.name, _CHANGED)
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    write_bytes(source.name, mark + text.encode(), known=state)


def _version(state: os.stat_result) -> tuple[int, ...]:
    """Return what differs between two versions of a file."""
    return state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
