"""Files, directories and standard input, and atomic writes of files."""

from __future__ import annotations

import codecs
import contextlib
import io
import itertools
import os
import re
import stat
import sys
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Optional, Union

from kubectl_spread.errors import SourceError
from kubectl_spread.text.glob import Globs, is_below, upwards
from kubectl_spread.text.source import SourceFile

EXTENSIONS = (".yaml", ".yml", ".json")
CONFIGS = (".kubectl-spread.yaml", ".kubectl-spread.yml")
_NO_MANIFESTS = frozenset({*CONFIGS, ".pre-commit-config.yaml", ".pre-commit-hooks.yaml"})
# A baseline, a policy, a topology or a report of this program; a snapshot may be the cluster of an answer.
_OWN = re.compile(
    r"""(?:\s|#.*\n|---)*(?:\{\s*)?"?apiVersion"?\s*:\s*"?kubectl-spread/v1"?[\s,]*"?kind"?\s*:\s*(?!"?Snapshot)\S"""
)
# Directories of tools, which hold no manifests of the repository; other hidden ones may.
OF_TOOLS = frozenset(
    f".{name}"
    for name in (
        *("bzr", "cache", "direnv", "eggs", "git", "gradle", "hg", "idea", "mypy_cache", "next", "nox", "npm"),
        *("pnpm-store", "pytest_cache", "ruff_cache", "svn", "terraform", "terragrunt-cache", "tox", "venv", "yarn"),
    )
)
# Inputs and expected outputs of tests, which are not applied. (`test` may be an environment.)
_OF_FIXTURES = r"(?:.*[-_])?tests|e2e|testdata|goldens?|__snapshots__|\.chainsaw-test|\.kyverno-test"
STDIN = "-"

_GZIP = b"\x1f\x8b"
_MAX_UNPACKED = 8 << 30  # bytes
MAX_DOCUMENT = 16 << 20  # bytes of a configuration, policy, baseline or topology that a setting names
_MAX_NAMED = 1 << 30  # bytes of a manifest or snapshot that a setting names
_MAX_PIPE = 1 << 30  # bytes of a pipe; of a device it is MAX_DOCUMENT
_STEP = 1 << 20  # bytes
_WRITER_S = 5.0  # s that a named pipe may be without a writer

_OTHER_ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class Input(NamedTuple):
    """An input text; `named` if the user named the file itself, not its directory.

    `is_file`: the text comes from a file, not from standard input or from another program. `is_fixture`: the file is an
    expected output of a test.
    """

    source: SourceFile
    named: bool
    is_file: bool = True
    is_fixture: bool = False


class Path(NamedTuple):
    """A path to read; `named` and `is_fixture` as in `Input`."""

    path: str
    named: bool
    is_fixture: bool = False


class Exclusion(NamedTuple):
    """Files and directories to skip; a path that the user named is only skipped if the exclusion `is_forced`.

    With a forced exclusion a program, such as pre-commit, has collected the paths. No file counts as named.
    """

    globs: tuple[Globs, ...] = ()
    is_forced: bool = False

    def covers(self, path: str, *, named: bool) -> bool:
        """Return whether to skip a path; standard input is never skipped."""
        return (self.is_forced or not named) and path != STDIN and any(globs.match(path) for globs in self.globs)


_NOTHING = Exclusion()


def inputs(
    paths: tuple[str, ...], *, recursive: bool, exclusion: Exclusion = _NOTHING, inside: Optional[str] = None
) -> Iterator[Union[Input, SourceError]]:
    """Yield every given file; an unreadable one is yielded as an error.

    `inside` is the directory that must contain the files, if a setting names the paths.
    """
    if inside is not None:
        refused = {path: error for path in paths if (error := outside(path, inside)) is not None}
        yield from refused.values()
        paths = tuple(path for path in paths if path not in refused)
    for found in files(paths, recursive=recursive, exclusion=exclusion):
        if isinstance(found, SourceError):
            yield found
            continue
        path, named, is_fixture = found
        try:
            source = read_text(path, inside=inside, max_bytes=_MAX_NAMED)
        except SourceError as error:
            is_refused = inside is not None and outside(path, inside) is not None
            error.is_aside = not named and not is_refused and _names_no_constraints(path)
            yield error
            continue
        if named or not is_own(source.text):
            yield Input(source, named, is_file=os.path.isfile(path), is_fixture=is_fixture and not named)


