"""The package does not grow past the numbers in `size.json`. Lower them whenever the code gets smaller."""

from __future__ import annotations

import io
import json
import tokenize
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "kubectl_spread"
LIMITS = json.loads((Path(__file__).parent / "size.json").read_text(encoding="utf-8"))
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_tokens(text: str) -> int:
    """The number of tokens without layout, comments, and strings that are statements (docstrings)."""
    count, begins_statement = 0, True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _LAYOUT:
            begins_statement |= token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            continue
        is_docstring = begins_statement and token.type == tokenize.STRING
        begins_statement = False
        count += not is_docstring
    return count


def test_the_package_stays_within_its_numbers() -> None:
    """More modules, lines or tokens need a reason, and the numbers changed in the same commit."""
    texts = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    size = {
        "modules": len(texts),
        "lines": sum(text.count("\n") for text in texts),
        "codeTokens": sum(map(code_tokens, texts)),
    }

    assert [] == [f"{name}: {size[name]} > {most}" for name, most in LIMITS.items() if size[name] > most]


def test_tokens_are_counted_without_docstrings_and_comments() -> None:
    assert 6 == code_tokens('"""Docs."""\n\n# why\nname = f(\n    1\n)\n')
