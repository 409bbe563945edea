"""Words that messages of several rules share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kubectl_spread.objects.node_reason import NodeReason
from kubectl_spread.objects.node_reason import NodeReasonKind

if TYPE_CHECKING:  # 10 ms, and --help needs none of it
    from kubectl_spread.objects.workload import Workload

_NAMED = 3


def called(workload: Workload) -> str:
    """What a message calls a workload."""
    return f"{workload.kind} `{workload.name}`"


def named(names: Iterable[str]) -> str:
    """Up to three names, and how many more there are."""
    listed = [f"`{name}`" for name in names]
    more = len(listed) - _NAMED
    if more > 0:
        return f"{', '.join(listed[:_NAMED])} and {more} more"
    return ", ".join(listed)


def counted(number: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def node_reasons(reasons: Iterable[NodeReason]) -> str:
    """Return why nodes are not counted or cannot run a pod: `untolerated taint a:NoSchedule; cordoned`."""
    return "; ".join(map(node_reason, reasons))


def node_reason(reason: NodeReason) -> str:
    """Return one reason: the words of the scheduler where it has some."""
    known = _NODE_REASONS.get(reason.kind)
    if known is not None:
        return known.format(key=reason.key, taint=reason.taint)
    return ", ".join(reason.words).replace("node(s) ", "")


_NODE_REASONS = {
    NodeReasonKind.OUTSIDE_AFFINITY: "nodeAffinityPolicy Honor: outside the pod's node affinity/selector",
    NodeReasonKind.HONORED_TAINT: "nodeTaintsPolicy Honor: untolerated taint {taint}",
    NodeReasonKind.MISSING_LABEL: "lacks the label {key}",
    NodeReasonKind.UNTOLERATED_TAINT: "untolerated taint {taint}",
    NodeReasonKind.CORDON: "cordoned",
    NodeReasonKind.NO_NODE_FITS: "the pod fits on none of its nodes",
    NodeReasonKind.REFUSED_BY_HARD_CONSTRAINT: "a hard constraint refuses its nodes, and only nodes that fit count",
}
