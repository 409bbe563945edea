"""Sentences about features and other pods that proofs do not follow."""

from __future__ import annotations

from collections.abc import Callable

from kubectl_spread.guarantee.gap import Gap, GapKind
from kubectl_spread.text.wording import comma_list, count_noun

_MOST = 3  # names of other workloads


def sentence(gap: Gap) -> str:
    """Return a gap as a sentence that begins with the workload."""
    return _SENTENCES[gap.kind](gap)


def _name(gap: Gap) -> str:
    return "" if gap.owner is None else f"{gap.owner.kind} {gap.owner.name}"


def _others(gap: Gap) -> str:
    return comma_list([f"{key.kind} {key.name}" for key in gap.others], most=_MOST)


_SENTENCES: dict[GapKind, Callable[[Gap], str]] = {
    GapKind.FEATURE: lambda gap: f"{_name(gap)}: {gap.what}",
    GapKind.VOLUMES: lambda gap: (
        f"{_name(gap)}: volumes can keep a pod in the zone of its first node. Whether such a pod finds a node again, "
        "and violations that need it in another zone, are not decided"
    ),
    GapKind.CLAIMS: lambda gap: (
        f"{_name(gap)}: its claims can keep its pods in the zones of their volumes. Whether the pods find nodes, and "
        "violations that need them in other zones, are not decided"
    ),
    GapKind.AFFINITY: lambda gap: (
        f"{_name(gap)}: required pod affinity. Whether the pods find nodes, and violations, are not decided"
    ),
    GapKind.SCHEDULER: lambda gap: f"{_name(gap)}: the scheduler {gap.what} places the pods, and its rules are unknown",
    GapKind.NODE_NAME: lambda gap: f"{_name(gap)}: spec.nodeName sends all pods to {gap.what}, past the scheduler",
    GapKind.RUNNING: lambda gap: (
        f"{_name(gap)}: its running pods do not match its template and replicas, as during a rollout"
    ),
    GapKind.COUNTED: lambda gap: f"{_name(gap)}: its constraints also count pods of {_others(gap)}, which come and go",
    GapKind.APART: lambda gap: (
        f"{_name(gap)}: anti-affinity or a host port keeps its pods away from pods of {_others(gap)}, which come and go"
    ),
    GapKind.ROOM: lambda gap: f"pods of {_others(gap)} have no node yet, and may take the room of the group's pods",
    GapKind.PREEMPTION: lambda gap: f"{_name(gap)}: its pods may preempt pods of lower priority",
    GapKind.STAYING: lambda gap: (
        f"{count_noun(gap.number, 'running pod')} of other workloads: they are assumed to stay where they are"
    ),
    GapKind.ONE_ROLLOUT: lambda gap: f"{_others(gap)}: a rollout is taken to end before the next one begins",
    GapKind.TERMINATING: lambda gap: (
        f"{_name(gap)}: Terminating pods do not count. A deleted pod can run for up to {gap.number} s more, and its "
        "replacement can start in the same domain"
    ),
    GapKind.LOST_ORDINALS: lambda gap: (
        f"{_name(gap)}: its pods on lost nodes stay Terminating. They are replaced once the Nodes are deleted or "
        "marked out of service, which is assumed"
    ),
    GapKind.SAME_CONSTRAINTS: lambda gap: (
        f"other constraints for other numbers of shards: {_others(gap)} and new shards keep those of the manifests"
    ),
    GapKind.NO_RANGE: lambda gap: (
        f"scaling of {_others(gap)}: the number of replicas has no range; name one with --replicas MIN..MAX"
    ),
}
