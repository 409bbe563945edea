"""Atomic writes of files."""

from __future__ import annotations

import codecs
import contextlib
import os
import platform
import stat
import tempfile
from typing import Optional

from kubectl_spread.errors import SourceError
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
    if path.startswith("/dev/") or (os.path.exists(target) and not os.path.isfile(target)):
        _straight(path, content)  # a device or a pipe; /dev/stdout may lead to a file that is not ours to replace
        return
    try:
        old = os.stat(target) if os.path.exists(target) else None
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(target), prefix=_draft_prefix(os.getpid()))
    except OSError as error:
        raise _failed(path, error) from None
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if old is None:
            os.chmod(draft, 0o666 & ~_umask())
        else:
            _keep(path, old, target=target, draft=draft)
        if known is not None:
            _check_version(path, known)  # once more, after the draft is written
        os.replace(draft, target)
    except OSError as error:
        os.unlink(draft)
        raise _failed(path, error) from None
    except BaseException:  # a signal, or an attribute that cannot be kept
        os.unlink(draft)
        raise
    _sync_directory(os.path.dirname(target))


def remove_drafts(directory: str) -> None:
    """Remove the draft files of runs that were killed."""
    try:
        names = [entry.name for entry in os.scandir(directory) if entry.name.startswith(_draft_prefix(None))]
    except OSError:
        return
    for name in names:
        pid = name.removeprefix(_draft_prefix(None)).partition("-")[0]
        if pid.isdigit() and not _runs(int(pid)):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(directory, name))


def rewrite(source: SourceFile, text: str) -> None:
    """Write a new text to the file of a source; its byte order mark and its compression stay.

    Raises:
        SourceError: the file cannot be written, or has changed since it was read; it is left unchanged.
    """
    from kubectl_spread.sources import files

    try:
        state = os.stat(source.name)
    except OSError as error:
        raise _failed(source.name, error) from None
    if not stat.S_ISREG(state.st_mode):
        raise SourceError(source.name, "not fixed: it is not a regular file")
    if state.st_nlink > 1:
        raise SourceError(
            source.name, f"not fixed: it has {state.st_nlink} hard links, which a new file would separate"
        )
    raw = files.read_bytes(source.name)
    unpacked = files.decompress(source.name, raw)
    if files.decode_text(source.name, unpacked) != source.text:
        raise SourceError(source.name, _CHANGED)
    content = (codecs.BOM_UTF8 if unpacked.startswith(codecs.BOM_UTF8) else b"") + text.encode()
    write_bytes(source.name, content if unpacked is raw else _packed(content), known=state)


def _check_version(path: str, known: os.stat_result) -> None:
    """Raise SourceError if a file is no longer as it was."""
    if _version(os.stat(path)) != _version(known):
        raise SourceError(path, _CHANGED)


def _version(state: os.stat_result) -> tuple[int, ...]:
    """Return what differs between two versions of a file."""
    return state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size


def _packed(content: bytes) -> bytes:
    import gzip

    return gzip.compress(content, mtime=0)


def _keep(path: str, old: os.stat_result, *, target: str, draft: str) -> None:
    """Give a draft the owner, the mode and the extended attributes of the file that it replaces.

    Raises:
        SourceError: one of them cannot be kept.
    """
    new = os.stat(draft)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) and hasattr(os, "chown"):
        try:
            os.chown(draft, old.st_uid, old.st_gid)
        except OSError:
            message = f"not written: its owner ({old.st_uid}:{old.st_gid}) cannot be kept"
            raise SourceError(path, message) from None
    os.chmod(draft, old.st_mode & 0o7777)  # after chown, which clears some bits
    for name in _attributes(target):
        value = os.getxattr(target, name)
        try:
            if name not in _attributes(draft) or os.getxattr(draft, name) != value:
                os.setxattr(draft, name, value)
        except OSError:
            raise SourceError(path, f"not written: its extended attribute {name} cannot be kept") from None


def _attributes(path: str) -> list[str]:
    """Return the names of extended attributes; none if the system or the file system has none."""
    if not hasattr(os, "listxattr"):
        return []
    try:
        return os.listxattr(path)
    except OSError:
        return []


def _sync_directory(directory: str) -> None:
    """Make a rename durable; not every file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _draft_prefix(pid: Optional[int]) -> str:
    """Return the name prefix of draft files: machine and process, so that the next run recognizes leftovers."""
    machine = "".join(char for char in platform.node() if char.isalnum())
    return f".kubectl-spread-{machine}-" + ("" if pid is None else f"{pid}-")


def _runs(pid: int) -> bool:
    if os.name == "nt":
        return True  # signal 0 is Ctrl+C there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


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