def files(
    paths: tuple[str, ...], *, recursive: bool, exclusion: Exclusion = _NOTHING
) -> Iterator[Union[Path, SourceError]]:
    """Yield the given files and the files in given directories, each once; an unreadable directory is an error."""
    named = {os.path.abspath(path) for path in paths if path != STDIN}
    seen = set()
    every = itertools.chain.from_iterable(
        _directory(path, recursive=recursive, exclusion=exclusion)
        if path != STDIN and os.path.isdir(path)
        else (Path(path, named=True),)
        for path in paths
        if not exclusion.covers(path, named=True)
    )
    for found in every:
        if isinstance(found, SourceError) or found.path == STDIN:
            yield found
        elif (where := os.path.abspath(found.path)) not in seen:
            seen.add(where)
            yield found._replace(named=where in named and not exclusion.is_forced)


def is_own(text: str) -> bool:
    """Return whether a text is a document of this program, so that it is no manifest."""
    return _OWN.match(text) is not None


def config_path(directory: str) -> Optional[str]:
    """Return the config of a directory or of the nearest parent directory; None if there is none.

    The search ends at the root of the repository or at the home directory.
    """
    home = os.path.expanduser("~")
    for here in upwards(directory):
        for name in CONFIGS:
            if os.path.isfile(os.path.join(here, name)):
                return os.path.relpath(os.path.join(here, name), directory)
        if here == home or os.path.exists(os.path.join(here, ".git")):
            break
    return None


def read_text(path: str, *, inside: Optional[str] = None, max_bytes: int = MAX_DOCUMENT) -> SourceFile:
    """Read one file, or standard input for `-`; gzip content is decompressed.

    Args:
        path: the file.
        inside: the directory that must contain it, after links are followed, if a setting names it.
        max_bytes: of a file that a setting names, also after it is decompressed.

    Raises:
        SourceError: as `read_bytes`, or the file is not UTF-8 text.
    """
    name = "<stdin>" if path == STDIN else path
    raw = read_bytes(path, inside=inside, max_bytes=max_bytes)
    most = _MAX_UNPACKED if inside is None else max_bytes
    return SourceFile(name, decode_text(name, decompress(name, raw, max_bytes=most)))


def read_bytes(path: str, *, inside: Optional[str] = None, max_bytes: int = MAX_DOCUMENT) -> bytes:
    """Read one file, or standard input for `-`, as bytes.

    A pipe or a device may never end. A setting, which may come with a stranger's repository, must not name one. The
    command line may (`/dev/stdin`, `<(helm template ...)`), and they are read up to a limit.

    Args:
        path: the file.
        inside: the directory that must contain it, if a setting names it.
        max_bytes: of a file that a setting names.

    Raises:
        SourceError: the file does not exist, may not be read, is outside of the directory, or too large.
    """
    name = "<stdin>" if path == STDIN else path
    if inside is not None and (refused := outside(path, inside)) is not None:
        raise refused
    if path == STDIN and sys.stdin is None:
        raise SourceError(name, "standard input is closed")
    try:
        with _opened(path) as file:
            mode = _mode(file)
            if inside is not None and not stat.S_ISREG(mode):
                raise SourceError(path, "not a regular file")
            if stat.S_ISREG(mode):
                most = None if inside is None else max_bytes
            else:
                is_pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
                most = _MAX_PIPE if is_pipe else MAX_DOCUMENT
                if path != STDIN and os.name != "nt":
                    _wait_for_writer(file, path, is_pipe=is_pipe)
            raw = file.read() if most is None else _read_at_most(file, most + 1)
    except FileNotFoundError:
        raise SourceError(name or '""', "the path does not exist") from None
    except OSError as error:
        raise SourceError(name, reason(error)) from None
    if most is not None and len(raw) > most:
        what = "" if stat.S_ISREG(mode) else "not a regular file, and "
        raise SourceError(name, f"{what}larger than {_size(most)}")
    return raw


