"""Sentences about placing pods that are not lists of nodes, found in a text."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

from kubectl_spread.explain.messages.catalogue import Component, Form, FORMS


class MessageStart(NamedTuple):
    """The beginning of a message in a text: a header, a bare list, or a whole sentence with its form and details."""

    start: int
    end: int
    kind: str
    total: Optional[int] = None
    free: int = 0
    form: Optional[Form] = None
    details: Optional[dict[str, str]] = None


NOT_SCALED = re.compile(
    r"pod\s+didn't\s+trigger\s+scale-?\s*up(?:\s*\(it\s+wouldn't\s+fit\s+if\s+a\s+new\s+node\s+is\s+added\))?\s*:?",
    re.IGNORECASE,
)

_COUNTS = re.compile(r"\b(counts|podDomains|nodeDomains) ?= ?")
_COMPILED = tuple(
    (form, re.compile(form.shape.replace(" *", r"[^\S\n]*").replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE))
    for form in FORMS
)


def find_sentences(text: str) -> list[MessageStart]:
    """Return the known sentences of a text in order; of overlapping ones the first, or the more specific."""
    found: list[tuple[int, int, MessageStart]] = []
    for rank, (form, shape) in enumerate(_COMPILED):
        for at in shape.finditer(text):
            place = MessageStart(at.start(), at.end(), "sentence", form=form, details=_details(at))
            found.append((at.start(), rank, place))
    found.sort(key=lambda item: item[:2])
    out: list[MessageStart] = []
    pool: dict[str, str] = {}
    end = 0
    for start, _, item in found:
        if start < end or item.end == start:
            continue
        # A list of invalid fields names their object once, before the first.
        if out and item.details and "path" in item.details and _BETWEEN_FIELDS.fullmatch(text, end, start):
            last = (out[-1].details or {}).get("object")
            if last:
                item.details.setdefault("object", last)
        # Karpenter names a pool once, before its reasons.
        if item.form and item.form.component is Component.KARPENTER and item.details is not None:
            if "pool" in item.details:
                pool = {"pool": f"{item.details['what']} {item.details['pool']}"}
            elif item.form.name == "karpenterLimit" or "\n" in text[end:start]:
                pool = {}
            else:
                item.details.update(pool)
        out.append(item)
        end = item.end
    return out


_BETWEEN_FIELDS = re.compile(r"[\s,*#]*")


def _details(at: re.Match[str]) -> dict[str, str]:
    """Return the names in a sentence; `claim2` is another group for `claim`; Karpenter's counts are three details."""
    found: dict[str, str] = {}
    for group, value in at.groupdict().items():
        text = " ".join((value or "").split())
        if text:
            found.update(_counts(text) if group == "counts" else {group.rstrip("0123456789"): text})
    return found


def _counts(text: str) -> dict[str, str]:
    """Return `counts = a: 1, podDomains = x Exists, nodeDomains = x In [a]` as three details."""
    parts = _COUNTS.split(text.rstrip(" )"))[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: value for name, part in pairs if (value := part.strip(" ,"))}
