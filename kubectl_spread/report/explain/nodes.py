"""The nodes that refuse a pod, as text: grouped by what refuses them, never one by one."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.report import table
from kubectl_spread.report.table import Style
from kubectl_spread.text.wording import listed

_MOST_NAMES = 6
_MOST_DOMAINS = 8
_MOST_GROUPS = 12


class NodeGroup(NamedTuple):
    """Nodes that the same requirements refuse; `reported` is what the scheduler's message says of them."""

    reported: str
    refused_by: tuple[str, ...]
    nodes: tuple[str, ...]


def groups(explanation: Explanation) -> list[NodeGroup]:
    """The nodes that do not fit, the largest group first."""
    failing: dict[str, list[int]] = {name: [] for name in explanation.node_names}
    for at, requirement in enumerate(explanation.requirements):
        for name, allowed in zip(explanation.node_names, requirement.allowed.tolist(), strict=True):
            if not allowed:
                failing[name].append(at)
    found: dict[tuple[tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for node in explanation.nodes:
        key = (node.recorded.reasons, tuple(failing[node.name]))
        found.setdefault(key, []).append(node.name)
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    texts = [requirement.text for requirement in explanation.requirements]
    return [
        NodeGroup(", ".join(reported), tuple(texts[at] for at in refused), tuple(names))
        for (reported, refused), names in ordered
    ]


def lines(explanation: Explanation, style: Style) -> list[str]:
    """How many fit, and the groups of those that do not."""
    feasible = explanation.diagnosis.feasible
    total = len(explanation.node_names)
    out = [f"Nodes: {len(feasible)} of {total} fit"]
    found = groups(explanation)
    if not found:
        return out
    shown = found if style.is_wide else found[:_MOST_GROUPS]
    rows = [("NODES", "REPORTED", "REFUSED BY", "WHICH")]
    for group in shown:
        where = which(group.nodes, explanation, style)
        rows.append((str(len(group.nodes)), group.reported or "-", "; ".join(group.refused_by) or "-", where))
    if feasible:
        rows.append((str(len(feasible)), "fits", "-", which(feasible, explanation, style)))
    out += table.table(rows, style.width, indent="  ")
    if len(shown) < len(found):
        rest = found[len(shown) :]
        out.append(
            f"  and {sum(len(group.nodes) for group in rest)} more nodes in {len(rest)} groups; --wide shows all"
        )
    return out


def which(names: tuple[str, ...], explanation: Explanation, style: Style) -> str:
    """Return names if they are few; otherwise `topology.kubernetes.io/zone: a=3 b=2`."""
    if len(names) <= _MOST_NAMES or (style.is_wide and len(names) <= 10 * _MOST_NAMES):
        return ", ".join(names)
    domain_of = dict(zip(explanation.node_names, explanation.domain_of, strict=True))
    counts = Counter(domain_of[name] for name in names)
    if set(counts) == {""}:
        return listed(names, most=3)
    parts = [f"{value}={count}" for value, count in sorted(counts.items()) if value]
    more = f" and {len(parts) - _MOST_DOMAINS} more" if len(parts) > _MOST_DOMAINS else ""
    without = f"; {counts['']} without the label" if counts[""] else ""
    return f"{explanation.domain_key}: {' '.join(parts[:_MOST_DOMAINS])}{more}{without}"
