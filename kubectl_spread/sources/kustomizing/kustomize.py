"""Output of kustomize for directories, from kubectl or else from kustomize itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Optional, Union

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.kustomization import FILE_NAMES
from kubectl_spread.sources.files import decode_text, Input, outside, read_setting
from kubectl_spread.text.compose import compose, Document
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import short

_COMMANDS = (("kubectl", "kustomize"), ("kustomize", "build"))
_MAX_LINES = 5  # Most lines of the program's error output.

_LOGGED = re.compile(r'[EF]\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] "command failed" err="(.*)"')

TIMEOUT_S = 60.0  # A remote base may have to be cloned.

# What kustomize downloads over HTTP, or has git or an OCI client download. Source: kubernetes-sigs/kustomize
# api/internal/git/repospec.go, NewRepoSpecFromURL; api/internal/loader/fileloader.go, IsRemoteFile. It looks for these
# forms before it looks for a local file of that name.
_REMOTE = re.compile(r"(?i)(?:git::|gh:|[a-z][a-z0-9+.-]*:/|[^/\s]*@|github\.com[:/])|[^\n]*(?:_git/|\.git(?:[/?]|\Z))")
# Fields of a kustomization that name no file.
_TEXTS = frozenset(
    """
    apiVersion buildMetadata commonAnnotations commonLabels images kind labels literals metadata namePrefix nameSuffix
    namespace options patch replicas sortOptions vars
    """.split()  # noqa: SIM905 (a list that is read as words)
)
_PLUGINS = frozenset({"generators", "transformers", "validators"})  # files that name further files
# A second line of defence: git has no protocol, and HTTP has a proxy that does not exist.
_OFFLINE = {
    "GIT_ALLOW_PROTOCOL": "none",
    **{name: "http://127.0.0.1:9" for proxy in ("http_proxy", "https_proxy") for name in (proxy, proxy.upper())},
    **dict.fromkeys(("no_proxy", "NO_PROXY"), ""),
}


def render_directories(
    directories: Iterable[str],
    *,
    inside: Optional[str] = None,
    allow_remote: bool = False,
    timeout_s: float = TIMEOUT_S,
) -> Iterator[Union[Input, SourceError]]:
    """Yield the rendered directories; a failure is yielded as an error.

    Args:
        directories: the kustomizations.
        inside: the directory that must contain them and their bases, if a scenario names them.
        allow_remote: whether kustomize may download bases and files.
        timeout_s: of each run of kustomize.
    """
    for directory in directories:
        name = f"{directory} (kustomize)"
        try:
            _check_references(directory, inside=inside, allow_remote=allow_remote)
            render = partial(_rendered, timeout_s=timeout_s, is_offline=not allow_remote)
            text = decode_text(name, render(directory, name))
            origins = partial(_origins, text, directory, render)
            yield Input(SourceFile(name, text, origins), named=True, is_file=False)
        except SourceError as error:
            yield error


def _check_references(directory: str, *, inside: Optional[str], allow_remote: bool) -> None:
    """Check a kustomization and all that it refers to.

    Raises:
        SourceError: it is outside of the directory `inside`, or kustomize would have to download it.
    """
    pending, seen = [(directory, "")], set()
    while pending:
        path, file = pending.pop()
        if not allow_remote and _REMOTE.match(path.strip()):
            what = "kustomize would download it" if not file else f"kustomize would download `{short(path)}`"
            raise SourceError(file or path, f"{what}; --allow-remote lets it")
        where = os.path.join(os.path.dirname(file), path)
        if "\n" in path or os.path.realpath(where) in seen:
            continue
        seen.add(os.path.realpath(where))
        if inside is not None and (error := outside(where, inside)) is not None:
            raise error
        if os.path.isdir(where):
            names = (os.path.join(where, name) for name in FILE_NAMES)
            pending += [(text, name) for name in names if os.path.isfile(name) for text in _references(name)]


def _references(file: str) -> Iterator[str]:
    """Yield the texts of a kustomization that may name files or directories."""
    try:
        documents = list(compose(read_setting(file, os.path.dirname(file) or ".")))
    except SourceError:
        return  # Kustomize will say what is wrong with it.
    for document in documents:
        plain = document.plain if isinstance(document, Document) else None
        yield from _texts(plain)
        if isinstance(plain, dict):
            for text in _texts([plain.get(field) for field in _PLUGINS]):
                yield from _references_of_plugin(text, file)


def _references_of_plugin(text: str, file: str) -> Iterator[str]:
    """Yield the texts of a generator or transformer, a file or inline, that may name files."""
    path = os.path.join(os.path.dirname(file), text)
    if "\n" not in text:
        if os.path.isfile(path):
            yield from _references(path)
        return
    for document in compose(SourceFile(file, text)):
        yield from _texts(document.plain if isinstance(document, Document) else None)


def _texts(plain: Any) -> Iterator[str]:
    """Yield the texts in a value, except in fields that name no file."""
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, list):
        for item in plain:
            yield from _texts(item)
    elif isinstance(plain, dict):
        for key, item in plain.items():
            if key not in _TEXTS:
                yield from _texts(item)


def _origins(text: str, directory: str, render: Callable[[str, str], bytes]) -> list[tuple[int, str]]:
    """Run kustomize again, for the files of the objects; only findings need them."""
    from kubectl_spread.sources.kustomizing.kustomize_origins import origins

    return origins(text, directory, lambda path: render(path, directory))


def _rendered(directory: str, name: str, *, timeout_s: float, is_offline: bool) -> bytes:
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
            [path, verb, "--", directory],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=timeout_s,
            env={**os.environ, **(_OFFLINE if is_offline else {})},
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