def _read_at_most(file: BinaryIO, count: int) -> bytes:
    """Read up to a number of bytes. In one call, Python would allocate all of them first."""
    parts: list[bytes] = []
    while count and (part := file.read(min(count, _STEP))):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


@contextlib.contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """Open a file, or give standard input. Opening a named pipe does not wait for a writer."""
    if path == STDIN:
        yield sys.stdin.buffer
        return
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        yield file


def _wait_for_writer(file: BinaryIO, path: str, *, is_pipe: bool) -> None:
    """Let reads of a pipe or device wait for data. A named pipe must have a writer soon."""
    if is_pipe and not os.path.realpath(path).startswith(("/dev/", "/proc/")):
        import select  # few inputs are pipes

        if not select.select([file], [], [], _WRITER_S)[0]:
            raise SourceError(path, f"a pipe that no program writes to within {_WRITER_S:g} s")
    os.set_blocking(file.fileno(), True)


def _mode(file: BinaryIO) -> int:
    """Return the mode of an open file; that of a pipe for a stream without a descriptor."""
    try:
        return os.fstat(file.fileno()).st_mode
    except (OSError, AttributeError):
        return stat.S_IFIFO


def _size(count: int) -> str:
    return f"{count >> 30} GiB" if count >> 30 else f"{count >> 20} MiB"


def outside(path: str, inside: str) -> Optional[SourceError]:
    """Return the error of a path that is not in a directory, after links are followed."""
    root = os.path.realpath(inside)
    real = os.path.realpath(path)
    if path != STDIN and is_below(real, root):
        return None
    message = f"outside of {inside}: a setting may only name files in it; name this file on the command line"
    return SourceError(path, message)


def setting_root(directory: str) -> str:
    """Return the directory that must contain the files that a file in a directory names.

    This is the nearest directory upwards with a configuration or with `.git`; otherwise the directory itself.
    """
    for here in upwards(directory):
        if any(os.path.lexists(os.path.join(here, name)) for name in (*CONFIGS, ".git")):
            return here
        if here == os.path.expanduser("~"):
            break
    return os.path.abspath(directory)


def decompress(name: str, raw: bytes, *, max_bytes: int = _MAX_UNPACKED) -> bytes:
    """Return gzip content decompressed; other bytes are returned as the same object.

    Raises:
        SourceError: the content is damaged or too large.
    """
    if not raw.startswith(_GZIP):
        return raw
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            found = file.read(max_bytes + 1)
    except EOFError:
        raise SourceError(name, "not a whole gzip file: it ends too early") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(name, f"not a gzip file: {error}") from None
    if len(found) > max_bytes:
        raise SourceError(name, f"more than {_size(max_bytes)} when it is unpacked")
    return found


def decode_text(name: str, raw: bytes) -> str:
    """Return UTF-8 text without its byte order mark.

    Raises:
        SourceError: with the place of the first byte that is not text.
    """
    for mark, encoding in _OTHER_ENCODINGS.items():
        if raw.startswith(mark):
            raise SourceError(name, f"the file is {encoding}, not UTF-8", line=1, column=1)
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise _not_text(name, raw, error.start, f"not UTF-8: byte 0x{raw[error.start]:02x}") from None
    if "\0" in text:
        at = raw.index(b"\0")
        raise _not_text(name, raw, at, "not a text file: it holds a NUL byte")
    return text


def _not_text(name: str, raw: bytes, at: int, message: str) -> SourceError:
    line_start = raw.rfind(b"\n", 0, at) + 1
    column = len(raw[line_start:at].decode("utf-8", "replace")) + 1
    return SourceError(name, message, line=raw.count(b"\n", 0, at) + 1, column=column)


