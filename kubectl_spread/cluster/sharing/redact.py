"""Redaction of snapshots: names are replaced so that the scheduler decides the same.

Every string has one replacement everywhere, so that selectors select the same pods and references still hold.
Replacements of one category are in the order of the names, because the scheduler sorts by name: `node-07` comes before
`node-08`. A name that is made of others is made of their replacements: `statefulset-1-0`.

These stay: keys of labels, taints and resources; kinds, drivers, provisioners, names of schedulers; numbers and times;
Kubernetes' own words (`kubernetes_words`), in messages, too. All other strings are replaced, in unforeseen fields, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator
from typing import Any, Optional

from kubectl_spread.cluster.sharing import kubernetes_words as words
from kubectl_spread.cluster.sharing.string_roles import replace_strings, ROLE_OF_LABEL
from kubectl_spread.objects.reading.plain import mappings
from kubectl_spread.objects.workloads.kinds import KINDS

Plain = dict[str, Any]

_WELL_KNOWN_ADDRESSES = frozenset({"", "0.0.0.0", "::", "127.0.0.1", "::1"})  # noqa: S104 (the API's meaning of no IP)
_SHORT_NUMBER = re.compile(r"[+-]?[0-9]{1,4}\Z")
_NUMBER = re.compile(r"[+-]?[0-9]+\Z")

# Of a name that is several things, the first counts.
_ORDER = (
    *("node", "namespace", "workload", "pod", "claim", "volume", "storage-class", "priority-class"),
    *("zone", "region", "revision", "image", "disk", "uid", "value"),
)

_WORD = re.compile(r"[A-Za-z0-9_.:/@+%'()-]+")
_EDGES = ".,:;'()"


def redact_objects(objects: Iterable[Plain]) -> Iterator[Plain]:
    """Replace the names in objects that were pruned."""
    every = list(objects)
    names = _Names(every)
    for plain in every:
        yield replace_strings(plain, names.of)


class _Names:
    """The replacement of every string."""

    def __init__(self, objects: list[Plain]) -> None:
        self._category: dict[str, str] = {}
        self._compared: set[str] = set()  # label keys whose values are compared as numbers
        self._values: dict[str, set[str]] = {}  # by label key
        self._keys: set[str] = set()
        self._workloads: set[str] = set()
        self._claim_templates: set[str] = set()
        self._composed: dict[str, tuple[str, ...]] = {}  # the names that a name is composed of, if an object shows them
        self._known: dict[str, str] = {}
        for plain in objects:
            self._look_at(plain)
        self._assign()

    def of(self, role: str, text: str) -> str:
        """Return the replacement of a string."""
        if role == "message":
            return self._message(text)
        return self._known.get(text, text)

    def _look_at(self, plain: Plain) -> None:
        kind, metadata = str(plain.get("kind")), plain.get("metadata") or {}
        if kind in KINDS and kind not in ("Pod", "PodTemplate"):
            self._workloads.add(metadata.get("name") or "")
        owners = mappings(metadata.get("ownerReferences"))
        self._workloads |= {item.get("name") or "" for item in owners if item.get("kind") != "Node"}
        spec = plain.get("spec") or {}
        if kind == "Pod":
            self._look_at_pod(metadata, spec)
        for template in mappings(spec.get("volumeClaimTemplates")) if isinstance(spec, dict) else ():
            self._claim_templates.add((template.get("metadata") or {}).get("name") or "")
        replace_strings(plain, self._collect)

    def _look_at_pod(self, metadata: Plain, spec: Plain) -> None:
        """Note which names contain the pod's name, and which names the pod's name consists of."""
        name, prefix = metadata.get("name") or "", metadata.get("generateName") or ""
        if prefix.endswith("-") and name.startswith(prefix) and len(name) > len(prefix):
            self._composed[name] = prefix[:-1], name[len(prefix) :]
            self._note("pod", name[len(prefix) :])
        for volume in mappings(spec.get("volumes")):
            claim = (volume.get("persistentVolumeClaim") or {}).get("claimName") or ""
            if volume.get("ephemeral") is not None:
                made_for = name, volume.get("name") or ""
                self._composed["-".join(made_for)] = made_for
            elif name and claim.endswith(f"-{name}"):
                self._composed[claim] = claim[: -len(name) - 1], name
                self._note("claim", claim[: -len(name) - 1])

    def _collect(self, role: str, text: str) -> str:
        if role == "key":
            self._keys.add(text)
        elif role.startswith("compared:"):
            self._compared.add(role.partition(":")[2])
        elif role.startswith("label:"):
            key = role.partition(":")[2]
            self._values.setdefault(key, set()).add(text)
            self._note(ROLE_OF_LABEL.get(key, "value"), text)
        elif role != "message":
            self._note(role, text)
        return text

    def _note(self, category: str, text: str) -> None:
        known = self._category.get(text)
        if known is None or _rank(category) < _rank(known):
            self._category[text] = category

    def _assign(self) -> None:
        made = {text: parts for text in self._category if (parts := self._parts(text)) is not None}
        for parts in made.values():
            for part in parts:
                self._category.setdefault(part, "revision")
        self._number(made)
        for text in sorted(made, key=len):
            if self._category[text] != "node":
                self._known[text] = "-".join(self._known.get(part, part) for part in made[text])

    def _number(self, made: Collection[str]) -> None:
        """Replace each string by its category and a number, unless it is made of others or stays."""
        numbers = {text for key in self._compared for text in self._values.get(key, ()) if _NUMBER.match(text)}
        by_category: dict[str, list[str]] = {}
        for text, category in self._category.items():
            if not _stays(text, category, numbers) and (text not in made or category == "node"):
                by_category.setdefault(category, []).append(text)
        for category, texts in by_category.items():
            width = len(str(len(texts)))
            tag = ":1" if category == "image" else ""  # so that no tag is added
            for number, text in enumerate(sorted(texts), 1):
                self._known[text] = f"{category}-{number:0{width}d}{tag}"

    def _parts(self, text: str) -> Optional[tuple[str, ...]]:
        """Return the names that a name is made of: workload, number or revision, claim template."""
        if text in self._composed:
            return self._composed[text]
        before, dash, last = text.rpartition("-")
        if not dash or text in self._claim_templates:
            return None
        is_number = last.isdecimal() and len(last) <= 4
        if before in self._workloads and (is_number or self._is_revision(text, last)):
            return before, last
        if is_number:
            outer = before.rpartition("-")
            if outer[0] in self._workloads and outer[2].isdecimal():
                return outer[0], outer[2], last
            for template in self._claim_templates:
                if before.startswith(f"{template}-") and before[len(template) + 1 :] in self._workloads:
                    return template, before[len(template) + 1 :], last
        return None

    def _is_revision(self, text: str, last: str) -> bool:
        return self._category.get(last) == "revision" or self._category.get(text) == "revision"

    def _message(self, text: str) -> str:
        return _WORD.sub(lambda match: self._word(match[0]), text)

    def _word(self, word: str) -> str:
        """Return a word of a message: Kubernetes' own words stay, names are replaced, all other words are hidden."""
        bare = word.strip(_EDGES)
        if not bare or word.lower() in words.MESSAGE_WORDS or bare.lower() in words.MESSAGE_WORDS or bare in self._keys:
            return word
        if re.fullmatch(r"[0-9./]+(?:[mkMGTPE]i?)?", bare):
            return word
        at = word.index(bare)
        return f"{word[:at]}{self._known.get(bare, 'redacted')}{word[at + len(bare) :]}"


def _stays(text: str, category: str, numbers: Container[str]) -> bool:
    """Return whether a string can stay, as it reveals nothing about a cluster.

    Args:
        text: the string.
        category: the kind of name.
        numbers: label values that are compared as numbers.
    """
    if category == "address":
        return text in _WELL_KNOWN_ADDRESSES
    is_short = bool(_SHORT_NUMBER.match(text)) and category != "node"
    return text in words.VALUES or text in numbers or is_short


def _rank(category: str) -> int:
    return _ORDER.index(category) if category in _ORDER else len(_ORDER)
