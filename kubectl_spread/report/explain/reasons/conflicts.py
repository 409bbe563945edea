"""Conflicts as text: requirements that together leave no node."""

from __future__ import annotations

from typing import Optional

import numpy as np

from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.requirements.decisive import Conflict
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.report.table import wrap
from kubectl_spread.text.wording import comma_list, count_noun, safe

_MOST_NAMES = 6
_MOST_CONFLICTS = 5
HEADING = "Conflicts (each of these alone keeps the pod Pending):"


def refusal(conflict: Conflict) -> str:
    """Return `every node is refused by A or by B`."""
    texts = [safe(item.text) for item in conflict.requirements]
    return f"every node is refused by {' or by '.join(texts)}"


def lines(explanation: Explanation, *, width: Optional[int] = None) -> list[str]:
    """Return the sets of requirements that leave no node, with the nodes that each requirement leaves, and why."""
    out = wrap(HEADING, width, hanging="  ")
    for number, conflict in enumerate(explanation.conflicts[:_MOST_CONFLICTS], 1):
        first = f"{number}."
        words = conflict.arithmetic or ("",) * len(conflict.requirements)
        for item, why in zip(conflict.requirements, words, strict=True):
            sentence = f"{safe(item.text)} leaves {remaining_nodes(item, explanation.node_names)}"
            out += _numbered(first, sentence, width)
            out += wrap(why, width, indent="       ") if why else []
            first = ""
    out += _more(explanation)
    return out


def _numbered(number: str, text: str, width: Optional[int]) -> list[str]:
    """Return a paragraph whose first line starts with a number, if there is one."""
    first, *others = wrap(text, width, indent="     ")
    return [f"  {number:<3}{first[5:]}", *others]


def _more(explanation: Explanation) -> list[str]:
    more = len(explanation.conflicts[_MOST_CONFLICTS:]) + explanation.more_conflicts
    if not explanation.conflicts_are_complete:
        return [
            f"  and at least {count_noun(more, 'more conflict')}, as the search was stopped" if more else "  and others"
        ]
    return [f"  and {count_noun(more, 'more conflict')}"] if more else []


def remaining_nodes(requirement: Requirement, names: tuple[str, ...]) -> str:
    """Return `only n1, n2`: the nodes that meet a requirement."""
    left = np.flatnonzero(requirement.allowed).tolist()
    if not left:
        return "no node"
    if len(left) > _MOST_NAMES:
        return f"{len(left)} of {count_noun(len(names), 'node')}"
    return f"only {comma_list((names[at] for at in left), most=_MOST_NAMES)}"
