"""Words and lists that the sentences of an explanation share. Names are as they are: whoever prints them escapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kubectl_spread.cluster.tables.columns import Bools, Columns
from kubectl_spread.objects.amounts.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from kubectl_spread.objects.selectors.selector import EVERY_POD, LabelRequirement, Selector

MOST_NAMES = 3
MOST_GROUPS = 3

_BINARY = ((60, "Ei"), (50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki"))


def short_list(names: Sequence[str], *, of: int = 0) -> str:
    """Return up to three names and the number of the others; `of`: the number of all, if `names` is incomplete."""
    total = max(of, len(names))
    shown = ", ".join(name or '""' for name in names[:MOST_NAMES])
    return shown if total <= MOST_NAMES else f"{shown} and {total - MOST_NAMES} more"


def nodes(mask: Bools, columns: Columns) -> str:
    """Return up to three node names and the number of the others."""
    found = np.flatnonzero(mask)
    return short_list([columns.nodes[at].name for at in found[:MOST_NAMES].tolist()], of=len(found))


def summarize_nodes(mask: Bools, columns: Columns) -> str:
    """Return `a1, a2`, or `12 nodes (a1, a2, a3 and 9 more)`."""
    number = int(mask.sum())
    text = nodes(mask, columns)
    return text if number <= MOST_NAMES else f"{number} nodes ({text})"


def amount(resource: str, value: int) -> str:
    """Return a quantity in the usual units."""
    if resource == CPU:
        return f"{value // 1000}" if value % 1000 == 0 else f"{value}m"
    if resource in (MEMORY, EPHEMERAL_STORAGE) or resource.startswith("hugepages-"):
        for power, suffix in _BINARY:
            if value and value % (1 << power) == 0:
                return f"{value >> power}{suffix}"
        if abs(value) >= 10 << 20:
            return f"{value / (1 << 20):.1f}Mi"
    return str(value)


def selector_text(selector: Selector) -> str:
    """Return a selector as kubectl writes it, each condition once."""
    if selector.requirements is None:
        return "no label selector (which selects none)"
    if selector.is_empty:
        return "any labels (an empty selector, with which the scheduler counts no pods)"
    if selector == EVERY_POD:
        return "any labels (an empty selector, which counts every pod of the namespace up to Kubernetes 1.26)"
    return ",".join(dict.fromkeys(map(requirement_text, selector.requirements)))


def requirement_text(item: LabelRequirement) -> str:
    """Return one condition on a label as kubectl writes it."""
    if item.operator == "In" and len(item.values) == 1:
        return f"{item.key}={item.values[0]}"
    if item.operator == "Exists":
        return item.key
    if item.operator == "DoesNotExist":
        return f"!{item.key}"
    signs = {"Gt": ">", "Lt": "<"}
    if item.operator in signs:
        return f"{item.key} {signs[item.operator]} {','.join(item.values)}"
    return f"{item.key} {item.operator.lower()} ({','.join(item.values)})"


def first_sentences(sentences: Iterable[str]) -> str:
    """Return the first few sentences and the number of the others."""
    found = list(sentences)
    more = len(found) - MOST_GROUPS
    return "; ".join(found[:MOST_GROUPS]) + (f"; and {more} more" if more > 0 else "")
