"""Origin files of rendered objects, as kustomize reports them.

`buildMetadata: [originAnnotations]` in a kustomization makes kustomize annotate each object with its file. The user's
kustomization need not contain it: a temporary kustomization does, with the user's as its only resource.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, Optional

from kubectl_spread.errors import SourceError
from kubectl_spread.objects.workloads.manifest import manifests
from kubectl_spread.sources import files
from kubectl_spread.text import compose
from kubectl_spread.text import node as nodes
from kubectl_spread.text.source import SourceFile

Origins = list[tuple[int, str]]  # Start of each object in the rendered text, with its file and line.

_ANNOTATION = "config.kubernetes.io/origin"
_KUSTOMIZATION = "resources:\n- {}\nbuildMetadata: [originAnnotations]\n"
_FIELD = re.compile(r"^(path|repo|ref|configuredIn): (.*)$", re.MULTILINE)


class _Key(NamedTuple):
    """Identity of an object in a rendered stream."""

    api_version: str
    kind: str
    namespace: str
    name: str


def origins(text: str, directory: str, render: Callable[[str], bytes]) -> Origins:
    """Return the origin of each object in a rendered text; empty if kustomize does not report origins.

    Args:
        text: rendered output of the directory.
        directory: the user's.
        render: renders a directory; may raise a SourceError.
    """
    annotated = _annotated(directory, render)
    if annotated is None:
        return []
    base, rendered = annotated
    by_key = {key: _fields(annotation) for key, _, annotation in _objects(rendered) if annotation}
    known: dict[str, list[tuple[_Key, int]]] = {}
    return [(start, _described(by_key.get(key, {}), key, base=base, known=known)) for key, start, _ in _objects(text)]


def _annotated(directory: str, render: Callable[[str], bytes]) -> Optional[tuple[str, str]]:
    """Return the base directory of origin paths, and the rendered text with annotations."""
    import tempfile  # 5 ms

    if not os.path.isdir(directory):
        return None
    with tempfile.TemporaryDirectory(prefix="kubectl-spread-") as temporary:
        base = os.path.realpath(temporary)
        try:
            resource = os.path.relpath(os.path.realpath(directory), base)
            with open(os.path.join(base, "kustomization.yaml"), "w", encoding="utf-8") as file:
                file.write(_KUSTOMIZATION.format(resource))
            return base, files.decode_text(directory, render(base))
        except (SourceError, OSError, ValueError):  # Kustomize is too old, or the path is on another drive.
            return None


def _objects(text: str) -> Iterator[tuple[_Key, int, str]]:
    """Yield the key of each object of a text, its start and its annotation."""
    source = SourceFile("", text)
    for document in compose.compose(source):
        if isinstance(document, compose.SyntaxProblem):
            continue
        for manifest in manifests(document):
            metadata = manifest.plain.get("metadata")
            annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
            annotation = annotations.get(_ANNOTATION) if isinstance(annotations, dict) else None
            node = nodes.follow(document.root, manifest.route)
            key = _Key(manifest.api_version, manifest.kind, manifest.namespace, manifest.name)
            yield key, 0 if node is None else node.start, annotation if isinstance(annotation, str) else ""


def _fields(annotation: str) -> dict[str, str]:
    return {match[1]: match[2].strip() for match in _FIELD.finditer(annotation)}


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
        known[name] = _written(name)
    line = _line(known[name], key)
    return f"{name}:{line}" if line else name


def _written(name: str) -> list[tuple[_Key, int]]:
    """Return the objects in a file, with their lines."""
    try:
        source = files.read_setting(name, os.path.dirname(name) or ".")
    except SourceError:
        return []
    return [(key, source.position(start).line) for key, start, _ in _objects(source.text)]


def _line(written: list[tuple[_Key, int]], key: _Key) -> int:
    """Return the line of an object, whose name may have got a prefix and a suffix; 0 if it is uncertain."""
    alike = [(other, line) for other, line in written if (other.kind, other.api_version) == (key.kind, key.api_version)]
    same = [line for other, line in alike if other.name == key.name]
    within = [line for other, line in alike if other.name and other.name in key.name]
    for lines in (same, within, [line for _, line in alike]):
        if len(lines) == 1:
            return lines[0]
    return 0
