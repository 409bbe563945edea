"""Words that every part of the program shares: counted nouns, lists of names, the word that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MOST_QUOTED = 40  # characters of an input in an error


def count_noun(number: int, noun: str) -> str:
    """Return `1 node` or `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def safe(text: str) -> str:
    """Return text of a manifest or a cluster that can neither move the cursor nor colour the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"\\x{_code(char):02x}" for char in text)


def _code(char: str) -> int:
    """Return a character's code; of a byte of a file name that is not UTF-8, the byte."""
    code = ord(char)
    return code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code


def short(text: object) -> str:
    """Return a text of an input as errors quote it, in at most 40 characters: an error never shows a whole file."""
    shown = str(text)
    return shown if len(shown) <= _MOST_QUOTED else f"{shown[: _MOST_QUOTED - 1]}…"


def short_quotes(text: str) -> str:
    """Return a message of the API server or the scheduler with `short` texts between its double quotes."""
    return re.sub(r'"((?:[^"\\]|\\.)*)"', lambda match: f'"{short(match[1])}"', text)


def comma_list(names: Iterable[str], *, most: int) -> str:
    """Return names with commas, followed by the number of names beyond `most`."""
    names = [safe(name) for name in names]
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def join_with_and(parts: Sequence[str], *, word: str = "and") -> str:
    """Return `a`, `a and b`, or `a, b and c`; with another word in place of `and`."""
    return f" {word} ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), *parts[-1:]])


def nearest(word: object, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the known word that is most like a word, in either case; empty if none is close enough."""
    if not isinstance(word, str) or not word:
        return ""
    by_lower = {name.lower(): name for name in known}
    if word.lower() in by_lower:
        return by_lower[word.lower()]
    import difflib  # 3 ms

    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[near[0]] if near else ""


def did_you_mean(word: object, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return `did you mean X?`; empty if no known word is close enough."""
    near = nearest(word, known, cutoff=cutoff)
    return f"did you mean `{near}`?" if near else ""
