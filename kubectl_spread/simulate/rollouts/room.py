"""A proof without a simulation: every new pod of a rollout finds a node, wherever the other pods are.

It needs a pod whose only requirement towards other pods is at most one hard spread constraint. That constraint always
allows its emptiest domain. So the pod finds a node if every domain has enough free room for the pods that may come to
it while it is the emptiest:

    pods in the emptiest domain <= all matching pods / number of domains
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kubectl_spread.cluster.tables.arrays import Bools, Int64s
from kubectl_spread.cluster.tables.columns import Columns
from kubectl_spread.explain.constraints.report import passes_all_but_spread
from kubectl_spread.objects.pod import PodClass
from kubectl_spread.scheduler.filter_result import FilterResult
from kubectl_spread.scheduler.plugins.podtopologyspread.filtering import DomainCounts, PreFilterState


def is_enough(
    pod_class: PodClass, filtered: FilterResult, *, pods: int, others: Iterable[tuple[PodClass, int]]
) -> bool:
    """Return whether every new pod of a rollout finds a node.

    Args:
        pod_class: of a new pod.
        filtered: its nodes in the cluster before the rollout.
        pods: the most new pods at a time.
        others: pods that may take room, and their numbers.
    """
    if filtered.rejection is not None or not _is_simple(pod_class):
        return False
    slots = _free_slots(pod_class, filtered.columns) * passes_all_but_spread(filtered)
    around = list(others)
    taken = sum(number * _slots_of(other, pod_class) for other, number in around)
    hard = _hard(filtered)
    if not hard:
        return int(slots.sum()) >= pods + taken
    pods += sum(number for _, number in around)
    return len(hard) == 1 and _has_room(hard[0], slots, pods=pods, taken=taken)


def _is_simple(pod_class: PodClass) -> bool:
    """Return whether other pods matter to a pod only by spread constraints and by room."""
    is_bound_by_others = pod_class.pod_affinity or pod_class.pod_anti_affinity or pod_class.host_ports
    return not is_bound_by_others and not pod_class.volumes and not pod_class.gates


def _hard(filtered: FilterResult) -> list[DomainCounts]:
    states = [item.state for item in filtered.plugin_results if isinstance(item.state, PreFilterState)]
    return [counts for state in states for counts in state.counts]


def _free_slots(pod_class: PodClass, columns: Columns) -> Int64s:
    """Return how many more pods of a class each node has room for, int64 (N,)."""
    slots: Int64s = columns.slots() - columns.pod_count
    for resource, amount in columns.with_summed_requests(pod_class).requests:
        if amount > 0:
            free = columns.allocatable_of(resource) - columns.requested_of(resource)
            slots = np.minimum(slots, free // amount)
    return np.maximum(slots, 0)


def _has_room(counts: DomainCounts, slots: Int64s, *, pods: int, taken: int) -> bool:
    now = counts.now()
    domains = len(now.domains)
    if not domains or now.is_below_min_domains or counts.constraint.self_match_num != 1:
        return False
    matching = sum(now.domains.values()) + pods
    codes = counts.topology.codes
    included: Bools = counts.included & (codes >= 0)
    room = np.bincount(codes[included], weights=slots[included], minlength=len(counts.topology.values))
    least = min(int(room[code]) for code in np.flatnonzero(counts.eligible))
    return least > matching // domains + taken


def _slots_of(other: PodClass, pod_class: PodClass) -> int:
    """Return how many pods of a class find no room because of another pod."""
    wanted = dict(pod_class.requests)
    return 1 + max((-(-amount // wanted[name]) for name, amount in other.requests if wanted.get(name)), default=1)
