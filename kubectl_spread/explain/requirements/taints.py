"""Cordons and taints that a pod does not tolerate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

import numpy as np

from kubectl_spread.cluster.tables.columns import Bools, Columns
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.explain.wording import summarize_nodes
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.objects.taints import Taint, UNSCHEDULABLE, WELL_KNOWN
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.plugins import names

MOST_TAINTS = 24


def health(cls: PodClass, filtered: FilterResult) -> list[Requirement]:
    """Return one requirement for cordons, and one for each untolerated taint.

    A cordoned node has `spec.unschedulable` and an equivalent taint from the node controller. They come and go together
    and are one requirement. Every untolerated taint counts, not only the first of a node. If there are more than
    `MOST_TAINTS`, taints that differ only in their value are merged.
    """
    plugins = {verdict.plugin: verdict for verdict in filtered.plugin_results}
    columns = filtered.columns
    cordoned = np.zeros(columns.n, np.bool_)
    if names.NODE_UNSCHEDULABLE in plugins:
        cordoned |= plugins[names.NODE_UNSCHEDULABLE].bits != 0
    masks = untolerated_taints(cls, columns) if names.TAINT_TOLERATION in plugins else {}
    tainted = masks.pop(UNSCHEDULABLE, None)
    found: list[Requirement] = []
    if tainted is not None:
        cordoned |= tainted
    if cordoned.any():
        found.append(
            Requirement(
                names.NODE_UNSCHEDULABLE,
                "a cordon",
                ~cordoned,
                kind=RequirementKind.CORDON,
                why=_why_cordoned(cordoned, columns),
            )
        )
    return found + [
        Requirement(
            names.TAINT_TOLERATION,
            f"taint {key}" if number == 1 else f"taint {key} ({number} taints)",
            ~mask,
            kind=RequirementKind.TAINT,
            key=key,
            why=_why_tainted(taint, mask, columns),
            cause="" if taint is None else _cause_of_taint(taint),
            taint=taint,
        )
        for key, taint, number, mask in _merged(masks)
    ]


def _cause_of_taint(taint: Taint) -> str:
    """Return the taint without its effect: NoSchedule and NoExecute of one key have the same cause."""
    return f"{RequirementKind.TAINT.value}/{taint.key}={taint.value}"


def untolerated_taints(cls: PodClass, columns: Columns) -> dict[Taint, Bools]:
    """Return every untolerated NoSchedule or NoExecute taint with its nodes: bool (N,)."""
    if not columns.has_taints:
        return {}
    with_taints: dict[tuple[Taint, ...], list[int]] = {}
    for at, node in enumerate(columns.nodes):
        if node.taints:
            with_taints.setdefault(node.taints, []).append(at)
    found: dict[Taint, list[int]] = {}
    for taints, at_nodes in with_taints.items():
        for taint in dict.fromkeys(taints):
            if taint.repels and not any(toleration.tolerates(taint) for toleration in cls.tolerations):
                found.setdefault(taint, []).extend(at_nodes)
    return {taint: _mask(at_nodes, columns) for taint, at_nodes in found.items()}


def _mask(at_nodes: list[int], columns: Columns) -> Bools:
    mask = np.zeros(columns.n, np.bool_)
    mask[at_nodes] = True
    return mask


def _merged(masks: dict[Taint, Bools]) -> list[tuple[str, Optional[Taint], int, Bools]]:
    """Return the name, the taint, the number of taints and the nodes (bool (N,)) of each group of taints."""
    if len(masks) <= MOST_TAINTS:
        return [(str(taint), taint, 1, mask) for taint, mask in masks.items()]
    merged: dict[Taint, tuple[int, Bools]] = {}
    for taint, mask in masks.items():
        common = taint._replace(value="")
        count, nodes_so_far = merged.get(common, (0, np.zeros_like(mask)))
        merged[common] = count + 1, nodes_so_far | mask
    ordered = sorted(merged.items(), key=lambda item: (-int(item[1][1].sum()), str(item[0])))
    kept: list[tuple[str, Optional[Taint], int, Bools]] = [
        (str(taint), taint, count, mask) for taint, (count, mask) in ordered[: MOST_TAINTS - 1]
    ]
    rest = ordered[MOST_TAINTS - 1 :]
    if rest:
        count = sum(item[1][0] for item in rest)
        kept.append(("of other keys", None, count, np.logical_or.reduce([item[1][1] for item in rest])))
    return kept


def _why_cordoned(cordoned: Bools, columns: Columns) -> Callable[[Bools], str]:
    def why(among: Bools) -> str:
        found = cordoned & among
        return f"{summarize_nodes(found, columns)} {'is' if int(found.sum()) == 1 else 'are'} cordoned"

    return why


def _why_tainted(taint: Optional[Taint], tainted: Bools, columns: Columns) -> Callable[[Bools], str]:
    """Return `c1 is unreachable`, or for an unknown taint: `on c1; the pod does not tolerate it`."""
    state = "" if taint is None else WELL_KNOWN.get(taint.key, "")

    def why(among: Bools) -> str:
        found = tainted & among
        if not state:
            return f"on {summarize_nodes(found, columns)}; the pod does not tolerate it"
        return f"{summarize_nodes(found, columns)} {_be(state, is_one=int(found.sum()) == 1)}"

    return why


def _be(state: str, *, is_one: bool) -> str:
    """Return `is unreachable`, `are control-plane nodes`."""
    if is_one:
        return f"is {state}"
    noun, _, rest = state.removeprefix("a ").partition(" for ")
    return f"are {noun}s{' for ' + rest if rest else ''}" if state.startswith("a ") else f"are {state}"
