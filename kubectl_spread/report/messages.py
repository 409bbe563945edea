"""Explanations of pasted messages, as text and as a MessageExplanation (schemas/message.json)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Union

from kubectl_spread.explain.messages import meaning as meanings
from kubectl_spread.explain.messages.catalogue import Component, EVERY_MINOR
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


def text(messages: Sequence[Message], *, width: int) -> str:
    """Return pasted messages: their components, the meaning of each part, unrecognized text, and the next commands.

    What is over comes last, and older messages of a pod only as they were written. No meaning is written twice.
    """
    style = Style(min(width, _WIDEST))
    past = meanings.past(messages)
    ends = [end for end in messages if any(meanings.is_over(item, end) for item in messages)]
    pools = [dict(item.details).get("pool") for item in messages if item.form != "karpenterPool"]
    now = [
        item
        for item in messages
        if item not in past
        and item not in ends
        and (item.form != "karpenterPool" or "{what} {pool}".format_map(dict(item.details)) not in pools)
    ]
    explained: set[str] = set()
    out: list[str] = []
    for end in ends:
        out += ["", *_message(end, style, explained), *wrap(f"That was {end.age} ago, after what follows.", style)]
    for message in now:
        out += ["", *_message(message, style, explained)]
    if past:
        out += ["", "Earlier:"]
    for message in past:
        out += wrap(f"{message.age} ago: {message.listed or message.text}", style, indent="  ")
    missed = dict.fromkeys(rest for message in messages for rest in message.not_understood)
    if missed:
        out += ["", paint("Not understood:", "yellow"), *(f"  {safe(rest)}" for rest in missed)]
    ranks = zip_longest(*(meanings.commands(message) for message in now or ends))
    commands = [command for rank in ranks for command in rank if command]
    if commands:
        out += ["", "Next:", *(f"  {safe(command)}" for command in [*dict.fromkeys(commands)][:_MOST_COMMANDS])]
    return "\n".join(out[1:])


_MOST_COMMANDS = 5


def _message(message: Message, style: Style, explained: set[str]) -> list[str]:
    """Return one message; `explained` has the meanings written so far, and this one adds its own."""
    out = wrap(headline(message), style, colour="bold")
    out += wrap(meanings.cut_sentence(message), style, colour="yellow")
    out += _parts(message, style, explained)
    whole = meanings.meaning_of_whole(message)
    key = whole if message.is_of_nodes else message.form
    if whole and key not in explained and message.form != "unknown":  # then the headline says it
        out += wrap(whole, style)
        explained.add(key)
    if doubt := meanings.inconsistency(message):
        out += ["", *wrap(doubt, style, colour="yellow")]
    clause = message.preemption
    if clause is not None:
        nodes = f", of {count_noun(clause.total, 'node')}" if clause.total else ""
        out += ["", *wrap(f"Preemption, which evicts pods of lower priority{nodes}:", style)]
        out += _parts(clause, style, explained)
        out += wrap(clause.verdict, style, indent="  ")
        out += wrap(meanings.meaning_of_preemption(clause), style, indent="  ")
    for words in message.post_filter:
        meaning = meanings.meaning_of_words(words)
        out += ["", *wrap(f"`{words}`: {meaning}" if meaning else words, style)]
    return out


def headline(message: Message) -> str:
    """Return the sentence on top: `kube-scheduler (worded as in 1.24 to 1.33): none of the 6 nodes takes the pod.`."""
    who = message.source or message.component.value
    if message.era is not None:
        who += f" (worded as in {releases(message.era)})"
    seen = f" (seen {message.times} times)" if message.times > 1 else ""
    if message.form == "unknown":
        return f"{meanings.meaning_of_whole(message).removesuffix('.')}{seen}."
    if message.form == "notScaled":
        return f"{who}: no node is added for the pod{seen}."
    if not message.is_of_nodes:
        pool = dict(message.details).get("pool", "") if message.form != "karpenterPool" else ""
        return f"{who}: {pool and f'{pool}: '}{message.text.rstrip(',')}{seen}"
    if message.total is None:
        return f"{who}: no node takes the pod{seen}."
    if message.total == 1:
        return f"{who}: the only node does not take the pod{seen}."
    return f"{who}: none of the {message.total} nodes takes the pod{seen}."


def document(messages: Iterable[Message]) -> Plain:
    """Return a MessageExplanation."""
    return report_document("MessageExplanation", {"messages": list(map(to_document, messages))})


def _meaning(part: Part, of: Union[Message, Preemption]) -> str:
    if isinstance(of, Preemption):
        return meanings.meaning_in_preemption(part)
    return meanings.meaning(part, of_groups=of.form == "notScaled")


def _part_documents(of: Union[Message, Preemption]) -> list[Plain]:
    fields = "count=number reason kind subject cut meaning"
    return [to_document(part, fields, meaning=_meaning(part, of)) for part in of.parts]


form(
    Message,
    "component form text nodes=total parts postFilter preemption versions details meaning doubt times cut "
    "notUnderstood next",
    component=lambda item: _COMPONENTS.get(item.component, item.component.value),
    parts=_part_documents,
    versions=lambda item: None if item.era is None else [f"1.{minor}" for minor in item.era],
    details=lambda item: dict(item.details),
    meaning=lambda item: " ".join(filter(None, (meanings.cut_sentence(item), meanings.meaning_of_whole(item)))),
    doubt=meanings.inconsistency,
    next=meanings.commands,
)
form(
    Preemption,
    "nodes=total parts verdict meaning",
    parts=_part_documents,
    meaning=meanings.meaning_of_preemption,
)


def releases(era: Range) -> str:
    """Return `1.24 to 1.33`, `1.34` for a single release, `1.34 and later` or `1.19 or earlier`."""
    if era.least < era.most == LAST_MINOR:
        return f"1.{era.least} and later"
    if era.least == EVERY_MINOR.least:
        return f"1.{era.most} or earlier"
    return " to ".join(f"1.{minor}" for minor in dict.fromkeys(era))


def _parts(of: Union[Message, Preemption], style: Style, explained: set[str]) -> list[str]:
    """Return the parts, each with its count in a column and its meaning below, unless it is explained already."""
    column = max((len(str(part.number or "")) for part in of.parts), default=0)
    indent, where = " " * (column + 4 if column else 2), "clause" if isinstance(of, Preemption) else ""
    out = [] if where or not of.parts else [""]
    for part in of.parts:
        count = f"  {'' if part.number is None else part.number:>{column}}  " if column else indent
        reason = wrap(f"{part.reason}{' ...' if part.is_cut else ''}".lstrip(), style, indent=indent)
        first = count + (reason[0][len(indent) :] if reason else "")
        out += [paint(first.rstrip(), "cyan"), *(paint(line, "cyan") for line in reason[1:])]
        # The first sentences are those of the kind; others are about this part.
        own = len(_SENTENCE.split(part.kind.form.meaning))
        sentences = {
            f"{where} {part.kind.value} {at}" if at < own else sentence: sentence
            for at, sentence in enumerate(_SENTENCE.split(_meaning(part, of)))
        }
        out += wrap(" ".join(sentences[key] for key in sentences if key not in explained), style, indent=indent)
        explained.update(sentences)
    return out


_SENTENCE = re.compile(r"(?<=[.:]) (?=[A-Z])")
