"""Output of kustomize for directories, from kubectl or else from kustomize itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Union

from kubectl_spread.errors import SourceError
from kubectl_spread.sources.files import decode_text, Input
from kubectl_spread.text.source import SourceFile

_COMMANDS = (("kubectl", "kustomize"), ("kustomize", "build"))
_MAX_LINES = 5  # Most lines of the program's error output.

_LOGGED = re.compile(r'[EF]\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] "command failed" err="(.*)"')

TIMEOUT_S = 60.0  # A remote base may have to be cloned.


def render_directories(
    directories: Iterable[str], *, timeout_s: float = TIMEOUT_S
) -> Iterator[Union[Input, SourceError]]:
    """Yield the rendered directories; a failure is yielded as an error."""
    for directory in directories:
        name = f"{directory} (kustomize)"
        try:
            text = decode_text(name, _rendered(directory, name, timeout_s=timeout_s))
            origins = partial(_origins, text, directory, timeout_s=timeout_s)
            yield Input(SourceFile(name, text, origins), named=True, is_file=False)
        except SourceError as error:
            yield error


def _origins(text: str, directory: str, *, timeout_s: float) -> list[tuple[int, str]]:
    """Run kustomize again, for the files of the objects; only findings need them."""
    from kubectl_spread.sources.kustomizing.kustomize_origins import origins

    return origins(text, directory, lambda path: _rendered(path, directory, timeout_s=timeout_s))


def _rendered(directory: str, name: str, *, timeout_s: float) -> bytes:
    """Return the output of the first installed program.

    Raises:
        SourceError: neither is installed, or the program fails or takes too long.
    """
    program, verb = next((command for command in _COMMANDS if shutil.which(command[0])), ("", ""))
    path = shutil.which(program) if program else None
    if path is None:
        raise SourceError(name, "neither kubectl nor kustomize is installed, and -k needs one of them")
    said = f"{program} {verb}"
    try:
        done = subprocess.run(  # noqa: S603 (the user's own program)
            [path, verb, "--", directory], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=timeout_s
        )
    except subprocess.TimeoutExpired:
        raise SourceError(name, f"{said} took longer than {timeout_s:g} s") from None
    except OSError as error:
        raise SourceError(name, f"{said} does not start: {(error.strerror or str(error)).lower()}") from None
    if done.returncode:
        raise SourceError(name, f"{said} failed with exit code {done.returncode}: {_complaint(done.stderr)}")
    return done.stdout


def _complaint(stderr: bytes) -> str:
    """Return the last lines of a program's error output as one line."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return "; ".join(_without_log_head(line) for line in lines[-_MAX_LINES:]) or "it gave no reason"


def _without_log_head(line: str) -> str:
    """Return kubectl's error message without its log prefix.

    It logs its own failure as `E1121 17:19:32.1 3589 run.go:72] "command failed" err="..."`.
    """
    found = _LOGGED.fullmatch(line)
    return found[1].replace('\\"', '"') if found else line
