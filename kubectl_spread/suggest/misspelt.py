"""Detection of two spellings of one label key or value.

Zone names differ in one character on purpose (us-east-1a, us-east-1b), so a small edit distance proves little. Two
spellings are the same name if only case and punctuation differ. They are also the same if two letters are swapped, or
one letter is missing or extra.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from kubectl_spread.objects.node import Node

_LEAST = 5  # Shortest name in which a swapped or missing letter is reliable.


def values(nodes: Iterable[Node], key: str) -> dict[str, str]:
    """Return the misspelt values of a label, each with the spelling that more nodes have."""
    counts = Counter(node.labels[key] for node in nodes if node.labels.get(key))
    near = _near(counts)
    found: dict[str, str] = {}
    for wrong, number in counts.items():
        right = near.get(wrong, set()) - found.keys()
        best = max(right, key=lambda other: (counts[other], len(other), other), default="")
        if best and (counts[best], len(best), best) > (number, len(wrong), wrong):
            found[wrong] = best
    return found


def _near(names: Iterable[str]) -> dict[str, set[str]]:
    """Return other spellings for each name, without comparing all pairs of names."""
    by_plain: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_plain[_plain(name)].append(name)
    near: dict[str, set[str]] = defaultdict(set)
    for plain, alike in by_plain.items():
        likely = alike if len(alike) > 1 else []
        others = [other for variant in _variants(plain) for other in by_plain.get(variant, ())]
        for name in alike:
            for other in (*likely, *others):
                if other != name and is_same(name, other):
                    near[name].add(other)
                    near[other].add(name)
    return near


def _variants(plain: str) -> set[str]:
    """Return a plain name with two letters swapped, or with one letter less."""
    swapped = {f"{plain[:at]}{plain[at + 1]}{plain[at]}{plain[at + 2 :]}" for at in range(len(plain) - 1)}
    less = {plain[:at] + plain[at + 1 :] for at, character in enumerate(plain) if character.isalpha()}
    return (swapped | less) - {plain}


def spelling_of(name: str, known: Iterable[str]) -> str:
    """Return the known name that is another spelling of a name; empty without one."""
    near = (other for other in sorted(known) if other != name)
    return next((other for other in near if is_same(name, other) or f"{name}s" == other or f"{other}s" == name), "")


def is_same(one: str, other: str) -> bool:
    """Return whether two names are spellings of the same name."""
    plain = _plain(one), _plain(other)
    if plain[0] == plain[1]:
        return bool(plain[0])
    if min(map(len, plain)) < _LEAST:
        return False
    return _is_swapped(*plain) or _has_one_more(*plain) or _has_one_more(plain[1], plain[0])


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _is_swapped(one: str, other: str) -> bool:
    """Return whether the names differ only by two adjacent letters that are swapped."""
    if len(one) != len(other):
        return False
    differing = [at for at in range(len(one)) if one[at] != other[at]]
    if len(differing) != 2 or differing[1] != differing[0] + 1:
        return False
    at = differing[0]
    return one[at : at + 2] == other[at : at + 2][::-1] and one[at : at + 2].isalpha()


def _has_one_more(longer: str, shorter: str) -> bool:
    """Return whether the longer name has one extra letter that is not its last character."""
    if len(longer) != len(shorter) + 1:
        return False
    at = next((at for at in range(len(shorter)) if longer[at] != shorter[at]), len(shorter))
    return at < len(shorter) and longer[at].isalpha() and longer[:at] + longer[at + 1 :] == shorter
