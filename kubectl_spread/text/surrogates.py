r"""Escaped surrogates of JSON: `\ud83d\ude00` is one character, and a lone half none (Go puts U+FFFD there).

Both functions keep the length of the text, so that offsets stay true.
"""

from __future__ import annotations

import re

# Compiled on first use.
_HINT = r"\\u[dD][89a-fA-F]"
_ESCAPE = r"(?s)\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"


def without_lone(text: str) -> str:
    """Return JSON text with its lone surrogates replaced."""
    if re.search(_HINT, text) is None:
        return text
    return re.sub(_ESCAPE, lambda match: r"\ufffd" if match[3] else match[0], text)


def as_yaml(text: str) -> str:
    r"""Return JSON text that YAML reads alike: YAML escapes whole characters only (`\U0001f600`)."""
    if re.search(_HINT, text) is None:
        return text
    return re.sub(_ESCAPE, _yaml_escape, text)


def _yaml_escape(match: re.Match[str]) -> str:
    if match[3]:
        return r"\ufffd"
    if match[1] is None:
        return match[0]
    high, low = int(match[1], 16) - 0xD800, int(match[2], 16) - 0xDC00
    # An escaped line break, which YAML drops, fills the two missing characters. (Not in a key,
    # which must be on one line; no Kubernetes object has a key like this.)
    return f"\\\n\\U{0x10000 + (high << 10) + low:08x}"