def _names_no_constraints(path: str) -> bool:
    """Return whether a file that is no text, or is no file, holds no constraints in any encoding."""
    try:
        with _opened(path) as file:
            return b"opologySpreadConstraints" not in file.read(_MAX_NAMED).replace(b"\0", b"")
    except OSError as error:
        return not isinstance(error, PermissionError)


def _directory(
    path: str, *, recursive: bool, exclusion: Exclusion, is_fixture: bool = False
) -> Iterator[Union[Path, SourceError]]:
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        yield SourceError(path, reason(error))
        return
    for name in names:
        place = os.path.join(path, name)
        is_directory = os.path.isdir(place)
        if not is_directory and (not name.endswith(EXTENSIONS) or name in _NO_MANIFESTS):
            continue
        # A link to a directory may lead back up.
        if is_directory and (not recursive or os.path.islink(place) or name in OF_TOOLS):
            continue
        if exclusion.covers(place, named=False):
            continue
        if is_directory:
            is_inside = is_fixture or re.fullmatch(_OF_FIXTURES, name) is not None
            yield from _directory(place, recursive=True, exclusion=exclusion, is_fixture=is_inside)
        elif os.path.isfile(place) or not os.path.exists(place):  # a pipe or a device may never end
            is_output = ".golden." in name or (".out." in name and name.replace(".out.", ".in.") in names)
            yield Path(place, named=False, is_fixture=is_fixture or is_output)


def reason(error: OSError) -> str:
    """Return the system's words for an error."""
    return (error.strerror or str(error)).lower()


_CHANGED = "not fixed: the file has changed since it was read"


def write(path: str, content: bytes, *, known: Optional[os.stat_result] = None) -> None:
    """Write a file atomically. It keeps its mode, and a symbolic link's target is written.

    A file that is no longer as `known` is left alone.

    Raises:
        SourceError: the file cannot be written, or has changed; its old content is unchanged.
    """
    target = os.path.realpath(path)
    draft = os.path.join(os.path.dirname(target), f".kubectl-spread-{os.urandom(4).hex()}")
    try:
        if path.startswith("/dev/") or (os.path.exists(target) and not os.path.isfile(target)):
            with open(path, "ab") as file:  # /dev/stdout may lead to a file that is not ours to replace
                file.write(content)
            return
        old = os.stat(target) if os.path.exists(target) else None
        mode = 0o600 if old else 0o666  # others never read the draft of a private file
        new = open(draft, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115 (closed below)
        try:
            with new:
                new.write(content)
                new.flush()
                os.fsync(new.fileno())
            if old:
                with contextlib.suppress(OSError, AttributeError):  # only root gives files away; not on Windows
                    os.chown(draft, old.st_uid, old.st_gid)
                os.chmod(draft, stat.S_IMODE(old.st_mode))
            if known is not None and _version(os.stat(path)) != _version(known):
                raise SourceError(path, _CHANGED)  # noqa: TRY301 (the draft is removed)
            os.replace(draft, target)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise SourceError(path, f"cannot be written: {reason(error)}") from None


def rewrite(source: SourceFile, text: str) -> None:
    """Write a new text to the file of a source; its byte order mark stays.

    Raises:
        SourceError: the file cannot be written, is compressed, or has changed since it was read; it is left unchanged.
    """
    try:
        known = os.stat(source.name)
    except OSError as error:
        raise SourceError(source.name, f"cannot be written: {reason(error)}") from None
    raw = read_bytes(source.name)
    if raw.startswith(_GZIP):
        raise SourceError(source.name, "not fixed: it is compressed")
    if decode_text(source.name, raw) != source.text:
        raise SourceError(source.name, _CHANGED)
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    write(source.name, mark + text.encode(), known=known)


def _version(state: os.stat_result) -> tuple[int, ...]:
    """Return what differs between two versions of a file."""
    return state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size
