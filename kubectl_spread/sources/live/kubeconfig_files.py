"""Kubeconfig files, merged like kubectl's: for each name, the first file that has it wins.

Source: k8s.io/client-go/tools/clientcmd, loader.go (Load) (v0.36.2).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from kubectl_spread.errors import ClusterError, SourceError
from kubectl_spread.objects.reading import decode
from kubectl_spread.sources import files
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.node import Route
from kubectl_spread.text.source import SourceFile

Plain = dict[str, Any]

_STRING, _STRINGS = decode.Atom.STRING, decode.ListOf(decode.Atom.STRING)
_CLUSTER = decode.Struct(
    "Cluster",
    {
        "server": _STRING,
        "tls-server-name": _STRING,
        "insecure-skip-tls-verify": decode.Atom.BOOL,
        "certificate-authority": _STRING,
        "certificate-authority-data": _STRING,
        "proxy-url": _STRING,
        "disable-compression": decode.Atom.BOOL,
    },
)
_EXEC = decode.Struct(
    "ExecConfig",
    {
        "command": _STRING,
        "args": _STRINGS,
        "env": decode.ListOf(decode.Struct("ExecEnvVar", {"name": _STRING, "value": _STRING})),
        "apiVersion": _STRING,
        "installHint": _STRING,
        "provideClusterInfo": decode.Atom.BOOL,
    },
)
_USER = decode.Struct(
    "AuthInfo",
    {
        "client-certificate": _STRING,
        "client-certificate-data": _STRING,
        "client-key": _STRING,
        "client-key-data": _STRING,
        "token": _STRING,
        "tokenFile": _STRING,
        "as": _STRING,
        "as-uid": _STRING,
        "as-groups": _STRINGS,
        "as-user-extra": decode.MapOf(_STRINGS),
        "username": _STRING,
        "password": _STRING,
        "auth-provider": decode.Struct("AuthProviderConfig", {"name": _STRING, "config": decode.MapOf(_STRING)}),
        "exec": _EXEC,
    },
)
_CONTEXT = decode.Struct("Context", {"cluster": _STRING, "user": _STRING, "namespace": _STRING})


def _named(name: str, key: str, shape: decode.Struct) -> decode.ListOf:
    return decode.ListOf(decode.Struct(name, {"name": _STRING, key: shape}))


_CONFIG = decode.Struct(
    "Config",
    {
        "kind": _STRING,
        "apiVersion": _STRING,
        "current-context": _STRING,
        "clusters": _named("NamedCluster", "cluster", _CLUSTER),
        "users": _named("NamedAuthInfo", "user", _USER),
        "contexts": _named("NamedContext", "context", _CONTEXT),
    },
)
_SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}


class Entry(NamedTuple):
    """A cluster, user or context, with its place in a file."""

    plain: Plain
    file: Optional[File]
    route: Route

    def error(self, key: str, message: str) -> Exception:
        """Return an error about one of its fields."""
        return ClusterError(message) if self.file is None else self.file.error((*self.route, key), message)


class File(NamedTuple):
    """One kubeconfig file."""

    source: SourceFile
    document: compose.Document
    plain: Plain

    def error(self, route: Route, message: str) -> SourceError:
        line, column = self.source.position(nodes.place(self.document.root, route).start)
        return SourceError(self.source.name, message, line=line, column=column)


class MergedFiles(NamedTuple):
    """The entries of all files by section and name."""

    paths: tuple[str, ...]  # the files that were read
    current: str
    clusters: dict[str, Entry]
    users: dict[str, Entry]
    contexts: dict[str, Entry]

    def entry(self, section: str, name: str) -> Optional[Entry]:
        found: dict[str, Entry] = getattr(self, section)
        return found.get(name)


def names(explicit: Optional[str], section: str) -> list[str]:
    """Return the names in one section of the kubeconfig files: `contexts`, `clusters` or `users`.

    Raises:
        SourceError: a kubeconfig cannot be read.
    """
    merged = merge_files(paths_of(explicit), is_explicit=explicit is not None)
    entries: dict[str, Entry] = getattr(merged, section)
    return sorted(entries)


def paths_of(explicit: Optional[str]) -> list[str]:
    """Return the paths of --kubeconfig, else of KUBECONFIG, else the default path."""
    if explicit is not None:
        return [explicit]
    listed = [path for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    return listed or [os.path.join(os.path.expanduser("~"), ".kube", "config")]


def merge_files(paths: Iterable[str], *, is_explicit: bool) -> MergedFiles:
    """Merge the files: for each name, the first file that has it wins. Missing files are skipped."""
    merged = MergedFiles((), "", {}, {}, {})
    for path in dict.fromkeys(paths):
        if not is_explicit and not os.path.exists(path):
            continue
        file = _read(path)
        merged = merged._replace(paths=(*merged.paths, path))
        if file is None:
            continue
        merged = merged._replace(current=merged.current or str(file.plain.get("current-context") or ""))
        for section, key in _SECTIONS.items():
            _take(file, section, key, getattr(merged, section))
    return merged


def _take(file: File, section: str, key: str, into: dict[str, Entry]) -> None:
    seen: set[str] = set()
    for index, item in enumerate(file.plain.get(section) or ()):
        name = str((item or {}).get("name") or "")
        if name in seen:
            raise file.error((section, index, "name"), f"{section} has two of the name `{name}`")
        seen.add(name)
        route = (section, index, key)
        into.setdefault(name, Entry((item or {}).get(key) or {}, file, route))


def _read(path: str) -> Optional[File]:
    """Return a file's content; None if it is empty."""
    source = files.read_text(path)
    for found in compose.compose(source):
        if isinstance(found, compose.SyntaxProblem):
            line, column = source.position(found.span.start)
            raise SourceError(path, found.sentence, line=line, column=column)
        plain = found.plain
        if plain is None:
            continue
        file = File(source, found, plain)
        if not isinstance(plain, dict):
            raise file.error((), "not a kubeconfig: it is not a mapping")
        for problem in decode.problems(plain, _CONFIG):
            if problem.kind is decode.ProblemKind.TYPE:
                raise file.error(problem.route, decode.problem_text(problem))
        return file
    return None
