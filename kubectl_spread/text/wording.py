"""Words that every part of the program shares: counted nouns, lists of names, the word that was meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from kubectl_spread.containers import grouped

_MOST_NAMES = 6  # in a list, unless it says more or fewer
_MOST_QUOTED = 40  # characters of an input in an error


def count_noun(number: int, noun: str) -> str:
    """Return `1 node` or `2,000 nodes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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


def comma_list(names: Iterable[str], *, most: int = _MOST_NAMES, of: int = 0) -> str:
    """Return names with commas, followed by the number of names beyond `most`.

    `of`: the number of all, if `names` has only the first.
    """
    names = [safe(name) for name in names]
    more = max(of, len(names)) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def first_of(parts: Sequence[str], most: int, rest: Callable[[int], str]) -> list[str]:
    """Return the first parts, and, if there are more than `most`, what says how many are left out."""
    return [*parts[:most], *map(rest, [len(parts) - most] if len(parts) > most else [])]


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


_LEAST = 5  # Shortest name in which a swapped or missing letter is reliable.


def spelling_of(name: str, known: Iterable[str]) -> str:
    """Return the known name that is another spelling or the plural of a name; empty without one.

    Names of zones differ in one character on purpose (us-east-1a, us-east-1b). Two names are the same if only case and
    punctuation differ, if two letters are swapped, or if one letter is missing or extra.
    """
    others = sorted(other for other in known if other != name)
    near = {*_spellings([name, *others]).get(name, ()), f"{name}s", name.removesuffix("s")}
    return next((other for other in others if other in near), "")


def misspelt(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the misspelt names, each with the spelling that is more frequent, or longer."""
    found: dict[str, str] = {}
    near = _spellings(counts)
    for wrong in counts:
        best = max((counts[other], len(other), other) for other in {wrong, *near[wrong]} - found.keys())
        if best[-1] != wrong:
            found[wrong] = best[-1]
    return found


def _spellings(names: Iterable[str]) -> dict[str, set[str]]:
    """Return the other spellings of each name, without comparing all pairs of names."""
    by_plain = grouped(("".join(filter(str.isalnum, name.lower())), name) for name in names)
    near: dict[str, set[str]] = {name: set() for same in by_plain.values() for name in same}
    for plain, same in by_plain.items():
        for other in (name for form in {plain, *_slips(plain)} - {""} for name in by_plain.get(form, ())):
            for name in same:
                near[name].add(other)
                near[other].add(name)
    return {name: others - {name} for name, others in near.items()}


def _slips(plain: str) -> set[str]:
    """Return a name with two adjacent letters swapped, or without one letter, except the last character.

    Short names have none, because a letter more or less is no reliable sign of a mistake in them.
    """
    pairs = [at for at in range(len(plain) - 1) if plain[at : at + 2].isalpha()]
    swapped = {f"{plain[:at]}{plain[at + 1]}{plain[at]}{plain[at + 2 :]}" for at in pairs}
    less = {plain[:at] + plain[at + 1 :] for at, character in enumerate(plain) if character.isalpha()} - {plain[:-1]}
    return {name for name in swapped | less if len(name) >= _LEAST}
