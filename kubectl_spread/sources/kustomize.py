"""Kustomizations and charts around the files of a run, kustomize's output, and the origin of each object in it."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Optional, TYPE_CHECKING, Union

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.kustomization import FILE_NAMES, Kustomization, kustomization, patches_of
from kubectl_spread.objects.constraints.constraint_lists import may_hold
from kubectl_spread.objects.reading.plain import as_text, fields, value_at
from kubectl_spread.objects.workloads.manifest import objects_of
from kubectl_spread.sources.files import decode_text, Input, outside, read_text, reason
from kubectl_spread.sources.single_document import documents
from kubectl_spread.text import compose
from kubectl_spread.text.compose import Document
from kubectl_spread.text.glob import Globs, upwards
from kubectl_spread.text.source import SourceFile
from kubectl_spread.text.wording import short

if TYPE_CHECKING:
    from kubectl_spread.lint.outside import Chart
    from kubectl_spread.lint.roots import RootRules
    from kubectl_spread.lint.selection import Config

_COMMANDS = (("kubectl", "kustomize"), ("kustomize", "build"))
_MAX_LINES = 5  # Most lines of the program's error output.

# kubectl logs its own failure as `E1121 17:19:32.1 3589 run.go:72] "command failed" err="..."`.
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
) -> Iterator[Union[Input, SourceError]]:
    """Yield the rendered directories; a failure is yielded as an error.

    Args:
        directories: the kustomizations.
        inside: the directory that must contain them and their bases, if a scenario names them.
        allow_remote: whether kustomize may download bases and files.
    """
    for directory in directories:
        name = f"{directory} (kustomize)"
        try:
            _check_references(directory, inside=inside, allow_remote=allow_remote)
            render = partial(_rendered, is_offline=not allow_remote)
            text = decode_text(name, render(directory, name))
            find_origins = partial(_origins, text, directory, render)  # only findings need them
            yield Input(SourceFile(name, text, find_origins), named=True, is_file=False)
        except SourceError as error:
            yield error


def _check_references(directory: str, *, inside: Optional[str], allow_remote: bool) -> None:
    """Check a kustomization and all that it refers to.

    Raises:
        SourceError: it is outside of the directory `inside`, or kustomize would have to download it.
    """
    pending, seen, known = [(directory, "")], set[str](), set[str]()
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
            pending += [(text, name) for name in names if os.path.isfile(name) for text in _references(name, known)]


def _references(file: str, known: set[str]) -> Iterator[str]:
    """Yield the texts of a kustomization, generator or transformer that may name files, unless its file is known."""
    if os.path.realpath(file) in known:
        return
    known.add(os.path.realpath(file))
    with contextlib.suppress(SourceError):  # Kustomize will say what is wrong with it.
        yield from _references_in(read_text(file, inside=os.path.dirname(file) or "."), known)


def _references_in(source: SourceFile, known: set[str]) -> Iterator[str]:
    for document in compose.documents(source):
        plain = document.plain
        yield from _texts(plain)
        for text in _texts([fields(plain).get(field) for field in _PLUGINS]):
            path = os.path.join(os.path.dirname(source.name), text)
            if "\n" in text:
                yield from _references_in(SourceFile(source.name, text), known)
            elif os.path.isfile(path):
                yield from _references(path, known)


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


def _rendered(directory: str, name: str, *, is_offline: bool) -> bytes:
    """Return the output of the first installed program.

    Raises:
        SourceError: neither is installed, or the program fails or takes too long.
    """
    import shutil
    import subprocess  # 5 ms

    program, verb = next((command for command in _COMMANDS if shutil.which(command[0])), ("", ""))
    path = shutil.which(program)
    if path is None:
        raise SourceError(name, "neither kubectl nor kustomize is installed, and -k needs one of them")
    said = f"{program} {verb}"
    try:
        done = subprocess.run(  # noqa: S603 (the user's own program)
            [path, verb, "--", directory],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_S,
            env={**os.environ, **(_OFFLINE if is_offline else {})},
        )
    except subprocess.TimeoutExpired:
        raise SourceError(name, f"{said} took longer than {TIMEOUT_S:g} s") from None
    except OSError as error:
        raise SourceError(name, f"{said} does not start: {reason(error)}") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        for at, line in enumerate(lines):
            logged = _LOGGED.fullmatch(line)
            if logged is not None:
                lines[at] = logged[1].replace('\\"', '"')
        why = "; ".join(lines[-_MAX_LINES:]) or "it gave no reason"
        raise SourceError(name, f"{said} failed with exit code {done.returncode}: {why}")
    return done.stdout


_KINDS = ("", "Kustomization", "Component")


def kustomizations(sources: Iterable[SourceFile]) -> dict[str, Kustomization]:
    """Return the kustomizations by the absolute path of their directory.

    A kustomization file is read if it is among the sources, or if a source is in the same directory.
    """
    texts = {source.path: source for source in sources}
    found = {}
    for directory in dict.fromkeys(map(os.path.dirname, texts)):
        for name in FILE_NAMES:
            parts = _documents(os.path.join(directory, name), texts, directory)
            if parts is not None:
                first = parts[0] if parts and isinstance(parts[0].plain, dict) else None
                plain = {} if first is None else first.plain
                if plain.get("kind", "") in _KINDS:
                    readable = {}
                    for patch in patches_of(directory, plain):
                        path, inline = patch.path, patch.inline
                        held = _documents(path, texts, directory) if path else _parsed(SourceFile("", inline))
                        if held is not None:
                            readable[path or inline] = held
                    found[directory] = kustomization(directory, first, readable)
                break
    return found


def _documents(path: str, texts: Mapping[str, SourceFile], inside: str) -> Optional[list[Document]]:
    """Return the documents of a file; None if it cannot be read."""
    if path in texts:
        return _parsed(texts[path])
    if not os.path.isfile(path):
        return None
    try:
        here = os.path.join(os.getcwd(), "")
        return _parsed(read_text(path.removeprefix(here), inside=inside))  # findings may name it
    except SourceError:
        return None


def _parsed(source: SourceFile) -> Optional[list[Document]]:
    try:
        return list(documents(source))
    except SourceError:
        return None


_ANNOTATION = "config.kubernetes.io/origin"
_KUSTOMIZATION = "resources:\n- {}\nbuildMetadata: [originAnnotations]\n"
_FIELD = re.compile(r"^(path|repo|ref|configuredIn): (.*)$", re.MULTILINE)


_Key = tuple[str, str, str, str]  # apiVersion, kind, namespace and name of an object in a rendered stream


def _origins(text: str, directory: str, render: Callable[[str, str], bytes]) -> list[tuple[int, str]]:
    """Return the start of each object in a rendered text, with its file and line.

    `buildMetadata: [originAnnotations]` in a kustomization makes kustomize annotate each object with its file. The
    user's kustomization need not contain it: a temporary kustomization does, with the user's as its only resource.
    The list is empty if kustomize does not report origins.
    """
    import tempfile  # 5 ms

    if not os.path.isdir(directory):
        return []
    with tempfile.TemporaryDirectory(prefix="kubectl-spread-") as temporary:
        base = os.path.realpath(temporary)
        try:
            resource = os.path.relpath(os.path.realpath(directory), base)
            with open(os.path.join(base, "kustomization.yaml"), "w", encoding="utf-8") as file:
                file.write(_KUSTOMIZATION.format(resource))
            rendered = decode_text(directory, render(base, directory))
        except (SourceError, OSError, ValueError):  # Kustomize is too old, or the path is on another drive.
            return []
    by_key = {
        key: {match[1]: match[2].strip() for match in _FIELD.finditer(annotation)}
        for key, _, annotation in _objects(rendered)
        if annotation
    }
    known: dict[str, list[tuple[_Key, int]]] = {}
    return [(start, _described(by_key.get(key, {}), key, base=base, known=known)) for key, start, _ in _objects(text)]


def _objects(text: str) -> Iterator[tuple[_Key, int, str]]:
    """Yield the key of each object of a text, its start and its annotation."""
    for manifest in objects_of(SourceFile("", text)):
        annotation = value_at(manifest.plain, ("metadata", "annotations", _ANNOTATION))
        node = manifest.document.follow(manifest.route)
        key = (manifest.api_version, manifest.kind, manifest.namespace, manifest.name)
        yield key, 0 if node is None else node.start, as_text(annotation)


def _described(origin: dict[str, str], key: _Key, *, base: str, known: dict[str, list[tuple[_Key, int]]]) -> str:
    """Return `base/web.yaml:8`; a file of another repository has no line, a generated object its kustomization's."""
    path = origin.get("path") or origin.get("configuredIn", "")
    if not path:
        return ""
    if "repo" in origin:
        ref = f"?ref={origin['ref']}" if "ref" in origin else ""
        return f"{origin['repo']}//{path}{ref}"
    name = os.path.relpath(os.path.join(base, path))
    if "path" not in origin:
        return name
    if name not in known:
        known[name] = []
        with contextlib.suppress(SourceError):
            source = read_text(name, inside=os.path.dirname(name) or ".")
            known[name] = [(key, source.position(start).line) for key, start, _ in _objects(source.text)]
    line = _line(known[name], key)
    return f"{name}:{line}" if line else name


