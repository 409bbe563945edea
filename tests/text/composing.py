"""What a text is composed to, in short."""

from __future__ import annotations

from typing import Any

from kubectl_spread.text import compose, node
from kubectl_spread.text.source import SourceFile


def composed(text: str) -> list[Any]:
    """The values of the documents, and `line:column: message` of those that do not parse."""
    source = SourceFile("f", text)
    found: list[Any] = []
    for item in compose.compose(source):
        if isinstance(item, compose.SyntaxProblem):
            line, column = source.position(item.span.start)
            found.append(f"{line}:{column}: {item.message}")
        else:
            found.append(node.to_plain(item.root))
    return found
