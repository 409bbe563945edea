"""Ages of running pods, which decide which pods a ReplicaSet deletes first.

Among ready pods, a ReplicaSet first deletes the ones that became ready last. It compares `floor(log2(age))`, so an
order is certain only if one pod is at least twice as old as the other.

Source: pkg/controller/controller_utils.go, ActivePodsWithRanks.Less (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Optional

from kubectl_spread.objects.pod import Pod

PATIENCE_S = 3600.0  # Time after the reading of the facts for which an order must hold.
_CHOOSING = frozenset({"ReplicaSet", "ReplicationController", "Job"})  # Other controllers have no choice.


def age_classes(pods: Iterable[Pod], read_at: str) -> dict[str, int]:
    """Return a number for each ready pod of a ReplicaSet or Job, by uid: lower numbers are certainly deleted first.

    Pods of one controller with the same number may be deleted in any order. Pods that are left out have number 0, as
    pods have that are created later.

    Args:
        pods: pods of the cluster facts.
        read_at: when the facts were read, RFC 3339; empty if that is unknown.
    """
    now = _seconds(read_at)
    if now is None:
        return {}
    by_controller: dict[tuple[str, str, str], list[tuple[float, str]]] = {}
    for pod in pods:
        since = _seconds(pod.ready_since) if pod.is_ready else None
        if since is not None and pod.owner is not None and pod.owner.kind in _CHOOSING:
            key = (pod.namespace, pod.owner.kind, pod.owner.name)
            by_controller.setdefault(key, []).append((now - since, pod.uid))
    return {uid: number for ages in by_controller.values() for uid, number in _numbers(ages) if number}


def _numbers(ages: Iterable[tuple[float, str]]) -> Iterator[tuple[str, int]]:
    """Yield the number of each pod of one controller; it grows where a pod is at least twice as old as the one before.

    That must still be so when `PATIENCE_S` have passed. The first pod is compared with a pod that is created now.
    """
    number, before = 0, 0.0
    for age, uid in sorted(ages):
        if age + PATIENCE_S >= 2 * (before + PATIENCE_S):
            number += 1
        before = age
        yield uid, number


def _seconds(text: str) -> Optional[float]:
    """Return a time of the API server in seconds; None without a valid time."""
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return time.timestamp() if time.tzinfo is not None else None
