"""Messages about placing pods that are not lists of nodes, recognized by their forms."""

from __future__ import annotations

import re

from kubectl_spread.messages import autoscaler_forms, other_forms, scheduler_forms
from kubectl_spread.messages.form import RecognizedSentence

FORMS = (*scheduler_forms.FORMS, *autoscaler_forms.FORMS, *other_forms.FORMS)

NOT_SCALED = re.compile(
    r"pod\s+didn't\s+trigger\s+scale-?\s*up(?:\s*\(it\s+wouldn't\s+fit\s+if\s+a\s+new\s+node\s+is\s+added\))?\s*:?",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"\b(counts|podDomains|nodeDomains) ?= ?")
_COMPILED = tuple(
    (form, re.compile(form.shape.replace(" *", r"[^\S\n]*").replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE))
    for form in FORMS
)


def find_sentences(text: str) -> list[RecognizedSentence]:
    """Return the known sentences of a text in order; of overlapping ones the first, or the more specific."""
    found: list[RecognizedSentence] = []
    for rank, (form, shape) in enumerate(_COMPILED):
        for at in shape.finditer(text):
            details = _details(at)
            found.append(RecognizedSentence(form, at.start(), at.end(), {"": f"{rank:03}", **details}))
    found.sort(key=lambda item: (item.start, item.details[""]))
    out: list[RecognizedSentence] = []
    end = 0
    for item in found:
        if item.start >= end and item.end > item.start:
            details = {name: value for name, value in item.details.items() if name}
            out.append(item._replace(details=details))
            end = item.end
    return out


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


def fill_template(template: str, details: dict[str, str]) -> str:
    """Fill a template with the details of a sentence; missing details get a general name."""
    return template.format_map(_Details(details))


class _Details(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return _UNNAMED.get(key, "")


_UNNAMED = {
    "key": "its topology key",
    "node": "its node",
    "pod": "the pod",
    "why": "it gave no reason",
    "owner": "NAME",
    "what": "topology constraint",
    "claim": "NAME",
    "file": "the file",
    "zones": "its zones",
    "object": "the object",
    "plugin": "a check",
}
