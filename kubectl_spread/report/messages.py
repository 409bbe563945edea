"""Explanations of pasted messages, as text and as a MessageExplanation (schemas/message.json)."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.explain.messages import meaning as meanings
from kubectl_spread.explain.messages.catalogue import Component
from kubectl_spread.explain.messages.parse import Message, Part, Preemption
from kubectl_spread.objects.keys import Range
from kubectl_spread.objects.releases.version import LAST_MINOR
from kubectl_spread.report.documents import form, Plain, report_document, to_document
from kubectl_spread.report.table import paint, Style, wrap
from kubectl_spread.text.wording import count_noun, safe

# In JSON a component whose name has a space or a capital has an id.
_COMPONENTS = {
    Component.VOLCANO: "volcano",
    Component.KARPENTER: "karpenter",
    Component.HELM: "helm",
    Component.ARGO_CD: "argocd",
    Component.VALIDATOR: "schemaValidator",
}
_WIDEST = 120  # sentences in longer lines are hard to read


def lines(message: Message, *, width: int) -> list[str]:
    """Return a pasted message: its component, the meaning of each part, unrecognized text, and next commands."""
    style = Style(min(width, _WIDEST))
    out = [paint(line, "bold") for line in wrap(headline(message), style)]
    if lack := meanings.cut_sentence(message):
        out += [paint(line, "yellow") for line in wrap(lack, style)]
    out += _parts(_meanings(message), style)
    whole = meanings.meaning_of_whole(message)
    if whole and message.form != "unknown":  # then the headline says it
        out += ["", *wrap(whole, style)]
    if doubt := meanings.inconsistency(message):
        out += ["", *(paint(line, "yellow") for line in wrap(doubt, style))]
    out += _details(message, style)
    out += _after(message, style)
    if message.not_understood:
        out += ["", paint("Not understood:", "yellow")]
        out += [f"  {safe(text)}" for text in message.not_understood]
    commands = meanings.commands(message)
    if commands:
        out += ["", "Next:", *(f"  {safe(command)}" for command in commands)]
    return out


def headline(message: Message) -> str:
    """Return the sentence on top: `kube-scheduler (worded as in 1.24 to 1.33): none of the 6 nodes takes the pod.`."""
    who = message.component.value if message.form != "unknown" else "Unknown"
    if message.era is not None:
        who += f" (worded as in {releases(message.era)})"
    seen = f" (seen {message.times} times)" if message.times > 1 else ""
    if message.form == "unknown":
        return f"{meanings.meaning_of_whole(message).removesuffix('.')}{seen}."
    if message.form == "notScaled":
        return f"{who}: no node is added for the pod{seen}."
    if not message.is_of_nodes:
        return f"{who}: {message.text}{seen}"
    if message.total is None:
        return f"{who}: no node takes the pod{seen}."
    if message.total == 1:
        return f"{who}: the only node does not take the pod{seen}."
    return f"{who}: none of the {message.total} nodes takes the pod{seen}."


def document(messages: Iterable[Message]) -> Plain:
    """Return a MessageExplanation."""
    return report_document("MessageExplanation", {"messages": list(map(to_document, messages))})


def _part(part: Part, meaning: str) -> Plain:
    return to_document(part, "count=number reason kind subject cut meaning", meaning=meaning)


def _meanings(message: Message) -> list[tuple[Part, str]]:
    of_groups = message.form == "notScaled"
    return [(part, meanings.meaning(part, of_groups=of_groups)) for part in message.parts]


def _meanings_in_clause(clause: Preemption) -> list[tuple[Part, str]]:
    return [(part, meanings.meaning_in_preemption(part)) for part in clause.parts]


form(
    Message,
    "component form text nodes=total parts postFilter preemption versions details meaning doubt times cut "
    "notUnderstood next",
    component=lambda item: _COMPONENTS.get(item.component, item.component.value),
    parts=lambda item: [_part(*pair) for pair in _meanings(item)],
    versions=lambda item: None if item.era is None else [f"1.{minor}" for minor in item.era],
    details=lambda item: dict(item.details),
    meaning=lambda item: " ".join(filter(None, (meanings.cut_sentence(item), meanings.meaning_of_whole(item)))),
    doubt=meanings.inconsistency,
    next=meanings.commands,
)
form(
    Preemption,
    "nodes=total parts verdict meaning",
    parts=lambda item: [_part(*pair) for pair in _meanings_in_clause(item)],
    meaning=meanings.meaning_of_preemption,
)


def releases(era: Range) -> str:
    """Return `1.24 to 1.33`, `1.34` for a single release, or `1.34 and later`."""
    if era.least < era.most == LAST_MINOR:
        return f"1.{era.least} and later"
    return " to ".join(f"1.{minor}" for minor in dict.fromkeys(era))


def _parts(meanings_of_parts: list[tuple[Part, str]], style: Style) -> list[str]:
    """Return the parts, each with its count in a column and its meaning below."""
    if not meanings_of_parts:
        return []
    column = max(len(str(part.number)) if part.number is not None else 0 for part, _ in meanings_of_parts)
    indent = " " * (column + 4 if column else 2)
    out: list[str] = []
    for part, meaning in meanings_of_parts:
        count = f"  {'' if part.number is None else part.number:>{column}}  " if column else indent
        reason = wrap(f"{part.reason}{' ...' if part.is_cut else ''}".lstrip(), style, indent=indent)
        first = count + (reason[0][len(indent) :] if reason else "")
        out += ["", paint(first.rstrip(), "cyan")]
        out += [paint(line, "cyan") for line in reason[1:]]
        out += wrap(meaning, style, indent=indent)
    return out


def _details(message: Message, style: Style) -> list[str]:
    """Return the names in a sentence of another component, with their values."""
    if not message.details:
        return []
    longest = max(len(name) for name, _ in message.details)
    out = [""]
    for name, value in message.details:
        indent = " " * (longest + 4)
        first, *others = wrap(value, style, indent=indent) or [indent]
        out += [f"  {name:<{longest}}  {first[len(indent) :]}".rstrip(), *others]
    return out


def _after(message: Message, style: Style) -> list[str]:
    """Return the preemption clause, and the words before it."""
    out: list[str] = []
    clause = message.preemption
    if clause is not None:
        nodes = f", of {count_noun(clause.total, 'node')}" if clause.total is not None else ""
        out += ["", *wrap(f"Preemption, which evicts pods of lower priority{nodes}:", style)]
        out += _parts(_meanings_in_clause(clause), style)
        if clause.verdict:
            out += wrap(clause.verdict, style, indent="  ")
        out += wrap(meanings.meaning_of_preemption(clause), style, indent="  ")
    for words in message.post_filter:
        meaning = meanings.meaning_of_words(words)
        out += ["", *wrap(f"`{words}`: {meaning}" if meaning else words, style)]
    return out