def _line(written: list[tuple[_Key, int]], key: _Key) -> int:
    """Return the line of an object, whose name may have got a prefix and a suffix; 0 if it is uncertain."""
    version, kind, _, name = key
    alike = [(other[3], line) for other, line in written if other[:2] == (version, kind)]
    same = [line for other, line in alike if other == name]
    within = [line for other, line in alike if other and other in name]
    for lines in (same, within, [line for _, line in alike]):
        if len(lines) == 1:
            return lines[0]
    return 0


def root_rules(
    sources: Sequence[SourceFile], config: Config, *, directories: Iterable[str] = (), texts: Iterable[str] = ()
) -> RootRules:
    """Return the rules for the roots of a run.

    Args:
        sources: the texts of the run.
        config: its `roots`.
        directories: named on the command line.
        texts: the names of sources that are not files.
    """
    from kubectl_spread.lint.roots import RootRules

    rendered = frozenset(texts)
    return RootRules(
        tuple(map(os.path.abspath, directories)),
        tuple(Globs(config.root, (pattern,)) for pattern in config.roots),
        rendered,
        kustomizations(source for source in sources if source.name not in rendered),
        _charts(source for source in sources if source.name not in rendered and may_hold(source.text)),
    )


_CHART_FILE = "Chart.yaml"
_LEVELS_BELOW = 3  # of values below the directory of their chart: `ci/values.yaml`
_LARGEST_TEMPLATE = 1 << 20  # bytes


