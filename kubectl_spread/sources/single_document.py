"""Files that have to be a single YAML document: policies and scenarios."""

from __future__ import annotations

from kubectl_spread.errors import SourceError
from kubectl_spread.sources import files
from kubectl_spread.text import compose
from kubectl_spread.text.node import Node
from kubectl_spread.text.source import SourceFile


def read(path: str, noun: str) -> tuple[SourceFile, Node]:
    """Read the file and the root of its document; the noun, such as `a policy`, says in errors what it should be.

    Raises:
        SourceError: it cannot be read, is not YAML, or does not have exactly one document.
    """
    source = files.read_text(path)
    documents = list(compose.compose(source))
    for found in documents:
        if isinstance(found, compose.SyntaxProblem):
            line, column = source.position(found.span.start)
            raise SourceError(source.name, found.sentence, line=line, column=column)
    roots = [found.root for found in documents if isinstance(found, compose.Document)]
    if not roots:
        raise SourceError(source.name, "the file is empty")
    if len(roots) != 1:
        raise SourceError(source.name, f"{noun} must be one YAML document, this has {len(roots)}")
    return source, roots[0]
