"""Requirements for a node's capacity: resources, a slot, ports, volumes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.tables.columns import Bools, Columns
from kubectl_spread.explain.requirements.requirement import Requirement, RequirementKind
from kubectl_spread.explain.wording import amount, short_list
from kubectl_spread.objects.pod import HostPort, PodClass
from kubectl_spread.scheduler.filter_result import PluginResult
from kubectl_spread.scheduler.plugins.noderesources.fit import TOO_MANY_PODS
from kubectl_spread.text.wording import count_noun

Indices = NDArray[np.intp]  # into columns.bound_pods

_INSUFFICIENT = "Insufficient "


def resources(verdict: PluginResult, cls: PodClass, columns: Columns) -> Iterator[Requirement]:
    """Yield the pod slot, and each requested resource."""
    requests = dict(columns.with_summed_requests(cls).requests)
    for text, mask in masks_by_reason(verdict).items():
        if text == TOO_MANY_PODS.text:
            why = _why_full(~mask, columns)
            yield Requirement(verdict.plugin, "the limit of pods per node", mask, kind=RequirementKind.PODS, why=why)
        else:
            name = text.removeprefix(_INSUFFICIENT)
            if not requests.get(name) and bool(mask.all()):
                continue  # older releases compare it although the pod requests none
            yield Requirement(
                verdict.plugin,
                f"the {name} request",
                mask,
                kind=RequirementKind.RESOURCE,
                key=name,
                why=_why_short(name, requests.get(name, 0), ~mask, columns),
            )


def masks_by_reason(verdict: PluginResult) -> dict[str, Bools]:
    """Return the nodes without each reason: bool (N,) by text; reasons that differ only in their code are one."""
    masks: dict[str, int] = {}
    for at, reason in enumerate(verdict.state.reasons):
        masks[reason.text] = masks.get(reason.text, 0) | 1 << at
    bits = verdict.bits
    return {text: (bits & np.uint64(mask)) == 0 for text, mask in masks.items()}


def _why_full(full: Bools, columns: Columns) -> Callable[[Bools], str]:
    def why(among: Bools) -> str:
        found = np.flatnonzero(full & among)
        names = [
            f"{columns.nodes[at].name} {columns.pod_count[at]} of {columns.slots()[at]}" for at in found[:3].tolist()
        ]
        return f"{count_noun(len(found), 'node')} with as many pods as allowed: {short_list(names, of=len(found))}"

    return why


def _why_short(name: str, asked: int, short: Bools, columns: Columns) -> Callable[[Bools], str]:
    """Return `needs 500m; n7 has the most free, 250m of 4; 3 of 4 nodes have enough if empty`."""

    def why(among: Bools) -> str:
        found = np.flatnonzero(short & among)
        if not len(found):
            return f"needs {amount(name, asked)}"
        total = columns.allocatable_of(name)[found]
        free = total - columns.requested_of(name)[found]
        enough = int((total >= asked).sum())
        wanted = f"needs {amount(name, asked)}"
        at = int(total.argmax() if not enough else free.argmax())
        node, most = columns.nodes[int(found[at])].name, amount(name, int(total[at]))
        left = f"{amount(name, max(0, int(free[at])))} of {most}"
        if len(found) == 1:
            text = f"{wanted}; {node} has {left} free"
            return text if enough else f"{text}, too small even if empty"
        if not enough:
            return f"{wanted}, more than any of the {len(found)} nodes has: at most {most}, on {node}"
        text = f"{wanted}; of {len(found)} nodes {node} has the most free, {left}"
        return f"{text}; {'all' if enough == len(found) else enough} would have enough if empty"

    return why


def ports(verdict: PluginResult, cls: PodClass, columns: Columns) -> list[Requirement]:
    """Return each host port of the pod, with the pods that use it."""
    found = []
    for index, port in enumerate(dict.fromkeys(cls.host_ports)):
        taken = np.array(
            [any(port.conflicts(other) for other in known.host_ports) for known in columns.classes], np.bool_
        )
        holders = np.flatnonzero(taken[columns.bound_classes]) if len(taken) else np.zeros(0, np.intp)
        mask = np.ones(columns.n, np.bool_)
        mask[columns.bound_nodes[holders]] = False
        name = _port_text(port)
        found.append(
            Requirement(
                verdict.plugin,
                f"host port {name}",
                mask,
                kind=RequirementKind.PORT,
                key=name,
                at=index,
                why=why_pods(holders, columns, "taken by"),
            )
        )
    return found


def _port_text(port: HostPort) -> str:
    text = f"{port.port}/{port.protocol}" if port.protocol != "TCP" else str(port.port)
    return text if port.ip in ("", "0.0.0.0") else f"{port.ip}:{text}"  # noqa: S104 (a wildcard, nothing listens)


def why_pods(pods: Indices, columns: Columns, verb: str) -> Callable[[Bools], str]:
    """Return `taken by web-1 on a1, web-2 on b1 and 3 more`; `pods` are indices into `columns.bound_pods`."""

    def why(among: Bools) -> str:
        found = pods[among[columns.bound_nodes[pods]]]
        return f"{verb} {pods_on_nodes(found.tolist(), columns)}"

    return why


def pods_on_nodes(pods: list[int], columns: Columns) -> str:
    """Return up to three pods with their nodes; `pods` are indices into `columns.bound_pods`."""
    shown = [(columns.bound_pods[at].name, columns.nodes[columns.bound_nodes[at]].name) for at in pods[:3]]
    return short_list([f"{pod} on {node}" for pod, node in shown], of=len(pods))
