"""One node as text: the reasons of each plugin, its resources, and its domain of each constraint."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.explain.node_view import NodeView
from kubectl_spread.explain.node_view import NotConsidered
from kubectl_spread.explain.requirements.collect import constraint_name
from kubectl_spread.objects.resources import amount
from kubectl_spread.report.explain.constraints import inequality
from kubectl_spread.report.table import Block
from kubectl_spread.report.table import laid_out
from kubectl_spread.report.table import Rows
from kubectl_spread.report.table import Style
from kubectl_spread.text.wording import counted
from kubectl_spread.text.wording import safe


def lines(found: NodeView, style: Style) -> list[str]:
    """Return `blocks` as text."""
    return laid_out(blocks(found), style.width)


def blocks(found: NodeView) -> list[Block]:
    """Return the verdict on one node, its taints and domains, the plugins' reasons, and its resources."""
    if found.fits:
        verdict = "takes the pod"
    elif found.not_considered is not None:
        verdict = f"is not considered: {_why_not(found)}"
    else:
        verdict = f"refuses the pod: {'; '.join(item.text for item in found.refusing) or 'it does not fit'}"
    out: list[Block] = [
        f"Node {safe(found.node.name)} {safe(verdict)}.",
        *(f"  {safe(fact)}" for fact in _facts(found)),
    ]
    plugins = [("PLUGIN", "REASONS")]
    plugins += [(answer.plugin, ", ".join(answer.reasons) or "fits") for answer in found.plugins]
    rooms: list[tuple[str, ...]] = [("RESOURCE", "ALLOCATABLE", "REQUESTED", "FREE", "POD REQUESTS", "FITS")]
    for room in found.rooms:
        numbers = (room.allocatable, room.requested, room.free, room.asked)
        told = tuple(amount(room.resource, number) for number in numbers)
        rooms.append((room.resource, *told, "yes" if room.is_enough else "no"))
    return [*out, "", Rows(tuple(plugins), "  "), "", Rows(tuple(rooms), "  ")]


def _why_not(found: NodeView) -> str:
    why = "the pod asks for other nodes by name"
    if found.not_considered is NotConsidered.CHOSEN_NODE:
        why = f"the scheduler has chosen node {safe(found.chosen)} for the pod"
    elif found.not_considered is NotConsidered.REFUSED_BEFORE:
        why = "the pod is refused before any node is looked at"
    others = "; ".join(safe(item.text) for item in found.refusing)
    return f"{why}. It would also be refused by {others}" if others else why


def _facts(found: NodeView) -> Iterator[str]:
    node = found.node
    yield f"{counted(found.pods, 'pod')} on it" + (", cordoned (spec.unschedulable)" if node.unschedulable else "")
    for answer in found.taints:
        if answer.is_tolerated:
            yield f"taint {answer.taint}: tolerated"
        else:
            yield f"taint {answer.taint}: " + ("not tolerated" if answer.taint.repels else "only lowers its score")
    for report, domain in found.domains:
        name = constraint_name(report.constraint.position, is_default=report.is_default)
        key = report.constraint.topology_key
        if domain is None:
            yield f"{name}: the node lacks the label {key}"
        else:
            yield f"{name}: {key}={domain.value or chr(34) * 2}: {inequality(domain, report)}"