def _charts(sources: Iterable[SourceFile]) -> dict[str, Chart]:
    """Return the charts that the sources may be values of, by the directories of the sources."""
    found: dict[str, Chart] = {}
    read: dict[str, Optional[Chart]] = {}
    for directory in dict.fromkeys(os.path.dirname(source.path) for source in sources):
        for root in itertools.islice(upwards(directory), _LEVELS_BELOW):
            if os.path.isfile(os.path.join(root, _CHART_FILE)):
                if root not in read:
                    read[root] = _chart(root)
                if (chart := read[root]) is not None:
                    found[directory] = chart
                break
    return found


def _chart(root: str) -> Optional[Chart]:
    """Return the chart in a directory, with the charts inside it; None if no template names constraints."""
    from kubectl_spread.lint.outside import Chart

    texts = []
    for directory, _, names in os.walk(root):
        inside = os.path.relpath(directory, root).split(os.sep)
        for name in names if "templates" in inside else ():
            path = os.path.join(directory, name)
            if os.path.isfile(path) and os.path.getsize(path) <= _LARGEST_TEMPLATE:
                with contextlib.suppress(SourceError):
                    texts.append(read_text(path, inside=root).text)
    templates = tuple(text for text in texts if "opologySpread" in text)
    return Chart(templates) if templates else None
