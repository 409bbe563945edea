"""Nodes as text: groups of nodes that the same requirements refuse, and everything about one node."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from kubectl_spread.containers import grouped
from kubectl_spread.explain.explanation import Explanation
from kubectl_spread.explain.node_view import NodeView, NotConsidered
from kubectl_spread.explain.requirements.collect import constraint_name
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.objects.resources import amount
from kubectl_spread.report import table
from kubectl_spread.report.explain.constraints import inequality
from kubectl_spread.report.table import Block, Rows, Style
from kubectl_spread.text.wording import comma_list, count_noun, first_of

_MOST_NAMES = 6
_MOST_DOMAINS = 8
_MOST_GROUPS = 12


class NodeGroup(NamedTuple):
    """Nodes that the same requirements refuse; `reported` is their reason in the scheduler's message."""

    reported: str
    refused_by: tuple[str, ...]
    nodes: tuple[str, ...]


def groups(explanation: Explanation) -> list[NodeGroup]:
    """Return the nodes that do not fit, the largest group first."""
    refusing: dict[str, tuple[Requirement, ...]] = dict.fromkeys(explanation.node_names, ())
    for requirement in explanation.requirements:
        for name, allowed in zip(explanation.node_names, requirement.allowed.tolist(), strict=True):
            refusing[name] += () if allowed else (requirement,)
    alike = grouped(((node.recorded.reasons, tuple(map(id, refusing[node.name]))), node) for node in explanation.nodes)
    return [
        NodeGroup(
            ", ".join(same[0].recorded.reasons),
            tuple(requirement.text for requirement in refusing[same[0].name]),
            tuple(node.name for node in same),
        )
        for same in sorted(alike.values(), key=len, reverse=True)
    ]


def lines(explanation: Explanation, style: Style) -> list[str]:
    """Return the number of feasible nodes, and the groups of infeasible nodes."""
    feasible = explanation.diagnosis.feasible
    total = len(explanation.node_names)
    out = [f"Nodes: {len(feasible)} of {total} fit"]
    found = groups(explanation)
    if not found:
        return out
    shown = found if style.is_detailed else found[:_MOST_GROUPS]
    rows = [("NODES", "REPORTED", "REFUSED BY", "WHICH")]
    for group in shown:
        where = which(group.nodes, explanation, style)
        rows.append((str(len(group.nodes)), group.reported or "-", "; ".join(group.refused_by) or "-", where))
    if feasible:
        rows.append((str(len(feasible)), "fits", "-", which(feasible, explanation, style)))
    out += table.table(rows, style, indent="  ")
    if len(shown) < len(found):
        rest = found[len(shown) :]
        out.append(
            f"  and {sum(len(group.nodes) for group in rest)} more nodes in {len(rest)} groups; --details shows all"
        )
    return out


def which(names: tuple[str, ...], explanation: Explanation, style: Style) -> str:
    """Return names if they are few; otherwise `topology.kubernetes.io/zone: a=3 b=2`."""
    if len(names) <= _MOST_NAMES or (style.is_detailed and len(names) <= 10 * _MOST_NAMES):
        return ", ".join(names)
    domain_of = dict(zip(explanation.node_names, explanation.domain_of, strict=True))
    counts = Counter(domain_of[name] for name in names)
    if set(counts) == {""}:
        return comma_list(names, most=3)
    parts = [f"{value}={count}" for value, count in sorted(counts.items()) if value]
    named = " ".join(first_of(parts, _MOST_DOMAINS, lambda left: f"and {left} more"))
    without = f"; {counts['']} without the label" if counts[""] else ""
    return f"{explanation.domain_key}: {named}{without}"


def one_node_blocks(found: NodeView) -> list[Block]:
    """Return the verdict on one node, its taints and domains, the plugins' reasons, and its resources."""
    if found.fits:
        verdict = "takes the pod"
    elif found.not_considered is not None:
        why = _NOT_CONSIDERED[found.not_considered].format(chosen=found.chosen)
        others = "; ".join(item.text for item in found.refusing)
        verdict = f"is not considered: {why}{f'. It would also be refused by {others}' if others else ''}"
    else:
        verdict = f"refuses the pod: {'; '.join(item.text for item in found.refusing) or 'it does not fit'}"
    is_cordoned = ", cordoned (spec.unschedulable)" if found.node.unschedulable else ""
    out: list[Block] = [f"Node {found.node.name} {verdict}.", f"  {count_noun(found.pods, 'pod')} on it{is_cordoned}"]
    for answer in found.taints:
        tolerated = "not tolerated" if answer.taint.repels else "only lowers its score"
        out.append(f"  taint {answer.taint}: {'tolerated' if answer.is_tolerated else tolerated}")
    for report, domain in found.domains:
        name = constraint_name(report.constraint.position, is_default=report.is_default)
        key, fact = report.constraint.topology_key, ""
        if domain is not None:
            fact = f"{key}={domain.value or chr(34) * 2}: {inequality(domain, report)}"
        out.append(f"  {name}: {fact or f'the node lacks the label {key}'}")
    plugins = [("PLUGIN", "REASONS")]
    plugins += [(item.plugin, ", ".join(item.reasons) or "fits") for item in found.plugins]
    rooms: list[tuple[str, ...]] = [("RESOURCE", "ALLOCATABLE", "REQUESTED", "FREE", "POD REQUESTS", "FITS")]
    for room in found.rooms:
        numbers = (room.allocatable, room.requested, room.free, room.asked)
        amounts = tuple(amount(room.resource, number) for number in numbers)
        rooms.append((room.resource, *amounts, "yes" if room.is_enough else "no"))
    return [*out, "", Rows(tuple(plugins), "  "), "", Rows(tuple(rooms), "  ")]


_NOT_CONSIDERED = {
    NotConsidered.NAMED_NODES: "the pod asks for other nodes by name",
    NotConsidered.CHOSEN_NODE: "the scheduler has chosen node {chosen} for the pod",
    NotConsidered.REFUSED_BEFORE: "the pod is refused before any node is looked at",
}
