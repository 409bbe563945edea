"""Kustomization files among the files of a run or in the same directories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from kubectl_spread.errors import SourceError
from kubectl_spread.lint.kustomization import FILE_NAMES, Kustomization, kustomization, patches_of
from kubectl_spread.sources.files import read_setting
from kubectl_spread.text import compose
from kubectl_spread.text.compose import Document
from kubectl_spread.text.source import SourceFile

_KINDS = ("", "Kustomization", "Component")


def kustomizations(sources: Iterable[SourceFile]) -> dict[str, Kustomization]:
    """Return the kustomizations by the absolute path of their directory.

    A kustomization file is read if it is among the sources, or if a source is in the same directory.
    """
    texts = {os.path.abspath(source.name): source for source in sources}
    found = {}
    for directory in dict.fromkeys(map(os.path.dirname, texts)):
        for name in FILE_NAMES:
            documents = _documents(os.path.join(directory, name), texts, directory)
            if documents is not None:
                first = documents[0] if documents and isinstance(documents[0].plain, dict) else None
                plain = {} if first is None else first.plain
                if plain.get("kind", "") in _KINDS:
                    found[directory] = kustomization(directory, first, _patches(directory, plain, texts))
                break
    return found


def _patches(directory: str, plain: dict[str, Any], texts: Mapping[str, SourceFile]) -> dict[str, list[Document]]:
    """Return the documents of the readable patches."""
    found = {}
    for patch in patches_of(directory, plain):
        documents = _documents(patch.path, texts, directory) if patch.path else _parsed(SourceFile("", patch.inline))
        if documents is not None:
            found[patch.path or patch.inline] = documents
    return found


def _documents(path: str, texts: Mapping[str, SourceFile], inside: str) -> Optional[list[Document]]:
    """Return the documents of a file; None if it cannot be read."""
    if path in texts:
        return _parsed(texts[path])
    if not os.path.isfile(path):
        return None
    try:
        here = os.path.join(os.getcwd(), "")
        return _parsed(read_setting(path.removeprefix(here), inside))  # findings may name it
    except SourceError:
        return None


def _parsed(source: SourceFile) -> Optional[list[Document]]:
    documents = list(compose.compose(source))
    read = [item for item in documents if isinstance(item, Document)]
    return read if len(read) == len(documents) else None
