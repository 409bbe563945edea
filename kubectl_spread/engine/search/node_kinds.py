"""Exchangeable nodes: a number for each node, equal for nodes that look the same to a workload's pods.

```
node   zone  free CPU   kind
a1     a     4          0
a2     a     4          0      exchangeable with a1
a3     a     2          1
b1     b     4          2
```
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.objects.amounts.resources import PODS
from kubectl_spread.objects.node import Node, PREFER_NO_SCHEDULE
from kubectl_spread.objects.pod import Pod, PodClass
from kubectl_spread.scheduler.cycle import Scheduler
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.framework.plugin import ScoreError
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, hard_counts

_ALONE = -2  # the code of a domain with a single node


def filter_kinds(pod_class: PodClass, filtered: FilterResult) -> list[int]:
    """Number the nodes by the fields that the Filter plugins see.

    Labels that only one node has, like the hostname, are ignored.
    """
    columns = filtered.columns
    if pod_class.pod_affinity or pod_class.volumes or pod_class.host_ports:
        return list(range(columns.n))
    keys = [item.topology_key for item in pod_class.constraints]
    keys += [term.topology_key for term in pod_class.pod_anti_affinity]
    return _numbered(
        _domains(keys, columns),
        _rows(_free(pod_class, columns), columns),
        (columns.slots() - columns.pod_count).tolist(),
        _rows([result.bits for result in filtered.plugin_results], columns),
        filtered.considered.tolist(),
        _rows(_counted(filtered), columns),
    )


def _free(pod_class: PodClass, columns: Columns) -> list[NDArray[Any]]:
    """Return the free amounts of the resources that a pod requests, int64 (N,) each."""
    resources = [name for name, _ in pod_class.requests if name in columns.allocatable and name != PODS]
    return [columns.allocatable[name] - columns.requested_of(name) for name in resources]


def _counted(filtered: FilterResult) -> list[NDArray[Any]]:
    """Return the nodes that each hard constraint includes, and the pods that it counts on them, (N,) each."""
    return [array for item in hard_counts(filtered) for array in (item.included, item.on_nodes)]


def scheduler_kinds(
    pod: Pod, filtered: FilterResult, scheduler: Scheduler, *, counts: Sequence[DomainCounts]
) -> list[int]:
    """Number the nodes by the fields that the Filter and Score plugins see.

    Args:
        pod: one of the workload's pods; the others differ only in their names.
        filtered: the plugins' verdicts on it.
        scheduler: source of these verdicts.
        counts: of each constraint that the scheduler follows.
    """
    pod_class, columns = pod.cls, scheduler.columns
    looks = filter_kinds(pod_class, filtered)
    if columns.has_pod_affinity or pod_class.has_pod_affinity:
        looks = list(range(columns.n))
    requested = [columns.requested_of(name) for name in sorted(columns.requested)]
    points = _points(pod, filtered, scheduler)
    return _numbered(
        looks,
        (_soft_traits(node, pod_class) for node in columns.nodes),
        _rows([*requested, columns.nonzero_cpu, columns.nonzero_memory, columns.pod_count], columns),
        _rows([item.on_nodes for item in counts], columns),
        (points.get(at) for at in range(columns.n)),
        (tuple(other.uid for other in scheduler.nominated_pods(at, pod)) for at in range(columns.n)),
        _domains([item.constraint.topology_key for item in counts], columns),
    )


def _soft_traits(node: Node, pod_class: PodClass) -> Hashable:
    """Return the fields of a node that only the Score plugins see."""
    return (
        tuple(sorted(node.allocatable.items())),
        tuple(taint for taint in node.taints if taint.effect == PREFER_NO_SCHEDULE),
        tuple(image for image in node.images if image[0] in pod_class.images),
        tuple(item.term.matches(node.labels, node.name) for item in pod_class.node_affinity.preferred),
    )


def _numbered(*looks: Iterable[Hashable]) -> list[int]:
    """Number the nodes by several traits; each has a value for each node."""
    kinds: dict[Hashable, int] = {}
    return [kinds.setdefault(look, len(kinds)) for look in zip(*looks, strict=True)]


def _rows(arrays: Sequence[NDArray[Any]], columns: Columns) -> list[tuple[int, ...]]:
    """Return the numbers of each node; arrays: (N,) each."""
    return list(zip(*(array.tolist() for array in arrays), strict=True)) if arrays else [()] * columns.n


def _domains(keys: Iterable[str], columns: Columns) -> list[tuple[int, ...]]:
    """Return the domains of each node; domains of a single node have one code."""
    codes = []
    for key in dict.fromkeys(keys):
        topology = columns.topology(key)
        sizes = np.bincount(topology.codes + 1, minlength=len(topology.values) + 1)
        is_alone = (topology.codes >= 0) & (sizes[topology.codes + 1] == 1)
        codes.append(np.where(is_alone, _ALONE, topology.codes))
    return _rows(codes, columns)


def _points(pod: Pod, filtered: FilterResult, scheduler: Scheduler) -> dict[int, Hashable]:
    """Return the scores of each node that fits, plugin by plugin."""
    try:
        scores = scheduler.score(pod, filtered)
    except ScoreError:
        return {}
    columns = [np.broadcast_to(points, len(scores.nodes)).tolist() for points in scores.by_plugin.values()]
    return dict(zip(scores.nodes.tolist(), zip(*columns, strict=True), strict=True))
