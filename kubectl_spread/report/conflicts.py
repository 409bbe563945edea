"""What together leaves no node, as text."""

from __future__ import annotations

from kubectl_spread.explain.conflicts import Conflict
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.requirement import Requirement
from kubectl_spread.lint.wording import counted
from kubectl_spread.report.table import listed
from kubectl_spread.report.table import safe

_MOST_NAMES = 6
_MOST_CONFLICTS = 5


def refusal(conflict: Conflict) -> str:
    """`every node is refused by A or by B`."""
    texts = [safe(item.text) for item in conflict.requirements]
    return f"every node is refused by {' or by '.join(texts)}"


def lines(explanation: Explanation) -> list[str]:
    """The sets of requirements that leave no node, each line with what one of them leaves."""
    out = ["What leaves no node (each set by itself keeps the pod Pending):"]
    for number, conflict in enumerate(explanation.conflicts[:_MOST_CONFLICTS], 1):
        lines_of_set = [
            f"{safe(item.text)} leaves {_left(item, explanation.node_names)}" for item in conflict.requirements
        ]
        out.append(f"  {number}. {lines_of_set[0]}")
        out += [f"     {line}" for line in lines_of_set[1:]]
    more = len(explanation.conflicts) - _MOST_CONFLICTS
    if more > 0:
        out.append(f"  and {counted(more, 'larger set')}")
    return out


def _left(requirement: Requirement, names: tuple[str, ...]) -> str:
    left = [name for name, fits in zip(names, requirement.allowed, strict=True) if fits]
    return f"only {listed(left, most=_MOST_NAMES)}" if left else "no node"
