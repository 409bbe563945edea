"""Sentences about a spread constraint: its notes, its origin, and the reasons of its nodes."""

from __future__ import annotations

from collections.abc import Callable

from kubectl_spread.explain.constraints.notes import Note, NoteKind, Origin, OriginKind
from kubectl_spread.explain.requirements.requirement import short_list
from kubectl_spread.objects.keys import ObjectKey
from kubectl_spread.objects.taints import OUTAGES
from kubectl_spread.text.wording import count_noun


def note(item: Note) -> str:
    """Return the sentence of a note, without a full stop."""
    return _NOTES[item.kind](item)


def origin(item: Origin) -> str:
    """Return the origin of a constraint: `the template of Deployment web`; empty if it is unknown."""
    return _ORIGINS[item.kind](item)


def owner_name(owner: ObjectKey | None) -> str:
    """Return `Deployment web`; empty for pods without a controller."""
    return "" if owner is None else f"{owner.kind} {owner.name}"


def _names(item: Note) -> str:
    return short_list(item.names, of=item.number)


def _limit(item: Note) -> str:
    return f"{item.minimum} + {item.max_skew} = {item.limit}"


def _not_self_matching(item: Note) -> str:
    labels = ", ".join(item.values) or "none"
    return f"pods like this one (labels: {labels}) are not counted, so the constraint does not spread them"


def _no_domains(item: Note) -> str:
    near = f"; did you mean {item.near}?" if item.near else ""
    return f"no node has the label {item.key}, so there are no domains to spread over{near}"


def _stuck_minimum(item: Note) -> str:
    verb, pronoun = ("takes", "it stays") if len(item.values) == 1 else ("take", "they stay")
    return (
        f"as long as {short_list(item.values)} {verb} no pod, {pronoun} at {item.minimum}, "
        f"and no other domain can hold more than {_limit(item)}"
    )


def _hidden_domains(item: Note) -> str:
    lacks = "lacks" if item.number == 1 else "lack"
    noun, verb = ("domain", "is") if len(item.values) == 1 else ("domains", "are")
    return (
        f"{_names(item)} {lacks} {item.key}, the key of another constraint, "
        f"so {noun} {short_list(item.values)} {verb} not counted here either"
    )


def _case_variants(item: Note) -> str:
    groups = "; ".join(" and ".join(values) for values in item.groups)
    return f"{groups} differ only in upper and lower case, so they are separate domains"


def _cordon_without_taint(item: Note) -> str:
    is_cordoned, pronoun = ("is cordoned", "it") if item.number == 1 else ("are cordoned", "them")
    return f"{_names(item)} {is_cordoned} without the cordon taint, so nodeTaintsPolicy Honor still counts {pronoun}"


def _outage(item: Note) -> str:
    is_down, still = ("is", "it still counts") if item.number == 1 else ("are", "they still count")
    return (
        f"{_names(item)} {is_down} {OUTAGES[item.key]}, but the pod tolerates {item.key}:NoExecute "
        f"(by default for 300 s), so {still} and can be chosen"
    )


def _finished_pods(item: Note) -> str:
    have, do = ("has", "does") if item.number == 1 else ("have", "do")
    return f"{count_noun(item.number, 'matching pod')} {have} finished and {do} not count: {_names(item)}"


def _empty_value(item: Note) -> str:
    have = "has" if item.number == 1 else "have"
    return f"{_names(item)} {have} an empty {item.key}, which counts as a separate domain"


_NOTES: dict[NoteKind, Callable[[Note], str]] = {
    NoteKind.EMPTY_SELECTOR: lambda _: (
        "an empty labelSelector matches all pods in the API, but the scheduler counts none of them"
    ),
    NoteKind.NO_SELECTOR: lambda _: (
        "without a labelSelector no pod is counted, so the constraint spreads nothing, "
        "but it switches the default constraints off"
    ),
    NoteKind.NOT_SELF_MATCHING: _not_self_matching,
    NoteKind.NO_DOMAINS: _no_domains,
    NoteKind.BELOW_MIN_DOMAINS: lambda item: (
        f"as long as there are fewer than {item.number} domains, each can hold at most {_limit(item)} matching "
        f"{'pod' if item.limit == 1 else 'pods'}"
    ),
    NoteKind.STUCK_MINIMUM: _stuck_minimum,
    NoteKind.HIDDEN_DOMAINS: _hidden_domains,
    NoteKind.ONLY_DOMAIN: lambda item: (
        f"{short_list(item.values)} is the only domain, so there is nothing to spread over"
    ),
    NoteKind.FITS_ONE_DOMAIN: lambda item: (
        f"the pod fits into no domain other than {short_list(item.values)}, so the constraint does not affect it"
    ),
    NoteKind.SHARED_HOSTNAME: lambda item: (
        f"{_names(item)} share {item.key}={short_list(item.values)}, so they are one domain"
    ),
    NoteKind.MORE_SHARED_HOSTNAMES: lambda item: (
        f"{count_noun(item.number, 'more value')} of {item.key} shared by several nodes"
    ),
    NoteKind.EMPTY_VALUE: _empty_value,
    NoteKind.CASE_VARIANTS: _case_variants,
    NoteKind.CORDON_WITHOUT_TAINT: _cordon_without_taint,
    NoteKind.OUTAGE: _outage,
    NoteKind.FINISHED_PODS: _finished_pods,
}


def _default(item: Origin, place: str) -> str:
    text = f"a cluster default ({place}), because the pod has no constraints"
    sources = short_list(item.selector_from)
    return f"{text}; it uses the selector of {sources}" if sources else text


def _changed_template(item: Origin) -> str:
    values = ", ".join(f"{field} {'not set' if value is None else value}" for field, value in item.changed)
    return f"an older template of {owner_name(item.owner)}, which now has {values}"


_ORIGINS: dict[OriginKind, Callable[[Origin], str]] = {
    OriginKind.UNKNOWN: lambda _: "",
    OriginKind.BUILT_IN_DEFAULT: lambda item: _default(item, "built into the scheduler"),
    OriginKind.CONFIGURED_DEFAULT: lambda item: _default(item, "defaultConstraints in the scheduler's configuration"),
    OriginKind.POD: lambda _: "the pod",
    OriginKind.POD_OF_OWNER: lambda item: f"the pod, created by {owner_name(item.owner)}",
    OriginKind.FORMER_TEMPLATE: lambda item: (
        f"the pod; the template of {owner_name(item.owner)} no longer has a constraint for this key"
    ),
    OriginKind.CHANGED_TEMPLATE: _changed_template,
    OriginKind.TEMPLATE: lambda item: f"the template of {owner_name(item.owner)}",
}
