"""Requirements with one cause, merged: the taints of one outage, or the two sides of one anti-affinity rule.

The scheduler checks them one by one. A change that removes the cause removes all of them, so people should see one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kubectl_spread.cluster.tables.arrays import Bools
from kubectl_spread.explain.requirements.requirement import Requirement
from kubectl_spread.objects.taints import OUTAGES


def merge_causes(found: Sequence[Requirement]) -> list[Requirement]:
    """Merge requirements of one cause, each at the place of its first.

    Taints that differ only in their effect are merged if the same nodes have them. Then a conflict remains a
    conflict. The taints of an outage are always merged.
    """
    groups: dict[object, list[Requirement]] = {}
    for at, requirement in enumerate(found):
        groups.setdefault(_group(requirement) or at, []).append(requirement)
    return [_merged(group) if len(group) > 1 else group[0] for group in groups.values()]


def _group(requirement: Requirement) -> object:
    """Return the key of requirements to merge; None for a requirement that is never merged."""
    if not requirement.cause:
        return None
    taint = requirement.taint
    if taint is not None and taint.key in OUTAGES and not taint.value:
        return requirement.cause
    return (requirement.cause, requirement.allowed.tobytes())


def _merged(group: list[Requirement]) -> Requirement:
    first = group[0]
    return first._replace(
        text=_text(group),
        allowed=np.logical_and.reduce([item.allowed for item in group]),
        why=lambda among: _why(group, among),
        parts=tuple(group),
    )


def _why(group: list[Requirement], among: Bools) -> str:
    """Return the reason of the first part that refuses one of the nodes; all parts have the same cause."""
    refusing = [item for item in group if (~item.allowed & among).any()]
    return refusing[0].why(among) if refusing else ""


def _text(group: list[Requirement]) -> str:
    taints = [item.taint for item in group if item.taint is not None]
    if not taints:
        return group[0].text
    effects = ",".join(taint.effect for taint in taints)
    return f"taint {taints[0]._replace(effect=effects)}"
